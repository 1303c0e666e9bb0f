/** POST /customer/createMultiple: entries are registered or refused one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Shop,
  type TestResponse,
} from '../helper.ts';

const customer = (username: string, more: object = {}) => ({
  username,
  email: `${username}@example.com`,
  password: 'brie',
  ...more,
});

function send(shop: Shop, body: unknown, options: RequestOptions = {}): Promise<TestResponse> {
  return shop.request('POST', '/v2/customer/createMultiple', { body, ...options });
}

interface BatchError {
  readonly index: number;
  readonly message: string;
}

const createdIn = ({ json }: TestResponse): string[] =>
  json.created.map(({ username }: { username: string }) => username);
const errorsIn = ({ json }: TestResponse): BatchError[] => json.errors;
const indexesIn = (response: TestResponse) => errorsIn(response).map(({ index }) => index);

async function stored(shop: Shop): Promise<string[]> {
  const rows = await shop.app.database.all<{ username: string }>(
    sql`select username from customer order by id`,
  );
  return rows.map(({ username }) => username);
}

async function countEvents(shop: Shop): Promise<number> {
  return (await shop.app.database.all(sql`select id from event where type like 'customer.%'`)).length;
}

/** Every field that an entry can get wrong, in the order of the schema. */
const allWrong = {
  username: 'a b',
  firstName: 7,
  lastName: 'x'.repeat(101),
  email: 'nonsense',
  password: '',
  phone: 'x'.repeat(33),
  favouriteCheese: {},
};

