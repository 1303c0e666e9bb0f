/** Statistics: equal to the timelines of orders, exact while orders come, and repaired by counting again. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { removeExpiredEvents } from '../../src/event-log/retention.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { checkStatistics } from '../../src/statistics/consistency-check.ts';
import { beginCounting, countAll } from '../../src/statistics/counting.ts';
import { measures } from '../../src/statistics/measures.ts';
import { eventsNumbered, newCustomer, newSession } from '../auth/holders.ts';
import { assertError, onBothEngines, openShop, type Shop, shared, testClock } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';

const dayMs = 86_400_000;
const kathmanduMs = 5.75 * 3_600_000;
/** The date in Kathmandu, whose clock is never changed. */
const dateThere = (time: string) => new Date(Date.parse(time) + kathmanduMs).toISOString().slice(0, 10);
const cents = (dollars: number) => Math.round(dollars * 100);

type Points = [start: string, value: number][];

async function get(shop: Shop, path: string) {
  return shop.request('GET', `/v2/statistics/${path}`, { as: shop.admin });
}

async function count(shop: Shop): Promise<void> {
  await eventsNumbered(shop);
  await shop.app.statistics.counter.run();
}

/** Counted as a server counts that has just started. */
const countAgain = ({ app }: Shop) => countAll(app.database);

const faultsIn = async ({ app }: Shop) =>
  (await app.database.snapshot(checkStatistics)).flatMap(({ fault, examples }) => [fault, ...examples]);

async function move(shop: Shop, id: number, verb: string): Promise<void> {
  const { status, text } =
    verb === 'cancel'
      ? await shop.request('DELETE', `/v2/store/order/${id}`, { as: shop.admin })
      : await shop.request('POST', `/v2/store/order/${id}/${verb}`, { as: shop.admin });
  assert.ok(status === 200 || status === 204, text);
}

