/** Requests without a valid credential, which are counted by client IP. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertError, onBothEngines, openShop, type Shop, type TestResponse, testClock } from '../helper.ts';
import { newApplication, openListeningShop, post, queryOf } from '../oauth/flow.ts';

const behindProxy = { CURD_TRUSTED_PROXIES: '127.0.0.0/8' };
const production = {
  CURD_ENVIRONMENT: 'production',
  CURD_PUBLIC_URL: 'https://cheese.example',
};
const limits = (perMinute: number, accountsPerMinute = perMinute) => ({
  CURD_ADDRESS_LIMITS: JSON.stringify({ perMinute, accountsPerMinute }),
});

function openLimited(t: TestContext, settings = {}, perMinute = 3): Promise<Shop> {
  return openShop(t, { clock: testClock(), settings: { ...limits(perMinute), ...settings } });
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const ask = (shop: Shop, options = {}) => shop.request('GET', '/v2/limits', options);

/** How many of `calls` requests get another status than 429. */
async function passing(calls: number, call: () => Promise<{ status: number }>): Promise<number> {
  let passed = 0;
  for (let one = 0; one < calls; one += 1) {
    passed += (await call()).status === 429 ? 0 : 1;
  }
  return passed;
}

function assertTooMany(response: TestResponse, limit: number): number {
  assertError(response, 429, 'rate_limit_exceeded');
  const { headers } = response;
  const wait = Number(headers['retry-after']);
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 61, String(wait));
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['ratelimit-policy'], `"address";q=${limit};w=60`);
  assert.equal(headers.ratelimit, `"address";r=0;t=${Math.min(wait, 60)}`);
  assert.equal(headers['x-ratelimit-limit'], String(limit));
  assert.equal(headers['x-ratelimit-remaining'], '0');
  assert.match(headers['x-ratelimit-reset'] ?? '', /^\d{10}$/);
  return wait;
}

onBothEngines('The limits of an address', (engine) => {
  test('The limits of a client IP count requests without a credential and with a wrong one, which get 401 up to the limit', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: limits(4) });
    assert.equal((await ask(shop)).status, 200);
    assertError(await shop.request('GET', '/v2/cheeses'), 401, 'unauthorized');
    assertError(await shop.request('GET', '/v2/cheeses', { as: 'nonsense' }), 401, 'unauthorized');
    const bearer = { headers: { authorization: 'Bearer nonsense' } };
    assertError(await shop.request('GET', '/v2/cheeses', bearer), 401, 'unauthorized');
    const wait = assertTooMany(await shop.request('GET', '/v2/cheeses', bearer), 4);
    assertTooMany(await shop.request('GET', '/v2/cheeses', { as: `${shop.reader}x` }), 4);
    assertTooMany(await shop.request('GET', '/v2/cheeses'), 4);
    assertError(await shop.request('GET', '/v2/nothing'), 404, 'not_found');
    assertError(await shop.request('PATCH', '/v2/cheeses'), 405, 'method_not_allowed');
    const valid = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
    assert.equal(valid.status, 200, 'who shows a valid key passes from a flooded address');
    assert.match(valid.headers.ratelimit ?? '', /"burst"/);
    clock.advance(wait * 1000 - 1);
    assertTooMany(await ask(shop), 4);
    clock.advance(1);
    assert.equal((await ask(shop)).status, 200);
  });

  test('The limits of a client IP do not count requests with a valid credential', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings: limits(2) });
    const call = () => shop.request('GET', '/v2/cheeses', { as: shop.reader });
    assert.equal(await passing(20, call), 20);
    assert.equal(await passing(5, () => ask(shop)), 2);
  });
});

test('Behind a trusted proxy, each IPv4 address and each IPv6 network of 64 bits is counted separately', async (t) => {
  const shop = await openLimited(t, behindProxy, 2);
  assert.equal(await passing(3, () => ask(shop, from('192.0.2.1'))), 2);
  assert.equal(await passing(3, () => ask(shop, from('192.0.2.2'))), 2);
  assert.equal(await passing(1, () => ask(shop, from('::ffff:192.0.2.1'))), 0, 'the same, written otherwise');
  assert.equal(await passing(2, () => ask(shop, from('2001:db8:0:1::1'))), 2);
  assert.equal(await passing(1, () => ask(shop, from('2001:DB8:0:1:ffff:ffff:ffff:ffff'))), 0);
  assert.equal(await passing(1, () => ask(shop, from('2001:db8:0:2::1'))), 1);
  assert.equal(await passing(1, () => ask(shop, from('198.51.100.1, 192.0.2.1'))), 0, 'the last is the word');
});