onBothEngines('POST /customer/createMultiple', (engine) => {
  test('POST /customer/createMultiple registers valid entries, and returns index and reason of all others', async (t) => {
    const shop = await openShop(t, { engine });
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Brie' },
    });
    const response = await send(shop, [
      customer('ada', { favouriteCheese: { id: cheese.id }, firstName: 'Ada' }),
      allWrong,
      customer('bob', { favouriteCheese: { id: cheese.id + 1 } }),
      null,
      customer('cleo', { id: 4711, customerStatus: 'gold', role: 'staff' }),
      customer('dan', { favouriteCheese: { id: cheese.id, name: 'Brie' } }),
    ]);
    assert.equal(response.status, 200);
    assert.deepEqual(createdIn(response), ['ada', 'cleo']);
    assert.deepEqual(indexesIn(response), [1, 2, 3, 5]);
    const [wrong, bob, , dan] = errorsIn(response);
    const named = wrong?.message.split('; ').map((one) => one.split(': ')[0]);
    assert.deepEqual(named, Object.keys(allWrong));
    assert.match(bob?.message ?? '', /^favouriteCheese\.id: /);
    assert.match(dan?.message ?? '', /^favouriteCheese: /);
    assert.doesNotMatch(response.text, /brie|argon2/);
    for (const one of response.json.created) {
      const { json } = await shop.request('GET', `/v2/customer/${one.username}`, { as: shop.reader });
      assert.deepEqual(one, json);
    }
    assert.deepEqual(response.json.created[0].favouriteCheese, cheese);
    assert.notEqual(response.json.created[1].id, 4711);
    assert.equal(response.json.created[1].customerStatus, 'bronze');
    assert.deepEqual(await stored(shop), ['ada', 'cleo']);
    assert.equal(await countEvents(shop), 2);
    for (const [username, status] of [
      ['cleo', 200],
      ['bob', 401],
      ['dan', 401],
    ] as const) {
      const body = { username, password: 'brie' };
      assert.equal((await shop.request('POST', '/v2/customer/login', { body })).status, status, username);
    }
  });

  test('POST /customer/createMultiple refuses the later of two equal entries, and names the fields that are taken', async (t) => {
    const shop = await openShop(t, { engine });
    await send(shop, [customer('taken')]);
    const response = await send(
      shop,
      [
        customer('Straße'),
        customer('STRASSE', { email: 'other@example.com' }),
        customer('bob', { email: 'Straße@example.com'.replace('ß', 'ss') }),
        customer('cleo', { email: 'BOB@EXAMPLE.COM' }),
        customer('TAKEN'),
        customer('dan', { email: 'bob@example.com' }),
        customer('bob', { email: 'bob2@example.com' }),
      ].map((one) => ({ ...one, email: one.email.replace('ß', 'ss') })),
    );
    assert.deepEqual(createdIn(response), ['Straße', 'cleo', 'bob']);
    assert.deepEqual(
      errorsIn(response).map(({ index, message }) => [index, ...(message.match(/username|email/g) ?? [])]),
      [
        [1, 'username'],
        [2, 'email'],
        [4, 'username', 'email'],
        [5, 'email'],
      ],
    );
    assert.deepEqual(await stored(shop), ['taken', 'Straße', 'cleo', 'bob']);
    assert.equal(await countEvents(shop), 4);
  });

  test('POST /customer/createMultiple leaves names free that stood in an entry that failed', async (t) => {
    const shop = await openShop(t, { engine });
    const response = await send(shop, [
      customer('ada', { password: '' }),
      customer('bob', { favouriteCheese: { id: 0 } }),
      customer('ada'),
      customer('bob'),
    ]);
    assert.deepEqual(createdIn(response), ['ada', 'bob']);
    assert.deepEqual(indexesIn(response), [0, 1]);
  });

  test('POST /customer/createMultiple returns 200 when no entry is valid, and for an empty array', async (t) => {
    const shop = await openShop(t, { engine });
    const none = await send(shop, []);
    assert.deepEqual([none.status, none.json], [200, { created: [], errors: [] }]);
    const odd = [null, 7, 'ada', true, [], [customer('ada')], {}, { username: 'ada' }];
    const response = await send(shop, odd);
    assert.deepEqual([response.status, response.json.created], [200, []]);
    assert.deepEqual(indexesIn(response), [...odd.keys()]);
    for (const { index, message } of errorsIn(response).slice(0, 6)) {
      assert.match(message, /^must be an object$/, `entry ${index}`);
    }
    assert.deepEqual(
      errorsIn(response)
        .slice(6)
        .map(({ message }) => message.match(/username|email|password/g)),
      [
        ['username', 'email', 'password'],
        ['email', 'password'],
      ],
    );
    assert.deepEqual([await stored(shop), await countEvents(shop)], [[], 0]);
  });

  test('POST /customer/createMultiple replays the response to an Idempotency-Key, and registers once', async (t) => {
    const shop = await openShop(t, { engine });
    const headers = { 'idempotency-key': 'once' };
    const batch = [customer('ada'), null];
    const first = await send(shop, batch, { headers });
    const again = await send(shop, batch, { headers });
    assert.deepEqual([again.text, again.headers['idempotency-replayed']], [first.text, 'true']);
    const other = await send(shop, batch);
    assert.deepEqual([createdIn(other), indexesIn(other)], [[], [0, 1]]);
    assert.deepEqual(await stored(shop), ['ada']);
  });

  test('POST /customer/createMultiple registers each name once when two batches with the same names run concurrently', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    const names = ['ada', 'bob', 'cleo', 'dan'];
    const there = names.map((name) => customer(name));
    const [one, two] = await Promise.all([send(shop, there), send(other, [...there].reverse())]);
    assert.deepEqual([one.status, two.status], [200, 200]);
    assert.deepEqual([...createdIn(one), ...createdIn(two)].sort(), names);
    assert.equal(errorsIn(one).length + errorsIn(two).length, 4);
    assert.deepEqual((await stored(shop)).sort(), names);
  });
});

