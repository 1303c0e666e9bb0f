/** Discount codes: what they take off, when they are valid, and how their uses are counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  assertFields,
  errorFields,
  onBothEngines,
  openShop,
  type Shop,
  shared,
  type TestResponse,
  testClock,
} from '../helper.ts';
import {
  changeOrder,
  deleteCheese,
  newCheese,
  orderOf,
  placeOrder,
  registerAndLogIn,
} from '../shop-verbs.ts';

const hourMs = 60 * 60_000;
const start = Date.parse('2026-06-01T12:00:00.000Z');
const at = (ms: number) => new Date(start + ms).toISOString();
let made = 0;

/** Creates a code that no other test has. @returns the code */
async function newCode(shop: Shop, fields: object): Promise<string> {
  made += 1;
  const body = { code: `TEST-${made}`, kind: 'percent', value: 10, ...fields };
  const { status, text, json } = await shop.request('POST', '/v2/discounts', { as: shop.admin, body });
  assert.equal(status, 201, text);
  return json.code;
}

const changeCode = (shop: Shop, code: string, body: object) =>
  shop.request('PATCH', `/v2/discounts/${code}`, { as: shop.admin, body });

async function usedOf(shop: Shop, code: string): Promise<number> {
  const { status, text, json } = await shop.request('GET', `/v2/discounts/${code}`, { as: shop.admin });
  assert.equal(status, 200, text);
  return json.used;
}

function assertRefused(response: TestResponse, message: RegExp): void {
  assertFields(response, ['discountCode']);
  assert.match(response.json.errors[0].message, message);
}

