/** Customers who register: each field to its edge and one beyond, and names that are taken. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  assertFields,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Shop,
  type TestResponse,
  testClock,
} from '../helper.ts';
import { sendLogin } from '../shop-verbs.ts';

let made = 0;

/** Sends a customer who is fine but for what is given; their name is new unless given. */
function sendRegistration(
  shop: Shop,
  customer: object = {},
  options: RequestOptions = {},
): Promise<TestResponse> {
  made += 1;
  const fine = { username: `user${made}`, email: `user${made}@example.com`, password: 'brie' };
  return shop.request('POST', '/v2/customer', { body: { ...fine, ...customer }, ...options });
}

const read = (shop: Shop, name: string) => shop.request('GET', `/v2/customer/${name}`, { as: shop.reader });
async function countCustomers(shop: Shop): Promise<number> {
  const { database } = shop.app;
  return (await database.all(sql`select id from customer`)).length;
}

const domain63 = `${'d'.repeat(63)}.example`;
const email254 = `${'x'.repeat(254 - domain63.length - 1)}@${domain63}`;

/** Customers at the edges of their fields, who come back as they were sent. */
const edges: readonly object[] = [
  { username: 'x', firstName: '', lastName: '', phone: null },
  { username: '🧀'.repeat(64), firstName: '🧀'.repeat(100), lastName: '👨‍👩‍👧', phone: '🧀'.repeat(32) },
  { username: 'a@b.c%20?#&+;=', email: "!#$%&'*+/=?^_`{|}~-.@b", firstName: '', phone: '' },
  {
    username: 'loginx',
    email: email254,
    firstName: 'Dr.Huber',
    lastName: 'O’Brien-Çelik c/o J.R.R. St.Clair',
  },
  { username: '👨‍👩‍👧', email: 'family@example.com' },
  { username: '👁️‍🗨️', email: 'witness@example.com' },
  { username: 'می‌خواهم', email: 'zwnj@example.com' },
  { username: 'ශ්‍රී', email: 'zwj@example.com' },
  { username: '...', email: 'a@b', firstName: '"\\%_', phone: '+41 31 000 00 00' },
  { username: '__proto__', firstName: 'constructor', lastName: '👨‍👩‍👧' },
];

const reserved = 'login Login logout ＬＯＧＯＵＴ createMultiple CREATEMULTIPLE . .. ． ‥'.split(' ');
const bad = ['a\u0000b', 'a\nb', '\t', 'a\u001fb', 'a\u007f', '\u0085'];
const blank = ' |a b|a\u00a0b|a\u2028b|a/b|/|a\\b|\\'.split('|');
const invisible = 'a\u200bb|\u200d|a\u202eb|\ufeffa|a\u00adb|\u2060|\u2066a|a\u3164|\u2800'.split('|');
const misplaced =
  'a\u200d|\u200da|\u200c|a\u200d\u200da|a\u200d\u202eb|\ufe0f|\ufe0fa|a\ufe0f\ufe0f|\u200d\ufe0f|log\u200din'.split(
    '|',
  );
const noEmail = '|a|@|@b|a@|a@b.|a@.b|a@-b|a@b-|a@b@c|a b@c|a@b\n|ä@b.c|a@bä.c|"a b"@c'.split('|');
const noEmailEither = 'a@[127.0.0.1]|a@b_c|a@b..c|a\u0000@b|Ada <a@b>|ａ@b'.split('|');
const long = (length: number) => ['x'.repeat(length + 1), '🧀'.repeat(length + 1)];

/** Values just beyond, and of other kinds. */
const beyond: readonly (readonly [field: string, values: readonly unknown[], named?: string])[] = [
  ['username', ['', ...long(64), null, 7, true, [], {}, undefined, ...bad]],
  ['username', [...reserved, ...blank, ...invisible, ...misplaced]],
  ['firstName', [...long(100), 7, false, ['Ada'], {}, ...bad]],
  ['lastName', [...long(100), 7, false, ['Ada'], {}, ...bad, 'A\u202eda', 'A\u00adda', '\u200bAda']],
  ['firstName', ['Win http://evil.example', 'www.evil.example', 'You won: EVIL.example/x', 'x://y']],
  ['email', [...noEmail, ...noEmailEither, `x${email254}`, `a@d${domain63}`]],
  ['email', [null, 7, ['a@b'], {}, undefined]],
  ['password', ['', 'x'.repeat(1025), 'é'.repeat(513), '🧀'.repeat(257), null, 7, [], {}, undefined]],
  ['phone', [...long(32), 7, false, [], {}, ...bad]],
  ['favouriteCheese', [{}, { colour: 'blue' }, { id: null }, 'Brie', 7, ['Brie'], { name: null }]],
  ['favouriteCheese', ['', ' ', ...long(255), 7, ...bad].map((name) => ({ name })), 'favouriteCheese.name'],
  ['favouriteCheese', ['1', 1.5, true, {}].map((id) => ({ id })), 'favouriteCheese.id'],
];

