/** Tax rates: where each applies, what is refused, and how a rate is found among 50,000. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Sql } from '../../src/database/database.ts';
import { type Statement, sql } from '../../src/database/sql.ts';
import { chooseRate, keysAt, type RatePlace } from '../../src/tax/choose-rate.ts';
import { type RateKey, rateQueries } from '../../src/tax/queries.ts';
import { toNewRow } from '../../src/tax/rate-rows.ts';
import type { TaxRateInput } from '../../src/tax/schemas.ts';
import { assertError, errorFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';

const numRuns = Number(process.env.CURD_TEST_CASES ?? 3000);

/** Places and categories, of which many match each other. */
const maybe = <T>(...values: T[]) => fc.constantFrom<(T | null)[]>(null, ...values);
const rates: fc.Arbitrary<TaxRateInput> = fc
  .record({
    country: maybe('US', 'CH', 'us'),
    state: maybe('CA', 'ca', 'Québec', 'QUEBEC', 'New  York'),
    zipPrefix: maybe('9', '90', '902', '90210', '90 2', '902-10', 'ab', '𝟗𝟎21'),
    category: maybe('Hard', 'hard', 'Soft'),
    percent: fc.integer({ min: 0, max: 50_000 }).map((thousandths) => thousandths / 1000),
    name: fc.constant('Tax'),
  })
  .map((rate) => (rate.country === null ? { ...rate, state: null, zipPrefix: null } : rate));
const places: fc.Arbitrary<RatePlace> = fc.record({
  country: maybe('US', 'CH', 'AT'),
  state: maybe('CA', 'Ca', 'Quebec', 'new york', 'TX'),
  zipCode: maybe('90210', '90 210', '902', '9', 'AB-1', '𝟗𝟎210', ''),
});

const plain = (text: string) =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase();
const zipOf = (text: string) => text.replace(/[\s-]/g, '').toUpperCase();

/** The rules as they are documented, one after another. */
function naiveRate(all: readonly TaxRateInput[], place: RatePlace, category: string | undefined) {
  const applies = all.filter(
    (rate) =>
      (rate.country == null || rate.country.toUpperCase() === place.country) &&
      (rate.state == null || (place.state !== null && plain(rate.state) === plain(place.state))) &&
      (rate.zipPrefix == null ||
        (place.zipCode !== null && zipOf(place.zipCode).startsWith(zipOf(rate.zipPrefix)))) &&
      (rate.category == null || rate.category === category),
  );
  const prefer = (test: (rate: TaxRateInput) => number, of: readonly TaxRateInput[]) => {
    const most = Math.max(...of.map(test));
    return of.filter((rate) => test(rate) === most);
  };
  let best = applies;
  best = prefer(({ category: named }) => (named == null ? 0 : 1), best);
  best = prefer(({ zipPrefix }) => zipOf(zipPrefix ?? '').length, best);
  best = prefer(({ state }) => (state == null ? 0 : 1), best);
  return prefer(({ country }) => (country == null ? 0 : 1), best);
}

const keyOf = ({ country, zip_prefix, state_key, category_key }: RateKey) =>
  JSON.stringify([country, zip_prefix, state_key, category_key]);

test('The tax rate of a category at a place is the one that the documented rules choose', () => {
  const category = fc.constantFrom(undefined, 'Hard', 'Soft', 'Blue');
  fc.assert(
    fc.property(fc.array(rates, { maxLength: 25 }), places, category, (drawn, place, name) => {
      const inputs = [...new Map(drawn.map((rate) => [keyOf(toNewRow(rate)), rate])).values()];
      const keys = keysAt(place, name === undefined ? [] : [name, 'Other']);
      const rows = inputs.map((input) => ({ ...toNewRow(input), input }));
      const read = rows.filter((row) =>
        (Object.keys(keys) as (keyof RateKey)[]).every((part) => keys[part].includes(row[part])),
      );
      const chosen = chooseRate(read, name)?.input;
      assert.deepEqual(chosen === undefined ? [] : [chosen], naiveRate(inputs, place, name));
    }),
    { numRuns },
  );
});

