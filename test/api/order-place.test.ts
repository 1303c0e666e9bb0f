/** POST /store/order: validation and stored values. order-place-rules.test.ts tests who may place orders, and when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  assertFields,
  bern,
  onBothEngines,
  openShop,
  type Shop,
  type TestResponse,
  testClock,
} from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';

const many = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

interface Buyer {
  readonly shop: Shop;
  readonly as: string;
  place(items: unknown, more?: object, headers?: Record<string, string>): Promise<TestResponse>;
  /** One kilogram of one cheese, with this shipping address. */
  send(shippingAddress: object, more?: object): Promise<TestResponse>;
  read(id: number): Promise<TestResponse>;
  readonly cheeseId: number;
}

async function buyer(shop: Shop): Promise<Buyer> {
  const as = await shop.createKey({ scopes: ['write:orders'] });
  const cheeseId = await newCheese(shop, { pricePerKg: 24.5 });
  const place: Buyer['place'] = (items, more = {}, headers = {}) =>
    shop.request('POST', '/v2/store/order', {
      as,
      body: { items, shippingAddress: bern, ...more },
      headers,
    });
  return {
    shop,
    as,
    cheeseId,
    place,
    send: (shippingAddress, more = {}) => place([{ cheeseId, quantity: 1 }], { shippingAddress, ...more }),
    read: (id) => shop.request('GET', `/v2/store/order/${id}`, { as }),
  };
}

/** The number of rows in each table that placing an order writes. */
async function stored(shop: Shop): Promise<unknown[]> {
  const { database } = shop.app;
  const rows = await Promise.all([
    database.get(sql`select count(*) as n from orders`),
    database.get(sql`select count(*) as n from background_job`),
    database.get(sql`select count(*) as n from open_order_cheese`),
    database.get(sql`select count(*) as n from event where type like 'order.%'`),
  ]);
  return rows.map((row) => (row as { n: number }).n);
}

