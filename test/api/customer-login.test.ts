/** Sessions of customers: how they begin and end, and how often a password may be guessed. */
import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, testClock, until } from '../helper.ts';
import { password, registerCustomer, sendLogin } from '../shop-verbs.ts';

const minuteMs = 60_000;
const limits = { CURD_LOGIN_LIMITS: '{"pair":3,"address":6,"username":5}' };

const tokenOf = async (shop: Shop, name: string): Promise<string> => (await sendLogin(shop, name)).json.token;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const read = (shop: Shop, token: string) => shop.request('GET', '/v2/customer/ada', bearer(token));
const logOut = (shop: Shop, token: string, by = 'POST') =>
  shop.request(by, '/v2/customer/logout', bearer(token));
const decoded = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());
const partsOf = (token: string) => token.split('.', 2).map(decoded);
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A login from a client IP: the status, and when it was refused the seconds to wait. */
async function attempt(shop: Shop, username: string, given: string, remoteAddress = '10.0.0.1') {
  const body = JSON.stringify({ username, password: given });
  const { statusCode, headers, payload } = await shop.app.server.inject({
    ...({ method: 'POST', url: '/v2/customer/login', payload: body, remoteAddress } as const),
    headers: { 'content-type': 'application/json' },
  });
  if (statusCode === 429) {
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    assert.equal(JSON.parse(payload).type, 'rate_limit_exceeded');
    return Number(headers['retry-after']);
  }
  return statusCode === 200 ? 'in' : statusCode === 401 ? 'wrong' : assert.fail(`${statusCode} ${payload}`);
}

async function attempts(shop: Shop, count: number, username: string, given = 'wrong', address?: string) {
  const outcomes: (number | string)[] = [];
  for (let index = 0; index < count; index += 1) {
    outcomes.push(await attempt(shop, username, given, address));
  }
  return outcomes;
}

/** Failures for a username from as many networks as it may have failures. */
async function failFromEverywhere(shop: Shop, username: string): Promise<void> {
  for (let index = 0; index < 5; index += 1) {
    assert.equal(await attempt(shop, username, 'wrong', `10.2.${index}.1`), 'wrong');
  }
}

async function runningLogins(shop: Shop): Promise<number> {
  const rows = await shop.app.database.all<object>(sql`select id from login_failure where running > 0`);
  return rows.length;
}

