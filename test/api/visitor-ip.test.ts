/** The header Curd-Client-IP: the server of a web shop says for which visitor it logs in or registers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { Curd } from '../../client/src/index.ts';
import { newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import { startExample } from '../cli/run.ts';
import {
  assertError,
  cleanUp,
  onBothEngines,
  openListeningShop,
  openShop,
  type Shop,
  type ShopOptions,
  testClock,
} from '../helper.ts';

const header = 'curd-client-ip';
const failures = (address: number) => ({ CURD_LOGIN_LIMITS: JSON.stringify({ address }) });
const accounts = (accountsPerMinute: number) => ({
  CURD_ADDRESS_LIMITS: JSON.stringify({ perMinute: 1000, accountsPerMinute }),
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
let made = 0;

/** A login that fails. Each has another username, so that only the client IP is the same. */
function fail(shop: Shop, headers: Readonly<Record<string, string>>) {
  made += 1;
  return shop.request('POST', '/v2/customer/login', {
    headers,
    body: { username: `nobody-${made}`, password: 'wrong' },
  });
}

/** The statuses of failing logins by the server of a web shop, for these visitors. */
async function failFor(shop: Shop, key: string, visitors: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const visitor of visitors) {
    statuses.push((await fail(shop, { 'x-api-key': key, [header]: visitor })).status);
  }
  return statuses;
}

function sendRegistrations(
  shop: Shop,
  headers: Readonly<Record<string, string>>,
  path = '/v2/customer',
  size = 1,
) {
  const customers = Array.from({ length: size }, () => {
    made += 1;
    return { username: `visitor-${made}`, email: `visitor-${made}@example.com`, password: 'a cheese a day' };
  });
  return shop.request('POST', path, { headers, body: path.endsWith('customer') ? customers[0] : customers });
}

onBothEngines('With an API key, Curd-Client-IP', (engine) => {
  const open = (t: TestContext, settings: ShopOptions['settings'] = {}) =>
    openShop(t, { engine, clock: testClock(), settings });

  test('With an API key, Curd-Client-IP, is the client IP whose failed logins are counted', async (t) => {
    const shop = await open(t, failures(2));
    const visitors = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2'];
    assert.deepEqual(await failFor(shop, shop.reader, visitors), [401, 401, 429, 401, 429, 401]);
    assert.equal((await fail(shop, { 'x-api-key': shop.reader })).status, 401, 'the address of the server');
    const byBearer = { ...bearer(shop.reader), [header]: '192.0.2.1' };
    assert.equal((await fail(shop, byBearer)).status, 429, 'the key in the other header');
  });

  test('With an API key, Curd-Client-IP, is the client IP whose registrations and logins are counted, in addition to the plan', async (t) => {
    const shop = await open(t, accounts(3));
    const from = (visitor: string) => ({ 'x-api-key': shop.reader, [header]: visitor });
    const batch = '/v2/customer/createMultiple';
    assert.equal((await sendRegistrations(shop, from('192.0.2.1'), batch, 2)).status, 200);
    assert.equal((await sendRegistrations(shop, from('192.0.2.1'))).status, 201);
    const refused = await sendRegistrations(shop, from('192.0.2.1'));
    assertError(refused, 429, 'rate_limit_exceeded');
    assert.equal(refused.headers['ratelimit-policy'], '"address";q=3;w=60');
    assertError(await sendRegistrations(shop, from('192.0.2.1'), batch, 1), 429, 'rate_limit_exceeded');
    assert.deepEqual(await failFor(shop, shop.reader, ['192.0.2.1', '192.0.2.2']), [429, 401]);
    assert.equal((await sendRegistrations(shop, from('192.0.2.3'))).status, 201);
    // A key alone counts by its plan only.
    assert.equal((await sendRegistrations(shop, { 'x-api-key': shop.reader }, batch, 5)).status, 200);
  });
});

test('Curd-Client-IP is ignored without an API key, so that nobody evades a limit with it', async (t) => {
  const settings = { ...failures(2), CURD_TRUSTED_PROXIES: '127.0.0.0/8' };
  const shop = await openShop(t, { clock: testClock(), settings });
  const customer = await newCustomer(shop, 'ada', 'customer');
  const client = await newClient(shop);
  const spoofs: Readonly<Record<string, string>>[] = [
    {},
    bearer(await newSession(shop, customer)),
    bearer(await newToken(shop, { client, customer, scope: 'read:profile' })),
    bearer(await newToken(shop, { client, customer: null, scope: 'read:cheeses' })),
  ];
  for (const [index, spoof] of spoofs.entries()) {
    const statuses: number[] = [];
    for (let visitor = 1; visitor <= 4; visitor += 1) {
      const stated = { [header]: `198.51.100.${visitor}`, 'x-forwarded-for': `192.0.2.${index}` };
      statuses.push((await fail(shop, { ...spoof, ...stated })).status);
    }
    assert.deepEqual(statuses, [401, 401, 429, 429], `spoof ${index}`);
    const malformed = { ...spoof, [header]: 'nonsense', 'x-forwarded-for': `192.0.3.${index}` };
    assert.equal((await fail(shop, malformed)).status, 401);
  }
});

