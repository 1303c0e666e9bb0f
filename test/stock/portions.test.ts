/** Cheeses in portions: pieces of several weights from one stock, at prices in whole cents. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parsePortions, pieceCents, portionsText } from '../../src/cheeses/portions.ts';
import { sql } from '../../src/database/sql.ts';
import { checkStock } from '../../src/stock/consistency-check.ts';
import {
  assertError,
  bern,
  onBothEngines,
  openShop,
  type Shop,
  shared,
  type TestResponse,
} from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';

const wheel = [{ grams: 200 }, { grams: 1000 }, { grams: 8000, name: 'Half wheel' }];

interface Line {
  readonly cheeseId: number;
  readonly quantity: number;
  readonly grams?: number;
}

const order = (shop: Shop, items: readonly Line[], headers: Record<string, string> = {}) =>
  shop.request('POST', '/v2/store/order', {
    as: shop.admin,
    body: { items, shippingAddress: bern },
    headers,
  });

const errorsOf = ({ json }: { json: { errors: { field: string; message: string }[] } }) =>
  json.errors.map(({ field, message }) => `${field}: ${message}`);

async function track(shop: Shop, cheeseId: number, onHand: number, lowAt: number | null = null) {
  const options = { as: shop.writer, body: { onHand, lowAt } };
  const { status, text } = await shop.request('PUT', `/v2/cheeses/${cheeseId}/stock`, options);
  assert.ok(status === 200 || status === 201, text);
}

const stockOf = async (shop: Shop, id: number) =>
  (await shop.request('GET', `/v2/cheeses/${id}/stock`, { as: shop.reader })).json;
const availabilityOf = async (shop: Shop, id: number) =>
  (await shop.request('GET', `/v2/cheeses/${id}/availability`, { as: shop.reader })).json;

suite('The price of a piece', () => {
  test('The price of a piece is that of its weight, rounded half up to cents once', () => {
    // Calculated by hand.
    const table: [pricePerKg: number, grams: number, cents: number][] = [
      [32.45, 150, 487],
      [32.45, 200, 649],
      [32.5, 200, 650],
      [12.345, 1000, 1235],
      [12.345, 2000, 2469],
      [9.99, 50, 50],
      [0.01, 500, 1],
      [0.01, 499, 0],
      [19.9, 125, 249],
      [28.2, 8000, 22560],
      [1_000_000, 100_000, 10_000_000_000],
    ];
    for (const [price, grams, cents] of table) {
      assert.equal(pieceCents(price, grams), cents, `${price} for ${grams} g`);
    }
  });

  test('The price of a piece agrees with a calculation in fractions', () => {
    const micros = fc.integer({ min: 0, max: 1_000_000_000 });
    fc.assert(
      fc.property(micros, fc.integer({ min: 10, max: 100_000 }), (price, grams) => {
        // Millionths of the currency times grams are billionths for a kilogram: 10 million of them are a cent.
        const exact = BigInt(price) * BigInt(grams);
        const cents = (2n * exact + 10_000_000n) / 20_000_000n;
        assert.equal(pieceCents(price / 1_000_000, grams), Number(cents));
      }),
      { numRuns: 2000 },
    );
  });
});

test('Portions as the text of a cell are read back as they were', () => {
  const name = fc
    .string({ minLength: 1, maxLength: 12 })
    .filter(
      (text) => /^[^;\s](.*[^;\s])?$/u.test(text) && !text.includes(';') && !/[\n\r\u2028\u2029]/u.test(text),
    );
  const portion = fc.record(
    { grams: fc.integer({ min: 10, max: 100_000 }), name },
    { requiredKeys: ['grams'] },
  );
  fc.assert(
    fc.property(fc.array(portion, { maxLength: 12 }), (portions) => {
      assert.deepEqual(
        parsePortions(portionsText(portions)),
        portions.map((one) => ({ ...one })),
      );
    }),
  );
  assert.deepEqual(parsePortions('200 g; 8000 Half wheel;'), [
    { grams: 200 },
    { grams: 8000, name: 'Half wheel' },
  ]);
  assert.deepEqual(parsePortions('25G;;;;;;;;;;;;;;;300 gr. Slice'), [
    { grams: 25 },
    { grams: 300, name: 'Slice' },
  ]);
  for (const cell of [
    'small',
    '10 kg',
    '12,5 kg',
    '1kg',
    '20 000 g',
    '250, 500',
    '250-500',
    '200 500',
    '10.000 Wheel',
    '5 lb',
  ]) {
    assert.throws(() => parsePortions(cell), { code: 'validation' }, cell);
  }
});

onBothEngines('A cheese in portions', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('A cheese keeps its portions as sent, in PUT without them too, and loses them by null or none', async () => {
    const shop = opened();
    const id = await newCheese(shop, { portions: wheel });
    const read = async () => (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).json;
    const patch = (body: object) => shop.request('PATCH', `/v2/cheeses/${id}`, { as: shop.writer, body });
    assert.deepEqual((await read()).portions, wheel);
    const { name, status } = await read();
    const put = (more: object) =>
      shop.request('PUT', '/v2/cheeses', { as: shop.writer, body: { id, name, status, ...more } });
    assert.deepEqual((await put({})).json.portions, wheel);
    assert.equal((await put({ portions: [] })).json.portions, undefined);
    assert.deepEqual((await patch({ portions: [{ name: ' Slice ', grams: 150 }] })).json.portions, [
      { grams: 150, name: 'Slice' },
    ]);
    assert.equal('portions' in (await patch({ portions: null })).json, false);
    assert.equal((await patch({ portions: [] })).json.portions, undefined);
  });

  test('POST /cheeses refuses portions that are too many, too light, repeated or without a clear name', async () => {
    const shop = opened();
    const errors = async (portions: unknown) => {
      const body = { name: 'Refused', portions };
      const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
      assertError(response, 422, 'validation_error');
      return errorsOf(response);
    };
    assert.deepEqual(await errors([{ grams: 9 }, { grams: 1.5 }, { grams: 100_001 }, {}]), [
      'portions[0].grams: must be from 10 to 100000',
      'portions[1].grams: must be a whole number',
      'portions[2].grams: must be from 10 to 100000',
      'portions[3].grams: is required',
    ]);
    assert.deepEqual(
      await errors([
        { grams: 200, name: 'Slice' },
        { grams: 200, name: 'slice' },
        { grams: 300, name: 'a;b' },
      ]).then((all) => all.map((text) => text.split(':')[0])),
      ['portions[2].name'],
    );
    assert.deepEqual(
      await errors([
        { grams: 200, name: 'Slice' },
        { grams: 200, name: 'Slice' },
      ]),
      [
        'portions[1].grams: 200 is the weight of another portion',
        'portions[1].name: is the name of another portion',
      ],
    );
    const many = Array.from({ length: 13 }, (_, index) => ({ grams: 100 + index }));
    assert.deepEqual(await errors(many), ['portions: must have at most 12 elements']);
  });

  test('POST /store/order of pieces has their prices in whole cents, beside lines in kilograms', async () => {
    const shop = opened();
    const id = await newCheese(shop, {
      pricePerKg: 32.45,
      portions: [{ grams: 150, name: 'Slice' }, { grams: 1000 }],
    });
    const { status, json } = await order(shop, [
      { cheeseId: id, quantity: 3, grams: 150 },
      { cheeseId: id, quantity: 2, grams: 1000 },
      { cheeseId: id, quantity: 2 },
    ]);
    assert.equal(status, 201);
    const { cheeseName } = json.items[0];
    const line = { cheeseId: id, cheeseName, pricePerKg: 32.45 };
    assert.deepEqual(json.items, [
      { ...line, quantity: 3, grams: 150, portionName: 'Slice', unitPrice: 4.87, amount: 14.61 },
      { ...line, quantity: 2, grams: 1000, unitPrice: 32.45, amount: 64.9 },
      { ...line, quantity: 2 },
    ]);
    assert.equal(json.total, 144.41);
  });

  test('POST /store/order of 1000 grams is a piece in whole cents, and without grams a kilogram', async () => {
    const shop = opened();
    const id = await newCheese(shop, { pricePerKg: 12.345, portions: [{ grams: 1000 }] });
    const total = async (line: object) =>
      (await order(shop, [{ cheeseId: id, quantity: 2, ...line }])).json.total;
    assert.deepEqual([await total({ grams: 1000 }), await total({})], [24.7, 24.69]);
  });

  test('POST /store/order never sells another weight than the one that was meant', async () => {
    const shop = opened();
    const portioned = await newCheese(shop, { portions: [{ grams: 200 }, { grams: 8000 }] });
    const byKilogram = await newCheese(shop);
    const cheap = await newCheese(shop, { pricePerKg: 0.1, portions: [{ grams: 10 }, { grams: 1000 }] });
    const refused = await order(shop, [
      { cheeseId: portioned, quantity: 1 },
      { cheeseId: portioned, quantity: 1, grams: 150 },
      { cheeseId: byKilogram, quantity: 1, grams: 200 },
      { cheeseId: cheap, quantity: 1, grams: 10 },
      { cheeseId: 999_999, quantity: 1, grams: 200 },
      { cheeseId: byKilogram, quantity: 1 },
    ]);
    assertError(refused, 422, 'validation_error');
    assert.deepEqual(errorsOf(refused), [
      'items[0].grams: state one of 200, 8000 grams',
      'items[1].grams: state one of 200, 8000 grams',
      'items[2].grams: this cheese is sold by the kilogram: leave grams out',
      'items[3].grams: a piece costs less than a cent: order a larger one',
      'items[4].cheeseId: there is no cheese with this id',
    ]);
    const free = await newCheese(shop, { pricePerKg: 0, portions: [{ grams: 200 }] });
    assert.equal((await order(shop, [{ cheeseId: free, quantity: 1, grams: 200 }])).json.total, 0);
  });

  test('All portions of a cheese share its stock to the gram', async () => {
    const shop = opened();
    const id = await newCheese(shop, { portions: wheel });
    await track(shop, id, 6.4);
    assert.equal((await order(shop, [{ cheeseId: id, quantity: 3, grams: 200 }])).status, 201);
    assert.deepEqual([(await stockOf(shop, id)).reserved, (await stockOf(shop, id)).available], [0.6, 5.8]);
    const left = await availabilityOf(shop, id);
    assert.deepEqual(left.portions, [
      { grams: 200, price: 2, quantity: 29 },
      { grams: 1000, price: 10, quantity: 5 },
      { grams: 8000, name: 'Half wheel', price: 80, quantity: 0 },
    ]);
    assert.deepEqual([left.orderable, left.kilograms], [true, 5.8]);
    const refused = await order(shop, [
      { cheeseId: id, quantity: 5, grams: 1000 },
      { cheeseId: id, quantity: 5, grams: 200 },
      { cheeseId: id, quantity: 1, grams: 8000 },
      { cheeseId: id, quantity: 1 },
    ]);
    assert.deepEqual(errorsOf(refused), [
      'items[1].quantity: 4 pieces of 200 g are left',
      'items[2].quantity: no piece of 8000 g is left',
      'items[3].quantity: 0.8 kg are left',
    ]);
    const { json } = await order(shop, [{ cheeseId: id, quantity: 29, grams: 200 }]);
    assert.equal(json.status, 'placed');
    assert.deepEqual(errorsOf(await order(shop, [{ cheeseId: id, quantity: 1, grams: 200 }])), [
      'items[0].quantity: nothing is left',
    ]);
    assert.equal(
      (await shop.request('DELETE', `/v2/store/order/${json.id}`, { as: shop.admin })).status,
      204,
    );
    assert.equal((await stockOf(shop, id)).available, 5.8);
  });

  test('A cheese is sold when its smallest portion does not fit, and other portions change that', async () => {
    const shop = opened();
    const id = await newCheese(shop, { portions: [{ grams: 200 }] });
    await track(shop, id, 0.5);
    const statusOf = async () => {
      await shop.app.worker.run(() => true);
      return (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).json.status;
    };
    const patch = (portions: object[] | null) =>
      shop.request('PATCH', `/v2/cheeses/${id}`, { as: shop.writer, body: { portions } });
    await order(shop, [{ cheeseId: id, quantity: 2, grams: 200 }]);
    assert.equal(await statusOf(), 'sold');
    await patch([{ grams: 200 }, { grams: 100 }]);
    assert.equal(await statusOf(), 'available');
    await patch(null);
    assert.equal(await statusOf(), 'sold');
    assert.deepEqual(await shop.app.database.snapshot(checkStock), []);
  });

  test('Concurrent orders of mixed pieces never sell a gram too much', async () => {
    const shop = opened();
    const grams = [100, 200, 300, 1000];
    const id = await newCheese(shop, { portions: grams.map((weight) => ({ grams: weight })) });
    const orders = Number(process.env.CURD_TEST_PIECES ?? 60);
    // The orders want 400 g each on average.
    const stock = orders * 300;
    await track(shop, id, stock / 1000);
    const sizes = Array.from({ length: orders }, (_, index) => grams[index % grams.length] as number);
    const placed: TestResponse[] = [];
    const waiting = [...sizes.entries()];
    // A server that has more orders in progress refuses some.
    const senders = Array.from({ length: 100 }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        placed[next[0]] = await order(shop, [{ cheeseId: id, quantity: 1, grams: next[1] }]);
      }
    });
    await Promise.all(senders);
    assert.deepEqual([...new Set(placed.map(({ status }) => status))].sort(), [201, 422]);
    const sold = placed.reduce(
      (sum, { status }, index) => sum + (status === 201 ? (sizes[index] ?? 0) : 0),
      0,
    );
    assert.ok(sold <= stock && sold > stock - 1000, `${sold} g of ${stock} g`);
    assert.equal((await stockOf(shop, id)).reserved, sold / 1000);
    assert.deepEqual(await shop.app.database.snapshot(checkStock), []);
  });

  test('POST /store/order refuses a total above which sums would not be exact', async () => {
    const shop = opened();
    const id = await newCheese(shop, { pricePerKg: 1_000_000, portions: [{ grams: 100_000 }] });
    assert.equal(
      (await order(shop, [{ cheeseId: id, quantity: 100, grams: 100_000 }])).json.total,
      10_000_000_000,
    );
    const lines = [100, 1].map((quantity) => ({ cheeseId: id, quantity, grams: 100_000 }));
    assert.deepEqual(errorsOf(await order(shop, lines)), [
      'items: cost more than $10,000,000,000.00, the most of an order',
    ]);
  });

  test('Availability offers no piece that an order refuses', async () => {
    const shop = opened();
    const id = await newCheese(shop, { pricePerKg: 0.1, portions: [{ grams: 10 }, { grams: 500 }] });
    const { orderable, portions } = await availabilityOf(shop, id);
    assert.deepEqual([orderable, portions[0].quantity, portions[1].quantity], [true, 0, 100]);
  });

  test('curd doctor finds a smallest weight that is not that of the portions', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await newCheese(shop, { portions: [{ grams: 200 }] });
    await track(shop, id, 5);
    await shop.app.database.run(sql`update stock set smallest = 5000`);
    const [finding] = await shop.app.database.snapshot(checkStock);
    assert.deepEqual(finding?.examples, [`cheese ${id}: 5000 g instead of 200 g`]);
  });

  test('Bulk changes whose undo would be too large for a request are refused', async () => {
    const shop = opened();
    const weights = Array.from({ length: 12 }, (_, index) => index);
    const ids = await Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        newCheese(shop, { portions: weights.map((weight) => ({ grams: 100 + weight * 400 + index })) }),
      ),
    );
    const body = { changes: [{ cheeseIds: ids, portions: null }] };
    const response = await shop.request('POST', '/v2/cheeses/bulk', { as: shop.writer, body });
    assert.deepEqual(errorsOf(response), [
      'changes: have too many tags or portions: change fewer cheeses at once',
    ]);
  });

  test('Bulk changes set portions, and their undo restores them', async () => {
    const shop = opened();
    const [one, two] = [await newCheese(shop, { portions: wheel }), await newCheese(shop)];
    const bulk = (body: object) => shop.request('POST', '/v2/cheeses/bulk', { as: shop.writer, body });
    const portionsNow = async (id: number) =>
      (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).json.portions;
    const { status, json, text } = await bulk({
      changes: [{ cheeseIds: [one, two], portions: [{ grams: 250 }] }],
    });
    assert.equal(status, 200, text);
    assert.deepEqual([await portionsNow(one), await portionsNow(two)], [[{ grams: 250 }], [{ grams: 250 }]]);
    assert.equal((await bulk(json.undo)).status, 200);
    assert.deepEqual([await portionsNow(one), await portionsNow(two)], [wheel, undefined]);
  });
});