onBothEngines('Statistics', (engine) => {
  const clock = testClock(Date.parse('2026-05-31T18:20:00.000Z'));
  const shop = shared((t) => openShop(t, { engine, clock, settings: { CURD_EVENT_RETENTION: '10d' } }));
  let placer = '';
  /** Orders by id: their lines. */
  const placed = new Map<number, readonly (readonly [number, number])[]>();
  const month = 'from=2026-06-01&to=2026-07-01&zone=Asia/Kathmandu';

  /** What the timelines of all orders say, by measure and date in Kathmandu. Money in cents. */
  async function expected() {
    const sums = new Map<string, number>();
    const best = new Map<number, { orders: number; kilograms: number; cents: number }>();
    const add = (measure: string, time: string, value: number) => {
      const key = `${measure} ${dateThere(time)}`;
      sums.set(key, (sums.get(key) ?? 0) + value);
    };
    for (const [id, lines] of placed) {
      const order = (await shop().request('GET', `/v2/store/order/${id}`, { as: shop().reader })).json;
      const timeline = await shop().request('GET', `/v2/store/order/${id}/timeline`, { as: shop().reader });
      for (const { status, at } of timeline.json.items) {
        add(`orders.${status}`, at, 1);
        if (status === 'delivered') {
          add('orders.deliveredValue', at, cents(order.total));
        }
      }
      if (order.status !== 'cancelled') {
        add('orders.sold', order.createdAt, 1);
        add('orders.placedValue', order.createdAt, cents(order.total));
        for (const [cheeseId, kilograms] of lines) {
          const item = order.items.find((one: { cheeseId: number }) => one.cheeseId === cheeseId);
          const row = best.get(cheeseId) ?? { orders: 0, kilograms: 0, cents: 0 };
          row.orders += 1;
          row.kilograms += kilograms;
          row.cents += cents(kilograms * item.pricePerKg);
          best.set(cheeseId, row);
        }
      }
    }
    return { sums, best };
  }

  async function assertMonth(): Promise<void> {
    const { sums, best } = await expected();
    const { json, text, status } = await get(shop(), `series?measures=${measures}&${month}`);
    assert.equal(status, 200, text);
    for (const measure of measures.filter((one) => one.startsWith('orders.'))) {
      const points = json.series[measure] as Points;
      assert.equal(points.length, 30);
      for (const [start, value] of points) {
        const shown = measure.endsWith('Value') ? cents(value) : value;
        assert.equal(shown, sums.get(`${measure} ${dateThere(start)}`) ?? 0, `${measure} ${start}`);
      }
    }
    const sold = await get(shop(), 'best-sellers?from=2026-05-31&to=2026-07-01&limit=100');
    assert.deepEqual(
      sold.json.items.map(({ cheeseId, orders, kilograms, value }: Record<string, number>) => ({
        cheeseId,
        orders,
        kilograms,
        cents: cents(value as number),
      })),
      [...best]
        .map(([cheeseId, sum]) => ({ cheeseId, ...sum }))
        .sort((a, b) => b.cents - a.cents || a.cheeseId - b.cheeseId),
    );
  }

  test('Statistics are empty with an asOf of null before counting begins', async () => {
    const { json } = await get(shop(), 'series?measures=orders.placed&from=2026-06-01&to=2026-06-02');
    assert.deepEqual(json, {
      from: '2026-06-01T00:00:00.000Z',
      to: '2026-06-02T00:00:00.000Z',
      step: 'day',
      zone: 'UTC',
      series: { 'orders.placed': [['2026-06-01T00:00:00.000Z', 0]] },
      asOf: null,
    });
    assert.deepEqual(await faultsIn(shop()), []);
  });

  test('Statistics of 30 days in Asia/Kathmandu equal the timelines to the cent', async () => {
    placer = await shop().createKey({ scopes: ['write:orders'] });
    const cheeses = [
      await newCheese(shop(), { name: 'Gruyère', pricePerKg: 32.55 }),
      await newCheese(shop(), { name: 'Brie', pricePerKg: 18.07 }),
      await newCheese(shop(), { name: 'Comté', pricePerKg: 24.99 }),
    ];
    await restoreTestOrders(shop().app.contextOf('system'));
    const endings = [
      [],
      ['cancel'],
      ['approve'],
      ['approve', 'ship'],
      ['approve', 'ship', 'deliver'],
      ['approve', 'cancel'],
      ['approve', 'ship', 'deliver'],
    ];
    for (let index = 0; index < 28; index += 1) {
      const lines = [0, 1, 2]
        .filter((cheese) => (index + cheese) % 3 !== 0)
        .map((cheese) => [cheeses[cheese] as number, 1 + ((index * 7 + cheese) % 9)] as const);
      const id = await newOrder(shop(), lines, { as: placer });
      placed.set(id, lines);
      for (const verb of endings[index % endings.length] ?? []) {
        // Some transitions are on the next day, and some around midnight in Kathmandu, which is 18:15 in UTC.
        clock.advance(index % 2 === 0 ? 7 * 3_600_000 : 11 * 60_000);
        await move(shop(), id, verb);
      }
      clock.advance(17 * 3_600_000 + 250_000);
    }
    await count(shop());
    await assertMonth();
    const byMonth = await get(
      shop(),
      'series?measures=orders.placed,orders.placedValue&from=2026-05-20&step=month',
    );
    const byDay = await get(
      shop(),
      'series?measures=orders.placed,orders.placedValue&from=2026-05-01&to=2026-07-01',
    );
    for (const [measure, points] of Object.entries<Points>(byMonth.json.series)) {
      for (const [index, start] of ['2026-05', '2026-06'].entries()) {
        const days = (byDay.json.series[measure] as Points).filter(([time]) => time.startsWith(start));
        const sum = days.reduce((total, [, value]) => total + cents(value), 0);
        assert.equal(cents(points[index]?.[1] ?? 0), sum, `${measure} ${start}`);
        assert.equal(points[index]?.[0], `${start}-01T00:00:00.000Z`);
      }
    }
    assert.deepEqual(await faultsIn(shop()), []);
  });

  test('Statistics count cheeses and customers, and nothing of test orders', async () => {
    const days = `from=2026-05-31&to=2026-07-05`;
    const sum = async (measure: string) => {
      await count(shop());
      const { json } = await get(shop(), `series?measures=${measure}&${days}`);
      return (json.series[measure] as Points).reduce((total, [, value]) => total + value, 0);
    };
    const before = await sum('customers.created');
    await newCustomer(shop(), 'ada', 'customer');
    const customer = await newCustomer(shop(), 'bob', 'customer');
    const session = await newSession(shop(), customer);
    await shop().request('DELETE', '/v2/customer/bob', { headers: { authorization: `Bearer ${session}` } });
    assert.deepEqual([await sum('customers.created'), await sum('customers.deleted')], [before + 2, 1]);
    const cheese = await newCheese(shop(), { name: 'Feta', pricePerKg: 10 });
    const headers = { 'x-confirm-delete': 'true' };
    await shop().request('DELETE', `/v2/cheeses/${cheese}`, { as: shop().writer, headers });
    assert.deepEqual([await sum('cheeses.created'), await sum('cheeses.deleted')], [4, 1]);
    await move(shop(), 1, 'approve');
    assert.equal(await sum('orders.placed'), placed.size);
    assert.deepEqual(await faultsIn(shop()), []);
  });

  test('Statistics are exact to asOf while orders come and two instances count', async () => {
    const other = await shop().another();
    const cheese = await newCheese(shop(), { name: 'Emmental', pricePerKg: 11.1 });
    clock.advance(5 * dayMs);
    const hour = new Date(clock.now()).toISOString();
    const path = `series?measures=orders.placed,orders.placedValue&from=${hour}&to=2026-09-01&step=week`;
    const seen: { asOf: string; orders: number; value: number }[] = [];
    for (let round = 0; round < 6; round += 1) {
      const placing = Promise.all(
        Array.from({ length: 5 }, () => newOrder(shop(), [[cheese, 3]], { as: placer })),
      );
      const counting = [shop(), other].map(({ app }) => app.statistics.counter.run());
      const { json } = await get(shop(), path);
      const total = (measure: string) =>
        (json.series[measure] as Points).reduce((sum, [, value]) => sum + value, 0);
      seen.push({ asOf: json.asOf, orders: total('orders.placed'), value: total('orders.placedValue') });
      await Promise.all([placing, ...counting]);
    }
    await eventsNumbered(shop());
    const log = await shop().request('GET', `/v2/events?types=order.placed&limit=100&since=${hour}`, {
      as: shop().reader,
    });
    const sequences = log.json.items.map(({ sequence }: { sequence: number }) => sequence);
    assert.equal(sequences.length, 30);
    for (const { asOf, orders, value } of seen) {
      const last = Number(asOf.split('_').at(-1));
      assert.equal(orders, sequences.filter((sequence: number) => sequence <= last).length, asOf);
      assert.equal(cents(value), orders * 3330);
    }
    await Promise.all([shop(), other].map(({ app }) => app.statistics.counter.run()));
    await count(shop());
    assert.equal((await get(shop(), path)).json.asOf, log.json.items.at(-1).id);
    assert.deepEqual(await faultsIn(shop()), []);
  });

  test('Statistics survive the retention of the log, and are the same after they are counted again', async () => {
    const { database } = shop().app;
    const path = `series?measures=${measures}&from=2026-05-25&to=2026-08-01&step=week`;
    const before = (await get(shop(), path)).json;
    const sold = (await get(shop(), 'best-sellers?from=2026-05-25')).json;
    clock.advance(12 * dayMs);
    await newCustomer(shop(), 'eve', 'customer');
    await count(shop());
    await removeExpiredEvents(database, clock, 10 * dayMs);
    const log = await shop().request('GET', '/v2/events?since=earliest', { as: shop().reader });
    assert.ok(log.json.items[0].sequence > 40, 'events have expired');
    assert.deepEqual(await faultsIn(shop()), []);
    await database.transaction(beginCounting);
    assert.equal((await get(shop(), path)).json.asOf, null);
    await countAgain(shop());
    const after = (await get(shop(), path)).json;
    const shown = ({ asOf: _, series, ...rest }: { asOf: string; series: Record<string, Points> }) => ({
      ...rest,
      series: { ...series, 'customers.created': null },
    });
    assert.deepEqual(shown(after), shown(before));
    const total = ({ series }: { series: Record<string, Points> }) =>
      series['customers.created']?.reduce((sum, [, value]) => sum + value, 0);
    assert.equal(total(after), (total(before) ?? 0) + 1);
    assert.deepEqual((await get(shop(), 'best-sellers?from=2026-05-25')).json.items, sold.items);
    assert.deepEqual(await faultsIn(shop()), []);
  });

  test('Statistics with an error in any table are found, and repaired by counting again', async () => {
    const { database } = shop().app;
    const sold = (await get(shop(), 'best-sellers?from=2026-05-25')).json;
    for (const [damage, example] of [
      [
        sql`update statistic set value = value + 1 where measure = 'orders.shipped'`,
        /orders\.shipped, 2026-.*: 2 instead of 1/,
      ],
      [
        sql`delete from statistic where measure = 'orders.placedValue'`,
        /orders\.placedValue, .*: nothing instead of/,
      ],
      [
        sql`insert into statistic (measure, quarter, value) values ('customers.deleted', '2026-08-30T10:00', 4)`,
        /4 instead of 0/,
      ],
      [sql`update statistic_cheese set cents = cents + 1`, /cheese \d+, 2026-/],
      [sql`update statistic_cheese set orders = 77`, /cheese \d+, 2026-/],
      [sql`delete from statistic_cheese`, /nothing instead of \d+ kg/],
      [sql`update statistic_position set sequence = sequence + 5000`, /instead of \d+ at most/],
    ] as const) {
      await database.run(damage);
      assert.match((await faultsIn(shop())).join('\n'), example);
      await database.transaction(beginCounting);
      await countAgain(shop());
      assert.deepEqual(await faultsIn(shop()), []);
    }
    assert.deepEqual((await get(shop(), 'best-sellers?from=2026-05-25')).json.items, sold.items);
    // Without a position, everything is counted from the beginning.
    await database.run(sql`delete from statistic_position`);
    await count(shop());
    await countAgain(shop());
    assert.deepEqual(await faultsIn(shop()), []);
  });
});