test('Curd-Client-IP with a key that is not valid gets 401, and counts for the sender', async (t) => {
  const settings = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://cheese.example' };
  const shop = await openShop(t, { clock: testClock(), settings: { ...settings, ...accounts(3) } });
  const revoked = await shop.createKey();
  const account = (await shop.app.auth.keys.listAccounts()).at(-1);
  const [listed] = await shop.app.auth.keys.list(account?.id ?? 0);
  await shop.app.auth.keys.revoke(shop.app.contextOf('test'), listed?.id ?? 0);
  const local = await openShop(t);
  const keys = { test: local.reader, revoked, altered: `${shop.reader.slice(0, -1)}!` };
  for (const [name, key] of Object.entries(keys)) {
    const response = await fail(shop, { 'x-api-key': key, [header]: `192.0.2.${made}` });
    assertError(response, 401, 'unauthorized');
    assert.match(response.headers['www-authenticate'] ?? '', /invalid_token/, name);
  }
  const refused = await fail(shop, { 'x-api-key': keys.test, [header]: '192.0.2.200' });
  assertError(refused, 429, 'rate_limit_exceeded');
});

test('Curd-Client-IP may be written in every form of an address, and counts as limits count it', async (t) => {
  const shop = await openShop(t, { clock: testClock(), settings: failures(2) });
  const same: readonly (readonly string[])[] = [
    [
      '192.0.2.1',
      '::ffff:192.0.2.1',
      '::FFFF:c000:201',
      '0:0:0:0:0:ffff:192.0.2.1',
      '::ffff:192.0.2.1%eth0',
      '64:ff9b::c000:201',
    ],
    ['2001:db8:0:1::1', '2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:0db8::1:0:0:192.0.2.1'],
    ['fe80::1%eth0', 'fe80::2', 'fe80::3%1'],
    // None of these is an IPv4 address.
    ['::1', '::2', '::ffff:0:192.0.2.1'],
  ];
  for (const forms of same) {
    const [first = ''] = forms;
    assert.deepEqual(await failFor(shop, shop.reader, [first, first]), [401, 401], first);
    for (const form of forms) {
      assert.deepEqual(await failFor(shop, shop.reader, [form]), [429], form);
    }
  }
  assert.deepEqual(await failFor(shop, shop.reader, ['192.0.2.2', '2001:db8:0:2::1']), [401, 401]);
});

test('Curd-Client-IP that is no address gets 400, which counts for the plan of the key', async (t) => {
  const shop = await openShop(t, { settings: { CURD_PLANS: '{"tiny":{"perHour":null,"burst":60000}}' } });
  const malformed = [
    '',
    ' ',
    'unknown',
    'visitor.example',
    '192.0.2.1:443',
    '[2001:db8::1]',
    '[2001:db8::1]:443',
    '192.0.2.1, 192.0.2.2',
    '192.0.2.1 192.0.2.2',
    '192.0.2.256',
    '192.0.2',
    '010.0.0.1',
    '3221225985',
    '0x7f.1',
    '2001:db8::1/64',
    '2001:db8:::1',
    '1::2::3',
    `fe80::1%${'e'.repeat(93)}`,
    '9'.repeat(8000),
    '"192.0.2.1"',
    'for=192.0.2.1',
  ];
  for (const value of malformed) {
    const response = await fail(shop, { 'x-api-key': shop.reader, [header]: value });
    assertError(response, 400, 'bad_request');
    assert.match(response.json.message, /^Curd-Client-IP: must be one IPv4 or IPv6 address/, value);
    assert.match(response.headers.ratelimit ?? '', /"burst"/, value);
    assert.ok(response.text.length < 400, 'the value is not repeated');
  }
  // Other routes do not read it.
  const listed = { as: shop.reader, headers: { [header]: 'nonsense' } };
  assert.equal((await shop.request('GET', '/v2/cheeses', listed)).status, 200);
});

