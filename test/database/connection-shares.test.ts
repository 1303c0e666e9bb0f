/** No kind of request can use all connections to PostgreSQL, so that none stops all others. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { rawSql, sql } from '../../src/database/sql.ts';
import { bern, cleanUp, createDatabase, openShop, until } from '../helper.ts';
import { onConnection, queryPostgres } from '../postgres-client.ts';

/** Waits until `whileBlocked` has ended. */
const blocked = rawSql('select pg_advisory_xact_lock_shared(7)');
/** For requests that must not wait for those that are blocked, which would take 2.5 s. */
const inTimeMs = 1500;

async function open(t: TestContext, parameters = '') {
  const url = await createDatabase(t);
  await queryPostgres(
    url,
    'create table note (id bigint primary key generated always as identity, text text)',
  );
  const database = openPostgres(`${url}${parameters}`);
  cleanUp(t, () => database.close());
  // How long statements take is known from their last run.
  for (const kind of Object.values(kinds)) {
    await Promise.all([kind(database), kind(database)]);
  }
  return { url, database };
}

/** Runs `work` while `blocking` waits. */
async function whileBlocked(
  url: string,
  blocking: () => Promise<unknown>[],
  work: () => Promise<void>,
): Promise<void> {
  await onConnection(url, async (query) => {
    await query('select pg_advisory_lock(7)');
    const outcomes = Promise.allSettled(blocking());
    await work();
    await query('select pg_advisory_unlock(7)');
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'fulfilled', String(outcome));
    }
  });
}

async function assertInTime(work: () => Promise<unknown>, what: string): Promise<void> {
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  assert.ok(ms < inTimeMs, `${what}: ${ms} ms`);
}

/** Each without anything that blocks it. */
const kinds = {
  'a quick read': (database: Database) => database.get(sql`select 1 as one`),
  'a read of unknown duration': (database: Database) =>
    database.get(sql`select ${Math.random()}::float8 as ${rawSql(`c${Math.floor(Math.random() * 1e9)}`)}`),
  'a change': (database: Database) =>
    database.transaction((tx) => tx.run(sql`insert into note (text) values ('a')`)),
  'a change by one statement': (database: Database) =>
    database.run(sql`insert into note (text) values ('b')`),
  'a snapshot': (database: Database) => database.snapshot((tx) => tx.get(sql`select 2 as two`)),
};

/** Those that must not be delayed are beside each of these, of which there are more than connections. */
const blockers: Record<string, readonly [(database: Database) => Promise<unknown>, (keyof typeof kinds)[]]> =
  {
    'slow reads': [
      (database) => database.all(blocked),
      ['a quick read', 'a change', 'a change by one statement', 'a snapshot'],
    ],
    'slow changes': [
      (database) => database.transaction((tx) => tx.all(blocked)),
      ['a quick read', 'a read of unknown duration'],
    ],
    'slow snapshots': [
      (database) => database.snapshot((tx) => tx.all(blocked)),
      ['a quick read', 'a read of unknown duration', 'a change', 'a change by one statement'],
    ],
  };

suite('Connections to PostgreSQL', () => {
  for (const [name, [block, others]] of Object.entries(blockers)) {
    test(`Connections to PostgreSQL are left to other requests by ${name}`, async (t) => {
      for (const parameters of ['', '?max=5']) {
        const { url, database } = await open(t, parameters);
        const blocking = () => Array.from({ length: 12 }, () => block(database));
        await whileBlocked(url, blocking, async () => {
          // Those that arrive at the same time, and later.
          for (const delay of [0, 50]) {
            await sleep(delay);
            const requests = () => others.flatMap((kind) => [1, 2, 3].map(() => kinds[kind](database)));
            await assertInTime(() => Promise.all(requests()), `${others} beside ${name}${parameters}`);
          }
        });
      }
    });
  }

  test('Connections to PostgreSQL are left to other requests by many reads that were quick and no longer are', async (t) => {
    // The connections that one text may use.
    for (const [parameters, share] of [
      ['', 8],
      ['?max=5', 3],
    ] as const) {
      const { url, database } = await open(t, parameters);
      await database.all(blocked);
      await database.all(blocked);
      const blocking = () => Array.from({ length: 40 }, () => database.all(blocked));
      await whileBlocked(url, blocking, async () => {
        const count = rawSql(
          `select count(*) as waiting from pg_locks where locktype = 'advisory' and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        );
        const waiting = async () => (await database.get<{ waiting: number }>(count))?.waiting;
        await until(async () => (await waiting()) === share);
        for (const [name, kind] of Object.entries(kinds)) {
          await assertInTime(() => Promise.all([1, 2, 3].map(() => kind(database))), `${name}${parameters}`);
        }
        assert.equal(await waiting(), share);
      });
    }
  });

  test('Connections to PostgreSQL are left to quick reads by slow reads, changes and snapshots together', async (t) => {
    const { url, database } = await open(t);
    const blocking = () =>
      Object.values(blockers).flatMap(([block]) => Array.from({ length: 12 }, () => block(database)));
    await whileBlocked(url, blocking, async () => {
      for (let read = 0; read < 10; read += 1) {
        await assertInTime(
          () => Promise.all([1, 2, 3].map(() => kinds['a quick read'](database))),
          'quick reads beside all',
        );
      }
    });
  });

  test('Connections to PostgreSQL are left to orders by requests for best-sellers', async (t) => {
    const shop = await openShop(t, { engine: 'postgres' });
    const body = { name: 'Slow Tomme', pricePerKg: 20, status: 'available' };
    const { id } = (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json;
    const order = { items: [{ cheeseId: id, quantity: 1 }], shippingAddress: bern };
    const place = () => shop.request('POST', '/v2/store/order', { as: shop.admin, body: order });
    assert.equal((await place()).status, 201);
    await onConnection(
      shop.config.database.engine === 'postgres' ? shop.config.database.url : '',
      async (query) => {
        await query('begin');
        await query('lock table statistic_cheese in access exclusive mode');
        const reports = Array.from({ length: 12 }, () =>
          shop.request('GET', '/v2/statistics/best-sellers?from=2026-01-01T00:00:00Z', { as: shop.admin }),
        );
        await sleep(200);
        for (let placed = 0; placed < 10; placed += 1) {
          await assertInTime(async () => assert.equal((await place()).status, 201), 'an order');
        }
        await query('rollback');
        const statuses = (await Promise.all(reports)).map(({ status }) => status);
        assert.deepEqual(statuses, Array(12).fill(200));
      },
    );
  });
});
