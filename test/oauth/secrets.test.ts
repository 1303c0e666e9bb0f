/** Which secrets are stored, when they end, and that tokens reveal nothing about other customers. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { curdJson, freshShop, serve } from '../cli/run.ts';
import { bern, createDatabase, onBothEngines, type Shop, secret } from '../helper.ts';
import { onConnection } from '../postgres-client.ts';
import { registerCustomer } from '../shop-verbs.ts';
import {
  type Application,
  assertRefused,
  codeOf,
  type ListeningShop,
  newApplication,
  openBrowser,
  openListeningShop,
  password,
  post,
  queryOf,
  redeeming,
  redirectParameters,
  tokensOf,
  withToken,
} from './flow.ts';

/** Every byte that is stored. */
async function dump(database: string | undefined, dataDir: string): Promise<string> {
  if (database === undefined) {
    const files = (await readdir(dataDir)).filter((name) => name.startsWith('curd.sqlite'));
    assert.ok(files.length > 0);
    return (await Promise.all(files.map((name) => readFile(join(dataDir, name), 'latin1')))).join('\n');
  }
  return onConnection(database, async (query) => {
    const tables = await query(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const rows = await query(`select row_to_json(t)::text as text from "${name}" t`);
      texts.push(name, ...rows.map(({ text }) => text));
    }
    return texts.join('\n');
  });
}

const refresh = ({ url }: ListeningShop, app: Application, refresh_token: string) =>
  post(`${url}/oauth/token`, { grant_type: 'refresh_token', refresh_token }, app);

const orderOf = async (shop: Shop, token: string): Promise<string> => {
  const made = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: `Cheese ${Math.random()}`, status: 'available' },
  });
  const items = [{ cheeseId: made.json.id, quantity: 1 }];
  const placed = await withToken(shop, token, 'POST', '/v2/store/order', { items, shippingAddress: bern });
  assert.equal(placed.status, 201, placed.text);
  return `/v2/store/order/${placed.json.id}`;
};

