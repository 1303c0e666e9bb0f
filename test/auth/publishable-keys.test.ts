/** Publishable keys: what they permit alone and beside a customer's session, their origins, and the key in the URL. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeKey } from '../../src/auth/keys/format.ts';
import { systemClock } from '../../src/clock.ts';
import { type Operation, operationsOf } from '../fuzz/openapi.ts';
import { assertError, assertFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { newCheese, orderOf } from '../shop-verbs.ts';
import { newClient, newCustomer, newSession, newToken } from './holders.ts';

const page = 'https://shop.example';

interface Limits {
  readonly origins?: readonly string[];
  readonly scopes?: readonly string[];
}

const keyOf = (shop: Shop, request: Limits = {}) => shop.createKey({ kind: 'publishable', ...request });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

let things = 0;
const newName = (word: string) => {
  things += 1;
  return `${word}${things}`;
};

/** A request whose path, query and body are invalid: a permitted one is refused for that, and changes nothing. */
function sendGarbage(shop: Shop, { method, path }: Operation, headers: Readonly<Record<string, string>>) {
  const url = `${path.replace(/\{\w+\}/g, 'garbage')}?limit=none&status=none&tags=&since=garbage&cursor=%00`;
  return shop.request(method, url, {
    headers: { 'x-confirm-delete': 'perhaps', ...headers },
    ...(method === 'GET' ? {} : { raw: '{"' }),
  });
}

/** By one word of their route; test/gates/publishable-routes.test.ts lists them. */
const wordsOf = (shop: Shop) =>
  new Map(shop.app.routes.map(({ operationId, publishable }) => [operationId, publishable]));

/** The MCP endpoint refuses the kind of credential: 401. */
const takesCredentials = ({ security, operationId }: Operation) =>
  security.length > 0 && operationId !== 'sendMcpMessage';

