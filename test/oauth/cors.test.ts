/** CORS of the authorization server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { codeOf, newApplication, openBrowser, openListeningShop, redeeming } from './flow.ts';

test('CURD_CORS_ORIGINS restricts the endpoints for programs', async (t) => {
  const shop = await openShop(t, { settings: { CURD_CORS_ORIGINS: 'https://spa.example' } });
  for (const url of ['/oauth/token', '/v2/oauth/token', '/oauth/revoke', '/oauth/introspect']) {
    for (const [origin, allowed] of [
      ['https://spa.example', 'https://spa.example'],
      ['https://other.example', undefined],
    ] as const) {
      const { headers, statusCode } = await shop.app.server.inject({
        method: 'POST',
        url,
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
        payload: 'grant_type=client_credentials',
      });
      assert.equal(statusCode, 401);
      assert.equal(headers['access-control-allow-origin'], allowed, `${url} for ${origin}`);
    }
  }
});

test('Pages of the redirect URIs of a client may redeem and revoke its tokens, and read the metadata', async (t) => {
  const shop = await openListeningShop(t, { settings: { CURD_CORS_ORIGINS: 'https://spa.example' } });
  await registerCustomer(shop, { username: 'ada' });
  const page = 'https://app.example.com';
  const app = await newApplication(shop, { isPublic: true, redirectUris: [`${page}/cb`] });
  const other = await newApplication(shop, {
    ...{ isPublic: true, isNative: true },
    redirectUris: ['com.example.app:/cb', 'https://other.example/cb'],
  });
  const send = async (path: string, origin: string, form: Record<string, string>) => {
    const body = new URLSearchParams(form);
    const response = await fetch(shop.url + path, { method: 'POST', headers: { origin }, body });
    return { status: response.status, allowed: response.headers.get('access-control-allow-origin') };
  };
  const code = await codeOf(app, openBrowser(shop.url, 'ada'));
  const redeemed = await send('/oauth/token', page, { ...redeeming(app, code), client_id: app.clientId });
  assert.deepEqual(redeemed, { status: 200, allowed: page });
  const token = { token: 'unknown', client_id: app.clientId };
  assert.deepEqual(await send('/v2/oauth/revoke', page, token), { status: 200, allowed: page });
  const refused = await send('/oauth/token', page, { grant_type: 'refresh_token', client_id: app.clientId });
  assert.deepEqual(refused, { status: 400, allowed: page }, 'errors too');

  const ofOther = { token: 'unknown', client_id: other.clientId };
  for (const [path, origin, form] of [
    ['/oauth/revoke', 'https://evil.example', token],
    ['/oauth/revoke', `${page}:8443`, token],
    ['/oauth/revoke', page, ofOther],
    ['/oauth/revoke', 'null', ofOther],
    ['/oauth/revoke', page, { token: 'unknown', client_id: 'unknown' }],
    ['/oauth/introspect', page, token],
    ['/oauth/revoke', page, { token: 'unknown' }],
  ] as const) {
    assert.equal((await send(path, origin, form)).allowed, null, `${path} for ${origin}`);
  }
  const metadata = await fetch(`${shop.url}/.well-known/oauth-authorization-server`, {
    headers: { origin: page },
  });
  assert.equal(metadata.headers.get('access-control-allow-origin'), '*');
});

test('Scripts of other origins cannot read the pages of the authorization server', async (t) => {
  const shop = await openShop(t);
  for (const headers of [{}, { origin: 'https://page.example' }]) {
    for (const [method, url] of [
      ['GET', '/oauth/authorize'],
      ['GET', '/oauth/logout'],
      ['GET', '/oauth/interaction/none'],
      ['PUT', '/oauth/authorize'],
      ['OPTIONS', '/oauth/authorize'],
    ] as const) {
      const response = await shop.app.server.inject({ method, url, headers });
      assert.equal(response.headers['access-control-allow-origin'], undefined, `${method} ${url}`);
    }
  }
});