onBothEngines('Logging in', (engine) => {
  const open = async (t: TestContext, clock = testClock()) => {
    const shop = await openShop(t, { engine, clock });
    await registerCustomer(shop, { username: 'ada' });
    return shop;
  };

  test('Logging in returns 200 with a JWT without personal data, and its expiry', async (t) => {
    const start = Date.parse('2026-06-01T12:00:00.789Z');
    const shop = await open(t, testClock(start));
    const response = await sendLogin(shop, 'ada');
    assert.equal(response.status, 200, response.text);
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.deepEqual(Object.keys(response.json), ['token', 'expiresAt']);
    assert.equal(response.json.token.split('.').length, 3);
    const [header, payload] = partsOf(response.json.token);
    assert.deepEqual([header.alg, header.typ], ['HS256', 'JWT']);
    assert.deepEqual(Object.keys(payload).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'sub']);
    const { json: customer } = await read(shop, response.json.token);
    assert.equal(payload.sub, String(customer.id));
    assert.deepEqual([payload.iat, payload.exp - payload.iat], [Math.floor(start / 1000), 24 * 60 * 60]);
    assert.equal(response.json.expiresAt, new Date(payload.exp * 1000).toISOString());
    assert.notEqual(partsOf(await tokenOf(shop, 'ada'))[1].jti, payload.jti);
  });

  test('Logging in returns the same bytes for wrong passwords and for unknown usernames', async (t) => {
    const shop = await open(t);
    const wrong = await sendLogin(shop, 'ada', 'wrong');
    assertError(wrong, 401, 'unauthorized');
    const unknown = ['nobody', '', 'ada\u0000', 'a/b', 'x'.repeat(255), '__proto__', "' or 1=1 --"];
    const mistyped = ['', `${password} `, password.toUpperCase(), `${password}\u0000`, 'x'.repeat(1024)];
    for (const response of [
      ...(await Promise.all(unknown.map((username) => sendLogin(shop, username)))),
      ...(await Promise.all(mistyped.map((given) => sendLogin(shop, 'ada', given)))),
    ]) {
      assert.deepEqual([response.status, response.text], [401, wrong.text]);
      assert.equal(response.headers['www-authenticate'], wrong.headers['www-authenticate']);
    }
    for (const username of ['ADA', 'Ada', 'ａｄａ', 'ada ', '\u00a0ada']) {
      assert.equal((await sendLogin(shop, username)).status, 200, username);
    }
  });

  test('Logging in ends with GET or POST on logout, only for this session and at once on every server', async (t) => {
    const shop = await open(t);
    const other = await shop.another();
    for (const method of ['GET', 'POST']) {
      const token = await tokenOf(shop, 'ada');
      const kept = await tokenOf(other, 'ada');
      assert.equal((await read(other, token)).status, 200);
      const response = await logOut(shop, token, method);
      assert.deepEqual(
        [response.status, response.text, response.headers['cache-control']],
        [204, '', 'no-store'],
      );
      for (const one of [other, shop]) {
        assertError(await read(one, token), 401, 'unauthorized');
        assertError(await logOut(one, token, method), 401, 'unauthorized');
      }
      const alongside = { as: shop.admin, ...bearer(token) };
      assertError(await shop.request('GET', '/v2/cheeses', alongside), 401, 'unauthorized');
      assert.equal((await read(shop, kept)).status, 200);
    }
  });

  test('Logging in lasts 24 hours to the millisecond', async (t) => {
    const clock = testClock();
    const shop = await open(t, clock);
    const token = await tokenOf(shop, 'ada');
    clock.advance(24 * 60 * minuteMs - 1);
    assert.equal((await read(shop, token)).status, 200);
    clock.advance(1);
    assertError(await read(shop, token), 401, 'unauthorized');
    assertError(await logOut(shop, token), 401, 'unauthorized');
    await shop.app.auth.sessions.purge();
    assertError(await read(shop, token), 401, 'unauthorized');
  });

  test('Logging in the 21st time ends the oldest session of that customer alone', async (t) => {
    const clock = testClock();
    const shop = await open(t, clock);
    await registerCustomer(shop, { username: 'bob' });
    const bob = await tokenOf(shop, 'bob');
    const tokens: string[] = [];
    for (let count = 0; count < 21; count += 1) {
      clock.advance(1);
      tokens.push(await tokenOf(shop, 'ada'));
      if (count === 19) {
        assert.equal((await read(shop, tokens[0] ?? '')).status, 200);
      }
    }
    const statuses = await Promise.all(tokens.map(async (token) => (await read(shop, token)).status));
    assert.deepEqual(statuses, [401, ...Array.from({ length: 20 }, () => 200)]);
    assert.equal((await shop.request('GET', '/v2/customer/bob', bearer(bob))).status, 200);
  });

  test('Logging in is refused after the failures that the pair may have, also with the correct password', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings: limits });
    const other = await shop.another();
    await registerCustomer(shop, { username: 'ada' });
    assert.deepEqual(await attempts(shop, 4, 'nobody'), ['wrong', 'wrong', 'wrong', 900]);
    assert.deepEqual(await attempts(other, 1, 'NOBODY'), [900]);
    assert.deepEqual(await attempts(shop, 3, 'ADA'), ['wrong', 'wrong', 'wrong']);
    assert.deepEqual(await attempts(other, 1, 'ada', password), [900]);
    assert.deepEqual(await attempts(other, 1, 'ada', password, '10.0.0.2'), ['in']);
  });

  test('Logging in with the right password forgets the failures of the pair', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings: limits });
    await registerCustomer(shop, { username: 'ada' });
    assert.deepEqual(await attempts(shop, 2, 'ada'), ['wrong', 'wrong']);
    assert.deepEqual(await attempts(shop, 4, 'ada', password), ['in', 'in', 'in', 'in']);
    assert.deepEqual(await attempts(shop, 4, 'ada'), ['wrong', 'wrong', 'wrong', 900]);
  });

  test('Logging in is limited by client IP over usernames', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings: limits });
    await registerCustomer(shop, { username: 'ada' });
    for (const username of ['a', 'b', 'c', 'd', 'e', 'f']) {
      assert.equal(await attempt(shop, username, 'wrong', '10.1.1.1'), 'wrong');
    }
    assert.equal(await attempt(shop, 'ada', password, '10.1.1.1'), 900);
    assert.equal(await attempt(shop, 'ada', password, '10.1.1.2'), 'in');
  });

  test('Logging in returns the longest of several waits', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: limits });
    assert.deepEqual(await attempts(shop, 1, 'x'), ['wrong']);
    clock.advance(10 * minuteMs);
    assert.deepEqual(await attempts(shop, 1, 'ada'), ['wrong']);
    clock.advance(6 * minuteMs);
    // The window of the client IP begins again here, and ends after that of the pair.
    for (const username of ['a', 'b', 'c', 'ada', 'ada', 'd']) {
      assert.deepEqual(await attempts(shop, 1, username), ['wrong']);
    }
    clock.advance(minuteMs);
    assert.deepEqual(await attempts(shop, 2, 'ada'), [840, 840]);
  });

  test('Logging in is slowed down after the failures that a username may have, on all instances, for an hour', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: limits });
    const other = await shop.another();
    await registerCustomer(shop, { username: 'ada' });
    await failFromEverywhere(shop, 'ada');
    // One in ten seconds: the first at once, the second waits, the third is told when it could.
    assert.equal(await attempt(shop, 'ada', 'wrong', '10.3.3.3'), 'wrong');
    const second = attempt(other, 'ada', password, '10.4.4.4');
    await until(async () => (await runningLogins(shop)) > 0);
    assert.equal(await attempt(shop, 'ada', password, '10.5.5.5'), 10);
    assert.equal(await attempt(shop, 'nobody', 'wrong', '10.3.3.3'), 'wrong');
    clock.advance(10_000);
    assert.equal(await second, 'in');
    // The network is known now.
    assert.deepEqual(await attempts(shop, 3, 'ada', password, '10.4.4.4'), ['in', 'in', 'in']);
    clock.advance(60 * minuteMs);
    await shop.app.customers.loginThrottle.purge();
    const free = Array.from({ length: 3 }, (_, index) => attempt(shop, 'ada', password, `10.${index}.6.6`));
    assert.deepEqual(await Promise.all(free), ['in', 'in', 'in']);
  });

  test('Logging in from a network that it came from within 30 days is not slowed down by failures elsewhere', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: limits });
    const {
      customers: { networks },
    } = shop.app;
    await registerCustomer(shop, { username: 'ada' });
    assert.equal(await attempt(shop, 'ada', password, '10.7.7.1'), 'in');
    assert.equal(await attempt(shop, 'ada', password, '2001:db8:0:1::5'), 'in');
    clock.advance(30 * 24 * 60 * minuteMs - 1);
    await networks.purge();
    await failFromEverywhere(shop, 'ada');
    for (const address of ['10.7.7.200', '2001:db8:0:1:ffff::']) {
      assert.deepEqual(await attempts(shop, 3, 'ada', 'wrong', address), ['wrong', 'wrong', 'wrong']);
    }
    const again = Array.from({ length: 3 }, () => attempt(shop, 'ada', password, '10.7.7.2'));
    assert.deepEqual(await Promise.all(again), ['in', 'in', 'in']);
    const { database } = shop.app;
    clock.advance(1);
    await networks.purge();
    const stored = () => database.all<{ network: string }>(sql`select network from login_network`);
    assert.match((await stored()).map(({ network }) => network).join(), /^[0-9a-f]{64}$/);
    const own = bearer(await tokenOf(shop, 'ada'));
    assert.equal((await stored()).length, 2);
    assert.equal((await shop.request('DELETE', '/v2/customer/ada', own)).status, 204);
    assert.equal((await stored()).length, 0);
  });

  test('Logging in is let through again when the window ends, which being turned away does not put off', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: limits });
    assert.deepEqual(await attempts(shop, 1, 'ada'), ['wrong']);
    clock.advance(minuteMs);
    assert.deepEqual(await attempts(shop, 4, 'ada'), ['wrong', 'wrong', 840, 840]);
    clock.advance(14 * minuteMs - 1);
    assert.deepEqual(new Set(await attempts(shop, 10, 'ada')), new Set([1]));
    // Nor were those counted for the address, which has three failures left.
    const others = await Promise.all(['a', 'b', 'c'].map((name) => attempt(shop, name, 'wrong')));
    assert.deepEqual(others, ['wrong', 'wrong', 'wrong']);
    assert.deepEqual(await attempts(shop, 1, 'd'), [1]);
    clock.advance(1);
    assert.deepEqual(await attempts(shop, 3, 'ada'), ['wrong', 'wrong', 'wrong']);
  });

  test('Logging in many times at once gets no more tries than the limit, and only those check a password', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings: limits });
    const shops = [shop, await shop.another()];
    const outcomes = await Promise.all(
      Array.from({ length: 150 }, (_, index) => attempt(shops[index % 2] as Shop, 'ada', 'wrong')),
    );
    const counts = ['wrong', 900].map((kind) => outcomes.filter((one) => one === kind).length);
    assert.deepEqual(counts, [3, 147]);
  });

  test('Logging in with the right password succeeds 20 times in parallel, with a lower limit of failures', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings: limits });
    const shops = [shop, await shop.another()];
    await registerCustomer(shop, { username: 'ada' });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => attempt(shops[index % 2] as Shop, 'ada', password)),
    );
    assert.deepEqual(new Set(outcomes), new Set(['in']));
    assert.deepEqual(await attempts(shop, 4, 'ada'), ['wrong', 'wrong', 'wrong', 900]);
  });

  test('Logging in ignores after a minute attempts that a crash cut off', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: limits });
    await registerCustomer(shop, { username: 'ada' });
    // What remains of a process that was killed: attempts without a result.
    const {
      database,
      customers: { loginThrottle },
    } = shop.app;
    await Promise.all([1, 2, 3].map(() => loginThrottle.recordAttempt('ada', '10.0.0.1', false)));
    const rows = await database.all<{ running: number }>(sql`select running from login_failure`);
    assert.deepEqual(new Set(rows.map(({ running }) => running)), new Set([3]));
    clock.advance(minuteMs);
    assert.deepEqual(await attempts(shop, 4, 'ada'), ['wrong', 'wrong', 'wrong', 900]);
  });
});

