/** Rules for every path: routing, methods, CORS, request ids, and the form of errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, openShop, type TestResponse } from '../helper.ts';

const corsName = 'access-control-allow-origin';
const onCheeses = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
const allowOf = ({ headers }: TestResponse) => (headers.allow ?? '').split(', ').sort();

test('An unknown path is 404, with and without credentials', async (t) => {
  const shop = await openShop(t);
  for (const path of ['/nope', '/v2', '/v2/', '/v1/cheeses', '/cheeses', '/v2/cheeses/1/2', '/v2/cheese']) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      assertError(await shop.request(method, path), 404, 'not_found');
      assertError(await shop.request(method, path, { as: shop.admin }), 404, 'not_found');
    }
  }
});

test('A known path returns 405 with Allow for other methods, with or without credentials', async (t) => {
  const shop = await openShop(t);
  const reads = ['GET', 'HEAD', 'OPTIONS'];
  const one = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST'];
  for (const [path, allowed, methods] of [
    ['/v2/cheeses/findByStatus', reads, ['POST', 'DELETE', 'PUT', 'PATCH', 'TRACE', 'PROPFIND']],
    ['/v2/cheeses/findByTags/', reads, ['POST', 'DELETE', 'PATCH']],
    ['/v2/cheeses', onCheeses, ['PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'MKCOL', 'SEARCH']],
    ['/v2/cheeses/', onCheeses, ['PATCH']],
    ['/v2/cheeses/1', one, ['PUT', 'TRACE', 'PROPFIND', 'LOCK']],
    ['/v2/cheeses/1?status=sold', one, ['PUT']],
    ['/healthz', reads, ['POST', 'PATCH', 'TRACE', 'PROPFIND']],
  ] as const) {
    for (const method of methods) {
      const response = await shop.request(method, path);
      assertError(response, 405, 'method_not_allowed');
      assert.deepEqual(allowOf(response), allowed, `${method} ${path}`);
    }
  }
});

test('The method QUERY is 405', async (t) => {
  const shop = await openShop(t);
  const response = await shop.request('QUERY', '/v2/cheeses');
  assertError(response, 405, 'method_not_allowed');
  assert.deepEqual(allowOf(response), onCheeses);
});

test('A percent-encoded path is the same path, also for 405 and OPTIONS', async (t) => {
  const shop = await openShop(t);
  const path = '/v2/%63heeses';
  assert.equal((await shop.request('GET', path, { as: shop.reader })).status, 200);
  const options = await shop.request('OPTIONS', path);
  assert.deepEqual([options.status, allowOf(options)], [204, onCheeses]);
  const patch = await shop.request('PATCH', path);
  assertError(patch, 405, 'method_not_allowed');
  assert.deepEqual(allowOf(patch), onCheeses);
});

test('HEAD returns the status and headers of GET without the body', async (t) => {
  const shop = await openShop(t);
  const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
  const one = `/v2/cheeses/${json.id}`;
  const paths = ['/v2/cheeses', one, '/v2/cheeses/999', '/v2/store/inventory', '/v2/cheeses?limit=0'];
  const moving = new Set(['date', 'x-request-id']);
  const fixed = ({ headers }: TestResponse) =>
    Object.entries(headers).filter(([name]) => !moving.has(name) && !name.includes('ratelimit'));
  for (const path of [...paths, '/healthz', '/openapi.json', '/docs', '/nope', '/v2/cheeses/findByStatus']) {
    const get = await shop.request('GET', path, { as: shop.reader });
    const head = await shop.request('HEAD', path, { as: shop.reader });
    assert.equal(head.text, '', path);
    assert.equal(head.status, get.status, path);
    assert.deepEqual(fixed(head).sort(), fixed(get).sort(), path);
  }
  assert.equal((await shop.request('HEAD', '/v2/cheeses')).status, 401);
});

test('OPTIONS returns 204 with Allow, without credentials', async (t) => {
  const shop = await openShop(t);
  for (const path of ['/v2/cheeses', '/v2/cheeses/', '/v2/cheeses?limit=0']) {
    const response = await shop.request('OPTIONS', path);
    assert.equal(response.status, 204, path);
    assert.equal(response.text, '');
    assert.deepEqual(allowOf(response), onCheeses);
    assert.equal(response.headers['access-control-allow-methods'], undefined);
  }
  const wrongKey = await shop.request('OPTIONS', '/v2/cheeses/1', { as: 'nonsense' });
  assert.equal(wrongKey.status, 204);
});

test('Scripts of any origin can read responses and their headers, without cookies', async (t) => {
  const shop = await openShop(t);
  const headers = { origin: 'https://page.example' };
  for (const [method, path, status] of [
    ['GET', '/v2/cheeses', 401],
    ['GET', '/nope', 404],
    ['PATCH', '/v2/cheeses', 405],
    ['GET', '/v2/cheeses/%zz', 404],
    ['GET', '/healthz', 200],
  ] as const) {
    const response = await shop.request(method, path, { headers });
    assert.equal(response.status, status);
    assert.equal(response.headers[corsName], '*', path);
    assert.equal(response.headers['access-control-allow-credentials'], undefined);
    const exposed = (response.headers['access-control-expose-headers'] ?? '').toLowerCase().split(', ');
    for (const name of [
      'ETag',
      'Link',
      'Location',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'WWW-Authenticate',
    ]) {
      assert.ok(exposed.includes(name.toLowerCase()), name);
    }
    assert.ok(exposed.includes('x-request-id'));
  }
  const preflight = await shop.request('OPTIONS', '/v2/cheeses', {
    headers: {
      ...headers,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers[corsName], '*');
  assert.match(preflight.headers['access-control-allow-methods'] ?? '', /\bPOST\b/);
  const allowed = (preflight.headers['access-control-allow-headers'] ?? '').toLowerCase().split(/, */);
  assert.deepEqual(allowed, ['authorization', 'content-type', 'idempotency-key']);
});