test('Without a trusted proxy, X-Forwarded-For is ignored', async (t) => {
  const shop = await openLimited(t);
  let last = 0;
  const passed = await passing(6, () => {
    last += 1;
    return ask(shop, from(`192.0.2.${last}`));
  });
  assert.equal(passed, 3);
});

test('In production the limit is 60 logins and registrations a minute, and 600 requests', async (t) => {
  const shop = await openLimited(t, { ...production, ...behindProxy, CURD_ADDRESS_LIMITS: undefined });
  const visitor = (url: string) => () => shop.request('POST', url, { ...from('192.0.2.1'), raw: 'no JSON' });
  const urls = ['/v2/customer', '/v2/customer/createMultiple', '/v2/customer/login'];
  for (const url of urls) {
    assert.equal(await passing(20, visitor(url)), 20);
  }
  for (const url of urls) {
    assertTooMany(await visitor(url)(), 60);
  }
  assert.equal(await passing(541, () => ask(shop, from('192.0.2.1'))), 540, 'they count among all');
  assertTooMany(await ask(shop, from('192.0.2.1')), 600);
  assert.equal(await passing(601, () => ask(shop, from('192.0.2.2'))), 600);
  const other = { ...from('192.0.2.2'), raw: 'no JSON' };
  assertTooMany(await shop.request('POST', '/v2/customer/login', other), 600);
});

test('Each entry of POST /customer/createMultiple counts as a registration, without a valid credential', async (t) => {
  const clock = testClock();
  const settings = { CURD_ADDRESS_LIMITS: '{"perMinute":100,"accountsPerMinute":5}' };
  const shop = await openShop(t, { clock, settings });
  let names = 0;
  const batch = (entries: number) =>
    Array.from({ length: entries }, () => {
      names += 1;
      return { username: `user${names}`, email: `user${names}@example.com`, password: 'x' };
    });
  const send = (body: unknown, options: object = {}) =>
    shop.request('POST', '/v2/customer/createMultiple', { body, ...options });
  assert.equal((await send(batch(3))).status, 200);
  clock.advance(1000);
  assert.equal(assertTooMany(await send(batch(3)), 5), 60);
  assert.equal((await send(batch(2))).status, 200, 'what was refused counts nothing');
  assertTooMany(await send(batch(1)), 5);
  assert.equal((await send(batch(3), { as: shop.reader })).status, 200);
  clock.advance(61_000);
  // A batch larger than the limit passes if nothing else was counted, and is counted then.
  const repeated = { headers: { 'idempotency-key': 'batch' } };
  const large = batch(8);
  assert.equal((await send(large, repeated)).status, 200);
  assertTooMany(await send(batch(1)), 5);
  clock.advance(61_000);
  for (let replays = 0; replays < 5; replays += 1) {
    assert.equal((await send(large, repeated)).headers['idempotency-replayed'], 'true');
  }
  assertTooMany(await send(batch(1)), 5);
});

const publicPaths = [
  '/',
  '/docs',
  '/docs/send-request.js',
  '/docs/operations/listCheeses',
  '/images/nothing.png',
  '/openapi.json',
  '/.well-known/oauth-authorization-server',
  '/oauth/style.css',
];

test('Public paths have a separate limit, also with a valid credential', async (t) => {
  const publicPerMinute = publicPaths.length * 3;
  const limited = { CURD_ADDRESS_LIMITS: JSON.stringify({ perMinute: 1, publicPerMinute }) };
  const shop = await openLimited(t, limited);
  for (const url of publicPaths) {
    for (const options of [{}, { as: 'nonsense' }, { as: shop.reader }]) {
      const { status, headers } = await shop.request('GET', url, options);
      assert.ok(status < 300 || (status === 404 && url.includes('nothing')), `${url} ${status}`);
      assert.equal(headers.ratelimit, undefined, url);
    }
  }
  for (const url of publicPaths) {
    assertTooMany(await shop.request('GET', url), publicPerMinute);
    assert.equal((await shop.request('HEAD', url, { as: shop.reader })).status, 429);
  }
  assert.equal(await passing(2, () => ask(shop)), 1, 'other requests are counted apart');
  assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).status, 200);
});