test('A login with a field missing or of another kind is 422, and counts as no failure', async (t) => {
  const shop = await openShop(t, { settings: limits });
  for (const [body, ...fields] of [
    [{}, 'username', 'password'],
    [{ username: 'ada' }, 'password'],
    [{ password }, 'username'],
    [{ username: null, password: 7 }, 'username', 'password'],
    [{ username: 'x'.repeat(256), password: 'x'.repeat(1025) }, 'username', 'password'],
    [[], ''],
  ] as const) {
    const response = await shop.request('POST', '/v2/customer/login', { body });
    assertError(response, 422, 'validation_error');
    const named = response.json.errors.map(({ field }: { field: string }) => field);
    assert.deepEqual(named, fields);
  }
  assert.deepEqual(await attempts(shop, 1, 'ada', 'wrong', '127.0.0.1'), ['wrong']);
});

test('A login with another credential is 401 when that is invalid, and 200 when it is valid', async (t) => {
  const shop = await openShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const token = await tokenOf(shop, 'ada');
  const wrong = [{ 'x-api-key': 'nonsense' }, { authorization: `Bearer ${token}x` }, { 'x-api-key': token }];
  for (const headers of wrong) {
    assertError(await sendLogin(shop, 'ada', password, headers), 401, 'unauthorized');
  }
  assert.equal((await sendLogin(shop, 'ada', password, { 'x-api-key': shop.reader })).status, 200);
  assert.equal((await sendLogin(shop, 'ada', password, bearer(token).headers)).status, 200);
});