suite('GET /statistics', () => {
  const shop = shared((t) => openShop(t));

  test('GET /statistics/best-sellers names each cheese as on its last order, for the requested cheeses alone', async () => {
    const placer = await shop().createKey({ scopes: ['write:orders'] });
    const [one, two, three] = [
      await newCheese(shop(), { name: 'Tilsiter', pricePerKg: 10.005 }),
      await newCheese(shop(), { name: 'Vacherin', pricePerKg: 30 }),
      await newCheese(shop(), { name: 'Raclette', pricePerKg: 1 }),
    ];
    await newOrder(
      shop(),
      [
        [one, 1],
        [two, 2],
        [one, 2],
      ],
      { as: placer },
    );
    await shop().request('PATCH', `/v2/cheeses/${one}`, {
      as: shop().writer,
      body: { name: 'Old Tilsiter' },
    });
    await newOrder(shop(), [[one, 3]], { as: placer });
    const id = await newOrder(shop(), [[three, 100]], { as: placer });
    await move(shop(), id, 'cancel');
    await count(shop());
    const today = new Date().toISOString().slice(0, 10);
    const rows = async (more: string) =>
      (await get(shop(), `best-sellers?from=${today}${more}`)).json.items.map((row: object) =>
        Object.values(row),
      );
    const tilsiter = [one, 'Old Tilsiter', 2, 6, 60.04];
    const vacherin = [two, 'Vacherin', 1, 2, 60];
    assert.deepEqual(await rows(''), [tilsiter, vacherin]);
    assert.deepEqual(await rows('&limit=1'), [tilsiter]);
    assert.deepEqual(await rows(`&cheeseIds=${two},${three},999`), [vacherin]);
    assert.deepEqual(await rows('&to=2999-01-01'), [tilsiter, vacherin]);
    const past = await get(shop(), 'best-sellers?from=2020-01-01&to=2020-02-01');
    // The test before has placed orders in 2026 too.
    const { since } = past.json;
    assert.ok(since <= today && since >= '2026-01-01', since);
    assert.deepEqual(past.json.items, []);

    for (const [day, name] of [
      ['2020-01-15', 'Young Vacherin'],
      ['2020-01-20', 'Vacherin of Fribourg'],
    ] as const) {
      await shop().app.database.run(sql`
        insert into statistic_cheese (day, cheese_id, name, orders, grams, cents)
        values (${day}, ${two}, ${name}, 1, 1, 3000)`);
    }
    assert.equal((await get(shop(), `best-sellers?from=${today}`)).json.since, '2020-01-15');
    for (const [to, name] of [
      ['2020-01-20', 'Young Vacherin'],
      ['2020-01-21', 'Vacherin of Fribourg'],
    ]) {
      const { json } = await get(shop(), `best-sellers?from=2020-01-01&to=${to}`);
      assert.deepEqual([json.items.length, json.items[0].cheeseName], [1, name]);
    }
    assert.deepEqual(await rows(''), [tilsiter, vacherin]);
  });

  test('GET /statistics is never stored by caches', async () => {
    for (const path of [
      'best-sellers?from=2026-06-01',
      'series?from=2026-06-01&to=2026-06-02&measures=orders.placed',
    ]) {
      assert.equal((await get(shop(), path)).headers['cache-control'], 'no-store');
    }
  });

  test('GET /statistics returns 400 for parameters that are not valid, and names the remedy', async () => {
    const series = 'series?measures=orders.placed';
    for (const [path, message] of [
      ['series?from=2026-06-01', /measures/],
      ['series?measures=orders.lost&from=2026-06-01', /orders\.placed/],
      [series, /from/],
      [`${series}&from=yesterday`, /2026-06-01/],
      [`${series}&from=2026-02-30`, /from/],
      [`${series}&from=1999-12-31`, /2000/],
      [`${series}&from=2026-06-01T25:00:00Z`, /from/],
      [`${series}&from=2026-06-01&to=2026-06-01`, /later than from/],
      [`${series}&from=2026-06-02&to=2026-06-01`, /later than from/],
      [`${series}&from=2026-06-01&to=2027-07-07`, /more than 400 steps/],
      [`${series}&from=2026-06-01&to=2026-07-01&step=hour`, /more than 400 steps/],
      [`${series}&from=2026-06-01&step=year`, /month/],
      [`${series}&from=2026-06-01&zone=Mars/Olympus`, /Europe\/Zurich/],
      [`${series}&from=2026-06-01&zone=%2B05:45`, /Europe\/Zurich/],
      ['best-sellers', /from/],
      ['best-sellers?from=2026-06-02&to=2026-06-01', /later than from/],
      ['best-sellers?from=2026-06-01&limit=101', /limit/],
      ['best-sellers?from=2026-06-01&cheeseIds=x', /cheeseIds/],
      [`best-sellers?from=2026-06-01&cheeseIds=${Array.from({ length: 101 }, (_, id) => id + 1)}`, /100/],
    ] as const) {
      const response = await get(shop(), path);
      assertError(response, 400, 'bad_request');
      assert.match(response.json.message, message, path);
    }
    const widest = await get(shop(), `${series}&from=2026-06-01&to=2027-07-06`);
    assert.equal(widest.json.series['orders.placed'].length, 400);
  });
});
