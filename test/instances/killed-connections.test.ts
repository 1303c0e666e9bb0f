/**
 * Orders while connections to PostgreSQL are terminated all the time: each one that is confirmed is stored once.
 * CURD_TEST_KILL_SECONDS repeats it for longer.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { bern, openShop } from '../helper.ts';
import { onConnection } from '../postgres-client.ts';

const seconds = Number(process.env.CURD_TEST_KILL_SECONDS ?? 3);
const shoppers = 16;
const killsEveryMs = 100;
/** Of the ten connections of a shop. */
const killedAtOnce = 4;

test('Orders are stored once and none that was confirmed is lost while connections are terminated', {
  timeout: seconds * 3000 + 60_000,
}, async (t) => {
  const shop = await openShop(t, { engine: 'postgres' });
  assert.ok(shop.config.database.engine === 'postgres');
  const cheese = { name: 'Killed Tomme', pricePerKg: 20, status: 'available' };
  const { id: cheeseId } = (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: cheese }))
    .json;
  const confirmed = new Map<string, number>();
  const statuses: Record<string, number> = {};
  const until = performance.now() + seconds * 1000;

  /** Repeats the request with its key until it is confirmed. */
  async function place(): Promise<void> {
    const notes = randomUUID();
    const body = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern, notes };
    for (;;) {
      const options = { as: shop.admin, body, headers: { 'idempotency-key': notes } };
      const { status, json, text } = await shop.request('POST', '/v2/store/order', options);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 201) {
        confirmed.set(notes, json.id);
        return;
      }
      assert.equal(status, 503, text);
      await sleep(10);
    }
  }

  await onConnection(shop.config.database.url, async (query) => {
    const kills = (async () => {
      let killed = 0;
      while (performance.now() < until) {
        const rows = await query(`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'curd' and pid <> pg_backend_pid()
          order by random() limit ${killedAtOnce}`);
        killed += rows.length;
        await sleep(killsEveryMs);
      }
      return killed;
    })();
    const shopping = Array.from({ length: shoppers }, async () => {
      while (performance.now() < until) {
        await place();
      }
    });
    const [killed] = await Promise.all([kills, ...shopping]);
    t.diagnostic(`${killed} connections terminated, responses ${JSON.stringify(statuses)}`);
    assert.ok(killed >= killedAtOnce);
  });

  const { database } = shop.app;
  const orders = await database.all<{ id: number; notes: string }>(
    sql`select id, notes from orders where id > 10`,
  );
  const stored = new Map(orders.map(({ id, notes }) => [notes, id]));
  assert.equal(stored.size, orders.length, 'an order was stored twice');
  assert.deepEqual(
    [...confirmed].filter(([notes, id]) => stored.get(notes) !== id),
    [],
    'confirmed, and not stored',
  );
  assert.equal(stored.size, confirmed.size);
  const open = await database.all(sql`
    select pid from pg_stat_activity where datname = current_database() and state like ${'idle in transaction%'}`);
  assert.deepEqual(open, [], 'a connection stays in a transaction');
});
