/** The routes that take a publishable key, which anybody can copy out of a page. A new one needs a line here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop } from '../helper.ts';

const routes: Readonly<Record<string, 'catalogue' | 'alone' | 'withCustomer'>> = {
  listCheeses: 'catalogue',
  getCheese: 'catalogue',
  findCheesesByStatus: 'catalogue',
  findCheesesByTags: 'catalogue',
  listCategories: 'catalogue',
  listTags: 'catalogue',
  listCheeseChanges: 'catalogue',
  listCheeseImages: 'catalogue',
  listCheesePrices: 'catalogue',
  getCheeseAvailability: 'catalogue',
  listAvailability: 'catalogue',
  explainCredential: 'alone',
  listLimits: 'alone',
  getIdempotentResponse: 'alone',
  registerCustomer: 'alone',
  loginCustomer: 'alone',
  requestPasswordReset: 'alone',
  logoutCustomer: 'withCustomer',
  logoutCustomerSafely: 'withCustomer',
  getCustomer: 'withCustomer',
  replaceCustomer: 'withCustomer',
  deleteCustomer: 'withCustomer',
  placeOrder: 'withCustomer',
  listOrders: 'withCustomer',
  getOrder: 'withCustomer',
  getOrderTimeline: 'withCustomer',
  getOrderShipment: 'withCustomer',
  cancelOrder: 'withCustomer',
  listCustomerOrders: 'withCustomer',
  getCustomerOrder: 'withCustomer',
  getCustomerOrderTimeline: 'withCustomer',
  getCustomerOrderShipment: 'withCustomer',
  cancelCustomerOrder: 'withCustomer',
};

test('These routes take a publishable key, and no others', async (t) => {
  const shop = await openShop(t);
  const declared = shop.app.routes.flatMap(({ operationId, publishable }) =>
    publishable === undefined ? [] : [[operationId, publishable]],
  );
  assert.deepEqual(Object.fromEntries(declared), routes);
});

test('What a publishable key reads by itself changes nothing', async (t) => {
  const shop = await openShop(t);
  for (const { operationId, method, publishable } of shop.app.routes) {
    assert.ok(publishable !== 'catalogue' || method === 'GET', operationId);
  }
});