onBothEngines('POST /customer', (engine) => {
  test('POST /customer returns 201 with the documented body, Location and ETag, and never the password', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const sent = { username: 'Ada', email: 'Ada@Example.com', password: 'Roquefort 9' };
    const response = await sendRegistration(shop, sent);
    const { id, ...rest } = response.json;
    assert.equal(response.status, 201);
    assert.deepEqual(rest, {
      username: 'Ada',
      firstName: '',
      lastName: '',
      email: 'Ada@Example.com',
      phone: null,
      customerStatus: 'bronze',
      createdAt: '2026-06-01T12:00:00.000Z',
    });
    assert.ok(Number.isSafeInteger(id) && id > 0);
    assert.equal(response.headers.location, '/v2/customer/Ada');
    assert.match(response.headers.etag ?? '', /^"[^"]+"$/);
    const shown = await read(shop, 'Ada');
    assert.deepEqual(shown.json, response.json);
    assert.equal(shown.headers.etag, response.headers.etag);
    const { database } = shop.app;
    const stored = await database.all<{ password: string }>(sql`select * from customer`);
    assert.match(stored[0]?.password ?? '', /^\$argon2id\$v=19\$m=8,t=1,p=1\$/);
    const everything = JSON.stringify([
      stored,
      await database.all(sql`select * from event`),
      response,
      shown,
    ]);
    assert.doesNotMatch(everything, /Roquefort/);
  });

  test('POST /customer accepts every field at its bound, stores it unchanged, and returns it at its Location', async (t) => {
    const shop = await openShop(t, { engine });
    for (const edge of edges) {
      const response = await sendRegistration(shop, edge);
      assert.equal(response.status, 201, response.text);
      assert.deepEqual({ ...response.json, ...edge }, response.json);
      const shown = await shop.request('GET', response.headers.location ?? '', { as: shop.reader });
      assert.deepEqual([shown.status, shown.json], [200, response.json]);
    }
    const nulls = await sendRegistration(shop, { firstName: null, lastName: null, favouriteCheese: null });
    assert.deepEqual([nulls.json.firstName, nulls.json.lastName, nulls.json.phone], ['', '', null]);
    assert.equal('favouriteCheese' in nulls.json, false);
  });

  test('POST /customer removes blanks at the ends of names and addresses', async (t) => {
    const shop = await openShop(t, { engine });
    const sent = {
      username: 'ada ',
      email: '\u00a0ada@example.com ',
      firstName: ' Ada\u3000',
      lastName: ' ',
    };
    const { json } = await sendRegistration(shop, {
      ...sent,
      phone: ' 7 ',
      favouriteCheese: { name: ' Brie ' },
    });
    assert.deepEqual(
      [json.username, json.email, json.firstName, json.lastName, json.phone, json.favouriteCheese.name],
      ['ada', 'ada@example.com', 'Ada', '', '7', 'Brie'],
    );
    assertError(await sendRegistration(shop, { ...sent, username: '\u3000ADA' }), 409, 'conflict');
  });

  test('POST /customer ignores what only the server decides', async (t) => {
    const shop = await openShop(t, { engine });
    const columns = { tier: 'gold', delivered_cents: 9, version: 7, username_key: 'x', first_name: 'x' };
    const supplied = { id: 4711, customerStatus: 'platinum', createdAt: '1999-01-01T00:00:00.000Z' };
    const powers = { role: 'staff', scopes: ['admin'] };
    const { status, json } = await sendRegistration(shop, { ...supplied, ...columns, ...powers });
    assert.deepEqual([status, json.customerStatus, json.firstName], [201, 'bronze', '']);
    assert.notEqual(json.id, 4711);
    assert.notEqual(json.createdAt, supplied.createdAt);
    const stored = await shop.app.database.get(
      sql`select role, tier, delivered_cents, version from customer where id = ${json.id}`,
    );
    const untouched = { role: 'customer', tier: 'bronze', delivered_cents: 0, version: 1 };
    assert.deepEqual({ ...(stored as object) }, untouched);
    const strict = { headers: { prefer: 'handling=strict' } };
    assert.equal((await sendRegistration(shop, supplied, strict)).status, 201);
    assertFields(await sendRegistration(shop, { ...supplied, role: 'staff' }, strict), ['role']);
  });

  test('POST /customer returns 409 that names the taken fields, with any case and width, and writes nothing', async (t) => {
    const shop = await openShop(t, { engine });
    const first = { username: 'Straße.é', email: 'Ada@Example.com' };
    await sendRegistration(shop, first);
    for (const username of ['Straße.é', 'STRASSE.É', 'strasse.e\u0301', 'ｓｔｒａｓｓｅ.é', 'ﬆraßE.É']) {
      const response = await sendRegistration(shop, { username });
      assertError(response, 409, 'conflict');
      assert.deepEqual(response.json.message.match(/username|email/g), ['username'], username);
    }
    const sameEmail = await sendRegistration(shop, { email: 'aDA@eXAMPLE.COM' });
    assertError(sameEmail, 409, 'conflict');
    assert.deepEqual(sameEmail.json.message.match(/username|email/g), ['email']);
    const both = await sendRegistration(shop, { ...first, favouriteCheese: { name: 'Brie' } });
    assertError(both, 409, 'conflict');
    assert.deepEqual(both.json.message.match(/username|email/g), ['username', 'email']);
    assert.equal(await countCustomers(shop), 1);
    assert.equal((await sendRegistration(shop, { username: 'Ada@Example.com' })).status, 201);
    assert.equal((await sendRegistration(shop, { username: 'Strase.é' })).status, 201);
  });

  test('POST /customer shows a favourite cheese whole by its id, and by its name as it was sent', async (t) => {
    const shop = await openShop(t, { engine });
    const body = { name: 'Comté', category: { name: 'Hard' }, tags: [{ name: 'cow' }], pricePerKg: 32.5 };
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
    const byId = await sendRegistration(shop, { favouriteCheese: { id: cheese.id } });
    assert.deepEqual([byId.status, byId.json.favouriteCheese], [201, cheese]);
    assert.deepEqual((await read(shop, byId.json.username)).json, byId.json);
    for (const name of ['Comté', 'x'.repeat(255), '{"id":1}']) {
      const byName = await sendRegistration(shop, { favouriteCheese: { name, colour: 'blue' } });
      assert.deepEqual([byName.status, byName.json.favouriteCheese], [201, { name }]);
      assert.deepEqual((await read(shop, byName.json.username)).json, byName.json);
    }
    const count = await countCustomers(shop);
    const both = await sendRegistration(shop, { favouriteCheese: { id: cheese.id, name: 'Comté' } });
    assertFields(both, ['favouriteCheese']);
    for (const id of [0, -1, cheese.id + 1, 2 ** 53, 1e300]) {
      assertFields(
        await sendRegistration(shop, { favouriteCheese: { id } }),
        ['favouriteCheese.id'],
        `id ${id}`,
      );
    }
    assert.equal(await countCustomers(shop), count);
  });

  test('POST /customer makes one account of 16 that come at once under one username', async (t) => {
    const shop = await openShop(t, { engine });
    const shops = [shop, await shop.another()];
    const names = ['ada', 'ADA', 'ａｄａ'];
    const send = (index: number) =>
      sendRegistration(shops[index % 2] as Shop, { username: names[index % 3] });
    const responses = await Promise.all(Array.from({ length: 16 }, (_, index) => send(index)));
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual([statuses.length, statuses[0], new Set(statuses.slice(1))], [16, 201, new Set([409])]);
    assert.equal(await countCustomers(shop), 1);
    const winner = responses.find(({ status }) => status === 201);
    assert.deepEqual((await read(shop, 'ada')).json, winner?.json);
  });

  test('POST /customer replays the response to an Idempotency-Key, and registers once', async (t) => {
    const shop = await openShop(t, { engine });
    const ada = { username: 'ada', email: 'ada@example.com', password: 'brie' };
    const headers = { 'idempotency-key': 'once' };
    const first = await sendRegistration(shop, ada, { headers });
    const again = await sendRegistration(shop, ada, { headers });
    assert.deepEqual([first.status, first.headers['idempotency-replayed']], [201, undefined]);
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.equal(again.headers.location, first.headers.location);
    assertFields(await sendRegistration(shop, { ...ada, phone: '1' }, { headers }), ['']);
    assertError(
      await sendRegistration(shop, ada, { headers: { 'idempotency-key': 'other' } }),
      409,
      'conflict',
    );
    assert.equal(await countCustomers(shop), 1);
    const { database } = shop.app;
    assert.equal((await database.all(sql`select * from event where type like 'customer.%'`)).length, 1);
  });

  test('POST /customer returns 404, never 5xx, for a path that cannot be a username', async (t) => {
    const shop = await openShop(t, { engine });
    const paths =
      'a%00b %00 a%2Fb a%5Cb a%20b %E2%80%AE %F0%9F%A7%80 %27%20or%201=1-- %25 __proto__ constructor';
    for (const path of [...paths.split(' '), 'x'.repeat(8000)]) {
      for (const method of ['GET', 'DELETE']) {
        const response = await shop.request(method, `/v2/customer/${path}`, { as: shop.admin });
        assertError(response, 404, 'not_found');
      }
    }
    for (const path of ['login', 'createMultiple']) {
      assertError(await read(shop, path), 405, 'method_not_allowed');
    }
    for (const path of ['%ff', '%ED%A0%80', '%', '%zz']) {
      const { statusCode } = await shop.app.server.inject({ method: 'GET', url: `/v2/customer/${path}` });
      assert.ok(statusCode >= 400 && statusCode < 500, `${path} ${statusCode}`);
    }
  });
});

