/** CORS of the authorization server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop } from '../helper.ts';

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
