/** The limits of a plan are exact for all instances together. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { sql } from '../../src/database/sql.ts';
import { assertError, type Shop, shared, type TestResponse, testClock, until } from '../helper.ts';
import { type Instances, newCheeseWithEtag, openInstances, tally } from './instances.ts';

const plans = JSON.stringify({
  free: { perHour: 100, burst: 10 },
  pro: { perHour: 10_000, burst: 100 },
  brisk: { perHour: 60, burst: 1000 },
  enterprise: { perHour: null, burst: 1000 },
});

async function open(t: TestContext, plan: string, clock = testClock()) {
  const shops = await openInstances(t, 3, { clock, settings: { CURD_PLANS: plans } });
  const {
    auth: { keys },
    contextOf,
  } = shops.all[0].app;
  const name = `account-${randomBytes(6).toString('hex')}`;
  const { id } = await keys.createAccount(contextOf('test'), name, plan);
  const newKey = async () => (await keys.create(contextOf('test'), id, { scopes: ['write:cheeses'] })).key;
  return { shops, clock, name, as: [await newKey(), await newKey()] as const };
}

/** Parallel requests with both API keys in turn. */
function rush(shops: Instances, as: readonly [string, string], calls: number): Promise<TestResponse[]> {
  return shops.atOnce(calls, (shop, index) =>
    shop.request('GET', '/v2/cheeses', { as: as[index % 2] as string }),
  );
}

function leftIn({ headers }: TestResponse): { hour: number; burst: number } {
  const [, hour, burst] = /^"hour";r=(\d+);t=\d+, "burst";r=(\d+);t=1$/.exec(headers.ratelimit ?? '') ?? [];
  assert.ok(hour !== undefined, JSON.stringify(headers));
  return { hour: Number(hour), burst: Number(burst) };
}

suite('The limits of a plan, on three instances', () => {
  test('The limits of a plan on three instances are those of a single one, per second and per hour', async (t) => {
    const { shops, clock, as } = await open(t, 'free');
    for (let second = 0; second < 10; second += 1) {
      const responses = await rush(shops, as, 40);
      assert.equal(tally(responses), '10 x 200, 30 x 429', `second ${second}`);
      const left = responses.filter(({ status }) => status === 200).map((response) => leftIn(response).hour);
      assert.deepEqual(
        left.toSorted((a, b) => b - a),
        Array.from({ length: 10 }, (_, index) => 99 - 10 * second - index),
        'each call was told another number',
      );
      for (const answer of responses.filter(({ status }) => status === 429)) {
        assertError(answer, 429, 'rate_limit_exceeded');
      }
      clock.advance(1000);
    }
    const over = await rush(shops, as, 12);
    assert.equal(tally(over), '12 x 429');
    const waits = new Set(over.map(({ headers }) => Number(headers['retry-after'])));
    assert.equal(waits.size, 1);
    clock.advance(1000 * Math.max(...waits) - 1);
    assert.equal(tally(await rush(shops, as, 3)), '3 x 429');
    clock.advance(1);
    assert.equal(tally(await rush(shops, as, 30)), '10 x 200, 20 x 429');
  });

  test('The limits of a plan on three instances decrease with each request, to any instance', async (t) => {
    const { shops, as } = await open(t, 'pro');
    for (let call = 1; call <= 30; call += 1) {
      const response = await shops.request('GET', '/v2/cheeses', { as: as[call % 2] as string });
      assert.deepEqual(leftIn(response), { hour: 10_000 - call, burst: 100 - call });
    }
  });

  test('The limits of a plan on three instances also apply with the clock of the database', async (t) => {
    const { shops, as } = await open(t, 'brisk', systemClock as ReturnType<typeof testClock>);
    assert.equal(tally(await rush(shops, as, 150)), '60 x 200, 90 x 429', 'an hour');
    const second = await open(t, 'free', systemClock as ReturnType<typeof testClock>);
    let passed = 0;
    const began = performance.now();
    while (passed < 20) {
      const before = performance.now();
      const responses = await rush(second.shops, second.as, 30);
      const now = responses.filter(({ status }) => status === 200).length;
      passed += now;
      assert.ok(now <= 10 * Math.ceil((performance.now() - before) / 1000), tally(responses));
      assert.ok(passed <= 10 * Math.ceil((performance.now() - began) / 1000), `${passed} too soon`);
      await sleep(100);
    }
    assert.ok(performance.now() - began > 900);
  });

  test('The limits of a plan on three instances refund 304 to the hour, on any of them', async (t) => {
    const { shops, clock, as } = await open(t, 'pro');
    const { id, etag } = await newCheeseWithEtag(shops);
    const read = () =>
      shops.request('GET', `/v2/cheeses/${id}`, { as: as[0], headers: { 'if-none-match': etag } });
    const [first, ...others] = await Promise.all(Array.from({ length: 60 }, read));
    assert.equal(tally([first as TestResponse, ...others]), '60 x 304');
    let calls = 0;
    // The refund is counted after the response was sent.
    await until(
      async () => {
        calls += 1;
        clock.advance(1000);
        return leftIn(await shops.request('GET', '/v2/cheeses', { as: as[0] })).hour === 10_000 - calls;
      },
      'they were charged',
      3000,
    );
  });

  test('The limits of a plan on three instances change with the plan on all of them immediately', async (t) => {
    const { shops, clock, name, as } = await open(t, 'free');
    assert.equal(tally(await rush(shops, as, 20)), '10 x 200, 10 x 429');
    for (const [plan, policy] of [
      ['pro', '"hour";q=10000;w=3600, "burst";q=100;w=1'],
      ['enterprise', '"burst";q=1000;w=1'],
      ['free', '"hour";q=100;w=3600, "burst";q=10;w=1'],
    ] as const) {
      clock.advance(1000);
      const {
        auth: { keys },
        contextOf,
      } = shops.next().app;
      await keys.setPlan(contextOf('test'), (await keys.findAccount(name)).id, plan);
      for (const response of await rush(shops, as, 6)) {
        assert.equal(response.status, 200);
        assert.equal(response.headers['ratelimit-policy'], policy);
      }
    }
  });
});

