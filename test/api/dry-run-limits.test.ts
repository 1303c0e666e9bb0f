/** Dry runs count by the changes that they try, so that they cannot delay the changes of others again and again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/database/sql.ts';
import {
  assertError,
  bern,
  onBothEngines,
  openShop,
  type Scope,
  type Shop,
  type TestClock,
  testClock,
} from '../helper.ts';

const orders = 320;
/** Each order and the cheese, without the first 20, at 500 a second. */
const waitMs = (orders + 1 - 20) * 2;

interface Doomed {
  readonly shop: Shop;
  readonly clock: TestClock;
  /** A dry deletion of the cheese. */
  tryDeletion(as?: string, on?: Shop): ReturnType<Shop['request']>;
}

/** A shop with a cheese in many placed orders, and one without. */
async function openDoomed(t: Scope, engine: Engine): Promise<Doomed> {
  const clock = testClock();
  const shop = await openShop(t, { engine, clock });
  const {
    cheeses: { service: cheeses },
    contextOf,
    database,
  } = shop.app;
  const inputs = [1, 2].map((id) => ({ name: `Cheese ${id}`, pricePerKg: 10 }));
  await cheeses.import(contextOf('test'), inputs, new Set());
  const items = JSON.stringify([{ cheeseId: 1, cheeseName: 'Cheese 1', quantity: 1, pricePerKg: 10 }]);
  const address = JSON.stringify({ street: 'Kramgasse 49', city: 'Bern', state: null, country: 'CH' });
  const at = '2026-01-01T12:00:00.000Z';
  const ids = Array.from({ length: orders }, (_, index) => 1001 + index);
  const columns = 'id status placed_by items address total_cents goods_cents created_at updated_at'.split(
    ' ',
  );
  await database.transaction(async (tx) => {
    await tx.insert(
      'orders',
      columns,
      ids.map((id) => [id, 'placed', 'key:9', items, address, 1000, 1000, at, at]),
    );
    await tx.insert(
      'open_order_cheese',
      ['cheese_id', 'order_id'],
      ids.map((id) => [1, id]),
    );
  });
  return {
    shop,
    clock,
    tryDeletion: (as = shop.writer, on = shop) =>
      on.request('DELETE', '/v2/cheeses/1', {
        as,
        headers: { 'x-confirm-delete': 'true', 'dry-run': 'effects' },
      }),
  };
}

onBothEngines('A dry run with many changes', (engine) => {
  test('A dry run with many changes delays the next ones of the same operation and account, and nothing else', async (t) => {
    const { shop, clock, tryDeletion } = await openDoomed(t, engine);
    const first = await tryDeletion();
    assert.deepEqual([first.status, first.json.effects.length], [200, orders + 1]);

    const second = await tryDeletion();
    assertError(second, 429, 'rate_limit_exceeded');
    assert.match(second.text, /Earlier dry runs of this operation/);
    assert.equal(second.headers['retry-after'], '1');
    assert.match(second.headers['ratelimit-policy'] ?? '', /^"dry-run";q=500;w=1$/);
    assert.equal((await tryDeletion(shop.admin)).status, 429, 'another key of the account');
    assert.equal(
      (await tryDeletion(await shop.createKey({ scopes: ['admin'] }))).status,
      200,
      'another account',
    );

    const body = { items: [{ cheeseId: 2, quantity: 1 }], shippingAddress: bern };
    for (let quote = 0; quote < 50; quote += 1) {
      const headers = { 'dry-run': 'true' };
      assert.equal(
        (await shop.request('POST', '/v2/store/order', { as: shop.admin, headers, body })).status,
        201,
      );
    }
    assert.equal((await shop.request('POST', '/v2/store/order', { as: shop.admin, body })).status, 201);

    clock.advance(waitMs - 1);
    assert.equal((await tryDeletion()).status, 429);
    clock.advance(1);
    assert.equal((await tryDeletion()).status, 200);
    const headers = { 'x-confirm-delete': 'true' };
    assert.equal((await shop.request('DELETE', '/v2/cheeses/1', { as: shop.writer, headers })).status, 204);
    const metrics = await shop.request('GET', '/metrics', { as: shop.admin });
    assert.match(metrics.text, /\{limit="dry-run"\} 3\b/);
  });

  test('A dry run with many changes is one of many that were sent at once; the others are 429 before they have changed much', async (t) => {
    const { shop, tryDeletion } = await openDoomed(t, engine);
    const as = shop.writer;
    const responses = await Promise.all(Array.from({ length: 5 }, () => tryDeletion(as)));
    const statuses = responses.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, 429, 429, 429, 429]);
  });

  test('A dry run with many changes does not delay those with few changes', async (t) => {
    const { shop } = await openDoomed(t, engine);
    const headers = { 'x-confirm-delete': 'true', 'dry-run': 'true' };
    for (let dryRun = 0; dryRun < 30; dryRun += 1) {
      const { status } = await shop.request('DELETE', '/v2/cheeses/2', { as: shop.writer, headers });
      assert.equal(status, 204);
    }
  });
});
