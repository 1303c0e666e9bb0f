/** Sales by category, country and customer: equal to a scan of random orders, also after customers were deleted. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { sql } from '../../src/database/sql.ts';
import { checkStatistics } from '../../src/statistics/consistency-check.ts';
import { beginCounting, countAll } from '../../src/statistics/counting.ts';
import { eventsNumbered, newCustomer, newSession } from '../auth/holders.ts';
import { assertError, bern, onBothEngines, openShop, type Shop, shared, testClock } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';

const hourMs = 3_600_000;
const period = 'from=2026-06-01&to=2026-07-01';
const countries = ['CH', 'DE', 'FR'];
const names = ['ada', 'bob', 'cleo', 'dan', 'emil', 'fay'];

interface Placed {
  readonly id: number;
  /** null without a customer. */
  readonly customer: string | null;
  readonly country: string;
  readonly lines: readonly (readonly [cheeseId: number, kilograms: number])[];
}

type Amounts = Record<string, { count: number; cents: number }>;

const cents = (dollars: number) => Math.round(dollars * 100);

async function get(shop: Shop, path: string) {
  return shop.request('GET', `/v2/statistics/${path}`, { as: shop.admin });
}

/** The items of a list, by a key, and its total, in cents. */
async function read(shop: Shop, part: 'category' | 'country' | 'customer', range = period) {
  const { json, text, status } = await get(shop, `sales-by-${part}?${range}`);
  assert.equal(status, 200, text);
  const amountOf = ({
    orders,
    kilograms,
    value,
  }: {
    orders?: number;
    kilograms?: number;
    value: number;
  }) => ({
    count: orders ?? kilograms ?? 0,
    cents: cents(value),
  });
  const items: Amounts = Object.fromEntries(
    json.items.map((item: { value: number } & Record<string, string>) => [
      String(item[part]),
      amountOf(item),
    ]),
  );
  return { items, total: amountOf(json.total), asOf: json.asOf };
}

function add(sums: Amounts, key: string, count: number, value: number): void {
  const sum = sums[key] ?? { count: 0, cents: 0 };
  sums[key] = { count: sum.count + count, cents: sum.cents + value };
}

