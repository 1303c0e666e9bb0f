/** The authorization endpoint for valid requests: codes with PKCE, and tokens in the fragment. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { registerCustomer } from '../shop-verbs.ts';
import {
  assertRefused,
  codeOf,
  implicitQueryOf,
  newApplication,
  openBrowser,
  openListeningShop,
  post,
  queryOf,
  redeeming,
  redirectParameters,
  verifier,
  withToken,
} from './flow.ts';

suite('The authorization endpoint', () => {
  test('The authorization endpoint returns a code, the unchanged state and the issuer, and grants read:cheeses by default (RFC 6749, 3.3 and 4.1.2; RFC 9207, 2)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const state = 'a b+c&d=é%2F"<>\u{1f9c0}';
    const visit = await openBrowser(shop.url, 'ada').authorize(queryOf(app, { state }));
    assert.deepEqual(visit.forms, ['login', 'consent']);
    const { code = '', ...told } = redirectParameters('query', visit);
    assert.deepEqual(told, { state, iss: shop.url });
    assert.ok(code.length >= 22, 'RFC 6749, section 10.10: 128 bits at least');
    const { json } = await post(`${shop.url}/oauth/token`, redeeming(app, code), app);
    assert.equal(json.scope, 'read:cheeses');
  });

  test('The authorization endpoint redirects to no URL of an unknown parameter (RFC 9700, 4.11)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const names = 'return_to returnTo next url target_link_uri post_logout_redirect_uri iss claims';
    const evil = Object.fromEntries(names.split(' ').map((name) => [name, 'https://evil.example/']));
    for (const more of [evil, { ...evil, state: 'https://evil.example/', login_hint: '"><a href=//evil>' }]) {
      const { location } = await openBrowser(shop.url, 'ada').authorize(queryOf(app, more));
      assert.ok(location?.startsWith(`${app.redirectUri}?code=`), `${location}`);
    }
    for (const address of ['/oauth/logout?post_logout_redirect_uri=', '/oauth/interaction/x?returnTo=']) {
      const { location } = await openBrowser(shop.url).visit(`${address}https://evil.example/`);
      assert.equal(location, null);
    }
  });

  test('The authorization endpoint accepts only GET, permits no other origin, and has an alias under /v2 (RFC 6749, 3.1)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop);
    const address = `${shop.url}/oauth/authorize`;
    const posted = await fetch(address, { method: 'POST', body: queryOf(app), redirect: 'manual' });
    assert.equal(posted.status, 405);
    assert.match(posted.headers.get('allow') ?? '', /^GET\b/);
    await posted.arrayBuffer();
    const headers = { origin: 'https://app.example.com' };
    const got = await fetch(`${address}?${queryOf(app)}`, { headers, redirect: 'manual' });
    assert.equal(got.status, 303);
    assert.equal(got.headers.get('access-control-allow-origin'), null, 'RFC 9700, section 2.6');
    const query = 'client_id=a&client_id=b&state=%20+%2F%E2%9C%93&x=&y#z'.replace('#z', '');
    const aliased = await fetch(`${shop.url}/v2/oauth/authorize?${query}`, { redirect: 'manual' });
    assert.equal(aliased.status, 302);
    assert.equal(aliased.headers.get('location'), `/oauth/authorize?${query}`);
    const bare = await fetch(`${shop.url}/v2/oauth/authorize`, { redirect: 'manual' });
    assert.equal(bare.headers.get('location'), '/oauth/authorize');
  });

  test('The authorization endpoint returns login_required or consent_required with prompt=none (OpenID Connect Core 1.0, 3.1.2.6)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const [app, publicApp] = [await newApplication(shop), await newApplication(shop, { isPublic: true })];
    const browser = openBrowser(shop.url, 'ada');
    const askQuietly = async (one = app, scope = 'read:cheeses') => {
      const visit = await browser.authorize(queryOf(one, { prompt: 'none', scope }));
      assert.deepEqual(visit.forms, []);
      return redirectParameters('query', visit);
    };
    assert.equal((await askQuietly()).error, 'login_required');
    assert.deepEqual((await browser.authorize(queryOf(app))).forms, ['login', 'consent']);
    assert.ok((await askQuietly()).code !== undefined, 'what was allowed is remembered');
    assert.deepEqual((await browser.authorize(queryOf(app))).forms, []);
    assert.match(
      (await askQuietly(app, 'read:cheeses read:orders')).error ?? '',
      /^(consent|interaction)_required$/,
    );
    assert.deepEqual((await browser.authorize(queryOf(app, { scope: 'read:orders' }))).forms, ['consent']);
    for (const _ of [1, 2]) {
      const { forms } = await browser.authorize(queryOf(publicApp));
      assert.deepEqual(forms, ['consent'], 'RFC 6749, section 10.2: a public application is asked each time');
    }
    assert.match((await askQuietly(publicApp)).error ?? '', /^(consent|interaction)_required$/);
    const denied = await browser.authorize(queryOf(publicApp), { consent: 'deny' });
    assert.equal(redirectParameters('query', denied).error, 'access_denied');
    const cancelled = await openBrowser(shop.url).authorize(queryOf(app), { login: 'cancel' });
    assert.deepEqual(
      [redirectParameters('query', cancelled).error, cancelled.forms],
      ['access_denied', ['login']],
    );
  });

  test('The authorization endpoint requires PKCE from public applications, by S256 and with verifiers of 43 to 128 characters (RFC 7636, 4.1 and 4.3)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const [app, publicApp] = [await newApplication(shop), await newApplication(shop, { isPublic: true })];
    const none = { code_challenge: undefined, code_challenge_method: undefined };
    const browser = openBrowser(shop.url, 'ada');
    const refused = redirectParameters('query', await browser.authorize(queryOf(publicApp, none)));
    assert.deepEqual([refused.error, refused.state], ['invalid_request', 'xyz']);

    const token = `${shop.url}/oauth/token`;
    const withoutChallenge = redeeming(app, await codeOf(app, browser, none));
    assertRefused(await post(token, withoutChallenge, app), 400, 'invalid_grant');
    const { code_verifier: _, ...bare } = redeeming(app, await codeOf(app, browser, none));
    assert.equal((await post(token, bare, app)).status, 200, 'with a secret it can do without');

    const digest = async (text: string) =>
      Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('base64url');
    for (const [length, status] of [
      [42, 400],
      [43, 200],
      [128, 200],
      [129, 400],
    ] as const) {
      const code_verifier = 'aZ0-._~'.repeat(20).slice(0, length);
      for (const one of [app, publicApp]) {
        const code = await codeOf(one, browser, { code_challenge: await digest(code_verifier) });
        const { status: got } = await post(token, { ...redeeming(one, code), code_verifier }, one);
        assert.equal(got, status, `${length} characters`);
      }
    }
    const withBlanks = `${verifier.slice(1)} `;
    const code = await codeOf(publicApp, browser, { code_challenge: await digest(withBlanks) });
    assertRefused(
      await post(token, { ...redeeming(publicApp, code), code_verifier: withBlanks }, publicApp),
      400,
      'invalid_request',
    );
    const { code_verifier: _left, ...without } = redeeming(publicApp, await codeOf(publicApp, browser));
    assertRefused(await post(token, without, publicApp), 400, 'invalid_grant');
  });

  test('The token endpoint says why a grant is not valid', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const browser = openBrowser(shop.url, 'ada');
    const reasonOf = async (form: Record<string, string>) => {
      const response = await post(`${shop.url}/oauth/token`, form, app);
      assertRefused(response, 400, 'invalid_grant');
      return response.json.error_description;
    };
    const form = redeeming(app, await codeOf(app, browser));
    const other = { ...form, code_verifier: verifier.split('').reverse().join('') };
    assert.match(await reasonOf(other), /code_verifier does not match code_challenge$/);
    assert.match(await reasonOf({ ...form, code: 'unknown' }), /not found$/);
    const { json } = await post(`${shop.url}/oauth/token`, redeeming(app, await codeOf(app, browser)), app);
    const refresh = { grant_type: 'refresh_token', refresh_token: json.refresh_token };
    await post(`${shop.url}/oauth/revoke`, { token: json.refresh_token }, app);
    assert.match(await reasonOf(refresh), /refresh token not found$/);
  });

  test('The authorization endpoint refuses a flow that the application is not registered for (RFC 6749, 4.1.2.1 and 4.2.2.1)', async (t) => {
    const shop = await openListeningShop(t);
    const withCode = await newApplication(shop);
    const withToken = await newApplication(shop, { grants: ['implicit'], isPublic: true });
    const both = await newApplication(shop, { grants: ['implicit', 'authorization_code'] });
    const expected = { error: 'unauthorized_client', state: 'xyz', iss: shop.url };
    for (const [query, part] of [
      [queryOf(withToken), 'query'],
      [implicitQueryOf(withCode), 'fragment'],
      [implicitQueryOf(withCode, { x_refused: '' }), 'fragment'],
    ] as const) {
      const visit = await openBrowser(shop.url).authorize(query);
      const { error_description: _, ...told } = redirectParameters(part, visit);
      assert.deepEqual([told, visit.forms], [expected, []]);
    }
    for (const query of [queryOf(both), implicitQueryOf(both)]) {
      assert.match((await openBrowser(shop.url).authorize(query)).page, /<h1>Log in<\/h1>/);
    }
  });
});

suite('The implicit flow', () => {
  test('The implicit flow returns a token for ten minutes in the fragment, with consent each time and without a refresh token (RFC 6749, 4.2.2)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada', role: 'staff' });
    const app = await newApplication(shop, { grants: ['implicit'], isPublic: true });
    const browser = openBrowser(shop.url, 'ada');
    const query = implicitQueryOf(app, { scope: 'read:profile read:cheeses', state: 'a b&c' });
    const { access_token: token = '', ...told } = redirectParameters(
      'fragment',
      await browser.authorize(query),
    );
    assert.deepEqual(told, {
      token_type: 'Bearer',
      expires_in: '600',
      scope: 'read:profile read:cheeses',
      state: 'a b&c',
      iss: shop.url,
    });
    assert.equal((await withToken(shop, token, 'GET', '/v2/customer/ada')).status, 200);
    assert.equal((await withToken(shop, token, 'GET', '/v2/store/orders')).status, 403);
    const again = await browser.authorize(query);
    assert.deepEqual(again.forms, ['consent'], 'RFC 6749, section 10.16');
    for (const [more, responses, error] of [
      [{ prompt: 'none' }, {}, /^(consent|interaction)_required$/],
      [{ scope: 'nonsense' }, {}, /^invalid_scope$/],
      [{ scope: 'admin' }, {}, /^invalid_scope$/],
      [{}, { consent: 'deny' }, /^access_denied$/],
    ] as const) {
      const refused = redirectParameters(
        'fragment',
        await browser.authorize(implicitQueryOf(app, more), responses),
      );
      assert.match(refused.error ?? '', error);
      assert.deepEqual([refused.state, refused.iss, refused.access_token], ['xyz', shop.url, undefined]);
    }
    assertRefused(
      await post(`${shop.url}/oauth/token`, { grant_type: 'refresh_token', refresh_token: token }, app),
      400,
      'unauthorized_client',
    );
  });

  test('The implicit flow never grants admin, even after an approval (RFC 9700, 2.1.2)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada', role: 'staff' });
    const app = await newApplication(shop, {
      grants: ['implicit', 'authorization_code'],
      scopes: ['read:cheeses', 'admin'],
    });
    const {
      oauth: { approvals },
      contextOf,
    } = shop.app;
    const browser = openBrowser(shop.url, 'ada');
    await browser.authorize(queryOf(app, { scope: 'read:cheeses admin' }));
    const [request] = await approvals.list();
    await approvals.approve(contextOf('test'), request?.id ?? 0);
    await codeOf(app, browser, { scope: 'read:cheeses admin' });
    for (const scope of ['admin', 'read:cheeses admin']) {
      const visit = await browser.authorize(implicitQueryOf(app, { scope }));
      assert.equal(redirectParameters('fragment', visit).error, 'invalid_scope');
    }
    const told = redirectParameters('fragment', await browser.authorize(implicitQueryOf(app)));
    assert.equal(told.scope, 'read:cheeses');
    assert.equal(
      (await withToken(shop, told.access_token ?? '', 'GET', '/v2/api-keys?account=x')).status,
      403,
    );
  });
});
