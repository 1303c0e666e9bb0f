/** API keys as credentials: which are taken, which are refused, and in which words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildApp } from '../../src/app/build-app.ts';
import { makeKey } from '../../src/auth/keys/format.ts';
import { systemClock, timestamp } from '../../src/clock.ts';
import { storeEnvironment } from '../../src/database/environment.ts';
import { assertError, onBothEngines, openShop, type Shop, type TestResponse, testClock } from '../helper.ts';

const nothingSent = 'Bearer realm="cheese"';

function descriptionOf({ headers }: TestResponse): string {
  const challenge = headers['www-authenticate'] ?? '';
  const found = /^Bearer realm="cheese", error="invalid_token", error_description="([^"]+)"$/.exec(challenge);
  assert.ok(found !== null, challenge);
  return found[1] ?? '';
}

const inBearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const list = (shop: Shop, headers: Record<string, string>) =>
  shop.request('GET', '/v2/cheeses?limit=1', { headers });

/** The last character, which belongs to the checksum, replaced. */
const mistyped = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

onBothEngines('An API key', (engine) => {
  test('An API key is accepted in X-API-Key and as a bearer token, with any case of the scheme', async (t) => {
    const shop = await openShop(t, { engine });
    const responses = await Promise.all([
      list(shop, { 'x-api-key': shop.reader }),
      ...['Bearer', 'bearer', 'BEARER', 'bEaReR'].map((scheme) =>
        list(shop, { authorization: `${scheme} ${shop.reader}` }),
      ),
    ]);
    for (const response of responses) {
      assert.equal(response.status, 200);
      assert.equal(response.headers['www-authenticate'], undefined);
      assert.equal(response.text, responses[0]?.text);
    }
    const body = { name: 'Comté' };
    const written = await shop.request('POST', '/v2/cheeses', { ...inBearer(shop.writer), body });
    assert.equal(written.status, 201);
  });

  test('An API key that is unknown, expired or revoked gets the same 401 body, and only the challenge gives the reason', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const expired = await shop.createKey({ lifetimeMs: 1000 });
    const owner = await shop.createKey({ scopes: ['admin'] });
    const { json } = await shop.request('POST', '/v2/api-keys', { as: owner, body: {} });
    const revoked: string = json.key;
    await shop.request('DELETE', `/v2/api-keys/${json.id}`, { as: owner });
    assert.equal((await list(shop, { 'x-api-key': expired })).status, 200);
    clock.advance(1000);

    const kinds = {
      unknown: [makeKey('test', systemClock), makeKey('live', systemClock)],
      expired: [expired],
      revoked: [revoked],
    };
    const bodies = new Set<string>();
    const descriptions = new Map<string, Set<string>>();
    for (const [kind, keys] of Object.entries(kinds)) {
      const said = new Set<string>();
      for (const key of keys) {
        const response = await list(shop, { 'x-api-key': key });
        assertError(response, 401, 'unauthorized');
        bodies.add(response.text);
        said.add(descriptionOf(response));
      }
      assert.equal(said.size, 1, kind);
      descriptions.set(kind, said);
    }
    assert.equal(bodies.size, 1, [...bodies].join('\n'));
    const allSaid = [...descriptions.values()].flatMap((said) => [...said]);
    assert.equal(new Set(allSaid).size, 3, allSaid.join('\n'));

    for (const key of [expired, revoked, mistyped(shop.reader), ...kinds.unknown]) {
      const one = await list(shop, { 'x-api-key': key });
      const other = await list(shop, { authorization: `Bearer ${key}` });
      assert.equal(other.text, one.text);
      assert.equal(other.headers['www-authenticate'], one.headers['www-authenticate']);
    }
  });

  test('An API key shows in the list when it was last used, once the server that saw it has closed', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const admin = await shop.createKey({ scopes: ['admin'] });
    const { json: unused } = await shop.request('POST', '/v2/api-keys', { as: admin, body: {} });
    const { json: used } = await shop.request('POST', '/v2/api-keys', { as: admin, body: {} });

    const app = await buildApp(shop.config, { clock });
    const url = '/v2/cheeses';
    const useIt = () => app.server.inject({ method: 'GET', url, headers: { 'x-api-key': used.key } });
    assert.equal((await useIt()).statusCode, 200);
    clock.advance(5000);
    assert.equal((await useIt()).statusCode, 200);
    const lastUsedAt = timestamp(clock.now());
    clock.advance(5000);
    await app.close();

    const { json } = await shop.request('GET', '/v2/api-keys', { as: admin });
    const shown = new Map(json.items.map((item: { id: number }) => [item.id, item]));
    assert.equal((shown.get(used.id) as { lastUsedAt: string }).lastUsedAt, lastUsedAt);
    assert.equal((shown.get(unused.id) as { lastUsedAt: string }).lastUsedAt, null);
  });
});