onBothEngines('The authorization server', (engine) => {
  test('The authorization server keeps and logs no code, token, secret, cookie or verifier (RFC 6749, 10.3, 10.4 and 10.5)', async (t) => {
    const database = engine === 'postgres' ? await createDatabase(t) : undefined;
    const environment = await freshShop(t, {
      CURD_LOG_LEVEL: 'debug',
      CURD_SECRET: secret,
      ...(database === undefined ? {} : { CURD_DATABASE: database }),
    });
    const server = await serve(t, environment);
    const token = `${server.url}/oauth/token`;
    const person = { username: 'ada', email: 'ada@example.com', password };
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.url}/v2/customer`, { method: 'POST', headers, body: JSON.stringify(person) });
    const uri = 'https://app.example.com/cb';
    const made = await curdJson(
      environment,
      ...['clients', 'create', 'Diary', '--account', 'local', '--scope', 'read:cheeses read:profile'],
      ...['--grant', 'authorization_code refresh_token implicit client_credentials', '--redirect-uri', uri],
    );
    const app: Application = { ...made, redirectUri: uri };
    const secrets = new Map<string, string>([
      ['the secret', made.clientSecret],
      ['the password', password],
    ]);
    const browser = openBrowser(server.url, 'ada');
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const marks = { state: 'state-that-is-mine', code_challenge: challenge };
    secrets.set('a verifier', verifier);
    const used = await codeOf(app, browser, marks);
    const unused = await codeOf(app, browser, marks);
    const redeem = { ...redeeming(app, used), code_verifier: verifier };
    const { json: first } = await post(token, redeem, app);
    const { json: second } = await post(
      token,
      { grant_type: 'refresh_token', refresh_token: first.refresh_token },
      app,
      'post',
    );
    const implicit = redirectParameters(
      'fragment',
      await browser.authorize(queryOf(app, { response_type: 'token' })),
    );
    const { json: own } = await post(token, { grant_type: 'client_credentials' }, app);
    for (const [name, one] of Object.entries({ first, second, implicit, own })) {
      secrets.set(`${name} access token`, one.access_token);
      const authorization = `Bearer ${one.access_token}`;
      assert.equal((await fetch(`${server.url}/v2/cheeses`, { headers: { authorization } })).status, 200);
      await fetch(`${server.url}/v2/cheeses?access_token=${one.access_token}`);
      assert.equal(
        (await post(`${server.url}/oauth/introspect`, { token: one.access_token }, app)).status,
        200,
      );
    }
    await browser.authorize(queryOf(app, { scope: 'read:profile' }), { consent: undefined });
    for (const [name, { value }] of browser.cookies) {
      // The id of an interaction is also in its URL; the signature of the cookie is the secret.
      if (!/^curd_(interaction|resume) /.test(name)) {
        secrets.set(`the cookie ${name}`, value);
      }
    }
    assert.ok([...secrets.keys()].some((name) => name.includes('curd_session ')));
    assert.ok([...secrets.keys()].some((name) => name.includes('curd_interaction.sig ')));
    assertRefused(await post(token, { ...redeem, code: `${unused}x` }, app), 400, 'invalid_grant');
    secrets.set('a code', used).set('an unused code', unused);
    secrets.set('a refresh token', first.refresh_token).set('another refresh token', second.refresh_token);
    const { stderr, code } = await server.stop();
    assert.equal(code, 0, stderr);
    const stored = await dump(database, environment.CURD_DATA_DIR ?? '');
    assert.ok(
      stored.includes('oauth_object') && stored.includes(app.clientId) && stored.includes('RefreshToken'),
    );
    assert.match(stderr, /"route":"\/oauth\/token"/, 'it is the log of all this');
    for (const [name, text] of secrets) {
      assert.ok(text.length > 20, name);
      assert.ok(!stored.includes(text), `${name} is stored in the clear`);
      assert.ok(!stderr.includes(text), `${name} is in the log`);
    }
    for (const text of ['state-that-is-mine', challenge, 'ada@example.com', 'code_challenge']) {
      assert.ok(!stderr.includes(text), `${text} is in the log`);
    }
  });

  test('The authorization server ends everything with a new password and with the account (RFC 6749, 10.3)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    await registerCustomer(shop, { username: 'eve' });
    const app = await newApplication(shop);
    const scope = 'read:profile write:profile';
    const change = { username: 'ada', email: 'ada@example.com', password: 'another password' };
    const endings = [
      (token: string) => withToken(shop, token, 'PUT', '/v2/customer/ada', change),
      (token: string) => withToken(shop, token, 'DELETE', '/v2/customer/ada'),
    ];
    const ofEve = await tokensOf(shop, app, openBrowser(shop.url, 'eve'), { scope });
    for (const [index, end] of endings.entries()) {
      const browser = openBrowser(shop.url, 'ada', index === 0 ? password : change.password);
      const tokens = await tokensOf(shop, app, browser, { scope });
      const code = await codeOf(app, browser, { scope });
      assert.ok((await end(tokens.access_token)).status < 300);
      assert.equal((await withToken(shop, tokens.access_token, 'GET', '/v2/customer/ada')).status, 401);
      assertRefused(await refresh(shop, app, tokens.refresh_token), 400, 'invalid_grant');
      assertRefused(await post(`${shop.url}/oauth/token`, redeeming(app, code), app), 400, 'invalid_grant');
      const met = await browser.authorize(queryOf(app), { login: undefined });
      assert.match(met.page, /<h1>Log in<\/h1>/, 'the browser is logged out as well');
    }
    assert.equal((await withToken(shop, ofEve.access_token, 'GET', '/v2/customer/eve')).status, 200);
    const holders = await shop.app.database.all(
      sql`select distinct customer_id from oauth_object where customer_id is not null`,
    );
    assert.equal(holders.length, 1, 'eve alone');
  });

  test('The authorization server ends a login that has not continued yet with a new password (RFC 6749, 10.3)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop);
    const scope = 'read:profile write:profile';
    const browser = openBrowser(shop.url, 'ada');
    const started = await browser.go(`/oauth/authorize?${queryOf(app, { scope })}`);
    const page = await (await browser.go(started.headers.get('location') ?? '')).text();
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? [];
    const [, proof = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ token: proof, do: 'login', username: 'ada', password });
    const entered = await browser.go(action, { method: 'POST', body, headers: { origin: shop.url } });
    assert.equal(entered.status, 303);

    const { access_token } = await tokensOf(shop, app, openBrowser(shop.url, 'ada'), { scope });
    const change = { username: 'ada', email: 'ada@example.com', password: 'another password' };
    assert.equal((await withToken(shop, access_token, 'PUT', '/v2/customer/ada', change)).status, 200);
    const met = await browser.visit(entered.headers.get('location') ?? '');
    assert.deepEqual([met.status, met.location, met.forms], [400, null, []]);
  });

  test('The authorization server ends the tokens of an application with it (RFC 7009, 3)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop, {
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    const other = await newApplication(shop);
    const browser = openBrowser(shop.url, 'ada');
    const tokens = await tokensOf(shop, app, browser);
    const ofOther = await tokensOf(shop, other, browser);
    const own = (await post(`${shop.url}/oauth/token`, { grant_type: 'client_credentials' }, app)).json;
    const code = await codeOf(app, browser);
    const {
      oauth: { clients },
      contextOf,
    } = shop.app;
    await clients.delete(contextOf('test'), app.clientId);
    for (const token of [tokens.access_token, own.access_token]) {
      assert.equal((await withToken(shop, token, 'GET', '/v2/cheeses')).status, 401);
    }
    assertRefused(await post(`${shop.url}/oauth/token`, redeeming(app, code), app), 401, 'invalid_client');
    assertRefused(await refresh(shop, app, tokens.refresh_token), 401, 'invalid_client');
    const page = await browser.authorize(queryOf(app));
    assert.deepEqual([page.status, page.location], [400, null]);
    assert.equal((await withToken(shop, ofOther.access_token, 'GET', '/v2/cheeses')).status, 200);
  });

  test('The authorization server gives a customer their own orders and profile, 403 for those of others and 404 for none (RFC 6750, 3.1)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    await registerCustomer(shop, { username: 'bob', role: 'staff' });
    const app = await newApplication(shop);
    const scope = 'read:cheeses read:orders write:orders read:profile write:profile';
    const [ada = '', bob = ''] = await Promise.all(
      ['ada', 'bob'].map(
        async (name) => (await tokensOf(shop, app, openBrowser(shop.url, name), { scope })).access_token,
      ),
    );
    const [hers, his] = [await orderOf(shop, ada), await orderOf(shop, bob)];
    const status = async (token: string, method: string, path: string, body?: unknown) =>
      (await withToken(shop, token, method, path, body)).status;
    for (const [token, mine, theirs, me, them] of [
      [ada, hers, his, 'ada', 'bob'],
      [bob, his, hers, 'bob', 'ada'],
    ] as const) {
      const body = { username: them, email: 'new@example.com', password: 'taken over' };
      assert.deepEqual(
        [
          await status(token, 'GET', mine),
          await status(token, 'GET', `${mine}/timeline`),
          await status(token, 'GET', `/v2/customer/${me}`),
          await status(token, 'GET', theirs),
          await status(token, 'GET', `${theirs}/timeline`),
          await status(token, 'DELETE', theirs),
          await status(token, 'GET', `/v2/customer/${them}`),
          await status(token, 'PUT', `/v2/customer/${them}`, body),
          await status(token, 'DELETE', `/v2/customer/${them}`),
          await status(token, 'GET', '/v2/store/order/999999'),
          await status(token, 'DELETE', '/v2/store/order/999999'),
          await status(token, 'GET', '/v2/customer/nobody'),
        ],
        [200, 200, 200, 403, 403, 403, 403, 403, 403, 404, 404, 404],
      );
      const list = (await withToken(shop, token, 'GET', '/v2/store/orders')).json.items;
      assert.deepEqual(
        list.map(({ id }: { id: number }) => `/v2/store/order/${id}`),
        [mine],
      );
    }
    assert.equal(await status(ada, 'DELETE', hers), 204);
  });
});