onBothEngines('A publishable key', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('A publishable key alone is accepted by the operations that say so; every other one is 403 and says what is needed', async () => {
    const shop = opened();
    const words = wordsOf(shop);
    const key = await keyOf(shop, { scopes: ['write:orders'] });
    const operations = operationsOf(shop.app.describe()).filter(takesCredentials);
    assert.ok(operations.length > 60);
    for (const operation of operations) {
      const { operationId } = operation;
      const response = await sendGarbage(shop, operation, { 'x-api-key': key });
      const word = words.get(operationId);
      if (word === 'catalogue' || word === 'alone') {
        assert.ok(![401, 403].includes(response.status), `${operationId}: ${response.status}`);
        continue;
      }
      assertError(response, 403, 'forbidden');
      // Where a session is needed, no token with another scope would help.
      const challenge = response.headers['www-authenticate'];
      assert.match(challenge ?? 'none', /^none$|error="insufficient_scope", scope=/, operationId);
      assert.match(response.json.message, word === undefined ? /secret key/ : /session/, operationId);
    }
  });

  test('A publishable key beside a session reaches what customers may reach, and with write:orders their orders', async () => {
    const shop = opened();
    const words = wordsOf(shop);
    const newCustomerSession = async () =>
      bearer(await newSession(shop, await newCustomer(shop, newName('walker'), 'customer')));
    let session = await newCustomerSession();
    const [plain, ordering] = [await keyOf(shop), await keyOf(shop, { scopes: ['write:orders'] })];
    for (const operation of operationsOf(shop.app.describe()).filter(takesCredentials)) {
      const { operationId, security } = operation;
      const word = words.get(operationId);
      const isOwn = security.some((one) => 'session' in one);
      for (const [key, lends] of [
        [plain, false],
        [ordering, true],
      ] as const) {
        const { status } = await sendGarbage(shop, operation, { 'x-api-key': key, ...session });
        const isPermitted = word !== undefined && (word !== 'withCustomer' || isOwn || lends);
        assert.equal(status !== 403, isPermitted, `${operationId}, orders: ${lends}: ${status}`);
        assert.notEqual(status, 401, operationId);
        if (operationId.startsWith('logoutCustomer')) {
          session = await newCustomerSession();
        }
      }
    }
  });

  test('A publishable key with write:orders and a session places, quotes, lists, reads and cancels orders of this customer alone', async () => {
    const shop = opened();
    const key = await keyOf(shop, { scopes: ['write:orders'] });
    const cheese = await newCheese(shop, { pricePerKg: 10, status: 'available' });
    const people = await Promise.all(
      ['ada', 'bob'].map(async (name) => {
        const username = `${name}${engine}`;
        const password = 'a cheese a day';
        const body = { username, email: `${username}@example.com`, password };
        assert.equal((await shop.request('POST', '/v2/customer', { as: key, body })).status, 201);
        const login = await shop.request('POST', '/v2/customer/login', {
          as: key,
          body: { username, password },
        });
        return { username, id: login.json.customer?.id, headers: bearer(login.json.token) };
      }),
    );
    const [ada, bob] = people as [(typeof people)[0], (typeof people)[0]];
    const as = (who: typeof ada, method: string, url: string, rest = {}) =>
      shop.request(method, url, { as: key, headers: who.headers, ...rest });

    const quote = await as(ada, 'POST', '/v2/store/order', {
      body: orderOf(cheese),
      headers: { ...ada.headers, 'dry-run': 'true' },
    });
    assert.equal(quote.status, 201, quote.text);
    const placed = await as(ada, 'POST', '/v2/store/order', { body: orderOf(cheese) });
    assert.equal(placed.status, 201, placed.text);
    const url = `/v2/store/order/${placed.json.id}`;
    assert.deepEqual(
      (await as(ada, 'GET', '/v2/store/orders')).json.items.map(({ id }: { id: number }) => id),
      [placed.json.id],
    );
    assert.equal((await as(ada, 'GET', url)).status, 200);
    const timeline = await as(ada, 'GET', `${url}/timeline`);
    assert.match(timeline.json.items[0].by, /^customer:\d+$/);
    assert.equal((await as(ada, 'GET', `/v2/customer/${ada.username}/orders`)).json.total, 1);

    assert.equal((await as(bob, 'GET', '/v2/store/orders')).json.total, 0);
    for (const method of ['GET', 'DELETE']) {
      assertError(await as(bob, method, url), 403, 'forbidden');
    }
    assertError(await as(bob, 'GET', `${url}/timeline`), 403, 'forbidden');
    assert.ok([403, 404].includes((await as(bob, 'GET', `/v2/customer/${ada.username}`)).status));
    assertError(await shop.request('GET', url, { as: key }), 403, 'forbidden');
    assertError(
      await shop.request('POST', '/v2/store/order', { as: key, body: orderOf(cheese) }),
      403,
      'forbidden',
    );

    const plain = await keyOf(shop);
    const unlent = await shop.request('POST', '/v2/store/order', {
      as: plain,
      headers: ada.headers,
      body: orderOf(cheese),
    });
    assertError(unlent, 403, 'forbidden');
    assert.match(unlent.headers['www-authenticate'] ?? '', /scope="write:orders"/);
    assert.equal((await as(ada, 'DELETE', url)).status, 204);
    const profile = await shop.request('GET', `/v2/customer/${ada.username}`, {
      as: plain,
      headers: ada.headers,
    });
    assert.equal(profile.json.username, ada.username);
    assert.equal(
      (await shop.request('DELETE', `/v2/customer/${ada.username}`, { as: plain, headers: ada.headers }))
        .status,
      204,
    );
  });

  test('A publishable key lends nothing to a token: it places orders with its own scope only', async () => {
    const shop = opened();
    const key = await keyOf(shop, { scopes: ['write:orders'] });
    const cheese = await newCheese(shop, { pricePerKg: 10, status: 'available' });
    const customer = await newCustomer(shop, `token${engine}`, 'customer');
    const client = await newClient(shop);
    for (const [scope, status] of [
      ['read:orders', 403],
      ['read:orders write:orders', 201],
    ] as const) {
      const headers = bearer(await newToken(shop, { client, customer, scope }));
      const placed = await shop.request('POST', '/v2/store/order', {
        as: key,
        headers,
        body: orderOf(cheese),
      });
      assert.equal(placed.status, status, placed.text);
    }
    const application = bearer(await newToken(shop, { client, customer: null, scope: 'read:cheeses' }));
    for (const headers of [application, bearer(shop.reader), bearer(shop.admin)]) {
      assertError(await shop.request('GET', '/v2/cheeses', { as: key, headers }), 403, 'forbidden');
    }
  });

  test('A publishable key with a session of another shop is 401', async (t) => {
    const shop = opened();
    const other = await openShop(t, { engine });
    const stranger = bearer(await newSession(other, await newCustomer(other, 'stranger', 'customer')));
    const key = await keyOf(shop, { scopes: ['write:orders'] });
    assertError(
      await shop.request('GET', '/v2/store/orders', { as: key, headers: stranger }),
      401,
      'unauthorized',
    );
  });

  test('A publishable key is listed in full, rotated and revoked; the 11th is 409, and secret keys are counted apart', async () => {
    const shop = opened();
    const admin = await shop.createKey({ scopes: ['admin'] });
    const create = (body: object) => shop.request('POST', '/v2/api-keys', { as: admin, body });
    const made = await create({ kind: 'publishable', name: 'shop window', origins: [page] });
    assert.equal(made.status, 201, made.text);
    const { key } = made.json;
    assert.match(key, /^pk_test_[0-9A-Za-z]{36}$/);
    const list = async () =>
      (await shop.request('GET', '/v2/api-keys', { as: admin })).json.items as Record<string, unknown>[];
    const shown = (await list()).find(({ id }) => id === made.json.id);
    assert.deepEqual(shown, made.json);
    assert.deepEqual(
      [shown?.kind, shown?.key, shown?.origins, shown?.name],
      ['publishable', key, [page], 'shop window'],
    );
    assert.ok((await list()).some((one) => one.kind === 'secret' && !('key' in one)));

    const rotated = await shop.request('POST', `/v2/api-keys/${made.json.id}/rotate`, {
      as: admin,
      body: { overlap: '0s' },
    });
    assert.deepEqual([rotated.json.kind, rotated.json.origins], ['publishable', [page]]);
    assertError(await shop.request('GET', '/v2/cheeses', { as: key }), 401, 'unauthorized');
    for (let more = 2; more <= 10; more += 1) {
      assert.equal((await create({ kind: 'publishable' })).status, 201);
    }
    const eleventh = await create({ kind: 'publishable' });
    assertError(eleventh, 409, 'conflict');
    assert.match(eleventh.json.message, /^10 publishable API keys/);
    assert.deepEqual(
      [(await create({})).status, (await create({})).status, (await create({})).status],
      [201, 201, 409],
    );
    assert.equal(
      (await shop.request('DELETE', `/v2/api-keys/${rotated.json.id}`, { as: admin })).status,
      204,
    );
    assert.equal((await create({ kind: 'publishable' })).status, 201);

    assertFields(await create({ kind: 'publishable', scopes: ['write:cheeses'] }), ['scopes']);
    assertFields(await create({ origins: [page] }), ['origins']);
    for (const origins of [[], ['shop.example'], [`${page}/`], ['*'], Array(21).fill(page)]) {
      const { status, json } = await create({ kind: 'publishable', origins });
      assert.equal(status, 422);
      assert.match(json.errors[0].field, /^origins/);
    }
  });
});