test('A request without a credential gets 401 and a challenge that names no error', async (t) => {
  const shop = await openShop(t);
  const response = await shop.request('GET', '/v2/cheeses');
  assertError(response, 401, 'unauthorized');
  assert.equal(response.headers['www-authenticate'], nothingSent);
});

test('An Authorization header other than "Bearer <token>" gets 401, the bare key included', async (t) => {
  const shop = await openShop(t);
  const basic = Buffer.from(`${shop.reader}:`).toString('base64');
  for (const authorization of [
    shop.reader,
    'Bearer',
    'Bearer ',
    `Bearer${shop.reader}`,
    `Bearer ${shop.reader} ${shop.reader}`,
    `Token ${shop.reader}`,
    `Basic ${basic}`,
    `X-API-Key ${shop.reader}`,
    'Bearer something-else',
    'Bearer eyJhbGciOiJub25lIn0.e30.x',
    '',
  ]) {
    const response = await list(shop, { authorization });
    assertError(response, 401, 'unauthorized');
    assert.match(response.headers['www-authenticate'] ?? '', /^Bearer realm="cheese", error="invalid_token"/);
  }
});

test('The challenge of a 401 can always be parsed: its description contains no quotes', async (t) => {
  const shop = await openShop(t);
  for (const authorization of [
    'Basic nonsense',
    'Bearer',
    'Bearer something-else',
    `Bearer ${mistyped(shop.reader)}`,
  ]) {
    descriptionOf(await list(shop, { authorization }));
  }
});

test('A secret key in a cookie or in the body is not read, and one in the query string is refused', async (t) => {
  const shop = await openShop(t);
  const names = ['api_key', 'apiKey', 'key', 'access_token', 'X-API-Key', 'x-api-key', 'authorization'];
  const query = names.map((name) => `${name}=${shop.admin}`).join('&');
  const byQuery = await shop.request('GET', `/v2/cheeses?${query}`);
  assertError(byQuery, 401, 'unauthorized');
  assert.match(byQuery.headers['www-authenticate'] ?? '', /Revoke this key/);
  const byCookie = await list(shop, { cookie: `X-API-Key=${shop.admin}; access_token=${shop.admin}` });
  assert.equal(byCookie.headers['www-authenticate'], nothingSent);
  const body = { name: 'Brie', access_token: shop.admin, api_key: shop.admin };
  assertError(await shop.request('POST', '/v2/cheeses', { body }), 401, 'unauthorized');
});

test('Of two credentials each must be valid, and either may be the one that suffices', async (t) => {
  const shop = await openShop(t);
  const send = (name: string, apiKey: string, bearer: string) =>
    shop.request('POST', '/v2/cheeses', {
      headers: { 'x-api-key': apiKey, authorization: `Bearer ${bearer}` },
      body: { name },
    });
  assert.equal((await send('One', shop.reader, shop.writer)).status, 201);
  assert.equal((await send('Two', shop.writer, shop.reader)).status, 201);
  assert.equal((await send('Three', shop.writer, shop.writer)).status, 201);
  assertError(await send('Four', shop.reader, shop.reader), 403, 'forbidden');
  const unknown = makeKey('test', systemClock);
  for (const wrong of [unknown, mistyped(shop.writer), 'nonsense']) {
    assertError(await send('Five', shop.writer, wrong), 401, 'unauthorized');
    assertError(await send('Five', wrong, shop.writer), 401, 'unauthorized');
  }
  const bare = { 'x-api-key': shop.writer, authorization: shop.writer };
  assertError(await list(shop, bare), 401, 'unauthorized');
  const { json } = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
  assert.equal(json.total, 3);
});

