/** The routes that take a publishable key, which anybody can copy out of a page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishableRoutes } from '../auth/route-access.ts';
import { openShop } from '../helper.ts';

test('These routes take a publishable key, and no others', async (t) => {
  const shop = await openShop(t);
  const declared = shop.app.routes.flatMap(({ operationId, publishable }) =>
    publishable === undefined ? [] : [[operationId, publishable]],
  );
  assert.deepEqual(
    Object.fromEntries(declared),
    publishableRoutes,
    'add the operationId to `publishableRoutes` in test/auth/route-access.ts if anybody may use the route: see docs/adding-an-endpoint.md',
  );
});

test('What a publishable key reads by itself changes nothing', async (t) => {
  const shop = await openShop(t);
  for (const { operationId, method, publishable } of shop.app.routes) {
    assert.ok(publishable !== 'catalogue' || method === 'GET', operationId);
  }
});