suite('POST /customer', () => {
  test('POST /customer accepts passwords of 1 to 1,024 bytes', async (t) => {
    const shop = await openShop(t);
    for (const password of [' ', '1'.repeat(1024), '🧀'.repeat(256), 'a\u0000b', ' padded\n']) {
      const { json } = await sendRegistration(shop, { password });
      assert.equal((await sendLogin(shop, json.username, password)).status, 200, JSON.stringify(password));
      assert.equal((await sendLogin(shop, json.username, [...password].slice(1).join(''))).status, 401);
    }
  });
});

test('POST /customer returns 422 for each field beyond its bound', async (t) => {
  const shop = await openShop(t);
  for (const [field, values, named = field] of beyond) {
    for (const value of values) {
      assertFields(
        await sendRegistration(shop, { [field]: value }),
        [named],
        `${field} ${JSON.stringify(value)}`,
      );
    }
  }
  assert.equal(await countCustomers(shop), 0);
});

test('POST /customer names all fields at once in the order of the schema', async (t) => {
  const shop = await openShop(t);
  const names = { username: 'a\u0000b', firstName: 'a\u0000b', lastName: 'a\u0000b', email: 'a\u0000@b' };
  const everything = { ...names, password: '', phone: 'a\u0000b', favouriteCheese: { name: 'a\u0000b' } };
  const reversed = Object.fromEntries(Object.entries(everything).reverse());
  const response = await shop.request('POST', '/v2/customer', { body: reversed });
  assertFields(response, [...Object.keys(everything).slice(0, -1), 'favouriteCheese.name']);
  assertFields(await shop.request('POST', '/v2/customer', { body: {} }), ['username', 'email', 'password']);
});