test('With a list of origins only scripts of those can read responses, and Vary names Origin', async (t) => {
  const settings = { CURD_CORS_ORIGINS: 'https://shop.example, https://admin.example' };
  const shop = await openShop(t, { settings });
  const ask = (method: string, path: string, headers: Record<string, string>) =>
    shop.request(method, path, { as: shop.reader, headers });
  for (const [method, path] of [
    ['GET', '/v2/cheeses'],
    ['GET', '/nope'],
    ['OPTIONS', '/v2/cheeses'],
  ] as const) {
    const preflight = { 'access-control-request-method': 'GET' };
    for (const origin of ['https://shop.example', 'https://admin.example']) {
      const response = await ask(method, path, { origin, ...preflight });
      assert.equal(response.headers[corsName], origin);
      assert.match(response.headers.vary ?? '', /\bOrigin\b/);
    }
    for (const origin of ['https://shop.example.evil', 'http://shop.example', 'null', '*', '']) {
      const response = await ask(method, path, { origin, ...preflight });
      assert.equal(response.headers[corsName], undefined, origin);
      assert.match(response.headers.vary ?? '', /\bOrigin\b/);
    }
  }
  const { headers } = await ask('GET', '/v2/cheeses', { origin: 'https://shop.example' });
  assert.match(headers.vary ?? '', /Accept-Encoding, Accept/);
});

