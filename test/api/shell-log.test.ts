/** Secrets are in no log, no stored data and no error message. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/settings/config.ts';
import { curd, curdJson, freshShop, serve } from '../cli/run.ts';
import { cleanUp, createDatabase, temporaryFolder } from '../context.ts';
import { basic } from '../oauth/flow.ts';

const unguessable = (kind: string) => `${kind}-${randomBytes(12).toString('hex')}`;

/** Everything that is stored, and every other file that others than its owner can read. */
async function stored(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('curd.sqlite'));
  assert.ok(names.length > 0);
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))).join('\n');
}

/** Sends bytes, which can be invalid HTTP, and reads until the server closes the connection. */
function exchange(t: TestContext, url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  cleanUp(t, () => socket.destroy());
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  socket.write(bytes);
  return new Promise((resolve, reject) => socket.on('error', reject).on('end', () => resolve(text)));
}

test('Secrets are in no log, no error and no file, also when they were sent in the wrong place', async (t) => {
  const secret = unguessable('server-secret');
  const environment = await freshShop(t, { CURD_LOG_LEVEL: 'debug', CURD_SECRET: secret });
  const folder = environment.CURD_DATA_DIR ?? '';
  const server = await serve(t, environment);
  const { url } = server;
  const first = /sk_test_\w+/.exec(server.greeting)?.[0] ?? '';
  const more = ['--account', 'local', '--scope', 'read:cheeses read:profile'];
  const client = await curdJson(environment, 'clients', 'create', 'Diary', ...more);
  const { key: admin } = await curdJson(
    environment,
    ...['keys', 'create', '--account', 'local', '--scope', 'admin'],
  );
  const secrets = new Map<string, string>([
    ['the secret of the server', secret],
    ['the first key', first],
    ['a key', admin],
    ['the secret of a client', client.clientSecret],
  ]);
  /** A secret of this kind; the test searches for it at the end. */
  const made = (kind: string): string => {
    const text = unguessable(kind);
    secrets.set(`${kind} ${secrets.size}`, text);
    return text;
  };
  const said: string[] = [];

  async function send(method: string, path: string, headers: Record<string, string>, body: unknown = null) {
    const text = typeof body === 'string' || body === null ? body : JSON.stringify(body);
    const type = text === null ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...type, ...headers },
      body: text,
      redirect: 'manual',
    });
    const responseText = await response.text();
    if (response.status >= 400) {
      said.push(responseText, JSON.stringify([...response.headers]));
    }
    return {
      status: response.status,
      json: responseText.startsWith('{') ? JSON.parse(responseText) : undefined,
    };
  }

  const password = made('password');
  const person = { username: 'ada', email: 'ada@example.com', password };
  assert.equal((await send('POST', '/v2/customer', {}, person)).status, 201);
  assert.equal(
    (await send('POST', '/v2/customer', {}, { ...person, password: made('password') })).status,
    409,
  );
  const login = await send('POST', '/v2/customer/login', {}, { username: 'ada', password });
  assert.equal(login.status, 200);
  secrets.set('a session', login.json.token);
  const session = { authorization: `Bearer ${login.json.token}` };
  const wrong = { username: 'ada', password: made('wrong-password') };
  assert.equal((await send('POST', '/v2/customer/login', {}, wrong)).status, 401);
  const profile = { ...person, password: made('new-password') };
  assert.equal((await send('PUT', '/v2/customer/ada', session, profile)).status, 200);

  // Errors in a body are reported without its secrets.
  for (const [path, body] of [
    ['/v2/customer', `{"username":"bob","password":"${made('password')}"`],
    ['/v2/customer', { username: 'bob', email: 1, password: made('password') }],
    ['/v2/customer', { username: 'bob', email: 'b@example.com', password: made('long').repeat(90) }],
    ['/v2/customer', { username: 'bob', email: 'b@example.com', password: { is: made('password') } }],
    ['/v2/customer', { username: 'bob', email: 'b@example.com', password: `${made('nul')}\0` }],
    ['/v2/customer', [made('password')]],
    ['/v2/customer', `${made('password')} is no JSON`],
    ['/v2/customer/createMultiple', [{ username: '', password: made('password') }]],
    ['/v2/customer/login', { username: made('password-as-name'), password: [made('password')] }],
    [`/nowhere/${made('in-a-path')}`, { password: made('password') }],
  ] as const) {
    assert.ok((await send('POST', path, { 'idempotency-key': made('idempotency') }, body)).status < 500);
  }
  for (const type of ['text/plain', 'nonsense', 'multipart/form-data; boundary=x', 'application/xml']) {
    const headers = { 'content-type': type, 'x-api-key': admin };
    assert.equal((await send('POST', '/v2/customer', headers, `password=${made('form')}`)).status, 415);
  }
  // A stored response can contain values of the body.
  const once = { 'idempotency-key': 'once', 'x-api-key': admin };
  const forNew = { username: 'eve', email: 'eve@example.com', password: made('idempotent-password') };
  assert.equal((await send('POST', '/v2/customer', once, forNew)).status, 201);
  assert.equal((await send('POST', '/v2/customer', once, forNew)).status, 201);
  const forKey = { account: 'local', scopes: [] };
  const keyMade = await send('POST', '/v2/api-keys', { ...once, 'idempotency-key': 'key' }, forKey);
  assert.equal(keyMade.status, 201);
  secrets.set('a key that was answered once', keyMade.json.key);

  // Valid and invalid credentials, in the right and in the wrong places.
  for (const text of [first, admin, `sk_test_${made('key')}`, made('nonsense')]) {
    for (const name of ['X-API-Key', 'Authorization', 'Proxy-Authorization', 'Cookie', 'X-Request-ID']) {
      const value =
        name === 'Authorization' ? `Bearer ${text}` : name === 'Cookie' ? `curd_session=${text}` : text;
      if (name !== 'X-Request-ID') {
        await send('GET', '/v2/cheeses', { [name]: value });
        await send('GET', '/oauth/logout', { [name]: value });
      }
    }
    await send('GET', `/v2/cheeses?api_key=${text}&access_token=${text}&cursor=${text}`, {
      'x-api-key': first,
    });
    for (const query of [
      `key=${text}`,
      `limit=1&key=${text}`,
      `api_key=${text}`,
      `key=${text}&key=${text}`,
    ]) {
      await send('GET', `/v2/cheeses?${query}`, {});
      await send('GET', `/v2/cheeses?${query}`, { 'x-api-key': first, origin: 'https://shop.example' });
      await send('POST', `/v2/store/order?${query}`, {}, { secret: text });
      await send('GET', `/nowhere?${query}`, { referer: `https://shop.example/?${query}` });
    }
    await send('GET', `/v2/customer/logout?token=${text}`, {});
    await send('GET', `/${text}`, {});
    await send('GET', `/v2/cheeses/%zz${text}`, {});
    await send('DELETE', `/v2/${text}`, { authorization: text });
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const fields of [
    { grant_type: 'authorization_code', code: made('code'), code_verifier: made('verifier'.repeat(6)) },
    { grant_type: 'refresh_token', refresh_token: made('refresh') },
    { grant_type: 'password', username: 'ada', password: made('password') },
    { grant_type: made('grant'), client_id: client.clientId, client_secret: client.clientSecret },
    { token: made('token'), client_id: client.clientId, client_secret: made('client-secret') },
  ]) {
    const body = new URLSearchParams(fields as Record<string, string>).toString();
    for (const path of ['token', 'introspect', 'revoke']) {
      await send('POST', `/oauth/${path}`, form, body);
      await send(
        'POST',
        `/oauth/${path}`,
        { ...form, authorization: basic(client.clientId, made('basic')) },
        body,
      );
      await send('POST', `/oauth/${path}`, { 'content-type': 'text/plain' }, body);
      await send('GET', `/oauth/${path}?${body}`, {});
    }
    await send('GET', `/oauth/authorize?${body}`, { cookie: `curd_session=${made('cookie')}` });
  }
  for (const bytes of [
    `GET /healthz HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${made('overflow')}${'x'.repeat(20_000)}\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\nHost: shop\r\nno colon ${made('no-header')}\r\n\r\n`,
    `${made('no-method')} / HTTP/1.1\r\n\r\n`,
    `GET /?key=${made('no-host')} HTTP/1.1\r\nConnection: close\r\n\r\n`,
    `POST /v2/customer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${made('chunk')}\r\n`,
    `GET / HTTP/1.1\r\nHost: a\r\nExpect: ${made('expect')}\r\nConnection: close\r\n\r\n`,
  ]) {
    said.push(await exchange(t, url, bytes));
  }
  const kept = await stored(folder);

  // Unexpected errors are logged with their causes.
  const file = new DatabaseSync(join(folder, 'curd.sqlite'));
  file.exec('alter table customer rename to gone');
  file.close();
  const after = { username: 'mal', email: 'mal@example.com', password: made('password-in-an-error') };
  assert.equal((await send('POST', '/v2/customer', once, { ...after, username: 'x' })).status, 422);
  const failed = await send('POST', '/v2/customer', {}, after);
  assert.equal(failed.status, 500);
  await send('POST', '/v2/customer/login', {}, after);
  await send('GET', '/v2/customer/ada', session);

  const { stderr } = await server.stop();
  assert.match(stderr, /"msg":"answered"/);
  assert.match(stderr, /"msg":"this key is used from a web page: https:\/\/shop.example; rotate it"/);
  assert.match(stderr, /no such table/);
  assert.ok(secrets.size > 60 && said.length > 100);
  for (const [name, text] of secrets) {
    assert.ok(text.length > 15, name);
    assert.ok(!stderr.includes(text), `${name} is in the log`);
    assert.ok(!kept.includes(text), `${name} is stored`);
    assert.ok(!said.join('\n').includes(text), `${name} is in a response with an error`);
    assert.ok(text === first || !server.greeting.includes(text), `${name} is in the greeting`);
  }
});