test('POST /customer treats names of prototype members as data, and refuses unpaired surrogates', async (t) => {
  const shop = await openShop(t);
  const rest = '"email": "a@b", "password": "brie"';
  const proto = `{${rest}, "__proto__": {"username": "ada"}, "constructor": {"username": "ada"}}`;
  assertFields(await shop.request('POST', '/v2/customer', { raw: proto }), ['username']);
  for (const half of ['"username": "\\ud800"', '"username": "a", "phone": "\\udfff"']) {
    assertFields(await shop.request('POST', '/v2/customer', { raw: `{${rest}, ${half}}` }), ['']);
  }
  for (const raw of ['null', '[]', '"ada"', '7', '']) {
    assertFields(await shop.request('POST', '/v2/customer', { raw }), ['']);
  }
  assert.equal(await countCustomers(shop), 0);
});

test('POST /customer returns 401 for an invalid credential, though it needs none', async (t) => {
  const shop = await openShop(t);
  const wrong = [{ 'x-api-key': 'nonsense' }, { authorization: 'Bearer x' }, { authorization: shop.reader }];
  for (const headers of wrong) {
    assertError(await sendRegistration(shop, {}, { headers }), 401, 'unauthorized');
  }
  assert.equal(await countCustomers(shop), 0);
  assert.equal((await sendRegistration(shop, {}, { as: shop.reader })).status, 201);
});

test('POST /customer needs a password of 8 characters in production, or of the configured length', async (t) => {
  const production = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example.com' };
  const shop = await openShop(t, { settings: production });
  for (const password of ['1234567', '🧀'.repeat(7), '']) {
    assertFields(await sendRegistration(shop, { password }), ['password'], password);
  }
  assert.equal((await sendRegistration(shop, { password: 'x2345678' })).status, 201);
  assert.equal((await sendRegistration(shop, { password: '🧀'.repeat(8) })).status, 201);
  const two = await openShop(t, { settings: { CURD_PASSWORD_MIN: '2' } });
  assertFields(await sendRegistration(two, { password: '🧀' }), ['password']);
  assert.equal((await sendRegistration(two, { password: '🧀🧀' })).status, 201);
});