onBothEngines('Discount codes', (engine) => {
  const opened = shared(async (t) => {
    const clock = testClock(start);
    const settings = { CURD_APPROVAL_DELAY: '1000h' };
    const shop = await openShop(t, { engine, clock, settings });
    // 10.01 a kilogram.
    return { clock, shop, cheese: await newCheese(shop, { pricePerKg: 10.01 }) };
  });

  /** Orders a cheese with a code. */
  const order = (discountCode: string, options: Parameters<typeof placeOrder>[2] = {}, kilograms = 1) => {
    const { shop, cheese } = opened();
    return placeOrder(shop, [[cheese, kilograms]], { ...options, more: { ...options.more, discountCode } });
  };

  test('Discount codes take whole percent, half up once, or an amount, at most the goods', async () => {
    const { shop, cheese } = opened();
    const cases: readonly (readonly [fields: object, kilograms: number, amount: number, total: number])[] = [
      // 10.01 x 5 % is 0.5005, and 30.03 x 50 % is 15.015.
      [{ value: 5 }, 1, 0.5, 9.51],
      [{ value: 50 }, 3, 15.02, 15.01],
      [{ value: 1 }, 1, 0.1, 9.91],
      [{ value: 100 }, 1, 10.01, 0],
      [{ kind: 'amount', value: 4.5 }, 1, 4.5, 5.51],
      [{ kind: 'amount', value: 10.02 }, 1, 10.01, 0],
      [{ kind: 'free_delivery', value: null }, 1, 0, 10.01],
    ];
    for (const [fields, kilograms, amount, total] of cases) {
      const code = await newCode(shop, fields);
      const items = [{ cheeseId: cheese, quantity: kilograms }];
      const body = { items, discountCode: code };
      const quoted = await shop.request('POST', '/v2/quotes', { as: shop.reader, body });
      const placed = await order(code, {}, kilograms);
      for (const { json, text } of [quoted, placed]) {
        assert.deepEqual([json.breakdown.discount, json.total], [{ code, amount }, total], text);
      }
    }
  });

  test('Discount codes with a value or a bound that cannot be are refused', async () => {
    const { shop } = opened();
    const bad: readonly (readonly [field: string, fields: object])[] = [
      ...['AB', 'A'.repeat(41), 'A B C', 'ÄÖÜ', 'ſummer', 'ßss', 'A_B', ''].map(
        (code) => ['code', { code }] as const,
      ),
      ...[0, 101, 9.5, -1, null].map((value) => ['value', { value }] as const),
      ...[0, null, 0.001, 1_000_001].map((value) => ['value', { kind: 'amount', value }] as const),
      ['value', { kind: 'free_delivery', value: 5 }],
      ['kind', { kind: 'gift' }],
      ['from', { from: -1 }],
      ['from', { from: 1.001 }],
      ['usesMax', { usesMax: 0 }],
      ['usesMax', { usesMax: 1.5 }],
      ['usesPerCustomer', { usesPerCustomer: 0 }],
      ...['tomorrow', '2026-02-30T00:00:00Z', '9999-12-31T23:59:59-01:00'].flatMap((time) => [
        ['startsAt', { startsAt: time }] as const,
        ['endsAt', { endsAt: time }] as const,
      ]),
      ['endsAt', { startsAt: at(0), endsAt: at(0) }],
      ['endsAt', { startsAt: at(1), endsAt: at(0) }],
    ];
    for (const [field, fields] of bad) {
      const body = { code: 'REFUSED', kind: 'percent', value: 10, ...fields };
      const response = await shop.request('POST', '/v2/discounts', { as: shop.admin, body });
      assert.deepEqual(errorFields(response), [field], JSON.stringify(fields));
    }
  });

  test('Discount codes are the same in either case and with blanks at their ends, everywhere', async () => {
    const { shop } = opened();
    const code = await newCode(shop, { code: ' sum-mer-26 ' });
    assert.equal(code, 'SUM-MER-26');
    const taken = { code: code.toLowerCase(), kind: 'percent', value: 5 };
    assertError(
      await shop.request('POST', '/v2/discounts', { as: shop.admin, body: taken }),
      409,
      'conflict',
    );
    assert.equal((await order(` ${code.toLowerCase()}`)).json.breakdown.discount.code, code);
    assert.equal(await usedOf(shop, code.toLowerCase()), 1);
    for (const odd of ['%00', 'unknown', '%C3%9F-CODE', 'SUM-MER-26.', 'a'.repeat(200)]) {
      const path = `/v2/discounts/${odd}`;
      assertError(await shop.request('GET', path, { as: shop.admin }), 404, 'not_found');
      assertError(await shop.request('DELETE', path, { as: shop.admin }), 404, 'not_found');
    }
  });

  test('Discount codes are valid from startsAt on, until just before endsAt', async () => {
    const { shop, clock } = opened();
    const now = clock.now() - start;
    const code = await newCode(shop, { startsAt: at(now + hourMs), endsAt: at(now + 2 * hourMs) });
    const off = await newCode(shop, { isEnabled: false });
    const wrong = /^there is no such code, or it is not valid now$/;
    assertRefused(await order('NO-SUCH-CODE'), wrong);
    assertRefused(await order(off), wrong);
    clock.advance(hourMs - 1);
    assertRefused(await order(code), wrong);
    clock.advance(1);
    assert.equal((await order(code)).status, 201);
    clock.advance(hourMs - 1);
    assert.equal((await order(code)).status, 201);
    clock.advance(1);
    assertRefused(await order(code), /^the code has ended$/);
  });

  test('Discount codes with a least sum compare it with the goods before the discount', async () => {
    const { shop } = opened();
    const code = await newCode(shop, { kind: 'amount', value: 20, from: 20.02 });
    assertRefused(await order(code), /^the code is valid from \$20\.02 on: the goods cost \$10\.01$/);
    assert.equal((await order(code, {}, 2)).json.total, 0.02);
  });

  test('Discount codes change by PATCH in all but code, kind and uses, and orders keep what they had', async () => {
    const { shop } = opened();
    const code = await newCode(shop, { usesMax: 5, from: 1 });
    const path = `/v2/discounts/${code}`;
    const { etag = '' } = (await shop.request('GET', path, { as: shop.admin })).headers;
    const placed = await order(code);
    // The number of uses is part of the response.
    const read = await shop.request('GET', path, { as: shop.admin, headers: { 'if-none-match': etag } });
    assert.deepEqual([read.status, read.json.used], [200, 1]);
    const changed = await changeCode(shop, code, { value: 50, from: null, usesMax: 7, endsAt: at(1e12) });
    assert.equal(changed.status, 200, changed.text);
    const { value, from, usesMax, used } = changed.json;
    assert.deepEqual([value, from, usesMax, used], [50, null, 7, 1]);
    for (const body of [{ value: 101 }, { value: null }, { isEnabled: null }, { startsAt: at(1e12) }]) {
      assertError(await changeCode(shop, code, body), 422, 'validation_error');
    }
    for (const body of [{ code: 'OTHER' }, { kind: 'amount' }, { used: 0 }]) {
      const options = { as: shop.admin, body, headers: { prefer: 'handling=strict' } };
      const response = await shop.request('PATCH', `/v2/discounts/${code}`, options);
      assert.deepEqual(errorFields(response), Object.keys(body));
      assert.deepEqual((await changeCode(shop, code, body)).json, changed.json);
    }
    const before = placed.json.breakdown;
    assert.equal((await shop.request('DELETE', `/v2/discounts/${code}`, { as: shop.admin })).status, 204);
    const kept = await shop.request('GET', `/v2/store/order/${placed.json.id}`, { as: shop.admin });
    assert.deepEqual(kept.json.breakdown, before);
    // Another code of this name has no uses, and gets none back.
    await newCode(shop, { code, usesMax: 1 });
    assert.equal((await changeOrder(shop, placed.json.id, 'cancel')).status, 204);
    assert.equal(await usedOf(shop, code), 0);
    assert.equal((await order(code)).status, 201);
    assertRefused(await order(code), /^the code is used up$/);
    await changeCode(shop, code, { usesMax: 2 });
    assert.equal((await order(code)).status, 201);
  });

  test('Discount codes count the uses of each customer, also in a quote, and none of an order without one', async () => {
    const { shop, cheese } = opened();
    const code = await newCode(shop, { usesPerCustomer: 1 });
    const [ada, bob] = [await registerAndLogIn(shop), await registerAndLogIn(shop)];
    const first = await order(code, { headers: ada.headers });
    assert.equal(first.status, 201, first.text);
    assertRefused(await order(code, { headers: ada.headers }), /^this customer has used the code already$/);
    // The same customer, for whom an operator orders.
    assertRefused(await order(code, { customerId: ada.id }), /^this customer has used the code already$/);
    const body = { items: [{ cheeseId: cheese, quantity: 1 }], discountCode: code };
    const quoted = await shop.request('POST', '/v2/quotes', { as: shop.reader, headers: ada.headers, body });
    assert.deepEqual(quoted.json.problems, [
      { field: 'discountCode', message: 'this customer has used the code already' },
    ]);
    assert.equal((await order(code, { headers: bob.headers })).status, 201);
    assert.deepEqual([(await order(code)).status, (await order(code)).status], [201, 201]);
    assert.equal((await changeOrder(shop, first.json.id, 'cancel')).status, 204);
    await changeCode(shop, code, { usesPerCustomer: 2 });
    assert.equal((await order(code, { headers: ada.headers })).status, 201);
    assert.equal((await order(code, { headers: ada.headers })).status, 201);
    assertRefused(await order(code, { headers: ada.headers }), /has used the code 2 times already$/);
    assert.equal(await usedOf(shop, code), 5);
  });

  test('Discount codes lose no use to a dry run, a quote or an order that is refused', async () => {
    const { shop, cheese } = opened();
    const code = await newCode(shop, { usesMax: 1 });
    assert.equal((await order(code, { headers: { 'dry-run': 'true' } })).status, 201);
    const body = { items: [{ cheeseId: cheese, quantity: 1 }], discountCode: code };
    assert.equal(
      (await shop.request('POST', '/v2/quotes', { as: shop.reader, body })).json.problems.length,
      0,
    );
    assertError(await order(code, { headers: { 'curd-max-total': '1' } }), 409, 'conflict');
    const scarce = await newCheese(shop);
    const stock = { onHand: 1 };
    await shop.request('PUT', `/v2/cheeses/${scarce}/stock`, { as: shop.admin, body: stock });
    const tooMuch = await placeOrder(shop, [[scarce, 2]], { more: { discountCode: code } });
    assertFields(tooMuch, ['items[0].quantity']);
    assert.equal(await usedOf(shop, code), 0);
    // A request that is repeated with its key uses the code once.
    const headers = { 'idempotency-key': `"discount ${code}"` };
    const [placed, replayed] = [await order(code, { headers }), await order(code, { headers })];
    assert.deepEqual([placed.status, replayed.status, placed.text], [201, 201, replayed.text]);
    assert.equal(await usedOf(shop, code), 1);
  });

  test('Discount codes get a use back once, whatever cancels the order', async () => {
    const { shop } = opened();
    const code = await newCode(shop, {});
    const cheese = await newCheese(shop, { pricePerKg: 10 });
    const customer = await registerAndLogIn(shop);
    const { username, headers } = customer;
    const place = async (options: Parameters<typeof placeOrder>[2] = {}) => {
      const { status, text, json } = await placeOrder(shop, cheese, {
        ...options,
        more: { discountCode: code },
      });
      assert.equal(status, 201, text);
      return Number(json.id);
    };
    const byCustomer = await place({ headers });
    const byOperator = await place();
    const approved = await place();
    const delivered = await place();
    for (let left = 3; left > 0; left -= 1) {
      await place(left === 1 ? {} : { headers });
    }
    assert.equal(await usedOf(shop, code), 7);
    const path = `/v2/customer/${username}/orders/${byCustomer}`;
    for (const _ of [1, 2]) {
      assert.equal((await shop.request('DELETE', path, { headers })).status, 204);
      assert.equal((await changeOrder(shop, byOperator, 'cancel')).status, 204);
    }
    assert.equal(await usedOf(shop, code), 5);
    assert.equal((await changeOrder(shop, approved, 'approve')).status, 200);
    assert.equal((await changeOrder(shop, approved, 'cancel', undefined)).status, 204);
    for (const change of ['approve', 'ship', 'deliver'] as const) {
      assert.equal((await changeOrder(shop, delivered, change)).status, 200);
    }
    assert.equal((await changeOrder(shop, delivered, 'cancel')).status, 409);
    assert.equal(await usedOf(shop, code), 4);
    const gone = await shop.request('DELETE', `/v2/customer/${username}`, { headers });
    assert.ok(gone.status < 300, gone.text);
    assert.equal(await usedOf(shop, code), 2);
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    assert.equal(await usedOf(shop, code), 1);
    const uses = await shop.app.database.all<{ order_id: number }>(
      sql`select order_id from discount_use join discount on discount.id = discount_id where code = ${code}`,
    );
    assert.deepEqual(
      uses.map(({ order_id }) => order_id),
      [delivered],
    );
  });

  test('Discount codes are listed in pages, the newest first', async () => {
    const { shop } = opened();
    const codes = [await newCode(shop, {}), await newCode(shop, {}), await newCode(shop, {})].toReversed();
    const first = await shop.request('GET', '/v2/discounts?limit=2', { as: shop.admin });
    const next = `/v2/discounts?limit=1&cursor=${first.json.nextCursor}`;
    const second = await shop.request('GET', next, { as: shop.admin });
    const listed = [...first.json.items, ...second.json.items].map(({ code }: { code: string }) => code);
    assert.deepEqual([listed, first.json.hasMore], [codes, true]);
    assertError(await shop.request('GET', '/v2/discounts', { as: shop.reader }), 403, 'forbidden');
  });
});

test('A reset of a test shop deletes codes with their uses', async (t) => {
  const shop = await openShop(t);
  const cheese = await newCheese(shop);
  const code = await newCode(shop, { usesMax: 1 });
  assert.equal((await placeOrder(shop, cheese, { more: { discountCode: code } })).status, 201);
  const reset = await shop.request('POST', '/v2/sandbox/reset', { as: shop.admin, body: { confirm: true } });
  assert.ok(reset.status < 300, reset.text);
  assert.deepEqual((await shop.request('GET', '/v2/discounts', { as: shop.admin })).json.items, []);
  await newCode(shop, { code, usesMax: 1 });
  const again = await newCheese(shop);
  const body = orderOf(again, { discountCode: code });
  const { status, text } = await shop.request('POST', '/v2/store/order', { as: shop.admin, body });
  assert.equal(status, 201, text);
});
