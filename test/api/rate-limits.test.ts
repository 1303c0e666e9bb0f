/** Both limits of accounts and customers, and the headers that show them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { buildApp } from '../../src/app/build-app.ts';
import type { Engine } from '../../src/database/sql.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Shop,
  type TestClock,
  type TestResponse,
  testClock,
} from '../helper.ts';
import { newApplication, openListeningShop, post, withToken } from '../oauth/flow.ts';
import { logIn, registerAndLogIn, registerCustomer } from '../shop-verbs.ts';

const minuteMs = 60_000;
/** The default plans. */
const asShipped = { CURD_PLANS: undefined };

interface Account {
  readonly id: number;
  readonly name: string;
  readonly keys: readonly [reader: string, other: string];
}

async function newAccount({ app }: Shop, plan: string): Promise<Account> {
  const {
    auth: { keys },
    contextOf,
  } = app;
  const name = `account-${randomBytes(6).toString('hex')}`;
  const { id } = await keys.createAccount(contextOf('test'), name, plan);
  const newKey = async () => (await keys.create(contextOf('test'), id, { scopes: ['write:cheeses'] })).key;
  return { id, name, keys: [await newKey(), await newKey()] };
}

/** A shop whose clock is at the start of a minute, and an account. */
async function openWith(t: TestContext, engine: Engine, plan: string, settings = {}) {
  const clock = testClock();
  const shop = await openShop(t, { engine, clock, settings: { ...asShipped, ...settings } });
  return { clock, shop, account: await newAccount(shop, plan) };
}

const list = (shop: Shop, key: string) => shop.request('GET', '/v2/cheeses', { as: key });
const whoami = (shop: Shop, key: string) => shop.request('GET', '/v2/whoami', { as: key });

/** How many of `calls` requests pass now. */
async function passing(shop: Shop, key: string, calls: number): Promise<number> {
  let passed = 0;
  for (let one = 0; one < calls; one += 1) {
    passed += (await list(shop, key)).status === 429 ? 0 : 1;
  }
  return passed;
}

/** Checks that the headers of a plan with an hourly quota agree with each other. */
function remainingIn({ headers }: TestResponse, clock: TestClock): { hour: number; burst: number } {
  const [, q, burstQ] =
    /^"hour";q=(\d+);w=3600, "burst";q=(\d+);w=1$/.exec(headers['ratelimit-policy'] ?? '') ?? [];
  const [, r, t, burstR] =
    /^"hour";r=(\d+);t=(\d+), "burst";r=(\d+);t=1$/.exec(headers.ratelimit ?? '') ?? [];
  assert.ok(q !== undefined && r !== undefined, JSON.stringify(headers));
  assert.equal(headers['x-ratelimit-limit'], q);
  assert.equal(headers['x-ratelimit-remaining'], r);
  const reset = Number(headers['x-ratelimit-reset']) - Math.ceil(clock.now() / 1000);
  assert.equal(Number(t), Math.min(reset, 3600), 't never exceeds w');
  assert.ok(reset <= 3660);
  assert.ok(Number(burstR) < Number(burstQ) || Number(burstR) === 0);
  return { hour: Number(r), burst: Number(burstR) };
}