test('A cached response to a request without an origin can be given to a page', async (t) => {
  const any = await openShop(t);
  const listed = await openShop(t, { settings: { CURD_CORS_ORIGINS: 'https://shop.example' } });
  const paths = [
    '/v2/cheeses',
    '/openapi.json',
    '/v2/openapi.json',
    '/docs',
    '/docs/send-request.js',
    '/.well-known/oauth-authorization-server',
    '/images/none.png',
    '/nope',
  ];
  for (const path of paths) {
    const { headers } = await any.request('GET', path, { as: any.reader });
    assert.equal(headers[corsName], '*', path);
    const ofListed = (await listed.request('GET', path, { as: listed.reader })).headers;
    // A sign-in from any page begins with it.
    const isForAll = path === '/.well-known/oauth-authorization-server';
    assert.equal(ofListed[corsName], isForAll ? '*' : undefined, path);
    assert.ok(isForAll || /\bOrigin\b/.test(ofListed.vary ?? ''), path);
  }
});

test('One trailing slash is ignored; case, a second slash and an encoded one are not', async (t) => {
  const shop = await openShop(t);
  const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
  assert.equal(json.id, 1);
  const found = [
    ...['/v2/cheeses/', '/v2/cheeses/?limit=1', '/v2/cheeses/1/', '/healthz/', '/docs/'],
    ...['/v2/%63heeses', '/v2/cheeses/%31', '/v2/cheeses/findBySt%61tus?status=sold'],
  ];
  const notFound = [
    ...['/v2/cheeses//', '//v2/cheeses', '/v2//cheeses', '/v2/cheeses/1//', '/v2/cheeses//?limit=1'],
    ...['/V2/cheeses', '/v2/Cheeses', '/v2/cheeses/findbystatus?status=sold', '/Healthz'],
    ...['/v2/cheeses%2F1', '/v2%2fcheeses', '/v2/cheeses/1%2F', '/v2/cheeses/findByStatus%2F?status=sold'],
    ...['/v2/cheeses/%2531', '/v2/cheeses/1;x', '/v2/cheeses/1%3Fx', '/v2/cheeses/1%00', '/v2/cheeses/%5C1'],
    ...['/v2/cheeses/%', '/v2/cheeses/%zz', '/v2/cheeses/%E0%A4%A', '/v2/cheeses/%ff', '/v2/%c0%af'],
  ];
  const headers = { 'x-api-key': shop.admin };
  for (const [status, paths] of [[200, found] as const, [404, notFound] as const]) {
    for (const url of paths) {
      const response = await shop.app.server.inject({ url, headers });
      assert.equal(response.statusCode, status, url);
    }
  }
  const rotation = { method: 'PUT', url: '/v2/api-keys/1%2Frotate', headers } as const;
  assert.equal((await shop.app.server.inject(rotation)).statusCode, 405);
});

test('A path segment of any length that is no id is 404', async (t) => {
  const shop = await openShop(t);
  for (const length of [20, 4000, 4097, 8000]) {
    const response = await shop.request('GET', `/v2/cheeses/${'1'.repeat(length)}`, { as: shop.reader });
    assertError(response, 404, 'not_found');
    assertError(await shop.request('GET', `/${'x'.repeat(length)}`), 404, 'not_found');
  }
});

test('Invalid percent-encoding is 404 with the usual error body', async (t) => {
  const shop = await openShop(t);
  const response = await shop.request('GET', '/v2/cheeses/%zz', { headers: { 'x-request-id': 'mine' } });
  assertError(response, 404, 'not_found');
  assert.deepEqual([response.headers['x-request-id'], response.headers['x-environment']], ['mine', 'local']);
});

test('X-Request-Id is returned if it is valid, and replaced if not', async (t) => {
  const shop = await openShop(t);
  const idOf = async (given?: string, path = '/healthz') => {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    return (await shop.request('GET', path, { headers })).headers['x-request-id'] ?? '';
  };
  for (const id of ['a', 'A-b_c.9', 'x'.repeat(128)]) {
    assert.equal(await idOf(id), id);
    assert.equal(await idOf(id, '/v2/cheeses'), id);
    assert.equal(await idOf(id, '/nope'), id);
  }
  const fresh = new Set<string>();
  for (const id of [undefined, '', 'x'.repeat(129), 'a b', 'a,b', 'é', '<script>', 'a/b', 'a:b']) {
    const made = await idOf(id);
    assert.match(made, /^[A-Za-z0-9._-]{8,128}$/);
    assert.notEqual(made, id);
    fresh.add(made);
  }
  assert.equal(fresh.size, 9);
});

