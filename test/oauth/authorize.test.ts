/** The authorization endpoint for invalid requests: error pages, and errors in redirects. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  challenge,
  implicitQueryOf,
  type ListeningShop,
  newApplication,
  openBrowser,
  openListeningShop,
  type Parameters,
  queryOf,
  redirectParameters,
} from './flow.ts';

/** @returns the parameters of the redirect. No page was shown before. */
async function refusalOf(shop: ListeningShop, query: URLSearchParams, part: 'query' | 'fragment' = 'query') {
  const visit = await openBrowser(shop.url).authorize(query);
  assert.deepEqual(visit.forms, [], `asked the person at once: ${query}`);
  const { error_description: _, scope: _scope, ...told } = redirectParameters(part, visit);
  return told;
}

/** A page of status 400 that leads nowhere, least of all to what the request held. */
async function assertPage(shop: ListeningShop, query: URLSearchParams | string, error: string) {
  const { status, location, page } = await openBrowser(shop.url).visit(`/oauth/authorize?${query}`);
  assert.deepEqual([status, location], [400, null], `${query}`);
  assert.match(page, new RegExp(`<code>${error}</code>`), `${query}`);
  assert.doesNotMatch(page, /href="(?!\/oauth\/style)|http-equiv|evil\.example/, `${query}`);
}

suite('The authorization endpoint', () => {
  test('The authorization endpoint shows an error page for a redirect_uri that is not registered, and never redirects (RFC 6749, 4.1.2.1; RFC 9700, 2.1)', async (t) => {
    const shop = await openListeningShop(t);
    const registered = 'https://app.example.com/cb?tenant=1';
    const app = await newApplication(shop, { redirectUris: [registered, 'http://127.0.0.1/cb'] });
    const others = [
      'https://app.example.com/Cb?tenant=1',
      'https://APP.example.com/cb?tenant=1',
      'HTTPS://app.example.com/cb?tenant=1',
      'https://app.example.com/c?tenant=1',
      'https://app.example.com:443/cb?tenant=1',
      'https://app.example.com:8443/cb?tenant=1',
      'https://app.example.com/cb',
      'https://app.example.com/cb?tenant=1&next=https://evil.example',
      'https://app.example.com/cb?tenant=2',
      'https://app.example.com/cb/?tenant=1',
      'https://app.example.com/x/../cb?tenant=1',
      'https://app.example.com/./cb?tenant=1',
      'https://app.example.com//cb?tenant=1',
      'https://app.example.com/%63b?tenant=1',
      'https://user:pw@app.example.com/cb?tenant=1',
      'https://app.example.com@evil.example/cb?tenant=1',
      'https://app.example.com.evil.example/cb?tenant=1',
      'https://app.example.com\\@evil.example/cb?tenant=1',
      'https://evil.example/https://app.example.com/cb?tenant=1',
      'http://app.example.com/cb?tenant=1',
      '//app.example.com/cb?tenant=1',
      '/cb?tenant=1',
      `${registered}#`,
      `${registered}#evil.example`,
      ` ${registered}`,
      `${registered}\n`,
      'http://127.0.0.1:8080/cb',
      'http://localhost/cb',
      'http://127.1/cb',
      'javascript:alert(1)',
      'data:text/html,evil.example',
    ];
    for (const redirect_uri of others) {
      await assertPage(shop, queryOf(app, { redirect_uri }), 'invalid_redirect_uri');
      await assertPage(shop, implicitQueryOf(app, { redirect_uri }), 'invalid_redirect_uri');
    }
    const query = queryOf(app, { redirect_uri: registered, response_type: 'nonsense' });
    const { location } = await openBrowser(shop.url).authorize(query);
    assert.ok(
      location?.startsWith(`${registered}&error=`),
      `what is registered is kept as it is: ${location}`,
    );
  });

  test('The authorization endpoint accepts any loopback port for native applications, and no other difference (RFC 8252, 7.3)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop, {
      isNative: true,
      isPublic: true,
      redirectUris: ['http://127.0.0.1/cb', 'http://[::1]/cb', 'com.example.diary:/cb'],
    });
    for (const redirect_uri of [
      'http://127.0.0.1:50000/cb',
      'http://[::1]:50000/cb',
      'com.example.diary:/cb',
    ]) {
      const visit = await openBrowser(shop.url).authorize(queryOf(app, { redirect_uri, scope: 'nonsense' }));
      assert.ok(visit.location?.startsWith(`${redirect_uri}?error=invalid_scope`), `${visit.location}`);
    }
    for (const redirect_uri of [
      'http://127.0.0.1:50000/cb2',
      'http://127.0.0.1:50000/cb?to=evil.example',
      'http://127.0.0.2:50000/cb',
      'http://evil.example:50000/cb',
      'http://evil.example@127.0.0.1:50000/cb',
      'https://127.0.0.1:50000/cb',
      'com.example.diary://evil.example/cb',
      'com.example.diary2:/cb',
    ]) {
      await assertPage(shop, queryOf(app, { redirect_uri }), 'invalid_redirect_uri');
    }
  });

  test('The authorization endpoint shows an error page for an unknown application, also when other parameters are invalid (RFC 6749, 4.1.2.1)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop);
    const evil = { redirect_uri: 'https://evil.example/cb' };
    const other = { client_id: app.clientId.toUpperCase() };
    const tooLong = { client_id: 'a'.repeat(1500) };
    for (const more of [{ client_id: 'evil.example' }, other, tooLong, { client_id: "' or 1=1 --" }]) {
      for (const faults of [{}, evil, { response_type: 'x' }, { scope: 'x' }, { prompt: 'none' }]) {
        await assertPage(shop, queryOf(app, { ...more, ...faults }), 'invalid_client');
      }
    }
    for (const gone of [{ client_id: undefined }, { client_id: '' }]) {
      await assertPage(shop, queryOf(app, gone), 'invalid_request');
    }
    for (const more of [
      { response_type: 'nonsense' },
      { response_type: undefined },
      { scope: 'nonsense' },
      { code_challenge_method: 'plain' },
      { response_mode: 'form_post' },
      { prompt: 'none' },
      { x_refused: 'unauthorized_client' },
    ]) {
      await assertPage(shop, queryOf(app, { ...more, ...evil }), 'invalid_redirect_uri');
    }
    await assertPage(shop, `${queryOf(app)}&client_id=${app.clientId}`, 'invalid_request');
  });

  test('The authorization endpoint uses the only registered redirect URI when redirect_uri is absent or repeated (RFC 6749, 3.1.2.3)', async (t) => {
    const shop = await openListeningShop(t);
    const one = await newApplication(shop);
    const two = await newApplication(shop, {
      redirectUris: [one.redirectUri, 'https://app.example.com/other'],
    });
    const absent = queryOf(one, { redirect_uri: undefined, scope: 'nonsense' });
    assert.equal((await refusalOf(shop, absent)).error, 'invalid_scope');
    for (const uris of [
      [one.redirectUri, 'https://evil.example/cb'],
      ['https://evil.example/cb', one.redirectUri],
      ['https://evil.example/cb', 'https://evil.example/cb'],
    ]) {
      for (const app of [one, two]) {
        const query = queryOf(app, { redirect_uri: undefined });
        for (const uri of uris) {
          query.append('redirect_uri', uri);
        }
        if (app === two) {
          await assertPage(shop, query, 'invalid_request');
          continue;
        }
        const { location } = await openBrowser(shop.url).authorize(query);
        assert.ok(location?.startsWith(`${one.redirectUri}?error=invalid_request&`), `${location}`);
      }
    }
    await assertPage(shop, queryOf(two, { redirect_uri: undefined }), 'invalid_request');
  });

  test('The authorization endpoint redirects with all other errors, the unchanged state and the issuer (RFC 6749, 4.1.2.1; RFC 9207, 2)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop, { scopes: ['read:cheeses', 'read:orders'] });
    const faults: readonly [string, Parameters][] = [
      ['invalid_request', { response_type: undefined }],
      ['unsupported_response_type', { response_type: 'nonsense' }],
      ['unsupported_response_type', { response_type: 'none' }],
      ['unsupported_response_type', { response_type: 'CODE' }],
      ['invalid_scope', { scope: 'nonsense' }],
      ['invalid_scope', { scope: 'read:cheeses nonsense' }],
      ['invalid_scope', { scope: 'READ:CHEESES' }],
      ['invalid_scope', { scope: 'openid' }],
      ['invalid_scope', { scope: 'offline_access read:cheeses' }],
      ['invalid_scope', { scope: 'read:cheeses write:cheeses' }],
      ['invalid_scope', { scope: 'admin' }],
      ['invalid_request', { code_challenge_method: 'plain' }],
      ['invalid_request', { code_challenge_method: undefined }],
      ['invalid_request', { code_challenge_method: 's256' }],
      ['invalid_request', { code_challenge: 'too-short' }],
      ['invalid_request', { code_challenge: `${challenge.slice(1)}=` }],
      ['login_required', { prompt: 'none' }],
      ['invalid_request', { prompt: 'none login' }],
      ['invalid_request', { prompt: 'nonsense' }],
      ['request_not_supported', { request: 'e30.e30.' }],
      ['request_uri_not_supported', { request_uri: 'https://evil.example/request' }],
    ];
    const state = 'a b+c&d=é%2F"<>\u{1f9c0}';
    for (const [error, fault] of faults) {
      const told = await refusalOf(shop, queryOf(app, { ...fault, state }));
      assert.deepEqual(told, { error, state, iss: shop.url }, JSON.stringify(fault));
    }
    for (const response_type of ['id_token', 'code token', 'token id_token']) {
      const told = await refusalOf(shop, queryOf(app, { response_type }), 'fragment');
      assert.deepEqual(told, { error: 'unsupported_response_type', state: 'xyz', iss: shop.url });
    }
    assert.deepEqual(await refusalOf(shop, queryOf(app, { scope: 'x', state: undefined })), {
      error: 'invalid_scope',
      iss: shop.url,
    });
  });

  test('The authorization endpoint stores a query of 2,048 bytes at most', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop);
    const { database } = shop.app;
    const stored = async () => (await database.all<object>(sql`select id from oauth_object`)).length;
    const withLength = (length: number, character = 'x') => {
      const rest = String(queryOf(app, { state: '' })).length;
      return queryOf(app, { state: character.repeat(length - rest) });
    };
    const { forms } = await openBrowser(shop.url).authorize(withLength(2048), { login: 'cancel' });
    assert.deepEqual(forms, ['login']);
    const before = await stored();
    await assertPage(shop, withLength(2049), 'bad_request');
    await assertPage(shop, withLength(16_000), 'bad_request');
    // Characters that are encoded when they are stored.
    const short = withLength(1024, "'");
    await assertPage(shop, String(short).replaceAll('%27', "'"), 'bad_request');
    assert.equal(await stored(), before);
  });

  test('The authorization endpoint refuses every response_mode but that of the flow (RFC 6749, 4.1.2 and 4.2.2)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop, {
      grants: ['authorization_code', 'implicit'],
      scopes: ['read:cheeses'],
    });
    for (const response_mode of [
      'form_post',
      'x-implicit',
      'web_message',
      'fragment',
      'jwt',
      'unsupported',
    ]) {
      const told = await refusalOf(shop, queryOf(app, { response_mode }));
      assert.deepEqual(told, { error: 'unsupported_response_mode', state: 'xyz', iss: shop.url });
    }
    for (const response_mode of ['form_post', 'x-implicit', 'web_message', 'query', 'query.jwt']) {
      const told = await refusalOf(shop, implicitQueryOf(app, { response_mode }), 'fragment');
      assert.match(told.error ?? '', /^unsupported_response_(mode|type)$/, response_mode);
      assert.equal(told.state, 'xyz');
    }
    for (const [query, part] of [
      [queryOf(app, { response_mode: 'query', scope: 'x' }), 'query'],
      [implicitQueryOf(app, { response_mode: 'fragment', scope: 'x' }), 'fragment'],
    ] as const) {
      assert.equal((await refusalOf(shop, query, part)).error, 'invalid_scope');
    }
  });

  test('The authorization endpoint refuses repeated parameters, treats empty ones as absent, and ignores unknown ones (RFC 6749, 3.1)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop);
    const query = queryOf(app, { scope: 'read:cheeses', prompt: 'login' });
    for (const name of query.keys()) {
      if (name === 'client_id' || name === 'redirect_uri') {
        continue;
      }
      const doubled = new URLSearchParams(query);
      doubled.append(name, query.get(name) ?? '');
      const told = await refusalOf(shop, doubled);
      assert.equal(told.error, 'invalid_request', name);
      assert.equal(told.iss, shop.url);
      assert.equal(told.state, name === 'state' ? undefined : 'xyz', name);
    }
    for (const [query, again] of [
      [queryOf(app, { scope: '' }), 'scope=read:orders'],
      [implicitQueryOf(app, { response_mode: 'fragment' }), 'response_mode=query'],
      [implicitQueryOf(app, { response_mode: '' }), 'response_mode=fragment'],
    ] as const) {
      const { location } = await openBrowser(shop.url).visit(`/oauth/authorize?${query}&${again}`);
      assert.match(location ?? '', /[?#]error=invalid_request&/, again);
    }
    const empty = {
      scope: '',
      response_mode: '',
      prompt: '',
      nonce: 'n',
      max_age: '1',
      unknown: 'a',
      x_refused: 'admin',
    };
    const met = await openBrowser(shop.url).authorize(queryOf(app, empty), { login: undefined });
    assert.deepEqual([met.status, met.location], [200, null]);
    assert.match(met.page, /<h1>Log in<\/h1>/);
  });
});