test('The password of a database is in no error, for any error in its URL', async (t) => {
  const password = unguessable('database-password');
  const shop = await freshShop(t, {
    CURD_SECRET: unguessable('server-secret-of-32-bytes'),
    CURD_LOG_LEVEL: 'debug',
  });
  const real = new URL(await createDatabase(t));
  real.password = password;
  const nobody = new URL(real);
  nobody.username = 'nobody';
  const nowhere = new URL(real);
  nowhere.pathname = '/nowhere';
  const runs = await Promise.all(
    [nobody.href, nowhere.href].map((url) => curd({ ...shop, CURD_DATABASE: url }, 'serve', '--port', '0')),
  );
  for (const run of runs) {
    assert.equal(run.code, 1);
    assert.ok(!run.stderr.includes(password), run.stderr);
  }
  const folder = await temporaryFolder(t);
  for (const url of [
    `mysql://curd:${password}@127.0.0.1/x`,
    `postgres//curd:${password}@127.0.0.1/x`,
    `postgres://curd:${password}@127.0.0.1:99999/x`,
    `postgres://curd:${password}@`,
    `POSTGRES://curd:${password}@127.0.0.1:port/x`,
    `curd:${password}@127.0.0.1/x`,
  ]) {
    let message = '';
    try {
      loadConfig({ CURD_DATA_DIR: folder, CURD_SECRET: 'x'.repeat(32), CURD_DATABASE: url });
    } catch (error) {
      message = error instanceof Error ? error.message : String(error);
    }
    assert.ok(!message.includes(password), message);
  }
  for (const run of runs) {
    assert.match(
      run.stderr,
      /^curd: [^\n]{20,}\n$/,
      'one sentence, as with every other setting that is wrong',
    );
  }
});