test('POST /customer/createMultiple returns 422 for a body that is no array, and for more than 100 entries', async (t) => {
  const shop = await openShop(t);
  for (const body of [{}, customer('ada'), { 0: customer('ada'), length: 1 }, null, 'ada', 7]) {
    const response = await send(shop, body);
    assertError(response, 422, 'validation_error');
    assert.deepEqual(response.json.errors, [{ field: '', message: 'must be an array' }]);
  }
  const tooMany = await send(
    shop,
    Array.from({ length: 101 }, (_, index) => customer(`user${index}`)),
  );
  assertError(tooMany, 422, 'validation_error');
  assert.deepEqual(tooMany.json.errors, [{ field: '', message: 'must have at most 100 elements' }]);
  assert.deepEqual(await stored(shop), []);
});

test('POST /customer/createMultiple registers 100 at once, in their order', async (t) => {
  const shop = await openShop(t);
  const hundred = Array.from({ length: 100 }, (_, index) => customer(`user${index}`));
  const response = await send(shop, hundred);
  const names = hundred.map(({ username }) => username);
  assert.deepEqual([createdIn(response), errorsIn(response)], [names, []]);
  assert.deepEqual(await stored(shop), names);
});

test('POST /customer/createMultiple refuses entries with unknown fields under strict validation', async (t) => {
  const shop = await openShop(t);
  const batch = [customer('ada', { role: 'staff' }), customer('bob', { id: 7, createdAt: null })];
  const strict = await send(shop, batch, { headers: { prefer: 'handling=strict' } });
  assert.deepEqual([createdIn(strict), indexesIn(strict)], [['bob'], [0]]);
  assert.match(errorsIn(strict)[0]?.message ?? '', /^role: /);
  assert.deepEqual(createdIn(await send(shop, batch.slice(0, 1))), ['ada']);
});

test('POST /customer/createMultiple refuses only the entries with hostile texts', async (t) => {
  const shop = await openShop(t);
  const hostile = ['a\u0000b', 'login', '..', 'a/b', 'x'.repeat(65)].map((username) =>
    customer('x', { username }),
  );
  const raw = `{"__proto__": {"username": "eve"}, "email": "eve@example.com", "password": "brie"}`;
  const entries = `[${[...hostile.map((one) => JSON.stringify(one)), raw, JSON.stringify(customer('__proto__'))]}]`;
  const response = await shop.request('POST', '/v2/customer/createMultiple', { raw: entries });
  assert.deepEqual([createdIn(response), indexesIn(response)], [['__proto__'], [0, 1, 2, 3, 4, 5]]);
  assert.ok(errorsIn(response).every(({ message }) => message.startsWith('username: ')));
});

test('POST /customer/createMultiple returns 401 for an invalid credential, though it needs none', async (t) => {
  const shop = await openShop(t);
  assertError(await send(shop, [customer('ada')], { as: 'nonsense' }), 401, 'unauthorized');
  assert.deepEqual(await stored(shop), []);
});

test('POST /customer and createMultiple need any API key when CURD_REGISTRATION is key', async (t) => {
  const shop = await openShop(t, { settings: { CURD_REGISTRATION: 'key' } });
  const registerOne = (name: string, options: RequestOptions) =>
    shop.request('POST', '/v2/customer', { body: customer(name), ...options });
  assertError(await registerOne('ada', {}), 401, 'unauthorized');
  assertError(await send(shop, [customer('ada')]), 401, 'unauthorized');
  assert.equal((await registerOne('ada', { as: shop.reader })).status, 201);
  assert.deepEqual(createdIn(await send(shop, [customer('bob')], { as: shop.reader })), ['bob']);
  const body = { username: 'ada', password: 'brie' };
  const { token } = (await shop.request('POST', '/v2/customer/login', { body })).json;
  const session = { headers: { authorization: `Bearer ${token}` } };
  assertError(await registerOne('eve', session), 403, 'forbidden');
  assertError(await send(shop, [customer('eve')], session), 403, 'forbidden');
  assert.deepEqual(await stored(shop), ['ada', 'bob']);
});