onBothEngines('POST /store/order', (engine) => {
  test('POST /store/order returns 201 with the order, its Location and its ETag', async (t) => {
    const shop = await openShop(t, { engine, clock: testClock() });
    const { place, read, cheeseId, as } = await buyer(shop);
    const name = (await shop.request('GET', `/v2/cheeses/${cheeseId}`, { as })).json.name;
    const response = await place([{ cheeseId, quantity: 2 }]);
    assert.equal(response.status, 201, response.text);
    assert.deepEqual(response.json, {
      id: 11,
      items: [{ cheeseId, cheeseName: name, quantity: 2, pricePerKg: 24.5 }],
      shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', state: null, country: 'CH' },
      status: 'placed',
      notes: null,
      total: 49,
      shipDate: null,
      createdAt: '2026-06-01T12:00:00.000Z',
      updatedAt: '2026-06-01T12:00:00.000Z',
    });
    assert.equal(response.headers.location, '/v2/store/order/11');
    assert.equal(response.headers.etag, '"1"');
    const again = await read(11);
    assert.deepEqual([again.status, again.json, again.headers.etag], [200, response.json, '"1"']);
    assert.equal((await place([{ cheeseId, quantity: 1 }])).json.id, 12);
    assert.deepEqual(await stored(shop), [2, 2, 2, 2]);
  });

  test('POST /store/order ignores fields that the server sets', async (t) => {
    const { place, cheeseId } = await buyer(await openShop(t, { engine }));
    const item = { cheeseId, quantity: 1, cheeseName: 'Gold', pricePerKg: 0.01 };
    const supplied = { id: 4711, status: 'delivered', total: 0.01, shipDate: '2026-01-01T00:00:00.000Z' };
    const { json } = await place([item], supplied);
    assert.deepEqual([json.id, json.status, json.total, json.shipDate], [11, 'placed', 24.5, null]);
    assert.notEqual(json.items[0].cheeseName, 'Gold');
  });

  test('POST /store/order keeps names and prices when the cheese changes later', async (t) => {
    const shop = await openShop(t, { engine });
    const { place, read, cheeseId } = await buyer(shop);
    const { json } = await place([{ cheeseId, quantity: 2 }]);
    const body = { id: cheeseId, name: 'Renamed', pricePerKg: 99, photoUrls: [], status: 'available' };
    assert.equal((await shop.request('PUT', '/v2/cheeses', { as: shop.writer, body })).status, 200);
    assert.deepEqual((await read(json.id)).json, json);
    const next = (await place([{ cheeseId, quantity: 2 }])).json;
    assert.deepEqual([next.items[0].cheeseName, next.total], ['Renamed', 198]);
  });

  test('POST /store/order accepts 1 to 100 whole kilograms, and returns 422 for other quantities', async (t) => {
    const shop = await openShop(t, { engine });
    const { place, cheeseId, as } = await buyer(shop);
    for (const quantity of [1, 100]) {
      assert.equal((await place([{ cheeseId, quantity }])).json.items[0].quantity, quantity);
    }
    const raw = `{"items":[{"cheeseId":${cheeseId},"quantity":2.0}],"shippingAddress":${JSON.stringify(bern)}}`;
    const two = await shop.request('POST', '/v2/store/order', { as, raw });
    assert.deepEqual([two.status, two.json.items[0].quantity], [201, 2]);
    const before = await stored(shop);
    for (const quantity of [0, 101, -1, 1.5, '2', true, null, undefined, 1e300]) {
      assertFields(await place([{ cheeseId, quantity }]), ['items[0].quantity'], String(quantity));
    }
    assert.deepEqual(await stored(shop), before);
  });

  test('POST /store/order accepts 1 to 100 lines, several of which may be of one cheese', async (t) => {
    const shop = await openShop(t, { engine });
    const { place, cheeseId } = await buyer(shop);
    const line = { cheeseId, quantity: 1 };
    const twice = await place([line, { cheeseId, quantity: 3 }]);
    assert.deepEqual(
      twice.json.items.map(({ quantity }: { quantity: number }) => quantity),
      [1, 3],
    );
    assert.equal(twice.json.total, 98);
    assert.equal((await place(many(100, () => line))).json.items.length, 100);
    for (const items of [[], many(101, () => line), null, {}, 'x']) {
      assertFields(await place(items), ['items']);
    }
    for (const items of [[7], [null], [[]]]) {
      assertFields(await place(items), ['items[0]']);
    }
    assert.deepEqual(await stored(shop), [2, 2, 2, 2]);
  });

  test('POST /store/order returns 422 naming every line whose cheese is not available, and stores nothing', async (t) => {
    const shop = await openShop(t, { engine });
    const { place, cheeseId } = await buyer(shop);
    const pending = await newCheese(shop, { status: 'pending' });
    const sold = await newCheese(shop, { status: 'sold' });
    const ids = [cheeseId, 999_999, pending, cheeseId, sold, 0, -1, 9_007_199_254_740_991];
    const response = await place(ids.map((id) => ({ cheeseId: id, quantity: 1 })));
    assertFields(
      response,
      [1, 2, 4, 5, 6, 7].map((index) => `items[${index}].cheeseId`),
    );
    assert.match(response.json.errors[1].message, /pending/);
    assert.match(response.json.errors[2].message, /sold/);
    assert.deepEqual(await stored(shop), [0, 0, 0, 0]);
  });

  test('POST /store/order returns 422 for ids above 2^53, which are never rounded to another id', async (t) => {
    const shop = await openShop(t, { engine });
    const { as } = await buyer(shop);
    for (const id of ['9007199254740993', '9223372036854775807', '18446744073709551616', '1e300']) {
      const raw = `{"items":[{"cheeseId":${id},"quantity":1}],"shippingAddress":${JSON.stringify(bern)}}`;
      assertFields(await shop.request('POST', '/v2/store/order', { as, raw }), ['items[0].cheeseId'], id);
    }
  });

  test('POST /store/order accepts the maximum length of every field of a shipping address, and returns 422 above it', async (t) => {
    const { send, read } = await buyer(await openShop(t, { engine }));
    const good: [field: string, sent: unknown[]][] = [
      ['street', ['x', '🧀'.repeat(200), 'Gasse  1', 'Bahnhofstr.12/c', '%_"\\\'']],
      ['city', ['x', '🧀'.repeat(100)]],
      ['state', ['', null, 'x'.repeat(100)]],
      ['zipCode', ['', '3011', 'x'.repeat(32)]],
      ['name', ['x'.repeat(100)]],
      ['company', ['🧀'.repeat(100)]],
      ['street2', ['x'.repeat(200)]],
      ['phone', ['0'.repeat(30)]],
    ];
    for (const [field, values] of good) {
      for (const value of values) {
        const response = await send({ ...bern, [field]: value });
        assert.equal(response.status, 201, response.text);
        assert.deepEqual(response.json.shippingAddress, { ...bern, state: null, [field]: value });
      }
    }
    const blanks = await send({
      street: ' Gasse 1\u3000',
      city: ' Bern ',
      state: ' ',
      zipCode: '3011 ',
      country: 'CH',
    });
    assert.deepEqual(blanks.json.shippingAddress, {
      ...bern,
      street: 'Gasse 1',
      city: 'Bern',
      state: '',
      zipCode: '3011',
    });
    const recipient = {
      name: 'Ada Löwe',
      company: 'Käse & Co',
      street2: 'c/o Bo',
      phone: '+41 31 000 00 00',
    };
    const sentTo = await send({ ...bern, ...recipient });
    assert.deepEqual(sentTo.json.shippingAddress, { ...bern, state: null, ...recipient });
    assert.deepEqual((await read(sentTo.json.id)).json.shippingAddress, sentTo.json.shippingAddress);
    const none = await send({ ...bern, name: ' ', company: '', street2: '\u3000', phone: null });
    assert.deepEqual(none.json.shippingAddress, { ...bern, state: null });
    assert.equal('zipCode' in (await send({ ...bern, zipCode: null })).json.shippingAddress, false);
    for (const [sent, shown] of Object.entries({ ch: 'CH', Us: 'US', xk: 'XK', ' fr ': 'FR' })) {
      assert.equal((await send({ ...bern, country: sent })).json.shippingAddress.country, shown);
    }
    const bad: [field: string, sent: unknown[]][] = [
      [
        'street',
        [
          '',
          ' ',
          '\u3000',
          'x'.repeat(201),
          'a\nb',
          'a\u0000b',
          'a\u202eb',
          'Pay at http://x.example',
          null,
          undefined,
          7,
        ],
      ],
      ['city', ['', ' ', '🧀'.repeat(101), 'a\tb', null, undefined, {}]],
      ['state', ['www.x.example', 'x'.repeat(101), 'a\u0007', 7]],
      ['name', ['x'.repeat(101), 'a\nb', 'www.x.example', 7]],
      ['company', ['x'.repeat(101), 'a\u202eb', 'http://x.example', {}]],
      ['street2', ['x'.repeat(201), 'a\tb', []]],
      ['phone', ['0'.repeat(31), '1\n2', 41]],
      ['zipCode', ['x'.repeat(33), '30\n11', 3011]],
      ['country', ['USA', 'ZZ', 'ß', 'ſs', '\u212ae', 'C', '', 'C H', null, undefined, 41]],
    ];
    for (const [field, values] of bad) {
      for (const value of values) {
        const answer = await send({ ...bern, [field]: value });
        assertFields(answer, [`shippingAddress.${field}`], JSON.stringify(value));
      }
    }
  });

  test('POST /store/order stores notes of up to 1000 characters unchanged', async (t) => {
    const { send, read } = await buyer(await openShop(t, { engine }));
    for (const notes of [null, '', 'Ring twice\r\n\tthen wait\n', '🧀'.repeat(1000)]) {
      const { json } = await send(bern, { notes });
      assert.equal(json.notes, notes);
      assert.equal((await read(json.id)).json.notes, notes);
    }
    for (const notes of ['x'.repeat(1001), 'a\u0000b', 'a\u001bb', 'a\u0085b', 7, []]) {
      assertFields(await send(bern, { notes }), ['notes'], JSON.stringify(notes));
    }
  });

  test('POST /store/order returns 422 with all validation errors, in the order of the schema', async (t) => {
    const shop = await openShop(t, { engine });
    const { place, cheeseId } = await buyer(shop);
    const response = await place([{ quantity: 0, cheeseId: 'x' }, { cheeseId }], {
      notes: 7,
      shippingAddress: { country: 'ZZ', zipCode: 1, state: '\n', city: 1, street: '' },
    });
    assertFields(response, [
      ...['items[0].cheeseId', 'items[0].quantity', 'items[1].quantity'],
      ...['street', 'city', 'state', 'zipCode', 'country'].map((field) => `shippingAddress.${field}`),
      'notes',
    ]);
    assertFields(await place(undefined, { shippingAddress: undefined }), ['items', 'shippingAddress']);
    for (const body of [[], null, 'order', 7]) {
      const { status } = await shop.request('POST', '/v2/store/order', { as: shop.admin, body });
      assert.equal(status, 422);
    }
    assert.deepEqual(await stored(shop), [0, 0, 0, 0]);
  });

  test('POST /store/order names unknown fields, but not those that only the server sets, and returns 422 for them with strict handling', async (t) => {
    const { place, cheeseId } = await buyer(await openShop(t, { engine }));
    const items = [{ cheeseId, quantity: 1, colour: 1 }];
    const odd = { shippingAddress: { ...bern, planet: 'Earth' }, ribbon: true };
    const placed = await place(items, odd);
    assert.equal(placed.status, 201);
    assert.equal(placed.headers['curd-ignored'], 'ribbon, items[0].colour, shippingAddress.planet');
    const { id, createdAt, updatedAt } = placed.json;
    const again = await place([{ cheeseId, quantity: 1 }], { id, createdAt, updatedAt });
    assert.deepEqual([again.status, again.headers['curd-ignored']], [201, undefined]);
    const refused = await place(items, odd, { prefer: 'handling=strict' });
    assertFields(refused, ['items[0].colour', 'shippingAddress.planet', 'ribbon']);
    assert.equal(refused.headers['curd-ignored'], undefined);
    const fine = await place([{ cheeseId, quantity: 1 }], { notes: null }, { prefer: 'handling=strict' });
    assert.equal(fine.status, 201);
  });

  test('POST /store/order computes exact sums and rounds once, half a cent up', async (t) => {
    const shop = await openShop(t, { engine });
    const { place } = await buyer(shop);
    const sums: [lines: [price: number, quantity: number][], total: number][] = [
      [[[0.1, 3]], 0.3],
      [[[33.335, 1]], 33.34],
      [[[1.005, 1]], 1.01],
      [[[1.00499999, 1]], 1],
      [[[1e-7, 100]], 0],
      [[[0.00005, 100]], 0.01],
      [
        [
          [0.004, 1],
          [0.004, 1],
        ],
        0.01,
      ],
      [[[999_999.99, 100]], 99_999_999],
      [many(100, () => [1_000_000, 100] as [number, number]), 10_000_000_000],
    ];
    for (const [lines, total] of sums) {
      const ids = new Map<number, number>();
      for (const [pricePerKg] of lines) {
        ids.set(pricePerKg, ids.get(pricePerKg) ?? (await newCheese(shop, { pricePerKg })));
      }
      const response = await place(
        lines.map(([price, quantity]) => ({ cheeseId: ids.get(price), quantity })),
      );
      assert.equal(response.json.total, total, JSON.stringify(lines[0]));
      assert.equal(response.json.items[0].pricePerKg, lines[0]?.[0]);
    }
  });
});