test('Curd-Client-IP that is sent twice gets 400', async (t) => {
  const shop = await openListeningShop(t);
  const headers = new Headers({ 'x-api-key': shop.reader, 'content-type': 'application/json' });
  headers.append(header, '192.0.2.1');
  headers.append(header, '192.0.2.1');
  const body = JSON.stringify({ username: 'ada', password: 'wrong' });
  const response = await fetch(`${shop.url}/v2/customer/login`, { method: 'POST', headers, body });
  assert.equal(response.status, 400, await response.text());
});

test('The limit of the key stays, whatever addresses it states', async (t) => {
  const shop = await openShop(t, { settings: { CURD_PLANS: '{"enterprise":{"perHour":5,"burst":100}}' } });
  const key = await shop.createKey();
  const visitors = Array.from({ length: 7 }, (_, index) => `192.0.2.${index}`);
  assert.deepEqual(await failFor(shop, key, visitors), [401, 401, 401, 401, 401, 429, 429]);
});

test('The page for a new password counts the address that a server with a key states', async (t) => {
  const shop = await openListeningShop(t, { settings: accounts(2) });
  const get = (headers: Readonly<Record<string, string>>) =>
    fetch(`${shop.url}/oauth/password-reset/unknown`, { headers });
  const from = (visitor: string, key = shop.reader) => get({ 'x-api-key': key, [header]: visitor });
  const statuses = async (...responses: Promise<Response>[]) =>
    (await Promise.all(responses)).map(({ status }) => status);
  assert.deepEqual(await statuses(from('192.0.2.1'), from('192.0.2.1')), [404, 404]);
  assert.deepEqual(await statuses(from('192.0.2.1'), from('192.0.2.2')), [429, 404]);
  const malformed = await from('nonsense');
  assert.deepEqual(
    [malformed.status, malformed.headers.get('content-type')],
    [400, 'text/html; charset=utf-8'],
  );
  // Without a valid key the connection counts.
  assert.deepEqual(await statuses(get({ [header]: '192.0.2.3' }), from('192.0.2.4', 'x')), [404, 404]);
  assert.deepEqual(await statuses(get({ [header]: '192.0.2.5' }), from('192.0.2.6', 'x')), [429, 429]);
  assert.deepEqual(await statuses(from('192.0.2.7')), [404]);
});

test('The client package sends the address with the option clientIp', async (t) => {
  const shop = await openListeningShop(t, { settings: failures(1) });
  const curd = new Curd({ baseUrl: shop.url, apiKey: shop.reader, maxRetries: 0 });
  const customer = { username: 'ada', email: 'ada@example.com', password: 'a cheese a day' };
  await curd.customers.register(customer, { clientIp: '192.0.2.1' });
  const logIn = (password: string, clientIp: string) =>
    curd.customers.login({ username: 'ada', password }, { clientIp }).then(
      () => 200,
      ({ status }) => status,
    );
  assert.deepEqual(
    [
      await logIn('wrong', '192.0.2.1'),
      await logIn(customer.password, '192.0.2.1'),
      await logIn(customer.password, '192.0.2.2'),
    ],
    [401, 429, 200],
  );
});

test('200 wrong passwords of one visitor of examples/storefront leave the logins of others alone', async (t) => {
  // A fifth of the figure of production, because each failure up to it verifies a password.
  const settings = failures(20);
  const shop = await openListeningShop(t, { settings });
  await newCustomer(shop, 'ada', 'customer');
  const key = await shop.createKey({ scopes: ['write:orders'] });
  const example = startExample('storefront/serve.js', { KEY: key, PORT: '0', PROXY: '1' }, shop.url);
  cleanUp(t, () => void example.kill());
  const [line] = await once(example.stdout, 'data');
  const [url = ''] = /http:\S+$/.exec(String(line).trim()) ?? [];
  const logIn = async (visitor: string, username: string, password: string) => {
    const response = await fetch(`${url}/v2/customer/login`, {
      method: 'POST',
      // A visitor can write what stands before the address that the proxy appends.
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `${made}.0.0.1, ${visitor}` },
      body: JSON.stringify({ username, password }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses: number[] = [];
  for (let round = 0; round < 25; round += 1) {
    const names = Array.from({ length: 8 }, (_, index) => `guess-${round}-${index}`);
    statuses.push(...(await Promise.all(names.map((name) => logIn('192.0.2.66', name, 'wrong')))));
  }
  assert.equal(statuses.filter((status) => status === 401).length, 20);
  assert.equal(statuses.filter((status) => status === 429).length, 180);
  assert.equal(await logIn('192.0.2.66', 'ada', 'right'), 429);
  assert.equal(await logIn('192.0.2.7', 'ada', 'right'), 200);
  assert.equal(await logIn('2001:db8::7', 'ada', 'right'), 200);
});