test('A key with origins is for pages of these alone: 403 for another, without CORS headers', async (t) => {
  const shop = await openShop(t);
  const key = await keyOf(shop, { origins: [page, 'http://localhost:5173'] });
  const get = (headers: Record<string, string>, url = '/v2/cheeses?limit=1') =>
    shop.request('GET', url, { as: key, headers });
  for (const origin of [page, 'http://localhost:5173']) {
    const { status, headers } = await get({ origin });
    assert.deepEqual([status, headers['access-control-allow-origin']], [200, origin]);
    assert.match(headers.vary ?? '', /Origin/);
    assert.match(headers['access-control-expose-headers'] ?? '', /ETag/);
  }
  for (const origin of ['https://evil.example', 'null', `${page}.evil.example`, page.toUpperCase()]) {
    const refused = await get({ origin });
    assertError(refused, 403, 'forbidden');
    assert.equal(refused.headers['access-control-allow-origin'], undefined);
    assert.equal(refused.headers['access-control-expose-headers'], undefined);
    const byUrl = await shop.request('GET', `/v2/cheeses?key=${key}`, { headers: { origin } });
    assertError(byUrl, 403, 'forbidden');
  }
  const program = await get({});
  assert.deepEqual([program.status, program.headers['access-control-allow-origin']], [200, undefined]);
  const anywhere = await shop.request('GET', '/v2/cheeses', {
    as: await keyOf(shop),
    headers: { origin: 'https://evil.example' },
  });
  assert.deepEqual([anywhere.status, anywhere.headers['access-control-allow-origin']], [200, '*']);
  const preflight = await shop.request('OPTIONS', '/v2/cheeses', {
    headers: { origin: page, 'access-control-request-method': 'GET' },
  });
  assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, '*']);

  const strict = await openShop(t, { settings: { CURD_CORS_ORIGINS: 'https://other.example' } });
  const narrower = await strict.request('GET', '/v2/cheeses', {
    as: await keyOf(strict, { origins: [page] }),
    headers: { origin: page },
  });
  assert.deepEqual([narrower.status, narrower.headers['access-control-allow-origin']], [200, undefined]);
});

