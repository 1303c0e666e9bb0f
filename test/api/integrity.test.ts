/** GET /integrity: the stored results of `curd doctor`, without which the command works too. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { type CheckResult, storeDoctorRun } from '../../src/operations/integrity.ts';
import { approve, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import { openFilledShop } from '../cli/filled-shop.ts';
import { curd } from '../cli/run.ts';
import { assertError, engines, onBothEngines, openShop, type Shop, testClock } from '../helper.ts';

const runsOf = async (shop: Shop) => {
  const response = await shop.request('GET', '/v2/integrity', { as: shop.admin });
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers['cache-control'], 'no-store');
  return response.json.items;
};

onBothEngines('GET /integrity', (engine) => {
  test('GET /integrity lists the last 30 results, newest first, and counts no notes as faults', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database } = shop.app;
    assert.deepEqual(await runsOf(shop), []);
    const finding = { fault: 'lost files', count: 7, examples: ['a', 'b'], remedy: 'restore', isNote: false };
    const checks: CheckResult[] = [
      { check: 'orders', findings: [] },
      { check: 'images', findings: [finding, { ...finding, isNote: true }, { ...finding, fault: 'x' }] },
    ];
    const startedAt = clock.now();
    for (let runs = 1; runs <= 33; runs += 1) {
      clock.advance(1000);
      await storeDoctorRun(database, clock, startedAt, runs === 33 ? checks : []);
    }
    const items = await runsOf(shop);
    assert.deepEqual(items[0], { at: '2026-06-01T12:00:00.000Z', seconds: 33, faults: 2, checks });
    assert.deepEqual(
      items.map(({ seconds }: { seconds: number }) => seconds),
      Array.from({ length: 30 }, (_, index) => 33 - index),
    );
    assert.equal(items[1].faults, 0);
    const stored = await database.get<{ rows: number }>(sql`select count(*) as rows from doctor_run`);
    assert.equal(stored?.rows, 30);
  });
});

for (const engine of engines) {
  test(`curd doctor stores its result for GET /integrity while a server runs (${engine})`, async (t) => {
    const { shop, environment, orders } = await openFilledShop(t, engine);
    const { database } = shop.app;
    const good = await curd(environment, 'doctor', '--json');
    assert.deepEqual([good.code, good.stderr], [0, '']);
    const [first, ...others] = await runsOf(shop);
    assert.deepEqual([first.faults, first.checks, others], [0, JSON.parse(good.stdout), []]);
    assert.ok(Math.abs(Date.now() - Date.parse(first.at)) < 120_000 && first.seconds < 120);

    await database.run(sql`update orders set total_cents = 1 where id = ${orders.placed}`);
    const unstored = await curd(environment, 'doctor', '--no-record');
    assert.deepEqual([unstored.code, unstored.stderr], [2, '']);
    assert.equal((await runsOf(shop)).length, 1, 'stored in spite of --no-record');

    await database.run(sql`alter table doctor_run rename to hidden`);
    const failed = await curd(environment, 'doctor', '--json');
    assert.deepEqual([failed.code, JSON.parse(failed.stdout).length], [2, first.checks.length]);
    assert.match(failed.stderr, /^The result was not stored.*doctor_run.*--no-record.*\.\n$/);
    await database.run(sql`alter table hidden rename to doctor_run`);

    const bad = await curd(environment, 'doctor', '--json');
    assert.deepEqual([bad.code, bad.stderr], [2, '']);
    const [newest, oldest] = await runsOf(shop);
    assert.deepEqual([newest.faults, newest.checks, oldest], [1, JSON.parse(bad.stdout), first]);
    const { text } = await shop.request('GET', '/metrics', { as: shop.admin });
    assert.match(text, /^curd_doctor_faults 1$/m);
    assert.ok(text.includes(`\ncurd_last_doctor_timestamp_seconds ${Date.parse(newest.at) / 1000}\n`), text);
  });
}

suite('GET /integrity', () => {
  test('GET /integrity is 403 without admin, and for a request that acts for a customer', async (t) => {
    const shop = await openShop(t);
    const session = await newSession(shop, await newCustomer(shop, 'ada', 'staff'));
    const authorization = `Bearer ${session}`;
    const path = '/v2/integrity';
    assertError(await shop.request('GET', path), 401, 'unauthorized');
    assertError(await shop.request('GET', path, { as: shop.writer }), 403, 'forbidden');
    assertError(await shop.request('GET', path, { headers: { authorization } }), 403, 'forbidden');
    const acting = { as: shop.admin, headers: { authorization } };
    assertError(await shop.request('GET', path, acting), 403, 'forbidden');
    const client = await newClient(shop);
    const customer = await newCustomer(shop, 'bob', 'staff');
    await approve(shop, client, customer);
    const token = `Bearer ${await newToken(shop, { client, customer, scope: 'admin' })}`;
    const response = await shop.request('GET', path, { headers: { authorization: token } });
    assert.deepEqual([response.status, response.json], [200, { items: [] }]);
  });
});
