/** Deletions that change many orders: in one transaction, but in blocks, so that other requests are processed meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Engine, sql } from '../../src/database/sql.ts';
import { onBothEngines, openShop, type Scope, type Shop } from '../helper.ts';

const firstId = 101;
const orders = 250;
const lines = 100;
const password = 'correct horse battery staple';
const ids = Array.from({ length: orders }, (_, index) => firstId + index);

/** A shop with placed orders of one customer, each with the same cheeses. The last order was delivered. */
async function openWithOrders(t: Scope, engine: Engine): Promise<Shop> {
  const shop = await openShop(t, { engine });
  const {
    cheeses: { service: cheeses },
    contextOf,
    database,
  } = shop.app;
  const inputs = Array.from({ length: lines }, (_, index) => ({ name: `Cheese ${index}`, pricePerKg: 12.5 }));
  await cheeses.import(contextOf('test'), inputs, new Set());
  await shop.request('POST', '/v2/customer', {
    body: { username: 'ada', email: 'ada@example.com', password },
  });
  const items = JSON.stringify(
    inputs.map(({ name, pricePerKg }, index) => ({
      cheeseId: index + 1,
      cheeseName: name,
      quantity: 1,
      pricePerKg,
    })),
  );
  const address = JSON.stringify({ street: 'Kramgasse 49', city: 'Bern', state: null, country: 'CH' });
  const at = '2026-01-01T12:00:00.000Z';
  const placed = ids.slice(0, -1);
  await database.transaction(async (tx) => {
    await tx.insert(
      'orders',
      'id status placed_by customer_id items address total_cents goods_cents created_at updated_at'.split(
        ' ',
      ),
      ids.map((id) => {
        const status = id === ids.at(-1) ? 'delivered' : 'placed';
        return [id, status, 'customer:1', 1, items, address, 125_000, 125_000, at, at];
      }),
    );
    await tx.insert(
      'open_order_cheese',
      ['cheese_id', 'order_id'],
      placed.flatMap((id) => inputs.map((_, index) => [index + 1, id])),
    );
    // Every other order waits for an operator.
    const jobs = placed.filter((id) => id % 2 === 0);
    await tx.insert(
      'background_job',
      ['kind', 'key', 'due_at'],
      jobs.map((id) => ['order.approval', String(id), '2099-01-01T00:00:00.000Z']),
    );
  });
  return shop;
}

/** Sends a request, and reads how many orders are cancelled in every turn of the event loop until the response. */
async function cancelledDuring({ app }: Shop, send: () => Promise<{ status: number }>): Promise<number[]> {
  const { database } = app;
  const counts: number[] = [];
  let isOver = false;
  const response = send().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    const row = await database.get<{ orders: number }>(
      sql`select count(*) as orders from orders where status = 'cancelled'`,
    );
    counts.push(row?.orders ?? -1);
  }
  assert.equal((await response).status, 204);
  return counts;
}

async function assertCancelled({ app }: Shop, reason: string, version: number): Promise<void> {
  const { database } = app;
  const rows = await database.all<{ id: number; status: string; version: number }>(
    sql`select id, status, version from orders where id >= ${firstId} and status <> 'delivered' order by id`,
  );
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    ids.slice(0, -1).map((id) => ({ id, status: 'cancelled', version })),
  );
  const events = await database.all<{ subject: string; data: string }>(
    sql`select subject, data from event where type = 'order.cancelled' order by id`,
  );
  assert.deepEqual(
    events.map(({ subject, data }) => [subject, JSON.parse(data)]),
    ids.slice(0, -1).map((id) => [`order:${id}`, { id, status: 'cancelled', total: 1250, reason }]),
  );
  for (const table of [sql`background_job`, sql`open_order_cheese`]) {
    assert.equal((await database.all(sql`select * from ${table}`)).length, 0);
  }
}

onBothEngines(`With ${orders} orders of ${lines} items`, (engine) => {
  test('DELETE /cheeses/{id} cancels thousands of orders together, and other requests are processed meanwhile', async (t) => {
    const shop = await openWithOrders(t, engine);
    const headers = { 'x-confirm-delete': 'true' };
    const counts = await cancelledDuring(shop, () =>
      shop.request('DELETE', '/v2/cheeses/1', { as: shop.admin, headers }),
    );
    assert.ok(counts.length > 10, `${counts.length} turns`);
    assert.deepEqual(
      counts.filter((count) => count !== 0 && count !== orders - 1),
      [],
    );
    await assertCancelled(shop, 'Cheese 0 was taken out of the catalogue', 2);
  });

  test('DELETE /customer/{username} cancels thousands of orders together, and removes the customer from all of them', async (t) => {
    const shop = await openWithOrders(t, engine);
    const body = { username: 'ada', password };
    const { token } = (await shop.request('POST', '/v2/customer/login', { body })).json;
    const headers = { authorization: `Bearer ${token}` };
    const counts = await cancelledDuring(shop, () => shop.request('DELETE', '/v2/customer/ada', { headers }));
    assert.ok(counts.length > 15, `${counts.length} turns`);
    assert.deepEqual(
      counts.filter((count) => count !== 0 && count !== orders - 1),
      [],
    );
    await assertCancelled(shop, 'the customer was deleted', 3);
    const { database } = shop.app;
    const left = sql`select id from orders where customer_id is not null or address like '%Bern%'`;
    assert.equal((await database.all(left)).length, 0);
  });
});
