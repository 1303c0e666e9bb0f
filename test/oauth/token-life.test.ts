/** What becomes of tokens: refreshed, ended, looked at, run out; and those that applications get for themselves. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { onBothEngines, testClock } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import {
  type Application,
  assertRefused,
  implicitQueryOf,
  type ListeningShop,
  newApplication,
  openBrowser,
  openListeningShop,
  post,
  redirectParameters,
  rewrite,
  tokensOf,
  withToken,
} from './flow.ts';

function refresh(
  { url }: ListeningShop,
  app: Application,
  refresh_token: string,
  more: { scope?: string } = {},
) {
  return post(`${url}/oauth/token`, { grant_type: 'refresh_token', refresh_token, ...more }, app);
}

const statusOf = async (shop: ListeningShop, token: string) =>
  (await withToken(shop, token, 'GET', '/v2/cheeses')).status;

onBothEngines('A refresh token', (engine) => {
  test('A refresh token is good once: a use after that of its successor ends the family, for public applications as well (RFC 6749, 10.4; RFC 9700, 4.14.2)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const browser = openBrowser(shop.url, 'ada');
    for (const isPublic of [true, false]) {
      const app = await newApplication(shop, { isPublic });
      const first = await tokensOf(shop, app, browser);
      const second = (await refresh(shop, app, first.refresh_token)).json;
      const third = (await refresh(shop, app, second.refresh_token)).json;
      assert.deepEqual([third.expires_in, third.scope, third.token_type], [3600, 'read:cheeses', 'Bearer']);
      assert.equal(new Set([first, second, third].map((one) => one.refresh_token)).size, 3);
      assert.equal(await statusOf(shop, third.access_token), 200);
      assertRefused(await refresh(shop, app, first.refresh_token), 400, 'invalid_grant');
      for (const tokens of [first, second, third]) {
        assert.equal(await statusOf(shop, tokens.access_token), 401);
        assertRefused(await refresh(shop, app, tokens.refresh_token), 400, 'invalid_grant');
      }
    }
  });

  test('A refresh token gives tokens to two at most of three who come at once, with one successor (RFC 9700, 4.14.2)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop, { isPublic: true });
    for (const _ of [1, 2, 3]) {
      const { refresh_token } = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
      const responses = await Promise.all([1, 2, 3].map(() => refresh(shop, app, refresh_token)));
      const refused = responses.filter(({ status }) => status !== 200);
      assert.ok(refused.length >= 1, responses.map(({ status }) => status).join(' '));
      const successors = responses.flatMap(({ json }) => json.refresh_token ?? []);
      assert.ok(new Set(successors).size <= 1);
      for (const response of refused) {
        assertRefused(response, 400, 'invalid_grant');
      }
    }
  });
});

suite('The use of a refresh token', () => {
  test('A refresh token is for at most its own scope, and for its own application alone (RFC 6749, 6 and 10.4)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const other = await newApplication(shop);
    const scope = 'read:cheeses read:profile';
    const first = await tokensOf(shop, app, openBrowser(shop.url, 'ada'), { scope });
    assertRefused(await refresh(shop, other, first.refresh_token), 400, 'invalid_grant');
    for (const wider of ['read:orders', `${scope} read:orders`, 'admin', 'nonsense', 'openid']) {
      assertRefused(await refresh(shop, app, first.refresh_token, { scope: wider }), 400, 'invalid_scope');
    }
    const narrow = (await refresh(shop, app, first.refresh_token, { scope: 'read:cheeses' })).json;
    assert.equal(narrow.scope, 'read:cheeses');
    assert.equal((await withToken(shop, narrow.access_token, 'GET', '/v2/customer/ada')).status, 403);
    const whole = (await refresh(shop, app, narrow.refresh_token)).json;
    assert.equal(whole.scope, scope, 'the grant is as wide as it was');
    assert.equal((await withToken(shop, whole.access_token, 'GET', '/v2/customer/ada')).status, 200);
  });

  test('A refresh token ends fourteen days after each use and thirty days after the first (RFC 9700, 2.2.2 and 4.14.2)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const day = 24 * 60 * 60;
    const first = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
    await rewrite(shop, 'RefreshToken', ({ iat = 0, exp = 0, iiat = 0 }) => {
      assert.ok(Math.abs(exp - iat - 14 * day) <= 2, `${exp - iat}`);
      return { iiat: iiat - 29 * day };
    });
    const second = (await refresh(shop, app, first.refresh_token)).json;
    let seen = 0;
    await rewrite(shop, 'RefreshToken', ({ iat = 0, exp = 0 }) => {
      seen = Math.max(seen, Math.abs(exp - iat - day) <= 60 ? 1 : 0);
      return { exp: iat - 1 };
    });
    assert.equal(seen, 1, 'the last day of thirty');
    assertRefused(await refresh(shop, app, second.refresh_token), 400, 'invalid_grant');
  });
});

onBothEngines('Revocation', (engine) => {
  test('Revocation of tokens ends a token of the same application, with any hint, and ignores tokens of others (RFC 7009, 2.1 and 2.2)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const other = await newApplication(shop);
    const browser = openBrowser(shop.url, 'ada');
    const revoke = async (one: Application, token: string, hint?: string) => {
      const form = { token, ...(hint === undefined ? {} : { token_type_hint: hint }) };
      assert.equal((await post(`${shop.url}/oauth/revoke`, form, one)).status, 200);
    };
    const first = await tokensOf(shop, app, browser);
    for (const hint of [undefined, 'access_token', 'refresh_token', 'nonsense']) {
      await revoke(other, first.access_token, hint);
      await revoke(other, first.refresh_token, hint);
      await revoke(app, 'unknown', hint);
    }
    assert.equal(await statusOf(shop, first.access_token), 200);
    const next = (await refresh(shop, app, first.refresh_token)).json;
    await revoke(app, next.refresh_token, 'access_token');
    for (const token of [first.access_token, next.access_token]) {
      assert.equal(await statusOf(shop, token), 401, 'a refresh token takes its access tokens along');
    }
    assertRefused(await refresh(shop, app, next.refresh_token), 400, 'invalid_grant');

    const second = await tokensOf(shop, app, openBrowser(shop.url, 'ada'));
    await revoke(app, second.access_token, 'refresh_token');
    assert.equal(await statusOf(shop, second.access_token), 401);
    assertRefused(await post(`${shop.url}/oauth/revoke`, {}, app), 400, 'invalid_request');
  });
});

suite('Introspection', () => {
  test('Introspection describes tokens of the same application, and returns {"active":false} for all others (RFC 7662, 2.2 and 4)', async (t) => {
    const clock = testClock(Date.now());
    const shop = await openListeningShop(t, { clock });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const other = await newApplication(shop, { grants: ['client_credentials'] });
    const publicApp = await newApplication(shop, { isPublic: true });
    const introspect = (one: Application, token: string) =>
      post(`${shop.url}/oauth/introspect`, { token }, one);
    const browser = openBrowser(shop.url, 'ada');
    const tokens = await tokensOf(shop, app, browser);
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const { status, json } = await introspect(app, token);
      assert.equal(status, 200);
      const { active, client_id, scope, iss, exp, iat } = json;
      assert.deepEqual([active, client_id, scope, iss], [true, app.clientId, 'read:cheeses', shop.url]);
      assert.ok(exp > iat);
    }
    const own = await tokensOf(shop, publicApp, browser);
    for (const [one, token] of [
      [other, tokens.access_token],
      [other, tokens.refresh_token],
      [app, own.access_token],
      [app, 'unknown'],
    ] as const) {
      const { status, json } = await introspect(one, token);
      assert.deepEqual([status, json], [200, { active: false }]);
    }
    const asPublic = await introspect(publicApp, own.access_token);
    assert.ok(asPublic.status === 401 || asPublic.json.active === false, JSON.stringify(asPublic.json));
    await refresh(shop, app, tokens.refresh_token);
    assert.deepEqual(
      (await introspect(app, tokens.refresh_token)).json,
      { active: false },
      'also in the leeway',
    );
    clock.advance(31_000);
    await refresh(shop, app, tokens.refresh_token);
    assert.deepEqual((await introspect(app, tokens.access_token)).json, { active: false });
  });
});

suite('An access token', () => {
  test('An access token expires, and the challenge says so (RFC 6750, 3.1)', async (t) => {
    const clock = testClock(Date.now());
    const shop = await openListeningShop(t, { clock });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const implicitApp = await newApplication(shop, { grants: ['implicit'], isPublic: true });
    const machine = await newApplication(shop, { grants: ['client_credentials'] });
    const browser = openBrowser(shop.url, 'ada');
    const usual = (await tokensOf(shop, app, browser)).access_token;
    const short =
      redirectParameters('fragment', await browser.authorize(implicitQueryOf(implicitApp))).access_token ??
      '';
    const own = await post(`${shop.url}/oauth/token`, { grant_type: 'client_credentials' }, machine);
    clock.advance(9 * 60_000);
    assert.equal(await statusOf(shop, short), 200);
    clock.advance(2 * 60_000);
    assert.deepEqual([await statusOf(shop, short), await statusOf(shop, usual)], [401, 200]);
    clock.advance(48 * 60_000);
    assert.deepEqual([await statusOf(shop, usual), await statusOf(shop, own.json.access_token)], [200, 200]);
    clock.advance(2 * 60_000);
    for (const token of [usual, own.json.access_token]) {
      const { status, headers } = await withToken(shop, token, 'GET', '/v2/cheeses');
      assert.equal(status, 401);
      assert.match(headers['www-authenticate'] ?? '', /^Bearer realm="[^"]+", error="invalid_token"/);
    }
  });

  test('An access token is taken from the header alone, and opens what its scopes name (RFC 6750, 2.1, 2.3 and 3.1)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const { access_token: token } = await tokensOf(
      shop,
      await newApplication(shop),
      openBrowser(shop.url, 'ada'),
    );
    const inQuery = await shop.request('GET', `/v2/cheeses?access_token=${token}`);
    assert.ok([400, 401].includes(inQuery.status), inQuery.text);
    assert.equal((await shop.request('GET', '/v2/cheeses', { as: token })).status, 401);
    const none = await shop.request('GET', '/v2/cheeses');
    assert.doesNotMatch(none.headers['www-authenticate'] ?? '', /error=/, 'no token was sent');
    const { status, headers } = await withToken(shop, token, 'GET', '/v2/store/orders');
    assert.equal(status, 403);
    const challenge = headers['www-authenticate'] ?? '';
    assert.match(challenge, /^Bearer realm="[^"]+", error="insufficient_scope", scope="read:orders"$/);
  });
});

suite('An application that acts for itself', () => {
  test('An application that acts for itself gets its registered scopes, no refresh token, and admin after approval (RFC 6749, 4.4)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop, {
      grants: ['client_credentials'],
      scopes: ['read:cheeses', 'write:cheeses', 'admin'],
    });
    const ask = (scope?: string) => {
      const form = { grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) };
      return post(`${shop.url}/oauth/token`, form, app);
    };
    const all = await ask();
    assert.deepEqual(Object.keys(all.json).sort(), ['access_token', 'expires_in', 'scope', 'token_type']);
    assert.deepEqual([all.json.scope, all.json.expires_in], ['read:cheeses write:cheeses', 3600]);
    const made = await withToken(shop, all.json.access_token, 'POST', '/v2/cheeses', { name: 'Comté' });
    assert.equal(made.status, 201);
    assert.equal((await ask('read:cheeses')).json.scope, 'read:cheeses');
    for (const scope of ['nonsense', 'read:cheeses read:orders', 'openid', 'READ:CHEESES']) {
      assertRefused(await ask(scope), 400, 'invalid_scope');
    }
    assert.deepEqual(await shop.app.oauth.approvals.list(), []);
    assertRefused(await ask('admin'), 400, 'invalid_scope');
    assert.equal((await ask('write:cheeses admin')).json.scope, 'write:cheeses');
    const [request, ...more] = await shop.app.oauth.approvals.list();
    assert.deepEqual([request?.status, request?.username, more], ['pending', null, []]);
    await shop.app.oauth.approvals.approve(shop.app.contextOf('test'), request?.id ?? 0);
    const approved = (await ask('admin')).json;
    assert.deepEqual([approved.scope, approved.expires_in], ['admin', 900]);
  });
});
