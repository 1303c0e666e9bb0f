/** GET /names: what keys, clients, customers, cheeses and orders are called. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newClient, newCustomer } from '../auth/holders.ts';
import { assertError, onBothEngines, openShop, shared } from '../helper.ts';
import { orderOf } from '../shop-verbs.ts';

onBothEngines('GET /names', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));
  const namesOf = async (...of: string[]) => {
    const { admin } = opened();
    const path = `/v2/names?of=${of.map(encodeURIComponent).join(',')}`;
    const { status, json, text, headers } = await opened().request('GET', path, { as: admin });
    assert.equal(status, 200, text);
    assert.equal(headers['cache-control'], 'no-store');
    return Object.fromEntries(
      json.items.map(({ of: mention, name }: Record<string, string>) => [mention, name]),
    );
  };

  test('GET /names names each kind, also a revoked key, and leaves out what does not exist', async () => {
    const shop = opened();
    const {
      auth: { keys },
      contextOf,
    } = shop.app;
    const context = contextOf('test');
    const account = await keys.createAccount(context, 'Alpine Dairy');
    const named = await keys.create(context, account.id, { name: 'Web shop, "new"' });
    const unnamed = await keys.create(context, account.id, {});
    await keys.revoke(context, named.id);
    const body = { name: 'Crème de Brie, 60 %', status: 'available', pricePerKg: 20 };
    const cheese = (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json;
    const lines = orderOf(cheese.id);
    const order = (await shop.request('POST', '/v2/store/order', { as: shop.admin, body: lines })).json;
    const customer = await newCustomer(shop, 'ada', 'customer');
    const bought = await shop.request('POST', `/v2/store/order?customerId=${customer}`, {
      as: shop.admin,
      body: lines,
    });
    assert.equal(bought.status, 201, bought.text);
    const client = await newClient(shop);
    const found = await namesOf(
      `key:${named.id}`,
      `key:${unnamed.id}`,
      `cheese:${cheese.id}`,
      `order:${order.id}`,
      `customer:${customer}`,
      `client:${client}`,
      `order-customer:${bought.json.id}`,
      `order-customer:${order.id}`,
      'order-customer:1',
      'key:999999999999999',
      'client:nothing',
      'order:999999',
    );
    assert.deepEqual(found, {
      [`key:${named.id}`]: 'Web shop, "new"',
      [`key:${unnamed.id}`]: `Alpine Dairy …${unnamed.last4}`,
      [`cheese:${cheese.id}`]: 'Crème de Brie, 60 %',
      [`order:${order.id}`]: `Order ${order.id}`,
      [`customer:${customer}`]: 'ada',
      [`order-customer:${bought.json.id}`]: 'ada',
      [`client:${client}`]: (await shop.app.oauth.clients.list())[0]?.name,
    });
  });

  test('GET /names refuses other kinds, malformed ids, too many, and callers without admin', async () => {
    const shop = opened();
    const many = Array.from({ length: 101 }, (_, index) => `key:${index + 1}`).join(',');
    for (const of of [
      'system',
      'key',
      'key:',
      'key:0',
      'key:01',
      'key:1x',
      'stock:1',
      'order-customer:0',
      'client:a%00b',
      'key:9999999999999999',
      many,
    ]) {
      const response = await shop.request('GET', `/v2/names?of=${of}`, { as: shop.admin });
      assertError(response, 400, 'bad_request');
    }
    assertError(await shop.request('GET', '/v2/names', { as: shop.admin }), 400, 'bad_request');
    assertError(await shop.request('GET', '/v2/names?of=key:1', { as: shop.writer }), 403, 'forbidden');
    assert.deepEqual(await namesOf('key:1', 'key:1').then((names) => Object.keys(names).length), 1);
  });
});