test('Local accepts keys of both types; production refuses test keys, and sandbox live ones', async (t) => {
  const local = await openShop(t);
  const live = await local.createKey({ type: 'live' });
  const trial = await local.createKey({ type: 'test' });
  // All three on one database, so that nothing but the environment can be the reason.
  const database = `sqlite:${(local.config.database as { file: string }).file}`;
  const { database: stored } = local.app;
  await storeEnvironment(stored, 'production');
  const production = await openShop(t, {
    settings: {
      CURD_ENVIRONMENT: 'production',
      CURD_PUBLIC_URL: 'https://shop.example',
      CURD_DATABASE: database,
    },
  });
  await storeEnvironment(stored, 'sandbox');
  const sandbox = await openShop(t, {
    settings: { CURD_ENVIRONMENT: 'sandbox', CURD_DATABASE: database },
  });
  for (const { shop, taken, refused } of [
    { shop: local, taken: [live, trial], refused: [] },
    { shop: production, taken: [live], refused: [trial, sandbox.reader] },
    { shop: sandbox, taken: [trial], refused: [live, production.reader] },
  ]) {
    for (const key of taken) {
      assert.equal((await list(shop, { 'x-api-key': key })).status, 200);
      assert.equal((await list(shop, { authorization: `Bearer ${key}` })).status, 200);
    }
    for (const key of refused) {
      for (const headers of [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }]) {
        const response = await list(shop, headers);
        assertError(response, 401, 'unauthorized');
        assert.match(
          response.json.message,
          new RegExp(
            `^A (live|test) key is not accepted in ${shop.config.environment}\\. Use a (live|test) key`,
          ),
        );
        assert.equal(response.headers['x-environment'], shop.config.environment);
      }
    }
  }
});

test('A key may do what its scopes say: nothing implies anything, except that admin may do all', async (t) => {
  const shop = await openShop(t);
  const onlyWriter = await shop.createKey({ scopes: ['write:cheeses'] });
  const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
    as: onlyWriter,
    body: { name: 'Brie' },
  });
  const writes = [
    ['POST', '/v2/cheeses', { name: 'Edam' }, 201],
    ['PUT', '/v2/cheeses', { id: cheese.id, name: 'Brie', status: 'sold' }, 200],
    ['POST', `/v2/cheeses/${cheese.id}`, { status: 'pending' }, 200],
    ['DELETE', `/v2/cheeses/${cheese.id}`, undefined, 204],
  ] as const;
  const headers = { 'x-confirm-delete': 'true' };
  for (const [method, url, body] of writes) {
    const response = await shop.request(method, url, { as: shop.reader, headers, body });
    assertError(response, 403, 'forbidden');
    const challenge = `${nothingSent}, error="insufficient_scope", scope="write:cheeses"`;
    assert.equal(response.headers['www-authenticate'], challenge);
  }
  const finding = '/v2/cheeses/findByStatus?status=available';
  const refused = await shop.request('GET', finding, { as: onlyWriter });
  assertError(refused, 403, 'forbidden');
  assert.equal(
    refused.headers['www-authenticate'],
    `${nothingSent}, error="insufficient_scope", scope="read:cheeses"`,
  );
  assert.equal((await shop.request('GET', '/v2/cheeses', { as: onlyWriter })).status, 200);
  assert.equal((await shop.request('GET', finding, { as: shop.admin })).status, 200);
  for (const [method, url, body, status] of writes) {
    assert.equal((await shop.request(method, url, { as: shop.admin, headers, body })).status, status);
  }
});