onBothEngines('Sales', (engine) => {
  const clock = testClock(Date.parse('2026-05-31T18:20:00.000Z'));
  const shop = shared((t) => openShop(t, { engine, clock }));
  const placed: Placed[] = [];
  const customers = new Map<string, number>();
  /** The categories of cheeses, as they are now; null for a deleted cheese. */
  const categories = new Map<number, string | null>();

  async function count(): Promise<void> {
    await eventsNumbered(shop());
    await shop().app.statistics.counter.run();
  }

  const faults = async () =>
    (await shop().app.database.snapshot(checkStatistics)).flatMap(({ fault, examples }) => [
      fault,
      ...examples,
    ]);

  async function addCheese(name: string, pricePerKg: number, category: string | null): Promise<number> {
    const id = await newCheese(shop(), {
      name,
      pricePerKg,
      ...(category === null ? {} : { category: { name: category } }),
    });
    categories.set(id, category);
    return id;
  }

  async function addOrder(order: Omit<Placed, 'id'>): Promise<number> {
    const { customer, country, lines } = order;
    const more = { shippingAddress: { ...bern, country } };
    const customerId = customer === null ? undefined : customers.get(customer);
    const id = await newOrder(shop(), lines, { more, ...(customerId === undefined ? {} : { customerId }) });
    placed.push({ ...order, id });
    return id;
  }

  async function addCustomer(name: string): Promise<void> {
    customers.set(name, await newCustomer(shop(), name, 'customer'));
  }

  async function scan() {
    const sums = { category: {} as Amounts, country: {} as Amounts, customer: {} as Amounts };
    const known = new Set<string>();
    for (const kind of ['new', 'returning', 'none']) {
      add(sums.customer, kind, 0, 0);
    }
    for (const { id, customer, country, lines } of placed) {
      const order = (await shop().request('GET', `/v2/store/order/${id}`, { as: shop().admin })).json;
      const kind = customer === null ? 'none' : known.has(customer) ? 'returning' : 'new';
      known.add(customer ?? '');
      if (order.status === 'cancelled' || order.createdAt < '2026-06-01' || order.createdAt >= '2026-07-01') {
        continue;
      }
      add(sums.country, country, 1, cents(order.total));
      add(sums.customer, kind, 1, cents(order.total));
      for (const [cheeseId, kilograms] of lines) {
        const item = order.items.find((one: { cheeseId: number }) => one.cheeseId === cheeseId);
        add(sums.category, String(categories.get(cheeseId)), kilograms, cents(kilograms * item.pricePerKg));
      }
    }
    return sums;
  }

  async function assertScan(): Promise<void> {
    const expected = await scan();
    for (const part of ['category', 'country', 'customer'] as const) {
      const { items, total } = await read(shop(), part);
      assert.deepEqual(items, expected[part], part);
      const all = Object.values(expected[part]);
      assert.deepEqual(total, {
        count: all.reduce((sum, one) => sum + one.count, 0),
        cents: all.reduce((sum, one) => sum + one.cents, 0),
      });
      const values = Object.values(items).map((one) => one.cents);
      assert.ok(part === 'customer' || values.every((value, index) => value <= (values[index - 1] ?? value)));
    }
    assert.deepEqual(await faults(), []);
  }

  test('Sales are empty with an asOf of null before counting begins', async () => {
    for (const [part, items] of [
      ['category', []],
      ['country', []],
      ['customer', ['new', 'returning', 'none']],
    ] as const) {
      const { items: found, total, asOf } = await read(shop(), part);
      assert.deepEqual([Object.keys(found), total, asOf], [items, { count: 0, cents: 0 }, null]);
    }
  });

  test('Sales of random orders equal a scan of them, with cancellations and deleted customers', async () => {
    const cheeses = [
      await addCheese('Gruyère', 32.55, 'Hard cheese'),
      await addCheese('Sbrinz', 40, 'Hard cheese'),
      await addCheese('Brie', 18.07, 'Soft cheese'),
      await addCheese('Quark', 4.99, null),
    ];
    for (const name of names) {
      await addCustomer(name);
    }
    const orders = fc.sample(
      fc.record({
        customer: fc.option(fc.constantFrom(...names)),
        country: fc.constantFrom(...countries),
        lines: fc.uniqueArray(fc.tuple(fc.constantFrom(...cheeses), fc.integer({ min: 1, max: 9 })), {
          minLength: 1,
          maxLength: 3,
          selector: ([cheeseId]) => cheeseId,
        }),
        hours: fc.integer({ min: 1, max: 40 }),
        isCancelled: fc.integer({ max: 3, min: 0 }).map((value) => value === 0),
      }),
      { numRuns: 32, seed: 74 },
    );
    for (const [index, { hours, isCancelled, ...order }] of orders.entries()) {
      const id = await addOrder(order);
      clock.advance(hours * hourMs);
      if (isCancelled) {
        await shop().request('DELETE', `/v2/store/order/${id}`, { as: shop().admin });
      }
      if (index % 9 === 0) {
        await count();
      }
    }
    await count();
    await assertScan();
    const { items } = await read(shop(), 'customer');
    assert.ok(Object.values(items).every((one) => one.count > 2));
    // This order is counted after the deletion of its customer.
    await addOrder({ customer: 'bob', country: 'DE', lines: [[cheeses[0] as number, 2]] });
    for (const name of ['ada', 'bob']) {
      const session = await newSession(shop(), customers.get(name) ?? 0);
      const headers = { authorization: `Bearer ${session}` };
      const { status, text } = await shop().request('DELETE', `/v2/customer/${name}`, { headers });
      assert.ok(status < 300, text);
    }
    await count();
    await assertScan();
  });

  test('Sales are the same after they are counted again, and belong to the categories of today', async () => {
    const [, sbrinz, , quark] = [...categories.keys()] as [number, number, number, number];
    const body = { category: { name: 'Old cheese' } };
    const moved = await shop().request('PATCH', `/v2/cheeses/${sbrinz}`, { as: shop().writer, body });
    assert.equal(moved.status, 200, moved.text);
    categories.set(sbrinz, 'Old cheese');
    // Of the orders of the deleted cheese, one is delivered. The others are cancelled.
    for (const { id } of placed.filter(({ lines }) => lines.some(([cheeseId]) => cheeseId === quark))) {
      const verbs = ['approve', 'ship', 'deliver'].map((verb) => `/v2/store/order/${id}/${verb}`);
      const { status } = await shop().request('POST', verbs[0] as string, { as: shop().admin });
      if (status === 200) {
        await shop().request('POST', verbs[1] as string, { as: shop().admin });
        await shop().request('POST', verbs[2] as string, { as: shop().admin });
        break;
      }
    }
    const headers = { 'x-confirm-delete': 'true' };
    const deleted = await shop().request('DELETE', `/v2/cheeses/${quark}`, { as: shop().writer, headers });
    assert.ok(deleted.status < 300, deleted.text);
    categories.set(quark, null);
    await count();
    await assertScan();
    await shop().app.database.transaction(beginCounting);
    await countAll(shop().app.database);
    await assertScan();
  });

  test('Sales have one new customer where several first orders come at the same moment', async () => {
    const cheese = await addCheese('Emmental', 10, 'Hard cheese');
    clock.advance(60 * 24 * hourMs);
    await addCustomer('eve');
    const other = await shop().another();
    const body = { items: [{ cheeseId: cheese, quantity: 1 }], shippingAddress: bern };
    const counting = Promise.all([0, 1, 2].map(() => other.app.statistics.counter.run()));
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? shop() : other).request(
          'POST',
          `/v2/store/order?customerId=${customers.get('eve')}`,
          { as: shop().admin, body },
        ),
      ),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]));
    await counting;
    await count();
    const from = new Date(clock.now()).toISOString();
    const { items } = await read(shop(), 'customer', `from=${from}&to=2027-01-01`);
    assert.deepEqual([items.new?.count, items.returning?.count], [1, 7]);
    assert.deepEqual(await faults(), []);
  });

  test('Sales with an error are found, and repaired by counting again', async () => {
    const { database } = shop().app;
    for (const [damage, example] of [
      [
        sql`update statistic_sale set orders = orders + 1`,
        /2026-.* (new|returning|none): \d+ orders instead of \d+/,
      ],
      [sql`update statistic_sale set cents = cents + 1`, /or another value/],
      [sql`delete from statistic_sale`, /nothing instead of \d+ orders/],
    ] as const) {
      await database.run(damage);
      assert.match((await faults()).join('\n'), example);
      await database.transaction(beginCounting);
      await countAll(database);
      assert.deepEqual(await faults(), []);
    }
  });
});

suite('GET /statistics/sales-by-category, -country and -customer', () => {
  const shop = shared((t) => openShop(t));

  test('GET /statistics/sales-by-* return 400 for parameters that are not valid, and name the remedy', async () => {
    for (const part of ['category', 'country', 'customer']) {
      for (const [query, message] of [
        ['', /from/],
        ['?from=yesterday', /2026-06-01/],
        ['?from=2026-06-02&to=2026-06-01', /later than from/],
        ['?from=2016-01-01&to=2026-06-01', /more than 3660 days/],
      ] as const) {
        const response = await get(shop(), `sales-by-${part}${query}`);
        assertError(response, 400, 'bad_request');
        assert.match(response.json.message, message);
      }
      const widest = await get(shop(), `sales-by-${part}?from=2016-05-25&to=2026-06-01`);
      assert.deepEqual([widest.status, widest.headers['cache-control']], [200, 'no-store']);
    }
    const response = await get(shop(), 'sales-by-category?from=2026-06-01&limit=1001');
    assertError(response, 400, 'bad_request');
    assert.match(response.json.message, /limit/);
  });
});