test('Every response names the environment, and none names the software', async (t) => {
  const shop = await openShop(t, { settings: { CURD_ENVIRONMENT: 'sandbox' } });
  for (const path of ['/healthz', '/v2/cheeses', '/nope', '/v2/cheeses/%', '/docs']) {
    const { headers } = await shop.request('GET', path);
    assert.equal(headers['x-environment'], 'sandbox');
    assert.deepEqual([headers['x-powered-by'], headers.server], [undefined, undefined]);
  }
});

test('Problem details are returned only to clients that accept them', async (t) => {
  const shop = await openShop(t);
  const ask = (accept?: string) =>
    shop.request('POST', '/v2/cheeses?x=1', {
      as: shop.writer,
      ...(accept === undefined ? {} : { headers: { accept } }),
      body: { name: '' },
    });
  const none = ['*/*', 'application/json', 'text/html', 'application/problem+xml'];
  for (const accept of [undefined, ...none]) {
    const response = await ask(accept);
    assertError(response, 422, 'validation_error');
    assert.match(response.headers['content-type'] ?? '', /^application\/json(;|$)/);
    assert.deepEqual(Object.keys(response.json), ['code', 'type', 'message', 'errors']);
  }
  const { json: plain } = await ask();
  for (const accept of [
    'application/problem+json',
    'application/json;q=0.5, Application/Problem+JSON',
    'application/json, application/problem+json',
    'application/problem+json;q=0.2, application/*;q=0.1, */*',
    '*/*;q=0.1, application/problem+json;charset=utf-8; q=0.5',
  ]) {
    const { status, headers, json } = await ask(accept);
    assert.equal(status, 422);
    assert.match(headers['content-type'] ?? '', /^application\/problem\+json/);
    const { type, title, detail, instance, ...rest } = json;
    assert.ok(URL.canParse(type), type);
    assert.deepEqual([typeof title, detail, instance], ['string', plain.message, '/v2/cheeses']);
    const { code, message, errors } = plain;
    assert.deepEqual(rest, { status: 422, code, errorType: 'validation_error', message, errors });
  }
});

test('A client that refuses problem details, or prefers JSON to them, gets JSON', async (t) => {
  const shop = await openShop(t);
  for (const accept of [
    'application/json, application/problem+json;q=0',
    'application/json, application/problem+json;q=0.1',
    'application/problem+json;q=0.1, application/json',
    'application/problem+json; q=0.4, */*; q=0.5',
    'application/problem+json;q=0.4, application/*;q=0.5, */*;q=0.1',
    'application/problem+json;q=x',
    'application/problem+json5',
  ]) {
    const response = await shop.request('GET', '/nope', { headers: { accept } });
    assertError(response, 404, 'not_found');
    assert.match(response.headers['content-type'] ?? '', /^application\/json/, accept);
    assert.equal(response.json.errorType, undefined, accept);
  }
});

test('An unexpected error is 500 with a fixed text and a request id, without its cause', async (t) => {
  const shop = await openShop(t);
  await shop.app.database.exclusiveTransaction((_sql, run) =>
    run('alter table catalogue rename to elsewhere'),
  );
  const headers = { 'x-api-key': shop.reader, 'x-request-id': 'find-me' };
  const response = await shop.app.server.inject({ url: '/v2/cheeses', headers });
  assert.equal(response.statusCode, 500);
  assert.equal(response.headers['x-request-id'], 'find-me');
  assert.deepEqual([response.json().code, response.json().type], [500, 'internal_error']);
  assert.doesNotMatch(response.payload, /catalogue|table|sql|at /i);
});
