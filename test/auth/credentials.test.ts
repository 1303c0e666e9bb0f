/** Every kind of credential at every route: which are accepted, and the challenge of the others (RFC 6750, section 3). */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { type Scope, scopes } from '../../src/access/access.ts';
import { makeKey } from '../../src/auth/keys/format.ts';
import { systemClock } from '../../src/clock.ts';
import { fullPath } from '../../src/http/route.ts';
import { assertError, bern, openShop, type Shop, type TestResponse } from '../helper.ts';
import { approve, newClient, newCustomer, newSession, newToken, type Token } from './holders.ts';
import { accessOf } from './route-access.ts';

const ofCustomers: readonly string[] = scopes.filter((scope) => !['write:cheeses', 'admin'].includes(scope));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const challenge = 'Bearer realm="cheese"';

/** One who calls, and what their credential is worth. */
interface Holder {
  readonly name: string;
  readonly kind: 'nobody' | 'apiKey' | 'session' | 'oauth';
  readonly scopes: readonly string[];
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
}

async function holdersOf(shop: Shop): Promise<Holder[]> {
  const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
  const eve = await newCustomer(shop, 'eve', 'customer');
  const [client, unapproved] = [await newClient(shop), await newClient(shop)];
  const narrow = await newClient(shop, ['read:cheeses']);
  for (const one of [bob, eve, null]) {
    await approve(shop, client, one);
  }
  const holders: Holder[] = [];
  const add = (name: string, kind: Holder['kind'], worth: readonly string[], headers: Holder['headers']) =>
    holders.push({ name, kind, scopes: worth, headers });
  const addToken = async (name: string, worth: readonly string[], token: Token) => {
    const headers = bearer(await newToken(shop, token));
    add(`${name}: ${token.scope}`, 'oauth', worth, async () => headers);
  };
  const bare = await shop.createKey();
  add('nobody', 'nobody', [], async () => ({}));
  add('key', 'apiKey', [], async () => ({ 'x-api-key': bare }));
  add('key as bearer', 'apiKey', [], async () => bearer(bare));
  // Logging out is among the calls.
  add('session', 'session', [], async () => bearer(await newSession(shop, ada)));
  for (const scope of scopes) {
    const key = await shop.createKey({ scopes: [scope] });
    add(`key: ${scope}`, 'apiKey', [scope], async () => ({ 'x-api-key': key }));
    const ofCustomer = ofCustomers.includes(scope) ? [scope] : [];
    await addToken('customer', ofCustomer, { client, customer: ada, scope });
    await addToken('staff', [scope], { client, customer: bob, scope });
    await addToken('application', [scope], { client, customer: null, scope });
    const listed = scope === 'read:cheeses' ? [scope] : [];
    await addToken('application with a short list', listed, { client: narrow, customer: bob, scope });
  }
  await addToken('customer', ofCustomers, { client, customer: ada, scope: scopes.join(' ') });
  await addToken('customer', [], { client, customer: ada, scope: null });
  await addToken('staff, not approved', [], { client: unapproved, customer: bob, scope: 'admin' });
  await addToken('application, not approved', [], { client: unapproved, customer: null, scope: 'admin' });
  await addToken('customer, approved when they were staff', [], { client, customer: eve, scope: 'admin' });
  return holders;
}

/** The expected response; null when the request is authorized. */
function refusalOf(
  words: readonly string[],
  { kind, scopes: held }: Holder,
): [number, string | undefined] | null {
  const needed = words.filter((word) => !['anybody', 'apiKey', 'session', 'oauth'].includes(word));
  const suffices = held.includes('admin') ? needed.length > 0 : needed.some((scope) => held.includes(scope));
  if (suffices || words.includes('anybody') || words.includes(kind)) {
    return null;
  }
  const missing =
    needed.length === 0 ? undefined : `${challenge}, error="insufficient_scope", scope="${needed.join(' ')}"`;
  return kind === 'nobody' ? [401, challenge] : [403, missing];
}