test('Logout needs a session: 401 without a credential, 403 with an API key, 405 for HEAD', async (t) => {
  const shop = await openShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const token = await tokenOf(shop, 'ada');
  for (const method of ['GET', 'POST']) {
    assertError(await shop.request(method, '/v2/customer/logout'), 401, 'unauthorized');
    assertError(await shop.request(method, '/v2/customer/logout', { as: shop.admin }), 403, 'forbidden');
  }
  const head = await shop.request('HEAD', '/v2/customer/logout', bearer(token));
  assert.deepEqual([head.status, head.headers.allow], [405, 'GET, OPTIONS, POST']);
  assert.equal((await read(shop, token)).status, 200);
  const withKey = { as: shop.reader, ...bearer(token) };
  assert.equal((await shop.request('POST', '/v2/customer/logout', withKey)).status, 204);
  assertError(await read(shop, token), 401, 'unauthorized');
});

test('A token that was altered, invented or sent elsewhere is 401, even if signed with the right key', async (t) => {
  const shop = await openShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const token = await tokenOf(shop, 'ada');
  const [head = '', body = '', signature = ''] = token.split('.');
  const [header, payload] = partsOf(token);
  const key = new Uint8Array(hkdfSync('sha256', shop.config.secret, '', 'session tokens', 32));
  const signed = (claims: object, by: Uint8Array = key) => {
    const text = `${base64(header)}.${base64(claims)}`;
    return `${text}.${createHmac('sha256', by).update(text).digest('base64url')}`;
  };
  assert.equal(signed(payload), token);
  const flipped = (text: string, at: number) =>
    `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
  const none = base64({ ...header, alg: 'none' });
  const forged = [
    ...[5, head.length + 5, token.length - 5, token.length - 1].map((at) => flipped(token, at)),
    ...[`${none}.${body}.`, `${none}.${body}.${signature}`, signed(payload, Buffer.alloc(32))],
    ...[{ exp: payload.exp + 60 }, { jti: 'x' }, { sub: '2' }].map((one) => signed({ ...payload, ...one })),
    ...[token.slice(0, -1), `${head}.${body}`, `${head}.${body}.`, head, `${token}=`, `${token}.x`],
    ...[`${token}${'A'.repeat(2048)}`, `${head}.${'A'.repeat(2048)}.${signature}`, 'eyJ..', 'eyJ', '..'],
  ];
  for (const one of forged) {
    assertError(await read(shop, one), 401, 'unauthorized');
    assertError(await logOut(shop, one), 401, 'unauthorized');
  }
  const elsewhere = [{ 'x-api-key': token }, { authorization: token }, { authorization: `Basic ${token}` }];
  for (const headers of elsewhere) {
    assertError(await shop.request('GET', '/v2/customer/ada', { headers }), 401, 'unauthorized');
  }
  assert.equal((await read(shop, token)).status, 200);
});

test('A session is 403 at routes that do not accept sessions', async (t) => {
  const shop = await openShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const session = bearer(await tokenOf(shop, 'ada'));
  for (const path of ['cheeses', 'cheeses/1', 'store/inventory', 'store/orders', 'store/order/1']) {
    assertError(await shop.request('GET', `/v2/${path}`, session), 403, 'forbidden');
  }
  for (const path of ['cheeses', 'store/order', 'store/order/1/approve', 'api-keys']) {
    assertError(await shop.request('POST', `/v2/${path}`, { ...session, body: {} }), 403, 'forbidden');
  }
});
