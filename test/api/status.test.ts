/** GET /status: instances, settings without secrets, and what failed or is deprecated. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { sql } from '../../src/database/sql.ts';
import { jobQueue } from '../../src/jobs/queue.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { withoutSecrets } from '../../src/settings/setting-origins.ts';
import { settings } from '../../src/settings/table.ts';
import { approve, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type Shop,
  secret,
  temporaryFolder,
  testClock,
} from '../helper.ts';

const marker = 'MARKERthatmustneverbeshown';

const statusOf = async (shop: Shop) => {
  const response = await shop.request('GET', '/v2/status', { as: shop.admin });
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers['cache-control'], 'no-store');
  return response.json;
};

const variables = Object.values(settings).map(({ variable }) => variable);

onBothEngines('GET /status', (engine) => {
  test('GET /status shows two instances, each until it stops or gives no sign, and the state of the shop', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_SHOP_NAME: 'Käse & Co.' } });
    const alone = await statusOf(shop);
    assert.equal(alone.instances.length, 1, 'an instance is listed before it has written its row');
    const other = await shop.another();
    for (const { app } of [shop, other]) {
      await app.maintenance.run();
    }
    clock.advance(90_000);
    const [one, two] = [await statusOf(shop), await statusOf(other)];
    assert.notEqual(one.instance, two.instance);
    assert.equal(one.instances[0].id, one.instance);
    for (const { instances } of [one, two]) {
      assert.deepEqual(
        instances.map(({ id }: { id: string }) => id).toSorted(),
        [one.instance, two.instance].toSorted(),
      );
    }
    assert.deepEqual(
      [one.engine, one.environment, one.shopName, one.uptimeSeconds, one.startedAt],
      [engine, 'local', 'Käse & Co.', 90, '2026-06-01T12:00:00.000Z'],
    );
    assert.deepEqual(one.jobs, { due: 0, oldestSeconds: 0 });
    assert.deepEqual(one.deliveries, { waiting: 0, failing: 0 });
    assert.equal(one.lastBackupAt, null);
    assert.ok(one.log.last > 0 && one.log.first === 1 && one.log.epoch.length === 4);
    assert.ok(one.memoryBytes > 1e7 && one.database.latencyMs >= 0);

    await other.app.close();
    assert.equal((await statusOf(shop)).instances.length, 1, 'an instance that stopped is not listed');
    const killed = await shop.another();
    await killed.app.maintenance.run();
    assert.equal((await statusOf(shop)).instances.length, 2);
    clock.advance(200_000);
    assert.equal((await statusOf(shop)).instances.length, 1);
  });

  test('GET /status counts due jobs', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database } = shop.app;
    await database.transaction((tx) => jobQueue(tx).add('order.approval', '999', '2026-06-01T11:59:50.000Z'));
    await database.transaction((tx) =>
      jobQueue(tx).add('order.approval', '1000', '2026-06-01T13:00:00.000Z'),
    );
    assert.deepEqual((await statusOf(shop)).jobs, { due: 1, oldestSeconds: 10 });
    await database.run(sql`update background_job set parked_at = due_at`);
    assert.deepEqual((await statusOf(shop)).jobs, { due: 0, oldestSeconds: 0 });
  });

  test('GET /status lists the loops of the instance, with their last runs and how often they failed', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database, maintenance, statistics } = shop.app;
    const loopNamed = async (name: string) =>
      (await statusOf(shop)).loops.find((loop: { name: string }) => loop.name === name);
    const states = async () => {
      const { lastRunAt, failures, isFailing } = await loopNamed('statistics.events');
      return [lastRunAt, failures, isFailing];
    };
    assert.deepEqual(await states(), [null, 0, false]);
    await maintenance.run();
    const { lastRunSeconds, ...rest } = await loopNamed('maintenance');
    assert.ok(lastRunSeconds >= 0 && lastRunSeconds < 60, `${lastRunSeconds}`);
    const at = '2026-06-01T12:00:00.000Z';
    assert.deepEqual(rest, {
      ...{ name: 'maintenance', everySeconds: 60, lastRunAt: at, failures: 0, isFailing: false },
    });
    await database.run(sql`alter table statistic_position rename to hidden`);
    clock.advance(1000);
    await statistics.counter.run();
    assert.deepEqual(await states(), ['2026-06-01T12:00:01.000Z', 1, true]);
    await database.run(sql`alter table hidden rename to statistic_position`);
    clock.advance(1000);
    await statistics.counter.run();
    assert.deepEqual(await states(), ['2026-06-01T12:00:02.000Z', 1, false]);
    const { text } = await shop.request('GET', '/metrics', { as: shop.admin });
    for (const sample of ['failures_total', 'last_run_timestamp_seconds', 'last_run_seconds']) {
      assert.match(text, new RegExp(`^curd_loop_${sample}\\{loop="statistics.events"\\} \\d`, 'm'));
    }
  });
});

suite('GET /status', () => {
  test('GET /status lists deprecated operations in use, and requests that failed without what they contained', async (t) => {
    const shop = await openShop(t);
    const key = shop.writer;
    for (let uses = 0; uses < 3; uses += 1) {
      await shop.request('GET', '/v2/cheeses/findByTags?tags=cow', { as: key });
    }
    const { json: who } = await shop.request('GET', '/v2/whoami', { as: key });
    const { deprecated } = await statusOf(shop);
    assert.deepEqual(
      deprecated.map(({ operationId, principal }: Record<string, string>) => [operationId, principal]),
      [['findCheesesByTags', who.id]],
    );
    assert.deepEqual((await statusOf(shop)).faults, []);
    await shop.app.database.run(sql`alter table cheese rename to hidden`);
    const failed: string[] = [];
    for (let requests = 0; requests < 22; requests += 1) {
      // Not `shop.request`, because no route declares 500.
      const response = await shop.app.server.inject({
        method: 'POST',
        url: '/v2/cheeses',
        headers: { 'x-api-key': key },
        payload: { name: marker },
      });
      assert.equal(response.statusCode, 500);
      failed.push(String(response.headers['x-request-id']));
    }
    const { faults } = await statusOf(shop);
    assert.deepEqual(
      faults.map(({ requestId }: { requestId: string }) => requestId),
      failed.toReversed().slice(0, 20),
    );
    assert.equal(faults[0].operationId, 'createCheese');
    assert.match(faults[0].message, /\(\w*Error/);
    assert.ok(!JSON.stringify(faults).includes(marker));
    await shop.app.database.run(sql`alter table hidden rename to cheese`);
  });

  test('GET /status shows each setting with its origin, and no secret', async (t) => {
    const shop = await openShop(t, {
      settings: {
        CURD_SECRET: `${marker}${marker}`,
        CURD_PORT: '9999',
        CURD_IMAGES_URL: `https://user:${marker}@cdn.example/i`,
      },
    });
    const { settings: shown } = await statusOf(shop);
    assert.deepEqual(
      shown.map(({ variable }: { variable: string }) => variable),
      variables,
    );
    const of = (name: string) => shown.find(({ variable }: { variable: string }) => variable === name);
    assert.deepEqual(of('CURD_PORT'), { variable: 'CURD_PORT', value: '9999', origin: 'environment' });
    assert.deepEqual(of('CURD_HOST'), { variable: 'CURD_HOST', value: '127.0.0.1', origin: 'default' });
    assert.deepEqual(of('CURD_PUBLIC_URL'), { variable: 'CURD_PUBLIC_URL', value: null, origin: 'default' });
    assert.deepEqual(of('CURD_SECRET'), { variable: 'CURD_SECRET', value: '***', origin: 'environment' });
    const text = (await shop.request('GET', '/v2/status', { as: shop.admin })).text;
    assert.ok(!text.includes(marker));
    assert.ok(!text.includes(shop.admin));
  });

  test('GET /status is 403 without admin, and for a request that acts for a customer', async (t) => {
    const shop = await openShop(t);
    const session = await newSession(shop, await newCustomer(shop, 'ada', 'staff'));
    const authorization = `Bearer ${session}`;
    for (const path of [
      'status',
      'statistics/series?measures=orders.placed&from=2026-06-01',
      'statistics/best-sellers?from=2026-06-01',
    ]) {
      assertError(await shop.request('GET', `/v2/${path}`), 401, 'unauthorized');
      assertError(await shop.request('GET', `/v2/${path}`, { as: shop.writer }), 403, 'forbidden');
      assertError(await shop.request('GET', `/v2/${path}`, { headers: { authorization } }), 403, 'forbidden');
      const acting = { as: shop.admin, headers: { authorization } };
      assertError(await shop.request('GET', `/v2/${path}`, acting), 403, 'forbidden');
    }
    const client = await newClient(shop);
    const customer = await newCustomer(shop, 'bob', 'staff');
    await approve(shop, client, customer);
    const token = `Bearer ${await newToken(shop, { client, customer, scope: 'admin' })}`;
    const response = await shop.request('GET', '/v2/status', { headers: { authorization: token } });
    assert.equal(response.status, 200, response.text);
  });
});

test('Settings are shown with their origin, without passwords in URLs', async (t) => {
  const database = `postgres://curd:${marker}@db.internal/curd?sslmode=require&password=${marker}`;
  const raw = {
    CURD_DATA_DIR: await temporaryFolder(t),
    CURD_SECRET: secret,
    CURD_DATABASE: database,
    CURD_PORT: '1',
  };
  const { given } = loadConfig(raw, { CURD_PORT: '1' });
  assert.ok(!JSON.stringify(given).includes(marker) && !JSON.stringify(given).includes(secret));
  const of = (name: string) => given.find(({ variable }) => variable === name);
  assert.equal(
    of('CURD_DATABASE')?.value,
    'postgres://curd:***@db.internal/curd?sslmode=require&password=***',
  );
  assert.equal(of('CURD_PORT')?.origin, 'flag');
  assert.equal(of('CURD_DATABASE')?.origin, 'environment');

  for (const [text, shown] of [
    ['postgres://curd@db/curd', 'postgres://curd@db/curd'],
    [
      `postgresql://u:a:${marker}@h1:1,h2:2/db?target_session_attrs=any`,
      'postgresql://u:***@h1:1,h2:2/db?target_session_attrs=any',
    ],
    [`postgres://u:p@${marker}@db/x`, 'postgres://u:***@db/x'],
    [`postgres://u:a/${marker}@db/x`, 'postgres://***'],
    [`postgres://u:a#${marker}@db/x`, 'postgres://***'],
    [`https://${marker}@cdn.example/a`, 'https://***@cdn.example/a'],
    [`https://cdn.example/a?X-Amz-Signature=${marker}&b=1`, 'https://cdn.example/a?X-Amz-Signature=***&b=1'],
    ['s3://bucket/cheese', 's3://bucket/cheese'],
    ['./data', './data'],
    ['{"free":{"perHour":100}}', '{"free":{"perHour":100}}'],
  ] as const) {
    assert.equal(withoutSecrets(text), shown);
  }
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const shown = withoutSecrets(`postgres://user:${before}${marker}${after}@host/name`);
      assert.ok(!shown.includes(marker), shown);
    }),
  );
});