/** On one engine: a refusal comes before the first statement of a route. */
suite('Credentials', () => {
  test('Credentials open exactly the routes that name what they are worth, and 401 and 403 say what is missing', async (t) => {
    const shop = await openShop(t);
    const holders = await holdersOf(shop);
    const routes = shop.app.routes.filter(({ access }) => access !== 'operational');
    for (const [route, access] of accessOf(routes)) {
      // The MCP endpoint refuses by the audience of a credential.
      if (route.path === '/mcp') {
        continue;
      }
      const words =
        access === 'open'
          ? ['anybody']
          : access === 'any credential'
            ? ['apiKey', 'session', 'oauth']
            : access;
      for (const holder of holders) {
        // All else is wrong with the call: where it comes in, nothing comes of it.
        const path = `${fullPath(route).replace(/:\w+/g, 'garbage')}?limit=none&status=none&tags=&account=&since=garbage`;
        const headers = { 'content-type': 'text/garbage', ...(await holder.headers()) };
        const response = await shop.request(route.method, path, { raw: '{"', headers });
        const what = `${route.method} ${route.path} by ${holder.name}: ${response.status} ${response.text}`;
        const refusal = refusalOf(words, holder);
        if (refusal === null) {
          assert.ok([200, 204, 400, 404, 409, 415, 422].includes(response.status), what);
          assert.equal(response.headers['www-authenticate'], undefined, what);
        } else {
          assert.deepEqual([response.status, response.headers['www-authenticate']], refusal, what);
          assertError(response, refusal[0], refusal[0] === 401 ? 'unauthorized' : 'forbidden');
        }
      }
    }
  });
});

function assertInvalid(response: TestResponse): void {
  assertError(response, 401, 'unauthorized');
  const said = /^Bearer realm="cheese", error="invalid_token", error_description="[^"\\]+"$/;
  assert.match(response.headers['www-authenticate'] ?? '', said);
}

const get = (shop: Shop, headers: Readonly<Record<string, string>>) =>
  shop.request('GET', '/v2/cheeses', { headers });

test('A token that is unknown, expired, of another kind or without a customer gets the same 401 body', async (t) => {
  const shop = await openShop(t);
  const customer = await newCustomer(shop, 'ada', 'customer');
  const client = await newClient(shop);
  const usual = { client, customer, scope: 'read:cheeses' };
  const good = await newToken(shop, usual);
  assert.equal((await get(shop, bearer(good))).status, 200);
  const refused = [
    bearer(good.slice(1)),
    bearer(`${good}x`),
    bearer(await newToken(shop, { ...usual, lifetimeMs: 0 })),
    bearer(await newToken(shop, { ...usual, customer: 999 })),
    bearer(await newToken(shop, { ...usual, client: 'gone' })),
    bearer(await newToken(shop, { ...usual, text: 'x'.repeat(201) })),
    // The format is that of a key, or of a session.
    bearer(await newToken(shop, { ...usual, text: makeKey('test', systemClock) })),
    bearer(await newToken(shop, { ...usual, text: 'eyJhbGciOiJub25lIn0.e30.' })),
  ];
  for (const model of ['RefreshToken', 'AuthorizationCode', 'Session', 'Grant']) {
    refused.push(bearer(await newToken(shop, { ...usual, model })));
  }
  for (const headers of refused) {
    const response = await get(shop, headers);
    assertInvalid(response);
    assert.equal(response.text, (await get(shop, bearer('unknown'))).text);
  }
});

