/** A server is killed while it moves the clock over hundreds of orders: nothing is lost, and nothing is done twice. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/database/open.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { createStock, curd, freshShop, type RunningServer, serve } from '../cli/run.ts';
import { bern, createDatabase, onBothEngines, secret, until } from '../helper.ts';

const orders = 500;
const placers = 20;

/** A transaction of another connection to the same database. */
const openTransaction = sql`
  select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' limit 1`;

onBothEngines('A server that is killed while it moves the clock', (engine) => {
  test('A server that is killed while it moves the clock leaves finished jobs finished, and the same request continues', async (t) => {
    const environment = await shopOf(t, engine);
    const { key, cheeses } = await createStock(environment, {
      prices: [20],
      scopes: ['write:orders', 'admin'],
    });
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const body = JSON.stringify({
      items: [{ cheeseId: cheeses[0], quantity: 1 }],
      shippingAddress: bern,
    });
    let server = await serve(t, environment);
    await atOnce(async () => {
      const placed = await fetch(`${server.url}/v2/store/order`, { method: 'POST', headers, body });
      assert.equal(placed.status, 201, await placed.text());
    });
    const database = await openDatabase(loadConfig(environment));
    const approved = async () =>
      (
        await database.get<{ count: number }>(
          sql`select count(*) as count from orders where id > 10 and status = 'approved'`,
        )
      )?.count ?? 0;
    try {
      assert.equal(await approved(), 0, 'the delay is long');
      const first = move(server, headers).catch(() => null);
      while ((await approved()) === 0) {
        await sleep(1);
      }
      await server.stop('SIGKILL');
      await first;
      // PostgreSQL may still commit what it received before the server was killed.
      await until(async () => engine === 'sqlite' || (await database.get(openTransaction)) === undefined);
      const before = await approved();
      assert.ok(before < orders, 'it was killed before the end');
      server = await serve(t, environment);
      const again = await move(server, headers);
      assert.equal(again.status, 200, again.text);
      const { did, now } = JSON.parse(again.text);
      // The server itself may have run jobs that were due at the time to which the clock was moved before the kill.
      assert.ok(before + did.approved <= orders, `${before} and ${did.approved} were approved`);
      assert.ok(Math.abs(Date.parse(now) - Date.now() - 24 * 60 * 60_000) < 60_000, now);
      assert.equal(again.replayed, null);
      assert.equal((await move(server, headers)).replayed, 'true');
      assert.equal(await approved(), orders);
      const numbered = () =>
        database.all<{ events: number }>(sql`
          select count(*) as events from event where type = 'order.approved' and sequence <> 0 group by subject`);
      // On PostgreSQL, events get their numbers after the commit.
      await until(async () => (await numbered()).length >= orders);
      const rows = await numbered();
      assert.deepEqual([rows.length, rows.every(({ events }) => events === 1)], [orders, true]);
    } finally {
      await database.close();
    }
    await server.stop();
    const doctor = await curd(environment, 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout);
  });
});

async function shopOf(t: TestContext, engine: Engine) {
  return freshShop(t, {
    CURD_SECRET: secret,
    CURD_APPROVAL_DELAY: '2h',
    CURD_LOG_LEVEL: 'warn',
    ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t, 'template_curd') } : {}),
  });
}

async function move({ url }: RunningServer, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${url}/v2/sandbox/clock`, {
    method: 'POST',
    headers: { ...headers, 'Idempotency-Key': 'one-day' },
    body: '{"advance":"24h"}',
  });
  const replayed = response.headers.get('Idempotency-Replayed');
  return { status: response.status, text: await response.text(), replayed };
}

async function atOnce(work: () => Promise<void>): Promise<void> {
  await Promise.all(
    Array.from({ length: placers }, async () => {
      for (let count = 0; count < orders / placers; count += 1) {
        await work();
      }
    }),
  );
}
