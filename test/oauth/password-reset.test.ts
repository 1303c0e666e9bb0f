/** Links for a new password: made by operators, used once on a page without scripts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { eventsNumbered, newSession } from '../auth/holders.ts';
import { assertError, onBothEngines, type ShopOptions, testClock } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { newApplication, openBrowser, openListeningShop, password, tokensOf, withToken } from './flow.ts';

const minuteMs = 60_000;

async function open(t: TestContext, options: ShopOptions = {}) {
  const shop = await openListeningShop(t, options);
  await registerCustomer(shop, { username: 'ada' });
  const id = await shop.app.customers.administration.idOf('ada');
  const makeLink = async () => {
    const { status, json, headers } = await shop.request('POST', `/v2/customers/${id}/password-reset`, {
      as: shop.admin,
    });
    assert.deepEqual([status, headers['cache-control']], [201, 'no-store']);
    return json as { url: string; expiresAt: string };
  };
  const get = (url: string) => fetch(url, { redirect: 'manual' });
  async function tokenOf(url: string): Promise<string> {
    return /name="token" value="([^"]+)"/.exec(await (await get(url)).text())?.[1] ?? '';
  }
  async function submit(url: string, first: string, second = first, origin = shop.url, known?: string) {
    const token = known ?? (await tokenOf(url));
    const body = new URLSearchParams({ token, password: first, repeated: second });
    return fetch(url, { method: 'POST', redirect: 'manual', headers: { origin }, body });
  }
  const login = async (secret: string) =>
    (await shop.request('POST', '/v2/customer/login', { body: { username: 'ada', password: secret } }))
      .status;
  return { shop, id, makeLink, get, tokenOf, submit, login };
}

onBothEngines('A link for a new password', (engine) => {
  test('A link for a new password works once: sessions and tokens end, failed logins are cleared, and the new password logs in', async (t) => {
    const { shop, id, makeLink, get, submit, login } = await open(t, {
      engine,
      settings: { CURD_LOGIN_LIMITS: '{"pair":2,"address":50,"username":50}' },
    });
    const app = await newApplication(shop);
    const browser = openBrowser(shop.url, 'ada');
    const { access_token: token } = await tokensOf(shop, app, browser, { scope: 'read:profile' });
    const session = await newSession(shop, id);
    const { url, expiresAt } = await makeLink();
    assert.match(url, new RegExp(`^${shop.url}/oauth/password-reset/[\\w-]{43}$`));
    assert.ok(Date.parse(expiresAt) > Date.now() + 29 * minuteMs);

    for (let scan = 0; scan < 3; scan += 1) {
      const { status, headers } = await get(url);
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'self'/);
      assert.equal(headers.get('access-control-allow-origin'), null);
    }
    assert.deepEqual([await login('wrong'), await login('wrong'), await login(password)], [401, 401, 429]);

    const done = await submit(url, 'a cellar full of wheels');
    assert.deepEqual([done.status, done.headers.get('location')], [303, '/oauth/password-changed']);
    const confirmed = await get(`${shop.url}/oauth/password-changed`);
    assert.equal(confirmed.status, 200);
    assert.match(await confirmed.text(), /<title>Your password is changed - Cheese shop<\/title>/);
    for (const credential of [session, token]) {
      assert.equal((await withToken(shop, credential, 'GET', '/v2/customer/ada')).status, 401);
    }
    const { page } = await browser.authorize(new URLSearchParams({}), {}).catch(() => ({ page: '' }));
    assert.doesNotMatch(page, /logged in as/);
    assert.deepEqual([await login('a cellar full of wheels'), await login(password)], [200, 401]);
    assert.equal((await get(url)).status, 404);
    assert.equal(
      (await submit(url, 'another one entirely')).status,
      403,
      'the page of an ended link has no form',
    );

    await eventsNumbered(shop);
    const { json } = await shop.request('GET', `/v2/events?subject=customer:${id}&limit=100`, {
      as: shop.reader,
    });
    const events = json.items.map(({ type, data, actor }: Record<string, unknown>) => [type, data, actor]);
    assert.deepEqual(events.slice(-2), [
      ['customer.password_reset_created', { id }, events.at(-2)[2]],
      ['customer.password_reset', { id }, `customer:${id}`],
    ]);
    const secret = url.slice(-43);
    const { database } = shop.app;
    const stored = JSON.stringify([
      await database.all(sql`select * from password_reset`),
      await database.all(sql`select * from event`),
      await database.all(sql`select * from stored_response`),
    ]);
    assert.ok(!stored.includes(secret));
  });

  test('A link for a new password ends after 30 minutes, with a newer link or password, and with the customer', async (t) => {
    const clock = testClock(Date.now());
    const { shop, id, makeLink, get } = await open(t, { engine, clock });
    const [older, newer] = [await makeLink(), await makeLink()];
    assert.deepEqual([(await get(older.url)).status, (await get(newer.url)).status], [404, 200]);
    clock.advance(30 * minuteMs - 1);
    assert.equal((await get(newer.url)).status, 200);
    clock.advance(1);
    assert.equal((await get(newer.url)).status, 404);
    await shop.app.customers.administration.purge();
    const { database } = shop.app;
    assert.equal((await database.all(sql`select customer_id from password_reset`)).length, 0);
    const last = await makeLink();
    const stored = await database.all<{ token_hash: string }>(sql`select token_hash from password_reset`);
    assert.match(stored[0]?.token_hash ?? '', /^[0-9a-f]{64}$/);
    const session = await newSession(shop, id);
    const headers = { authorization: `Bearer ${session}` };
    const profile = { username: 'ada', email: 'ada@example.com', password };
    await shop.request('PUT', '/v2/customer/ada', { headers, body: { ...profile, phone: '1' } });
    assert.equal((await get(last.url)).status, 200, 'after a change that keeps the password');
    const body = { ...profile, password: 'chosen without the link' };
    assert.equal((await shop.request('PUT', '/v2/customer/ada', { headers, body })).status, 200);
    assert.equal((await get(last.url)).status, 404, 'after a new password');
    const ofDeleted = await makeLink();
    assert.equal((await withToken(shop, session, 'DELETE', '/v2/customer/ada')).status, 204);
    assert.equal((await get(ofDeleted.url)).status, 404);
    assertError(
      await shop.request('POST', `/v2/customers/${id}/password-reset`, { as: shop.admin }),
      404,
      'not_found',
    );
  });

  test('A link for a new password sets one of two passwords that are submitted at the same time', async (t) => {
    const { shop, makeLink, tokenOf, submit, login } = await open(t, { engine });
    const { url } = await makeLink();
    // Before the first one ends: afterwards the page has no form.
    const token = await tokenOf(url);
    const secrets = ['first of the two', 'second of the two'];
    const statuses = (
      await Promise.all(secrets.map((secret) => submit(url, secret, secret, shop.url, token)))
    ).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [303, 404]);
    const winner = secrets[statuses.indexOf(303)] ?? '';
    const loser = secrets[statuses.indexOf(404)] ?? '';
    assert.deepEqual([await login(winner), await login(loser)], [200, 401]);
  });
});

test('The form for a new password is shown again with the reason, and the link stays valid, for a password that cannot be used', async (t) => {
  const settings = { CURD_ENVIRONMENT: 'sandbox', CURD_PASSWORD_MIN: '8', CURD_SHOP_NAME: 'A < B 🧀' };
  const { shop, makeLink, get, submit, login } = await open(t, { settings });
  const { url } = await makeLink();
  for (const [first, second, reason] of [
    ['a cellar full', 'of wheels', 'the two entries differ'],
    ['short', 'short', 'must have at least 8 characters'],
    ['password1', 'password1', 'is one of the most common passwords'],
    ['ä'.repeat(513), 'ä'.repeat(513), 'must have at most 1024 bytes'],
  ] as const) {
    const response = await submit(url, first, second);
    assert.equal(response.status, 422, first);
    const page = await response.text();
    assert.ok(page.includes(reason) && page.includes('role="alert"'), page);
    assert.ok(!page.includes(first), 'a password is never shown');
    assert.ok(page.includes('A &lt; B 🧀') && !page.includes('A < B'));
  }
  assert.equal((await submit(url, 'long enough', 'long enough', 'https://evil.example')).status, 403);
  const bare = await fetch(url, {
    method: 'POST',
    headers: { origin: shop.url },
    body: new URLSearchParams(),
  });
  assert.equal(bare.status, 403);
  assert.equal((await get(`${shop.url}/oauth/password-reset/unknown`)).status, 404);
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 415);
  assert.equal((await submit(url, 'long enough')).status, 303);
  assert.equal(await login('long enough'), 200);
});

test('Pages of links are limited by client IP like logins', async (t) => {
  const limits = '{"perMinute":100,"accountsPerMinute":3,"publicPerMinute":100}';
  const { makeLink, get } = await open(t, { settings: { CURD_ADDRESS_LIMITS: limits } });
  const { url } = await makeLink();
  const statuses: number[] = [];
  for (let visit = 0; visit < 3; visit += 1) {
    statuses.push((await get(url)).status);
  }
  assert.deepEqual(statuses, [200, 200, 429], 'the registration counts too');
});