test('A publishable key in the URL reads the catalogue; links to next pages do not contain it', async (t) => {
  const shop = await openShop(t);
  const key = await keyOf(shop, { scopes: ['write:orders'] });
  const [cheese] = [
    await newCheese(shop, { pricePerKg: 10, status: 'available' }),
    await newCheese(shop, { pricePerKg: 10, status: 'available' }),
  ];
  for (const url of [
    `/v2/cheeses?limit=1&key=${key}`,
    `/v2/cheeses/${cheese}?key=${key}`,
    `/v2/cheeses/findByStatus?key=${key}&status=available`,
    `/v2/cheeses/changes?limit=1&key=${key}`,
    `/v2/categories?key=${key}`,
    `/v2/cheeses/${cheese}/images?key=${key}`,
  ]) {
    const response = await shop.request('GET', url, { headers: { prefer: 'handling=strict' } });
    assert.equal(response.status, 200, `${url}: ${response.text}`);
    assert.ok(!JSON.stringify(response.headers).includes(key), url);
    assert.ok(!response.text.includes(key), url);
  }
  assert.equal((await shop.request('HEAD', `/v2/cheeses?key=${key}`)).status, 200);
  for (const [method, url] of [
    ['GET', `/v2/whoami?key=${key}`],
    ['POST', `/v2/customer/login?key=${key}`],
    ['GET', `/v2/store/orders?key=${key}`],
  ] as const) {
    const refused = await shop.request(method, url);
    assertError(refused, 401, 'unauthorized');
    assert.match(refused.json.message, /X-API-Key/);
  }
  assertError(await shop.request('GET', `/v2/cheeses?key=${key}&key=${key}`), 400, 'bad_request');
  assertError(
    await shop.request('GET', '/v2/cheeses?key=nonsense', { as: shop.reader }),
    401,
    'unauthorized',
  );
  const unknown = makeKey('test', systemClock, 'publishable');
  assertError(await shop.request('GET', `/v2/cheeses?key=${unknown}`), 401, 'unauthorized');
});

test('A secret key in the URL is 401 that says to revoke it, also beside a valid credential', async (t) => {
  const shop = await openShop(t);
  const encoded = `%73${shop.reader.slice(1)}`;
  const queries = ['key=', 'api_key=', 'access_token=', '', 'key=%20'].map((before) => before + shop.reader);
  for (const query of [...queries, `key=${encoded}`, `k%65y=${encoded}`, `limit=1&token=${encoded}`]) {
    for (const as of [undefined, shop.admin]) {
      for (const path of ['/v2/cheeses', '/v2/whoami', '/v2/store/orders']) {
        const refused = await shop.request('GET', `${path}?${query}`, as === undefined ? {} : { as });
        assertError(refused, 401, 'unauthorized');
        assert.match(refused.json.message, /Revoke this key/);
        assert.ok(!refused.text.includes(shop.reader));
        assert.ok(!JSON.stringify(refused.headers).includes(shop.reader));
      }
    }
  }
});