/** Checks the body of a 429. @returns its Retry-After */
function refusedFor(response: TestResponse): number {
  assertError(response, 429, 'rate_limit_exceeded');
  assert.equal(response.headers['cache-control'], 'no-store');
  assert.match(response.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  return Number(response.headers['retry-after']);
}

onBothEngines('The limits of a plan', (engine) => {
  test('The limits of a plan are in the headers of every response to a valid credential, with any status', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'pro');
    const as = account.keys[0];
    const made = await shop.request('POST', '/v2/cheeses', { as, body: { name: 'Comté' } });
    const url = `/v2/cheeses/${made.json.id}`;
    const tag = made.headers.etag ?? '';
    const responses = [
      made,
      await shop.request('GET', url, { as }),
      await shop.request('HEAD', url, { as }),
      await shop.request('GET', url, { as, headers: { 'if-none-match': tag } }),
      await shop.request('GET', '/v2/cheeses?limit=none', { as }),
      await shop.request('DELETE', '/v2/customer/nobody', { as }),
      await shop.request('GET', '/v2/cheeses/999999', { as }),
      await shop.request('POST', '/v2/cheeses', { as, body: { name: 'Comté' } }),
      await shop.request('POST', url, { as, body: { name: 'Brie' }, headers: { 'if-match': '"old"' } }),
      await shop.request('POST', '/v2/cheeses', { as, raw: 'a', headers: { 'content-type': 'text/plain' } }),
      await shop.request('POST', '/v2/cheeses', { as, body: { name: '' } }),
      await shop.request('GET', '/v2/limits', { as }),
    ];
    const statuses = [201, 200, 200, 304, 400, 403, 404, 409, 412, 415, 422, 200];
    assert.deepEqual(
      responses.map(({ status }) => status),
      statuses,
    );
    const left = responses.map((response) => remainingIn(response, clock));
    const hours = [9999, 9998, 9997, 9997, 9996, 9995, 9994, 9993, 9992, 9991, 9990, 9989];
    assert.deepEqual(
      left,
      hours.map((hour, index) => ({ hour, burst: 99 - index })),
    );
  });

  test('The limits of a plan are 10 a second and 100 an hour on the plan free', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'free');
    const [key] = account.keys;
    for (let second = 0; second < 10; second += 1) {
      for (let one = 1; one <= 10; one += 1) {
        const response = await list(shop, key);
        assert.equal(response.status, 200);
        assert.deepEqual(remainingIn(response, clock), { hour: 100 - 10 * second - one, burst: 10 - one });
      }
      const eleventh = await list(shop, key);
      if (second < 9) {
        assert.equal(refusedFor(eleventh), 1);
      }
      assert.deepEqual(remainingIn(eleventh, clock), { hour: 90 - 10 * second, burst: 0 });
      clock.advance(1000);
    }
    const wait = refusedFor(await list(shop, key));
    assert.equal(wait, 61 * 60 - 10, 'until all of the first minute is an hour ago');
    clock.advance(wait * 1000 - 1);
    assert.equal(await passing(shop, key, 1), 0);
    clock.advance(1);
    assert.equal(await passing(shop, key, 11), 10);
  });

  test('The limits of a plan permit 100 requests spread over an hour, and refuse the next with Retry-After', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'free');
    for (let one = 0; one < 100; one += 1) {
      assert.equal(await passing(shop, account.keys[0], 1), 1, String(one));
      clock.advance(36_000);
    }
    const wait = refusedFor(await list(shop, account.keys[0]));
    assert.ok(wait >= 1 && wait <= 60, String(wait));
    clock.advance(wait * 1000);
    assert.equal(await passing(shop, account.keys[0], 1), 1);
  });

  test('The limits of a plan are shared by all API keys and OAuth clients of one account only', async (t) => {
    const clock = testClock(Math.floor(Date.now() / minuteMs) * minuteMs);
    const shop = await openListeningShop(t, { engine, clock, settings: asShipped });
    const account = await newAccount(shop, 'free');
    const app = await newApplication(shop, {
      accountId: account.id,
      grants: ['client_credentials'],
      scopes: ['read:cheeses'],
    });
    const form = { grant_type: 'client_credentials', scope: 'read:cheeses' };
    const { access_token: token } = (await post(`${shop.url}/oauth/token`, form, app)).json;
    assert.equal(await passing(shop, account.keys[0], 4), 4);
    assert.equal(await passing(shop, account.keys[1], 4), 4);
    const byApp = await withToken(shop, token, 'GET', '/v2/whoami');
    assert.equal(byApp.json.account, account.name);
    assert.deepEqual(remainingIn(byApp, clock), { hour: 91, burst: 1 });
    assert.equal(await passing(shop, account.keys[0], 2), 1);
    refusedFor(await withToken(shop, token, 'GET', '/v2/cheeses'));
    refusedFor(await list(shop, account.keys[1]));
    assert.equal(await passing(shop, (await newAccount(shop, 'free')).keys[0], 11), 10);
  });

  test('The limits of a plan of a customer are those of CURD_SESSION_PLAN, for all sessions together', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'pro', { CURD_SESSION_PLAN: 'free' });
    const customer = await registerCustomer(shop);
    const [ada, again] = [await logIn(shop, customer), await logIn(shop, customer)];
    const { headers: bob } = await registerAndLogIn(shop);
    const get = (headers: RequestOptions['headers'] = {}, more = {}) =>
      shop.request('GET', '/v2/whoami', { headers, ...more });
    for (let one = 0; one < 9; one += 1) {
      assert.equal((await get(ada)).json.quota.plan, 'free');
    }
    const acting = await get(ada, { as: account.keys[0] });
    assert.equal(acting.json.account, account.name);
    assert.deepEqual(remainingIn(acting, clock), { hour: 9999, burst: 99 }, 'the account pays');
    assert.deepEqual(remainingIn(await get(again), clock), { hour: 90, burst: 0 });
    refusedFor(await get(ada));
    refusedFor(await get(again));
    assert.equal((await get(bob)).status, 200);
  });

  test('The limits of a plan survive a restart of the server', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'pro');
    const [key] = account.keys;
    const first = await buildApp(shop.config, { clock });
    for (let one = 0; one < 30; one += 1) {
      const { statusCode } = await first.server.inject({ url: '/v2/limits', headers: { 'x-api-key': key } });
      assert.equal(statusCode, 200);
    }
    assert.equal(
      remainingIn(await list(shop, key), clock).hour,
      // A server on SQLite leases a hundredth of the quota at a time.
      10_000 - (engine === 'sqlite' ? 100 : 30) - 1,
      'what is taken is written',
    );
    await first.close();
    const { hour } = remainingIn(await list(await shop.another(), key), clock);
    assert.equal(
      hour,
      10_000 - 30 - 1 - (engine === 'sqlite' ? 100 : 1),
      'what was not used is given back at the end',
    );
  });

  test('The limits of a plan lose at most a hundredth of the quota when a server is killed, and never gain', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'free');
    let passed = 0;
    for (let round = 0; round < 13; round += 1) {
      // The server before is never closed.
      passed += await passing(await shop.another(), account.keys[round % 2] as string, 10);
      clock.advance(1000);
    }
    assert.equal(passed, 100);
    clock.advance(59 * minuteMs);
    refusedFor(await list(shop, account.keys[0]));
  });

  test('The limits of a plan change with the plan at the next request, on this server and on another', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'free');
    const other = await shop.another();
    const {
      auth: { keys },
      contextOf,
    } = shop.app;
    const [key] = account.keys;
    assert.equal(await passing(shop, key, 11), 10);
    await keys.setPlan(contextOf('test'), account.id, 'pro');
    assert.deepEqual(remainingIn(await list(shop, key), clock), { hour: 9989, burst: 89 });
    assert.equal((await whoami(shop, key)).json.quota.plan, 'pro');
    await keys.setPlan(contextOf('test'), account.id, 'enterprise');
    for (const one of [shop, other]) {
      const { headers } = await list(one, key);
      assert.equal(headers['ratelimit-policy'], '"burst";q=1000;w=1');
      assert.match(headers.ratelimit ?? '', /^"burst";r=\d+;t=1$/);
      assert.equal(headers['x-ratelimit-limit'], '1000');
      assert.equal(Number(headers['x-ratelimit-reset']), clock.now() / 1000 + 1);
    }
    await keys.setPlan(contextOf('test'), account.id, 'free');
    assert.equal(refusedFor(await list(shop, key)), 1);
    clock.advance(1000);
    assert.equal(remainingIn(await list(shop, key), clock).burst, 9);
  });

  test('The limits of a plan refund 304 and replays to the hour, and count them in the second', async (t) => {
    const { clock, shop, account } = await openWith(t, engine, 'free');
    const as = account.keys[0];
    const create = () =>
      shop.request('POST', '/v2/cheeses', {
        as,
        body: { name: 'Brie' },
        headers: { 'idempotency-key': 'a' },
      });
    const made = await create();
    assert.deepEqual(remainingIn(made, clock), { hour: 99, burst: 9 });
    const replay = await create();
    assert.equal(replay.headers['idempotency-replayed'], 'true');
    assert.deepEqual(remainingIn(replay, clock), { hour: 99, burst: 8 });
    const headers = { 'if-none-match': made.headers.etag ?? '' };
    for (let burst = 7; burst >= 0; burst -= 1) {
      const same = await shop.request('GET', `/v2/cheeses/${made.json.id}`, { as, headers });
      assert.equal(same.status, 304);
      assert.deepEqual(remainingIn(same, clock), { hour: 99, burst });
    }
    refusedFor(await shop.request('GET', `/v2/cheeses/${made.json.id}`, { as, headers }));
  });
});