test('Health checks have a limit per client IP that requests to other public paths do not use up', async (t) => {
  const limited = { CURD_ADDRESS_LIMITS: JSON.stringify({ publicPerMinute: 4 }) };
  const shop = await openLimited(t, limited);
  assert.equal(await passing(5, () => shop.request('GET', '/images/nothing.png')), 4);
  assert.equal((await shop.request('GET', '/')).status, 429);
  for (const url of ['/healthz', '/readyz', '/healthz', '/readyz']) {
    assert.equal((await shop.request('GET', url)).status, 200, url);
  }
  for (const url of ['/healthz', '/readyz']) {
    assertTooMany(await shop.request('GET', url), 4);
    assert.equal((await shop.request('HEAD', url, { as: shop.reader })).status, 429);
  }
});

test('In production one client IP may send 6000 requests a minute to public paths', async (t) => {
  const shop = await openLimited(t, { ...production, ...behindProxy, CURD_ADDRESS_LIMITS: undefined });
  const { addressLimits } = (await shop.request('GET', '/v2/limits')).json;
  assert.deepEqual(addressLimits, { perMinute: 600, accountsPerMinute: 60, publicPerMinute: 6000 });
});

test('OPTIONS is never counted', async (t) => {
  const shop = await openLimited(t, {}, 1);
  for (const url of ['/v2/cheeses', '/v2/customer/login', '/healthz']) {
    assert.equal(await passing(3, () => shop.request('OPTIONS', url)), 3, url);
  }
  assert.equal(await passing(2, () => ask(shop)), 1);
});

test('The OAuth endpoints return 429 with the members of OAuth and of this API', async (t) => {
  const shop = await openListeningShop(t, { settings: limits(4) });
  const app = await newApplication(shop);
  const urls = ['token', 'revoke', 'introspect', '../v2/oauth/token'].map(
    (name) => `${shop.url}/oauth/${name}`,
  );
  for (const url of urls) {
    assert.notEqual((await post(url, { token: 'x' }, app)).status, 429);
  }
  for (const url of urls) {
    const { status, headers, json } = await post(url, { token: 'x' }, app);
    assert.equal(status, 429);
    assert.deepEqual(Object.keys(json).toSorted(), ['code', 'error', 'error_description', 'message', 'type']);
    assert.deepEqual([json.error, json.type], ['temporarily_unavailable', 'rate_limit_exceeded']);
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(headers.get('ratelimit') ?? '', /^"address";r=0;t=\d+$/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
  }
});

test('The OAuth pages return 429 as a page', async (t) => {
  const shop = await openListeningShop(t, { settings: limits(5, 2) });
  const app = await newApplication(shop);
  const urls = [
    ['GET', `/oauth/authorize?${queryOf(app)}`],
    ['GET', '/oauth/interaction/nothing'],
    ['POST', '/oauth/interaction/nothing/login'],
    ['GET', '/oauth/logout'],
    ['POST', '/oauth/logout'],
    ['GET', '/oauth/authorize/nothing'],
    ['GET', '/v2/oauth/authorize'],
    ['POST', '/oauth/interaction/nothing/consent'],
  ] as const;
  const statuses: number[] = [];
  for (const [method, url] of urls) {
    const response = await fetch(`${shop.url}${url}`, { method, redirect: 'manual' });
    const page = await response.text();
    statuses.push(response.status);
    if (response.status === 429) {
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(page, /^<!doctype html>/i);
      assert.match(response.headers.get('cache-control') ?? '', /no-store/);
      assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.match(response.headers.get('ratelimit') ?? '', /^"address";r=0;t=\d+$/);
      assert.equal(response.headers.get('access-control-allow-origin'), null);
    }
  }
  const tooMany = statuses.map((status) => status === 429);
  assert.deepEqual(tooMany, [false, false, false, false, true, false, true, true], String(statuses));
});

test('Authorization requests, which are stored, count as logins', async (t) => {
  const shop = await openListeningShop(t, { settings: limits(100, 2) });
  const app = await newApplication(shop);
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { status } = await fetch(`${shop.url}/oauth/authorize?${queryOf(app)}`, { redirect: 'manual' });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [303, 303, 429]);
});