test('Requests with a publishable key are counted for key and client IP, and leave the quota of the account', async (t) => {
  const shop = await openShop(t, {
    settings: {
      CURD_PUBLISHABLE_LIMITS: '{"perMinute":20,"burst":15}',
      CURD_PLANS: '{"enterprise":{"perHour":1000,"burst":1000}}',
      CURD_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  const admin = await shop.createKey({ scopes: ['admin'] });
  const { json: created } = await shop.request('POST', '/v2/api-keys', {
    as: admin,
    body: { kind: 'publishable' },
  });
  const from = (ip: string, key = created.key) =>
    shop.request('GET', '/v2/whoami', { as: key, headers: { 'x-forwarded-for': ip } });
  const quotaOf = async () =>
    (await shop.request('GET', '/v2/whoami', { as: admin })).json.quota.hour.remaining;
  const before = await quotaOf();
  const responses = await Promise.all(Array.from({ length: 40 }, () => from('203.0.113.7')));
  const passed = responses.filter(({ status }) => status === 200);
  assert.equal(passed.length, 15);
  const refused = responses.find(({ status }) => status === 429);
  assert.ok(refused !== undefined);
  assert.match(refused.headers.ratelimit ?? '', /^"minute";r=5;t=\d+, "burst";r=0;t=1$/);
  assert.ok(Number(refused.headers['retry-after']) >= 1);
  const { json, headers } = await from('203.0.113.8');
  assert.equal(headers['ratelimit-policy'], '"minute";q=20;w=60, "burst";q=15;w=1');
  assert.equal(json.quota.minute.remaining, 19);
  assert.deepEqual(
    [json.kind, json.quota.plan, json.quota.hour, json.limits],
    ['publishable', 'publishable', null, null],
  );
  const { json: other } = await shop.request('POST', '/v2/api-keys', {
    as: admin,
    body: { kind: 'publishable', origins: [page] },
  });
  const elsewhere = await from('203.0.113.7', other.key);
  assert.deepEqual([elsewhere.status, elsewhere.json.limits], [200, { origins: [page] }]);
  // One for the key that was created, and one for this request.
  assert.equal(await quotaOf(), before - 2);
});

test('Logins with a publishable key count for the client IP as they do without one', async (t) => {
  const shop = await openShop(t, {
    settings: { CURD_ADDRESS_LIMITS: '{"accountsPerMinute":2}', CURD_TRUSTED_PROXIES: '127.0.0.1' },
  });
  const key = await keyOf(shop);
  const login = (ip: string) =>
    shop.request('POST', '/v2/customer/login', {
      as: key,
      headers: { 'x-forwarded-for': '203.0.113.7', 'curd-client-ip': ip },
      body: { username: 'nobody', password: 'a wrong password' },
    });
  const statuses = [await login('203.0.113.1'), await login('203.0.113.2'), await login('203.0.113.3')];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [401, 401, 429],
  );
});

test('An Idempotency-Key of a publishable key belongs to the client IP; with CURD_REGISTRATION=key it registers nobody', async (t) => {
  const shop = await openShop(t, { settings: { CURD_TRUSTED_PROXIES: '127.0.0.1' } });
  const key = await keyOf(shop);
  const from = (ip: string, method: string, url: string, rest = {}) =>
    shop.request(method, url, {
      as: key,
      headers: { 'x-forwarded-for': ip, 'idempotency-key': 'guessable' },
      ...rest,
    });
  const body = { username: 'visitor', email: 'v@example.com', password: 'a cheese a day' };
  assert.equal((await from('203.0.113.7', 'POST', '/v2/customer', { body })).status, 201);
  assert.equal((await from('203.0.113.7', 'GET', '/v2/idempotency/guessable')).status, 200);
  assertError(await from('203.0.113.8', 'GET', '/v2/idempotency/guessable'), 404, 'not_found');

  const closed = await openShop(t, { settings: { CURD_REGISTRATION: 'key' } });
  assertError(
    await closed.request('POST', '/v2/customer', { as: await keyOf(closed), body }),
    403,
    'forbidden',
  );
});
