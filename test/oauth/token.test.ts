/** The token endpoint: codes, how applications show who they are, and what is refused how. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import {
  assertRefused,
  basic,
  checkedResponse,
  codeOf,
  newApplication,
  openBrowser,
  openListeningShop,
  post,
  queryOf,
  redeeming,
  redirectParameters,
  rewrite,
  verifier,
  withToken,
} from './flow.ts';

onBothEngines('A code', (engine) => {
  test('An authorization code is good once, and using it again ends all that came of it (RFC 6749, 4.1.2 and 10.5)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const token = `${shop.url}/oauth/token`;
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const form = redeeming(app, await codeOf(app, openBrowser(shop.url, 'ada')));
    const { status, headers, json } = await post(token, form, app);
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(Object.keys(json).sort(), [
      'access_token',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ]);
    assert.deepEqual([json.token_type, json.expires_in, json.scope], ['Bearer', 3600, 'read:cheeses']);
    const fresh = await post(token, { grant_type: 'refresh_token', refresh_token: json.refresh_token }, app);
    const tokens = [json.access_token, fresh.json.access_token];
    for (const one of tokens) {
      assert.equal((await withToken(shop, one, 'GET', '/v2/cheeses')).status, 200);
    }
    for (const _ of [1, 2]) {
      assertRefused(await post(token, form, app), 400, 'invalid_grant');
    }
    for (const one of tokens) {
      assert.equal((await withToken(shop, one, 'GET', '/v2/cheeses')).status, 401);
    }
    for (const refresh_token of [json.refresh_token, fresh.json.refresh_token]) {
      assertRefused(
        await post(token, { grant_type: 'refresh_token', refresh_token }, app),
        400,
        'invalid_grant',
      );
    }
  });

  test('An authorization code gives tokens to one at most of five who come at once (RFC 6749, 10.5)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const browser = openBrowser(shop.url, 'ada');
    for (const _ of [1, 2, 3]) {
      const form = redeeming(app, await codeOf(app, browser));
      const responses = await Promise.all(
        [1, 2, 3, 4, 5].map(() => post(`${shop.url}/oauth/token`, form, app)),
      );
      const refused = responses.filter(({ status }) => status !== 200);
      assert.ok(refused.length >= 4, responses.map(({ status }) => status).join(' '));
      for (const response of refused) {
        assertRefused(response, 400, 'invalid_grant');
      }
    }
  });
});

suite('The use of a code', () => {
  test('An authorization code is for its own application, redirect_uri and verifier, for a minute (RFC 6749, 4.1.3; RFC 7636, 4.6)', async (t) => {
    const shop = await openListeningShop(t);
    const token = `${shop.url}/oauth/token`;
    await registerCustomer(shop, { username: 'ada' });
    const redirectUris = ['https://app.example.com/cb', 'https://app.example.com/other'];
    const app = await newApplication(shop, { redirectUris });
    const other = await newApplication(shop, { redirectUris });
    const browser = openBrowser(shop.url, 'ada');
    const form = redeeming(app, await codeOf(app, browser));
    assertRefused(await post(token, form, other), 400, 'invalid_grant');
    for (const fault of [
      { redirect_uri: redirectUris[1] ?? '' },
      { redirect_uri: `${app.redirectUri}/` },
      { code_verifier: `${verifier}x` },
      { code: `${form.code}x` },
      { code: form.code.slice(1) },
      { code: form.code.toUpperCase() },
    ]) {
      const code = 'code' in fault ? fault.code : await codeOf(app, browser);
      assertRefused(await post(token, { ...form, code, ...fault }, app), 400, 'invalid_grant');
    }
    const { redirect_uri: _, ...without } = redeeming(app, await codeOf(app, browser));
    assert.equal((await post(token, without, app)).status, 400);

    const late = redeeming(app, await codeOf(app, browser));
    await rewrite(shop, 'AuthorizationCode', ({ iat = 0, exp = 0 }) => {
      assert.equal(exp - iat, 60, 'RFC 9700, section 2.1.1');
      return { iat: iat - 61, exp: exp - 61 };
    });
    assertRefused(await post(token, late, app), 400, 'invalid_grant');
  });
});

suite('An application', () => {
  test('An OAuth application shows who it is by Basic or by the form, form-encoded before it is Basic, and by one way at a time (RFC 6749, 2.3.1)', async (t) => {
    const shop = await openListeningShop(t);
    const token = `${shop.url}/oauth/token`;
    const app = await newApplication(shop, { grants: ['client_credentials'] });
    const form = { grant_type: 'client_credentials' };
    for (const clientSecret of [app.clientSecret ?? '', 'a:b', '100%', 'a+b c', '%41', '": &=/~']) {
      const secretHash = hash('sha256', clientSecret);
      await shop.app.database.run(
        sql`update oauth_client set secret_hash = ${secretHash} where id = ${app.clientId}`,
      );
      const one = { ...app, clientSecret };
      for (const method of ['basic', 'post'] as const) {
        assert.equal((await post(token, form, one, method)).status, 200, `${method} ${clientSecret}`);
        for (const wrong of [`${clientSecret}x`, clientSecret.slice(1), secretHash, '']) {
          const response = await post(token, form, { ...app, clientSecret: wrong }, method);
          assert.ok([400, 401].includes(response.status), `${method} ${wrong}`);
        }
      }
      const twice = new URLSearchParams({ ...form, client_id: app.clientId, client_secret: clientSecret });
      assertRefused(await post(token, twice, one, 'basic'), 400, 'invalid_request');
    }
  });

  test('An OAuth application that fails to show who it is gets 401, and by Basic the challenge (RFC 6749, 5.2)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop, { grants: ['authorization_code', 'client_credentials'] });
    const other = await newApplication(shop);
    const publicApp = await newApplication(shop, { isPublic: true });
    const form = { grant_type: 'client_credentials', token: 'x' };
    for (const endpoint of ['token', 'revoke', 'introspect']) {
      const address = `${shop.url}/oauth/${endpoint}`;
      for (const [one, method] of [
        [{ ...app, clientSecret: 'wrong' }, 'basic'],
        [{ ...app, clientSecret: other.clientSecret }, 'basic'],
        [{ ...app, clientId: 'nobody' }, 'basic'],
        [{ ...app, clientSecret: 'wrong' }, 'post'],
        [{ ...app, clientId: 'nobody' }, 'post'],
        [app, 'none'],
        [{ ...app, clientId: 'nobody' }, 'none'],
        [{ ...publicApp, clientSecret: 'guessed' }, 'basic'],
        [null, 'none'],
      ] as const) {
        const response = await post(address, form, one, method);
        assertRefused(response, 401, 'invalid_client');
        const challenge = response.headers.get('www-authenticate') ?? '';
        assert.match(challenge, /^Basic realm="[^"]+"/);
        assert.equal(response.json.type, 'unauthorized');
      }
      for (const authorization of ['Basic', 'Basic !', 'Basic Og==', 'Bearer x', 'Basic YQ==']) {
        const body = new URLSearchParams(form);
        const answer = await checkedResponse(
          await fetch(address, { method: 'POST', headers: { authorization }, body }),
        );
        assert.ok([400, 401].includes(answer.status), `${endpoint} ${authorization} ${answer.status}`);
      }
    }
    const code = await codeOf(app, openBrowser(shop.url, 'ada'));
    const stolen = await post(`${shop.url}/oauth/token`, redeeming(app, code), app, 'none');
    assertRefused(stolen, 401, 'invalid_client');
    const again = await post(`${shop.url}/oauth/token`, redeeming(app, code), app);
    assert.equal(again.status, 200, 'a stranger does not use a code up');
  });

  test('An OAuth application gets the reason for an invalid request (RFC 6749, 5.2; RFC 9700, 2.4)', async (t) => {
    const shop = await openListeningShop(t);
    const token = `${shop.url}/oauth/token`;
    const app = await newApplication(shop);
    const machine = await newApplication(shop, { grants: ['client_credentials'] });
    const person = { username: 'ada', password: 'correct horse battery staple' };
    for (const [one, form, error] of [
      [app, {}, 'invalid_request'],
      [app, { grant_type: '' }, 'invalid_request'],
      [app, { grant_type: 'password', ...person }, 'unsupported_grant_type'],
      [app, { grant_type: 'implicit' }, 'unsupported_grant_type'],
      [app, { grant_type: 'nonsense' }, 'unsupported_grant_type'],
      [app, { grant_type: '__proto__' }, 'unsupported_grant_type'],
      [app, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }, 'unsupported_grant_type'],
      [app, { grant_type: 'client_credentials' }, 'unauthorized_client'],
      [machine, { grant_type: 'authorization_code', code: 'x' }, 'unauthorized_client'],
      [machine, { grant_type: 'refresh_token', refresh_token: 'x' }, 'unauthorized_client'],
      [app, { grant_type: 'authorization_code' }, 'invalid_request'],
      [app, { grant_type: 'refresh_token' }, 'invalid_request'],
      [app, { grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_grant'],
    ] as const) {
      assertRefused(await post(token, form as Record<string, string>, one), 400, error);
    }
    const doubled = new URLSearchParams('grant_type=client_credentials&grant_type=client_credentials');
    assertRefused(await post(token, doubled, machine), 400, 'invalid_request');
    const scopes = new URLSearchParams('grant_type=client_credentials&scope=read:cheeses&scope=read:orders');
    assertRefused(await post(token, scopes, machine), 400, 'invalid_request');
    const authorization = basic(machine.clientId, machine.clientSecret ?? '');
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { authorization, 'content-type': type };
      const body = '{"grant_type":"client_credentials"}';
      assertRefused(
        await checkedResponse(await fetch(token, { method: 'POST', headers, body })),
        400,
        'invalid_request',
      );
    }
    const form = 'application/x-www-form-urlencoded';
    for (const charset of ['utf-16', 'utf-8; charset=utf-16', 'utf-8; charset=utf-8']) {
      const headers = { authorization, 'content-type': `${form}; charset=${charset}` };
      const response = await fetch(token, { method: 'POST', headers, body: 'grant_type=client_credentials' });
      assertRefused(await checkedResponse(response), 400, 'invalid_request');
    }
    const inQuery = await fetch(`${token}?grant_type=client_credentials`, {
      method: 'POST',
      headers: { authorization },
    });
    assertRefused(await checkedResponse(inQuery), 400, 'invalid_request');
    const got = await fetch(`${token}?grant_type=client_credentials`, { headers: { authorization } });
    assert.equal(got.status, 405);
  });
});

onBothEngines('The endpoints for programs', (engine) => {
  test('The OAuth endpoints for programs return 4xx for large and malformed forms (RFC 6749, 3.2)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const app = await newApplication(shop, { grants: ['client_credentials'] });
    const form = { grant_type: 'client_credentials', token: 'x', refresh_token: 'x', code: 'x' };
    const strange = ['a\0b', '\ud800', '%', '\u{1f9c0}', ' ', '[object Object]', 'a'.repeat(50_000)];
    for (const endpoint of ['token', 'revoke', 'introspect']) {
      const address = `${shop.url}/oauth/${endpoint}`;
      for (const text of strange) {
        for (const name of ['grant_type', 'scope', 'token', 'token_type_hint', 'client_secret', 'code']) {
          await post(address, { ...form, [name]: text }, app);
        }
        await post(address, form, { ...app, clientId: text }, 'post');
      }
      const large = await fetch(address, {
        method: 'POST',
        body: new URLSearchParams({ ...form, filler: 'a'.repeat(60_000) }),
      });
      assertRefused(await checkedResponse(large), 400, 'invalid_request');
    }
  });
});

suite('The same endpoints', () => {
  test('The OAuth endpoints for programs have aliases under /v2, also for scripts of other origins (RFC 6749, 3.2; RFC 7009, 2.3)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const base = `${shop.url}/v2/oauth`;
    const { code = '' } = redirectParameters(
      'query',
      await openBrowser(shop.url, 'ada').authorize(queryOf(app)),
    );
    const { status, json } = await post(`${base}/token`, redeeming(app, code), app);
    assert.equal(status, 200);
    const form = { token: json.access_token };
    assert.equal((await post(`${base}/introspect`, form, app)).json.active, true);
    assert.equal((await post(`${base}/revoke`, form, app)).status, 200);
    assert.deepEqual((await post(`${base}/introspect`, form, app)).json, { active: false });
    const origin = 'https://app.example.com';
    const response = await fetch(`${base}/token`, { method: 'POST', headers: { origin } });
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
    await response.arrayBuffer();
  });
});
