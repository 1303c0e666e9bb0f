/** Instances on one PostgreSQL while one of them moves the clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { clockPath, now } from '../sandbox/helper.ts';
import { placeOrder, registerAndLogIn } from '../shop-verbs.ts';
import { openInstances } from './instances.ts';

const hourMs = 60 * 60_000;

test('Each instance has the time with its next request: a session is over on all', async (t) => {
  const shops = await openInstances(t, 3);
  const [first, ...others] = shops.all;
  const { headers } = await registerAndLogIn(first);
  const statuses = () =>
    Promise.all(shops.all.map(async (shop) => (await shop.request('GET', '/v2/whoami', { headers })).status));
  assert.deepEqual(await statuses(), [200, 200, 200]);
  const body = { advance: '25h' };
  assert.equal((await first.request('POST', clockPath, { as: first.admin, body })).status, 200);
  for (const shop of others) {
    const response = await shop.request('GET', '/v2/whoami', { headers });
    assert.equal(response.status, 401);
    assert.ok(Date.parse(response.headers['x-clock'] ?? '') - Date.now() > 24 * hourMs);
  }
});

test('A second request to move the clock waits for the first, also on another instance', async (t) => {
  const shops = await openInstances(t, 2);
  const before = await now(shops.all[0]);
  const moved = await shops.atOnce(4, (shop) =>
    shop.request('POST', clockPath, { as: shops.admin, body: { advance: '1h' } }),
  );
  assert.deepEqual(
    moved.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const after = await now(shops.all[1]);
  assert.ok(after - before >= 4 * hourMs && after - before < 4.1 * hourMs, String(after - before));
});

test('Orders are approved once, in the order of their times, with workers on all instances', async (t) => {
  const shops = await openInstances(t, 2);
  const cheese = await shops.request('POST', '/v2/cheeses', {
    as: shops.writer,
    body: { name: 'Brie', pricePerKg: 20 },
  });
  for (const { app } of shops.all) {
    app.worker.start();
  }
  const placed = await shops.atOnce(40, (shop) => placeOrder(shop, cheese.json.id));
  assert.ok(placed.every(({ status }) => status === 201));
  const [first] = shops.all;
  const { json } = await first.request('POST', clockPath, { as: shops.admin, body: { advance: '1d' } });
  assert.equal(json.did.approved, 40);
  const late = await first.app.database.all<object>(sql`
    select id from orders where status <> 'approved' or updated_at > ${new Date(Date.now() + hourMs).toISOString()}`);
  assert.deepEqual(late.length, 0);
});