test('The body of a 401 gives the reason when it follows from the text of the credential', async (t) => {
  const shop = await openShop(t);
  const customer = await newCustomer(shop, 'ada', 'customer');
  const client = await newClient(shop);
  const good = await newToken(shop, { client, customer, scope: 'read:cheeses' });
  const damaged = `${shop.reader.slice(0, -1)}${shop.reader.endsWith('0') ? '1' : '0'}`;
  const production = await openShop(t, {
    settings: { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' },
  });
  const cases: [Shop, Readonly<Record<string, string>>, RegExp][] = [
    [shop, { authorization: good }, /^Authorization must be Bearer, one space and the token\./],
    [shop, { authorization: shop.reader }, /An API key can be sent in X-API-Key instead\./],
    [shop, { authorization: `Basic ${good}` }, /^Authorization must be Bearer/],
    [shop, bearer(`${good} ${good}`), /^Authorization must be Bearer/],
    [shop, { authorization: '' }, /^Authorization must be Bearer/],
    [shop, { 'x-api-key': damaged }, /^The checksum of the API key is wrong, .* Copy the whole key again\./],
    [shop, { 'x-api-key': shop.reader.slice(0, -1) }, /^The API key is malformed: 36 letters and digits/],
    [shop, { 'x-api-key': `${shop.reader}0` }, /^The API key is malformed/],
    [shop, { 'x-api-key': `${shop.reader.slice(0, -1)}-` }, /^The API key is malformed/],
    [shop, { 'x-api-key': shop.reader.toUpperCase() }, /^X-API-Key must contain an API key/],
    [shop, bearer(damaged), /^The checksum of the API key is wrong/],
    [shop, bearer(`sk_${'test'}_${'x'.repeat(36)}`), /^The checksum of the API key is wrong/],
    [shop, { 'x-api-key': good }, /^X-API-Key must contain an API key.* as Authorization: Bearer <token>\./],
    [shop, { 'x-api-key': await newSession(shop, customer) }, /^X-API-Key must contain an API key/],
    [shop, { 'x-api-key': '' }, /^X-API-Key must contain an API key/],
    [production, { 'x-api-key': shop.reader }, /^A test key is not accepted in production\. Use a live key/],
  ];
  for (const [where, headers, reason] of cases) {
    const response = await get(where, headers);
    assertInvalid(response);
    assert.match(response.json.message, reason);
    assert.ok(response.headers['www-authenticate']?.includes(`error_description="${response.json.message}"`));
  }
});

test('A 403 says how to get what the request lacks', async (t) => {
  const { shop, session, token, key } = await openWithCheese(t);
  const bare = { 'x-api-key': await shop.createKey() };
  const createKey = (scope: string) => `npx curd keys create --account <account> --scope ${scope}`;
  const logIn = 'POST /v2/customer/login';
  const cases: [string, string, Readonly<Record<string, string>>, string[]][] = [
    ['GET', '/v2/cheeses/findByStatus', bare, ['GET /v2/cheeses?status=', createKey('read:cheeses')]],
    ['GET', '/v2/cheeses/findByTags', bare, ['GET /v2/cheeses?tags=', createKey('read:cheeses')]],
    ['POST', '/v2/cheeses', bare, [createKey('write:cheeses')]],
    ['POST', '/v2/cheeses', await key('read:cheeses'), [createKey('write:cheeses')]],
    ['POST', '/v2/store/order', { ...bare, ...session }, [createKey('write:orders')]],
    [
      'POST',
      '/v2/store/order',
      session,
      ['Send an API key with this scope in X-API-Key along with the session.'],
    ],
    ['GET', '/v2/cheeses', session, ['Send an API key in X-API-Key along with the session.']],
    ['POST', '/v2/cheeses', await token('read:cheeses'), ['Request a token with the scope write:cheeses.']],
    [
      'GET',
      '/v2/cheeses/findByStatus',
      await token('read:orders'),
      ['Request a token with the scope read:cheeses.'],
    ],
    ['GET', '/v2/cheeses', await token('read:orders'), ['the scope read:cheeses, or send an API key.']],
    [
      'GET',
      '/v2/api-keys',
      await token('read:orders'),
      ['the scope admin, which the operator must approve.'],
    ],
    [
      'GET',
      '/v2/customer/ada/orders',
      await token('read:cheeses'),
      ['Request a token with the scope read:orders, or send an API key.'],
    ],
    ['GET', '/v2/api-keys', bare, [createKey('admin')]],
    ['PUT', '/v2/customer/ada', bare, [logIn]],
    ['POST', '/v2/customer/logout', bare, [logIn]],
  ];
  for (const [method, path, headers, remedies] of cases) {
    const response = await shop.request(method, path, { headers });
    assertError(response, 403, 'forbidden');
    for (const remedy of remedies) {
      assert.ok(response.json.message.includes(remedy), `${method} ${path}: ${response.json.message}`);
    }
  }
  const { status } = await shop.request('GET', '/v2/cheeses?status=available', { headers: bare });
  assert.equal(status, 200, 'the alternative that the message names');
});

test('A token is read only from Authorization, with any case of its scheme (RFC 9700, section 4.3.2)', async (t) => {
  const shop = await openShop(t);
  const client = await newClient(shop);
  const good = await newToken(shop, { client, customer: null, scope: 'read:cheeses write:cheeses' });
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
    assert.equal((await get(shop, { authorization: `${scheme} ${good}` })).status, 200, scheme);
  }
  for (const name of ['access_token', 'token', 'api_key', 'X-API-Key', 'Authorization']) {
    const response = await shop.request('GET', `/v2/cheeses?${name}=${good}`);
    assertError(response, 401, 'unauthorized');
    assert.equal(response.headers['www-authenticate'], challenge);
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = { headers, raw: `name=Brie&access_token=${good}` };
  assertError(await shop.request('POST', '/v2/cheeses/1', form), 401, 'unauthorized');
  assertError(await get(shop, { cookie: `access_token=${good}` }), 401, 'unauthorized');
});

async function openWithCheese(t: TestContext) {
  const shop = await openShop(t);
  await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
  const [customer, client] = [await newCustomer(shop, 'ada', 'customer'), await newClient(shop)];
  return {
    shop,
    session: bearer(await newSession(shop, customer)),
    token: async (scope: Scope) => bearer(await newToken(shop, { client, customer, scope })),
    key: async (scope: Scope) => ({ 'x-api-key': await shop.createKey({ scopes: [scope] }) }),
  };
}
const body = { items: [{ cheeseId: 1, quantity: 1 }], shippingAddress: bern };

test('Two credentials must both be right, and open what either of them opens', async (t) => {
  const { shop, session, token, key } = await openWithCheese(t);
  const good = { ...(await key('read:cheeses')), ...(await token('read:cheeses')) };
  assert.equal((await get(shop, good)).status, 200);
  for (const wrong of [bearer('unknown'), bearer(makeKey('test', systemClock)), bearer('eyJ.e.s')]) {
    assertInvalid(await get(shop, { ...good, ...wrong }));
  }
  for (const right of [bearer(good['x-api-key']), session, await token('admin')]) {
    assertInvalid(await get(shop, { ...right, 'x-api-key': makeKey('test', systemClock) }));
  }
  assertInvalid(await shop.request('POST', '/v2/customer/login', { headers: bearer('unknown'), body: {} }));
  const both = { ...(await key('write:cheeses')), ...(await token('read:profile')) };
  const status = async (method: string, path: string, headers: Readonly<Record<string, string>> = both) =>
    (await shop.request(method, path, { headers, body: {} })).status;
  const own = await newToken(shop, { client: await newClient(shop), customer: null, scope: 'read:orders' });
  assert.equal(await status('POST', '/v2/cheeses', { ...both, ...bearer(own) }), 422);
  assert.equal(await status('POST', '/v2/cheeses'), 403, 'it acts for a customer');
  assert.equal(await status('GET', '/v2/customer/ada'), 200);
  assert.equal(await status('POST', '/v2/store/order'), 403);
  assert.equal(await status('POST', '/v2/customer/logout'), 403);
});

test('Two credentials of which one is the session of a customer act for that customer', async (t) => {
  const { shop, session, token, key } = await openWithCheese(t);
  const headers = await key('write:orders');
  const mine = await shop.request('POST', '/v2/store/order', { headers: { ...headers, ...session }, body });
  const other = await shop.request('POST', '/v2/store/order', { headers, body });
  assert.deepEqual([mine.status, other.status], [201, 201]);
  const { json } = await shop.request('GET', '/v2/store/orders', { headers: await token('read:orders') });
  assert.deepEqual(json.items, [mine.json]);
});

test('Two credentials of which one is a token act for the customer as far as the token goes, and no further', async (t) => {
  const { shop, token, key } = await openWithCheese(t);
  const taken = { username: 'ada', email: 'eve@example.com', password: 'taken over' };
  for (const method of ['PUT', 'DELETE']) {
    const headers = { ...(await key('write:profile')), ...(await token('read:cheeses')) };
    const response = await shop.request(method, '/v2/customer/ada', { headers, body: taken });
    assertError(response, 403, 'forbidden');
  }
  const headers = { ...(await key('write:orders')), ...(await token('read:cheeses')) };
  await shop.request('POST', '/v2/store/order', { headers, body });
  const { json } = await shop.request('GET', '/v2/store/orders', { headers: await token('read:orders') });
  assert.deepEqual(json.items, [], 'nothing was ordered in the name of ada');
});