suite('The limit of logins of a client IP, on three instances', () => {
  const perMinute = 60;
  const settings = {
    CURD_ADDRESS_LIMITS: JSON.stringify({ perMinute: 600, accountsPerMinute: perMinute }),
    CURD_TRUSTED_PROXIES: '127.0.0.0/8',
    // A request without a credential reads the clock of a test shop.
    CURD_CLOCK: 'system',
  };
  const clock = testClock();
  const instances = shared((t) => openInstances(t, 3, { clock, settings }));
  let clients = 0;
  /** Headers of another client IP. */
  const newClient = () => {
    clients += 1;
    return { 'x-forwarded-for': `192.0.2.${clients}` };
  };
  /** Counted like a login, and refused before a password is hashed. */
  const logIn = (shop: Shop, headers: Record<string, string>) =>
    shop.request('POST', '/v2/customer/login', { headers, raw: 'no JSON' });
  const refused = (responses: readonly TestResponse[]) => responses.filter(({ status }) => status === 429);
  const statements = ({ all }: Instances) =>
    all.map(({ app }) => app.database.stats().done).reduce((sum, done) => sum + done, 0);

  test('The login limit of a client IP on three instances is that of a single one', async () => {
    const shops = instances();
    const [headers, other] = [newClient(), newClient()];
    const parallel = await shops.atOnce(perMinute - 15, (shop) => logIn(shop, headers));
    clock.advance(30_000);
    const later = await shops.atOnce(16, (shop) => logIn(shop, headers));
    const [only, ...more] = refused([...parallel, ...later]);
    assert.ok(only !== undefined && more.length === 0, tally([...parallel, ...later]));
    assertError(only, 429, 'rate_limit_exceeded');
    assert.equal(only.headers['ratelimit-policy'], '"address";q=60;w=60');
    assert.equal(only.headers.ratelimit, '"address";r=0;t=31');
    assert.equal(only.headers['retry-after'], '31');
    assert.equal((await logIn(shops.next(), other)).status, 422, 'another client IP');

    clock.advance(30_999);
    assert.equal(tally(await shops.atOnce(6, (shop) => logIn(shop, headers))), '6 x 429');
    clock.advance(1);
    const freed = await shops.atOnce(50, (shop) => logIn(shop, headers));
    assert.equal(tally(freed), '45 x 422, 5 x 429');
  });

  test('The login limit of a client IP on three instances costs no statement where an instance knows that it is reached', async () => {
    const shops = instances();
    const headers = newClient();
    await shops.atOnce(perMinute + 9, (shop) => logIn(shop, headers));
    const before = statements(shops);
    for (let call = 0; call < 1000; call += 1) {
      assert.equal((await logIn(shops.next(), headers)).status, 429);
    }
    // Background work has some, and each request to a test shop reads its state.
    assert.ok(statements(shops) - before < 1100, String(statements(shops) - before));
  });

  test('The login limit of a client IP on three instances counts each entry of a batch, and nothing of a refused one', async () => {
    const shops = instances();
    const headers = newClient();
    const register = (entries: number) =>
      shops.request('POST', '/v2/customer/createMultiple', { headers, body: Array(entries).fill({}) });
    assert.equal((await register(50)).status, 200);
    clock.advance(1000);
    assertError(await register(11), 429, 'rate_limit_exceeded');
    assert.equal((await register(10)).status, 200);
    assertError(await register(1), 429, 'rate_limit_exceeded');
    clock.advance(60_000);
    assert.equal((await register(50)).status, 200);
    // A refused batch that would have been the last request counts nothing either, on its own instance.
    const [one] = shops.all;
    const next = newClient();
    const body = Array(perMinute - 1).fill({});
    assert.equal(
      (await one.request('POST', '/v2/customer/createMultiple', { headers: next, body })).status,
      200,
    );
    const refusedBatch = { headers: next, body: body.slice(0, 2) };
    assertError(
      await one.request('POST', '/v2/customer/createMultiple', refusedBatch),
      429,
      'rate_limit_exceeded',
    );
    assert.equal((await logIn(one, next)).status, 422);
    assertError(await logIn(one, next), 429, 'rate_limit_exceeded');
    const first = newClient();
    const larger = { headers: first, body: Array(perMinute + 1).fill({}) };
    assert.equal((await shops.request('POST', '/v2/customer/createMultiple', larger)).status, 200);
    assertError(await logIn(shops.next(), first), 429, 'rate_limit_exceeded');
  });

  test('The login limit of a client IP on three instances is 503 when the database does not respond', async () => {
    const shops = instances();
    const { database } = shops.all[0].app;
    const response = await database.transaction(async (tx) => {
      await tx.run(sql`lock table quota in exclusive mode`);
      return { sent: await logIn(shops.all[1], newClient()) };
    });
    assertError(response.sent, 503, 'unavailable');
    assert.match(response.sent.headers['retry-after'] ?? '', /^\d+$/);
  });

  test('The login limit of a client IP on three instances stores no client IP, and is deleted when it is over', async () => {
    const shops = instances();
    const { database } = shops.all[0].app;
    await logIn(shops.next(), newClient());
    const rows = await database.all<{ subject: string }>(
      sql`select subject from quota where subject like 'login:%'`,
    );
    assert.ok(rows.length > 0);
    assert.doesNotMatch(JSON.stringify(rows), /192\.0\.2/);
    await shops.request('GET', '/v2/cheeses', { as: shops.admin });
    clock.advance(11 * 60_000);
    // An instance that was just started: each purges the limits at most once in ten minutes.
    const { app } = await shops.all[0].another();
    await app.maintenance.run();
    const left = await database.all<{ subject: string }>(sql`select subject from quota`);
    assert.ok(
      left.length > 0 && left.every(({ subject }) => subject.startsWith('account:')),
      'the hour counts',
    );
  });
});
