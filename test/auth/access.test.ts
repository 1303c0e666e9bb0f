/** Access of every route, compared with a table: refusals come before validation of the request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopes } from '../../src/access/access.ts';
import { makeKey } from '../../src/auth/keys/format.ts';
import { systemClock } from '../../src/clock.ts';
import { fullPath, type Route } from '../../src/http/route.ts';
import { assertError, openShop, type RequestOptions, type Shop } from '../helper.ts';
import { accessOf, nameOf } from './route-access.ts';

/** Public pages, which look at no credential. */
const operational = [
  '/client.tgz',
  '/client/browser.js',
  '/',
  '/favicon.ico',
  '/robots.txt',
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/v2/openapi.json',
  '/docs',
  '/docs/send-request.js',
  '/docs/operations/:operationId',
  '/docs/schemas/:schemaName',
  '/docs/style.css',
  '/images/:name',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource/mcp',
  '/oauth/style.css',
  '/console',
  '/console/*',
  '/console/assets/:file',
];

function routesOf(shop: Shop): Route[] {
  const routes = shop.app.routes.filter(({ access }) => access !== 'operational');
  assert.ok(routes.length > 0);
  return routes;
}

const scopesOf = ({ access }: Route) =>
  typeof access === 'string' ? [] : access.flatMap((one) => (one.kind === 'oauth' ? [one.scope] : []));

const takesKind = ({ access }: Route, kind: string) =>
  typeof access !== 'string' && access.some((one) => one.kind === kind);

/** A request in which everything but the credential is invalid: it could be refused with 400, 404, 415 and 422. */
function sendGarbage(shop: Shop, route: Route, options: RequestOptions = {}) {
  const path = fullPath(route).replace(/:\w+/g, 'garbage');
  return shop.request(
    route.method,
    `${path}?limit=none&status=none&tags=&account=&cursor=%00&since=garbage`,
    {
      ...options,
      raw: '{"',
      headers: { 'content-type': 'text/garbage', 'x-confirm-delete': 'perhaps', ...options.headers },
    },
  );
}

test('Every route declares the access that the contract documents', async (t) => {
  const shop = await openShop(t);
  for (const route of shop.app.routes.filter(({ access }) => access === 'operational')) {
    assert.ok(operational.includes(route.path), `${nameOf(route)} is open to everybody`);
  }
  for (const [route, expected] of accessOf(routesOf(shop))) {
    const declared =
      typeof route.access === 'string'
        ? route.access
        : route.access.map((one) => (one.kind === 'oauth' ? one.scope : one.kind));
    assert.notEqual(declared?.length, 0, `${nameOf(route)} declares nobody`);
    assert.deepEqual([...declared].sort(), [...expected].sort(), nameOf(route));
  }
});

test('Every guarded route returns 401 with a challenge without credentials, also when the request is invalid', async (t) => {
  const shop = await openShop(t);
  for (const route of routesOf(shop)) {
    const response = await sendGarbage(shop, route);
    if (route.access === 'open') {
      assert.ok(![401, 403].includes(response.status), nameOf(route));
      continue;
    }
    assertError(response, 401, 'unauthorized');
    const metadata =
      route.path === '/mcp'
        ? ', resource_metadata="http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp"'
        : '';
    assert.equal(response.headers['www-authenticate'], `Bearer realm="cheese"${metadata}`, nameOf(route));
  }
});

test('Every route returns 401 for an invalid credential, also when the request is invalid', async (t) => {
  const shop = await openShop(t);
  const unknown = makeKey('test', systemClock);
  for (const route of routesOf(shop)) {
    for (const headers of [{ 'x-api-key': unknown }, { authorization: `Bearer ${unknown}` }]) {
      const response = await sendGarbage(shop, route, { headers });
      assertError(response, 401, 'unauthorized');
      assert.match(response.headers['www-authenticate'] ?? '', /error="invalid_token"/, nameOf(route));
    }
  }
});

test('Every route that needs a scope returns 403 for a key without it, also when the request is invalid', async (t) => {
  const shop = await openShop(t);
  const isScoped = (one: Route) => typeof one.access !== 'string' && !takesKind(one, 'apiKey');
  for (const route of routesOf(shop).filter(isScoped)) {
    const response = await sendGarbage(shop, route, { as: shop.reader });
    assertError(response, 403, 'forbidden');
    const needed = scopesOf(route);
    // No token with another scope would help where a session is needed.
    const challenge = `Bearer realm="cheese", error="insufficient_scope", scope="${needed.join(' ')}"`;
    const expected = needed.length === 0 ? undefined : challenge;
    assert.equal(response.headers['www-authenticate'], expected, nameOf(route));
  }
});

test('Each scope permits the routes that name it and no others; admin permits every route with a scope', async (t) => {
  const shop = await openShop(t);
  for (const scope of scopes) {
    const key = await shop.createKey({ scopes: [scope] });
    for (const route of routesOf(shop)) {
      const needed = scopesOf(route);
      const isOpen =
        typeof route.access === 'string' ||
        takesKind(route, 'apiKey') ||
        needed.includes(scope) ||
        (scope === 'admin' && needed.length > 0);
      const { status } = await sendGarbage(shop, route, { as: key });
      assert.equal(![401, 403].includes(status), isOpen, `${nameOf(route)} with ${scope}: ${status}`);
    }
  }
});

test('Refusals come in one order: credential, scope, media type, size, parameters, body, resource, state', async (t) => {
  const shop = await openShop(t);
  const huge = JSON.stringify({ name: 'x'.repeat(2 * 1024 * 1024) });
  const text = { 'content-type': 'text/plain' };
  const send = (method: string, url: string, options: RequestOptions) => shop.request(method, url, options);
  const { reader, writer } = shop;
  const calls: [number, string, string, RequestOptions][] = [
    [401, 'POST', '/v2/cheeses', { raw: huge, headers: text }],
    [403, 'POST', '/v2/cheeses', { raw: huge, headers: text, as: reader }],
    [415, 'POST', '/v2/cheeses', { raw: huge, headers: text, as: writer }],
    [413, 'POST', '/v2/cheeses', { raw: huge, as: writer }],
    [401, 'DELETE', '/v2/cheeses/999', {}],
    [403, 'DELETE', '/v2/cheeses/999', { as: reader }],
    [400, 'DELETE', '/v2/cheeses/999', { as: writer }],
    [404, 'DELETE', '/v2/cheeses/999', { as: writer, headers: { 'x-confirm-delete': 'true' } }],
    [422, 'PUT', '/v2/cheeses', { as: writer, body: { id: 999, name: '' } }],
    [404, 'PUT', '/v2/cheeses', { as: writer, body: { id: 999, name: 'Brie', status: 'sold' } }],
    [403, 'GET', '/v2/cheeses/findByStatus?status=none', { as: reader }],
    [400, 'GET', '/v2/cheeses/findByStatus?status=none', { as: writer }],
  ];
  for (const [status, method, url, options] of calls) {
    assert.equal((await send(method, url, options)).status, status, `${method} ${url} ${status}`);
  }
});