const bern = { street: 'Gerechtigkeitsgasse 1', zipCode: '3011', city: 'Bern', country: 'CH' };
const beverly = {
  street: '1 Drive',
  zipCode: '90210-1234',
  city: 'Beverly Hills',
  state: 'California',
  country: 'US',
};

async function create(shop: Shop, body: object): Promise<number> {
  const { status, text, json } = await shop.request('POST', '/v2/tax-rates', { as: shop.admin, body });
  assert.equal(status, 201, text);
  return json.id;
}

onBothEngines('Tax rates', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    const patched = await shop.request('PATCH', '/v2/shop', {
      as: shop.admin,
      body: {
        tax: { mode: 'added' },
        address: { street: 'Platz 1', city: 'Wien', zipCode: '1010', country: 'AT' },
      },
    });
    assert.equal(patched.status, 200, patched.text);
    const hard = await newCheese(shop, { category: { name: 'Hard' } });
    const soft = await newCheese(shop, { category: { name: 'Soft' } });
    const rates = [
      { percent: 1, name: 'World' },
      { country: 'ch', percent: 2.6, name: 'MWST' },
      { country: 'AT', percent: 10, name: 'USt' },
      { country: 'US', percent: 3, name: 'US' },
      { country: 'US', state: 'CALIFORNIA', percent: 6, name: 'CA' },
      { country: 'US', zipPrefix: '902', percent: 7, name: '902' },
      { country: 'US', zipPrefix: '90210-1', percent: 8.125, name: '902101' },
      { category: 'Soft', percent: 0, name: 'Soft' },
    ];
    for (const rate of rates) {
      await create(shop, rate);
    }
    const pickup = await shop.request('POST', '/v2/delivery-methods', {
      as: shop.admin,
      body: { name: 'Pickup', kind: 'pickup' },
    });
    return { shop, hard, soft, pickup: pickup.json.id };
  });

  /** The names of the rates of a quote. */
  async function quoted(cheeseId: number, more: object): Promise<string[]> {
    const { shop } = opened();
    const body = { items: [{ cheeseId, quantity: 1 }], ...more };
    const { status, text, json } = await shop.request('POST', '/v2/quotes', { as: shop.reader, body });
    assert.equal(status, 200, text);
    return json.breakdown.tax.rates.map(({ name }: { name: string }) => name);
  }

  test('Tax rates apply by category, then by ZIP code, state and country, and to a pickup those of the shop', async () => {
    const { shop, hard, soft, pickup } = opened();
    const cases: readonly (readonly [cheeseId: number, more: object, name: string])[] = [
      [hard, {}, 'USt'],
      [hard, { shippingAddress: bern }, 'MWST'],
      [hard, { shippingAddress: { country: 'JP' } }, 'World'],
      [hard, { shippingAddress: beverly }, '902101'],
      [hard, { shippingAddress: { ...beverly, zipCode: '902 11' } }, '902'],
      [hard, { shippingAddress: { ...beverly, zipCode: '94105' } }, 'CA'],
      [hard, { shippingAddress: { ...beverly, zipCode: '94105', state: 'CA' } }, 'US'],
      [hard, { shippingAddress: { country: 'US' } }, 'US'],
      [soft, { shippingAddress: beverly }, 'Soft'],
      [hard, { shippingAddress: beverly, deliveryMethodId: pickup }, 'USt'],
    ];
    for (const [cheeseId, more, name] of cases) {
      assert.deepEqual(await quoted(cheeseId, more), [name], JSON.stringify(more));
    }
    const both = { cheeseId: soft, quantity: 2 };
    const items = [{ cheeseId: hard, quantity: 1 }, both];
    const body = { items, shippingAddress: beverly };
    const { json, text } = await shop.request('POST', '/v2/store/order', { as: shop.admin, body });
    assert.deepEqual(
      json.breakdown.tax,
      {
        included: false,
        amount: 0.81,
        rates: [
          { name: '902101', percent: 8.125, net: 10, amount: 0.81 },
          { name: 'Soft', percent: 0, net: 20, amount: 0 },
        ],
      },
      text,
    );
  });

  test('Tax rates that are equal, out of bounds or without a country for their place are refused', async () => {
    const { shop } = opened();
    const post = (body: object) => shop.request('POST', '/v2/tax-rates', { as: shop.admin, body });
    const equal = [
      { country: 'US', state: 'California ' },
      { country: 'us', zipPrefix: '9-02' },
      { category: 'Soft' },
      {},
    ];
    for (const key of equal) {
      assertError(await post({ ...key, percent: 5, name: 'Again' }), 409, 'conflict');
    }
    const bad: readonly (readonly [fields: string[], body: object])[] = [
      [['state'], { state: 'CA' }],
      [['state', 'zipPrefix'], { state: 'CA', zipPrefix: '9', country: null }],
      [['country'], { country: 'XX' }],
      [['percent'], { percent: 50.001 }],
      [['percent'], { percent: -1 }],
      [['percent'], { percent: 8.1255 }],
      [['name'], { name: '' }],
      [['name'], { name: 'x'.repeat(61) }],
      [['zipPrefix'], { country: 'US', zipPrefix: '1234567890123' }],
      [['zipPrefix'], { country: 'US', zipPrefix: '-' }],
      [['state'], { country: 'US', state: '\u0301' }],
    ];
    for (const [fields, more] of bad) {
      const response = await post({ percent: 5, name: 'Tax', ...more });
      assert.deepEqual(errorFields(response), fields, JSON.stringify(more));
    }
    for (const percent of [0, 50, 8.875]) {
      const id = await create(shop, { country: 'LI', percent, name: 'MWST' });
      const path = `/v2/tax-rates/${id}`;
      const changed = await shop.request('PATCH', path, {
        as: shop.admin,
        body: { percent: 0.001, name: 'Low' },
      });
      assert.deepEqual([changed.json.percent, changed.json.name, changed.json.country], [0.001, 'Low', 'LI']);
      assert.deepEqual(
        errorFields(await shop.request('PATCH', path, { as: shop.admin, body: { percent: null } })),
        ['percent'],
      );
      assert.equal((await shop.request('DELETE', path, { as: shop.admin })).status, 204);
      assertError(await shop.request('GET', path, { as: shop.admin }), 404, 'not_found');
    }
  });

  test('Tax rates are found by the index among 50,000', async (t) => {
    const shop = await openShop(t, { engine });
    const { database } = shop.app;
    const columns = ['country', 'state_key', 'zip_prefix', 'category_key', 'milli_percent', 'name'];
    const zips = Array.from({ length: 50_000 }, (_, index) => String(10_000 + index));
    for (let first = 0; first < zips.length; first += 2000) {
      const rows = zips.slice(first, first + 2000).map((zip) => ['US', '', zip, '', 8000, 'Tax']);
      await database.insert('tax_rate', columns, rows);
    }
    if (engine === 'postgres') {
      await database.run(sql`analyze tax_rate`);
    }
    const plans: string[] = [];
    const explaining: Sql = {
      ...database,
      all: async (statement: Statement) => {
        const rows = await database.all<Record<string, string>>(
          engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`,
        );
        plans.push(rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n'));
        return [];
      },
    };
    const categories = Array.from({ length: 100 }, (_, index) => `Category ${index}`);
    const place = { country: 'US', state: 'CA', zipCode: '31337' };
    for (const names of [[], ['Hard'], categories]) {
      const keys = keysAt(place, names);
      await rateQueries(explaining).listFor(keys);
      const plan = plans.at(-1) ?? '';
      assert.match(plan, /tax_rate_by_place/, plan);
      assert.doesNotMatch(plan, /Seq Scan|SCAN tax_rate(?! USING)/, plan);
      const startedAt = performance.now();
      assert.deepEqual(
        (await rateQueries(database).listFor(keys)).map((row) => row.zip_prefix),
        ['31337'],
      );
      t.diagnostic(`${names.length} categories: ${Math.round(performance.now() - startedAt)} ms`);
    }
    const refused = await shop.request('POST', '/v2/tax-rates', {
      as: shop.admin,
      body: { percent: 1, name: 'Tax' },
    });
    assertError(refused, 409, 'conflict');
  });
});
