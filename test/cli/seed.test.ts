/** "curd seed": invented customers and orders, the same for the same seed. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Engine, sql } from '../../src/database/sql.ts';
import { secret } from '../context.ts';
import { createDatabase, engines } from '../helper.ts';
import {
  assertEachRefused,
  curd,
  curdJson,
  freshShop,
  inShop,
  runInProcess,
  storeEnvironmentOf,
} from './run.ts';

const until = '2026-03-01T12:00:00Z';
const small = ['--customers', '12', '--orders', '60', '--until', until];

async function demoShop(t: TestContext, engine: Engine) {
  const database = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {};
  const environment = await freshShop(t, { CURD_SECRET: secret, ...database });
  await curdJson(environment, 'reset', '--yes');
  return environment;
}

/**
 * What was added, and the exported catalogue. Left out: passwords, because each has another salt, and what the demo
 * catalogue has of the moment and machine of the start: times of cheeses and URLs of images.
 */
async function contentsOf(environment: Awaited<ReturnType<typeof demoShop>>) {
  const file = join(environment.CURD_DATA_DIR ?? '', 'cheeses.ndjson');
  await curdJson(environment, 'export', 'cheeses', file);
  const cheeses = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), photoUrls: null, createdAt: null, updatedAt: null }));
  assert.ok(cheeses.length > 50);
  return inShop(environment, async ({ database }) => {
    const rows = async (query: ReturnType<typeof sql>) =>
      (await database.all<object>(query)).map((row) => ({ ...row }));
    return {
      cheeses,
      customers: await rows(sql`
        select id, username, email, first_name, last_name, tier, delivered_cents, created_at from customer order by id`),
      orders: await rows(sql`
        select id, customer_id, status, items, address, notes, total_cents, ship_date, version, created_at, updated_at
        from orders where id > 10 order by id`),
      events: await rows(sql`
        select type, subject, created_at from event where subject like 'order:%' or subject like 'customer:%'
        order by created_at, subject, type`),
    };
  });
}

const byEngine: Record<string, Awaited<ReturnType<typeof contentsOf>>> = {};

for (const engine of engines) {
  test(`Two shops with the same seed get the same customers and orders (${engine})`, async (t) => {
    const [first, second, other] = [
      await demoShop(t, engine),
      await demoShop(t, engine),
      await demoShop(t, engine),
    ];
    const added = { customers: 12, orders: 60, seed: 7, until: '2026-03-01T12:00:00.000Z' };
    assert.deepEqual(await curdJson(first, 'seed', ...small), added);
    await curdJson(second, 'seed', ...small);
    await curdJson(other, 'seed', ...small, '--seed', '8');
    const contents = await contentsOf(first);
    assert.deepEqual(await contentsOf(second), contents);
    assert.notDeepEqual(await contentsOf(other), contents);
    byEngine[engine] = contents;

    const { customers, orders } = contents as { customers: object[]; orders: Record<string, string>[] };
    assert.deepEqual([customers.length, orders.length], [12, 60]);
    const statuses = Object.groupBy(orders, ({ status = '' }) => status);
    assert.ok((statuses.delivered?.length ?? 0) > 30, JSON.stringify(Object.keys(statuses)));
    for (const { created_at = '' } of orders) {
      assert.ok(created_at > '2025-12-01' && created_at <= '2026-03-01T12:00:00.000Z', created_at);
    }
    const doctor = await curd(first, 'doctor');
    assert.deepEqual([doctor.code, doctor.stderr], [0, ''], doctor.stdout);
  });
}

test('Both engines get the same customers and orders', () => {
  assert.deepEqual(byEngine.sqlite, byEngine.postgres);
});

test('A shop with customers, without cheeses or in production is not seeded', async (t) => {
  const environment = await demoShop(t, 'sqlite');
  const given = { customers: '3', orders: '5', seed: '7' };
  const run = await curd(environment, 'seed', '--customers', '3', '--orders', '5', '--until', until);
  assert.match(
    run.stdout,
    /^Added 3 customers and 5 orders of the 90 days until 2026-03-01T12:00:00\.000Z\./,
  );
  const before = await contentsOf(environment);
  const empty = await freshShop(t, { CURD_SECRET: secret });
  await assertEachRefused(t, [
    ['no shop', () => runInProcess(empty, 'seed', [], given), /Start the server once/],
    [
      'customers',
      () => runInProcess(environment, 'seed', [], given),
      /has 3 customers and 5 orders already.*reset/,
    ],
    ['too many', () => runInProcess(environment, 'seed', [], { ...given, orders: '10001' }), /--orders/],
    [
      'no time',
      () => runInProcess(environment, 'seed', [], { ...given, until: 'today' }),
      /--until is "today"/,
    ],
    [
      'future',
      () => runInProcess(environment, 'seed', [], { ...given, until: '9999-01-01T00:00:00Z' }),
      /past time/,
    ],
  ]);
  await inShop(empty, async () => {});
  await assertEachRefused(t, [['no cheese', () => runInProcess(empty, 'seed', [], given), /Import cheeses/]]);
  assert.deepEqual(await contentsOf(environment), before);
  await storeEnvironmentOf(environment, 'production');
  const production = {
    ...environment,
    CURD_ENVIRONMENT: 'production',
    CURD_PUBLIC_URL: 'https://shop.example',
  };
  await assert.rejects(
    runInProcess(production, 'seed', [], given),
    /production shop gets no invented orders/,
  );
});
