/** Rate limits: the order of refusals, how limits are published, and their memory. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { migrate } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { createLocalCounter } from '../../src/limits/local-counter.ts';
import { createRateLimits } from '../../src/limits/rate-limits.ts';
import { freshConfig, open } from '../database/notes.ts';
import { assertError, openShop, type Shop, testClock } from '../helper.ts';

const plans = (limits: object) => ({ CURD_PLANS: JSON.stringify(limits) });

/** Uses up the burst of the shop's account, whose plan permits two requests a second. */
async function openSpent(t: Parameters<typeof openShop>[0]): Promise<Shop> {
  const settings = plans({ enterprise: { perHour: 50, burst: 2 } });
  const shop = await openShop(t, { clock: testClock(), settings });
  for (const _ of [1, 2]) {
    assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).status, 200);
  }
  return shop;
}

suite('Rate limits', () => {
  test('Rate limits are checked after 404, 405 and 401, and before 403, 415, 400 and 422', async (t) => {
    const shop = await openSpent(t);
    const as = shop.reader;
    assertError(await shop.request('GET', '/v2/nothing', { as }), 404, 'not_found');
    assertError(await shop.request('PATCH', '/v2/cheeses', { as }), 405, 'method_not_allowed');
    assertError(await shop.request('GET', '/v2/cheeses', { as: `${as}x` }), 401, 'unauthorized');
    for (const call of [
      shop.request('POST', '/v2/cheeses', { as, body: { name: 'Brie' } }),
      shop.request('POST', '/v2/cheeses', { as, raw: 'x', headers: { 'content-type': 'text/plain' } }),
      shop.request('GET', '/v2/cheeses?limit=none', { as }),
      shop.request('GET', '/v2/cheeses/999999', { as }),
      shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: '' } }),
      shop.request('GET', '/v2/limits', { as }),
      shop.request('HEAD', '/v2/whoami', { as }),
    ]) {
      assert.equal((await call).status, 429);
    }
  });

  test('Rate limits refuse before the handler runs', async (t) => {
    const shop = await openSpent(t);
    const body = { name: 'Brie' };
    assert.equal((await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).status, 429);
    assert.equal((await shop.app.database.all(sql`select id from cheese`)).length, 0);
  });

  test('Rate limits are the lowest for an account whose plan was removed from the settings', async (t) => {
    const settings = plans({ tiny: { perHour: 7, burst: 3 } });
    const shop = await openShop(t, { clock: testClock(), settings });
    const {
      auth: { keys },
      contextOf,
    } = shop.app;
    const { id } = await keys.createAccount(contextOf('test'), 'old customer', 'gold');
    const { key: as } = await keys.create(contextOf('test'), id, {});
    const { json, headers } = await shop.request('GET', '/v2/whoami', { as });
    assert.deepEqual(json.quota, {
      plan: 'tiny',
      hour: { limit: 7, remaining: 6, resetSeconds: 3660 },
      burst: { limit: 3, remaining: 2 },
    });
    assert.equal(headers['ratelimit-policy'], '"hour";q=7;w=3600, "burst";q=3;w=1');
  });

  test('Rate limits are the same in GET /v2/whoami and in the headers', async (t) => {
    const settings = plans({ enterprise: { perHour: 500, burst: 30 } });
    const clock = testClock();
    const shop = await openShop(t, { clock, settings });
    for (let one = 0; one < 20; one += 1) {
      const { json, headers } = await shop.request('GET', '/v2/whoami', { as: shop.reader });
      const { hour, burst } = json.quota;
      assert.equal(
        headers.ratelimit,
        `"hour";r=${hour.remaining};t=${Math.min(hour.resetSeconds, 3600)}, "burst";r=${burst.remaining};t=1`,
      );
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(hour.remaining, 499 - one);
      clock.advance(17_311);
    }
    for (const as of [undefined, 'nonsense']) {
      const stranger = await shop.request('GET', '/v2/whoami', as === undefined ? {} : { as });
      assertError(stranger, 401, 'unauthorized');
      assert.equal(stranger.headers.ratelimit, undefined);
    }
  });

  test('Rate limits are listed by GET /v2/limits, without a credential', async (t) => {
    const local = await openShop(t, {
      settings: plans({ gold: { perHour: null, burst: 7 }, free: { burst: 11 } }),
    });
    const { json } = await local.request('GET', '/v2/limits');
    assert.deepEqual(json.plans, {
      free: { perHour: 100, burst: 11 },
      pro: { perHour: 10_000, burst: 100 },
      enterprise: { perHour: null, burst: 1000 },
      gold: { perHour: null, burst: 7 },
    });
    assert.equal(json.sessionPlan, 'enterprise');
    assert.deepEqual(json.addressLimits, {
      perMinute: 60_000,
      accountsPerMinute: 60_000,
      publicPerMinute: 60_000,
    });
    const sandbox = await openShop(t, { settings: { CURD_ENVIRONMENT: 'sandbox', CURD_PLANS: undefined } });
    const inSandbox = (await sandbox.request('GET', '/v2/limits')).json;
    assert.deepEqual(inSandbox.plans, {
      free: { perHour: 1000, burst: 100 },
      pro: { perHour: 100_000, burst: 1000 },
      enterprise: { perHour: null, burst: 10_000 },
    });
    assert.equal(inSandbox.sessionPlan, 'free');
    assert.deepEqual(inSandbox.addressLimits, {
      perMinute: 6000,
      accountsPerMinute: 6000,
      publicPerMinute: 60_000,
    });
  });

  test('Rate limits apply to parallel requests', async (t) => {
    const settings = plans({ enterprise: { perHour: 30, burst: 1000 } });
    const shop = await openShop(t, { clock: testClock(), settings });
    const other = await shop.another();
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, one) =>
        (one % 2 === 0 ? shop : other).request('GET', '/v2/limits', { as: shop.reader }),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 200).length, 30);
    assert.equal(responses.filter(({ status }) => status === 429).length, 70);
  });

  test('Rate limits need bounded memory for any number of client IPs', async (t) => {
    const database = await open(t, await freshConfig(t, 'sqlite'));
    await migrate(database);
    const clock = testClock();
    const config = {
      plans: {},
      addressLimits: { perMinute: 600, accountsPerMinute: 60, publicPerMinute: 60 },
      publishableLimits: { perMinute: 600, burst: 60 },
    };
    const { countClientIp } = createRateLimits({
      config,
      clock,
      counts: createLocalCounter(database, clock),
    });
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 2 ** 20;
    };
    const before = used();
    for (let one = 0; one < 400_000; one += 1) {
      countClientIp(`2001:db8:${(one >> 16).toString(16)}:${(one & 65_535).toString(16)}::/64`, 'any');
    }
    const grown = used() - before;
    assert.ok(grown < 100, `${grown} MiB`);
    countClientIp('192.0.2.1', 'any');
  });
});
