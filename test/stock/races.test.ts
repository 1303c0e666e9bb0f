/**
 * Concurrent requests for the same stock: on PostgreSQL through three instances. More repetitions:
 * `CURD_TEST_STOCK_SECONDS=60` for the mixed load, `CURD_TEST_STOCK_STARTS=1000` for starts of tracking.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import {
  assertFields,
  onBothEngines,
  openShop,
  type Shop,
  shared,
  type TestResponse,
  testClock,
} from '../helper.ts';
import { openInstances, tally } from '../instances/instances.ts';
import { changeOrder, newCheese, newOrder, type OrderChange, placeOrder } from '../shop-verbs.ts';
import {
  adjust,
  assertConsistent,
  eventsOf,
  levelsOf,
  putStock,
  setStatus,
  statusOf,
  trackedCheese,
  untrack,
} from './stock.ts';

const hourMs = 60 * 60_000;
const clock = testClock();
const starts = Number(process.env.CURD_TEST_STOCK_STARTS ?? 8);
const loadMs = Number(process.env.CURD_TEST_STOCK_SECONDS ?? 0) * 1000;

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;
const kilograms = (max: number) => 1 + Math.floor(Math.random() * max);

onBothEngines('Concurrent requests', (engine) => {
  const settings = { CURD_APPROVAL_DELAY: '1h' };
  const opened = shared(async (t) =>
    engine === 'postgres'
      ? (await openInstances(t, 3, { clock, settings })).all
      : ([await openShop(t, { engine, clock, settings })] as const),
  );

  test('Concurrent orders and changes of stock sell exactly the last 50 kg to 200 orders, and all 50 are approved', async () => {
    const shops = opened();
    const [shop] = shops;
    const id = await trackedCheese(shop, 50);
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => placeOrder(shops[index % shops.length] as Shop, [[id, 1]])),
    );
    assert.equal(tally(responses), '50 x 201, 150 x 422');
    for (const response of responses.filter(({ status }) => status === 422)) {
      assertFields(response, ['items[0].quantity']);
      assert.equal(response.json.errors[0].message, '0 kg are left');
    }
    assert.deepEqual(await levelsOf(shop, id), [50, 50, 0]);
    assert.deepEqual(
      (await eventsOf(shop, `stock:${id}`)).map(({ type }) => type),
      ['stock.adjusted', 'stock.depleted'],
    );
    await Promise.all(shops.map(({ app }) => app.worker.run()));
    assert.equal(await statusOf(shop, id), 'sold');
    assert.deepEqual(
      (await eventsOf(shop, `cheese:${id}`)).map(({ type }) => type),
      ['cheese.created', 'cheese.updated'],
    );
    clock.advance(hourMs);
    await Promise.all(shops.map(({ app }) => app.worker.run()));
    const [counts] = await shop.app.database.all<{ approved: number }>(sql`
      select count(*) as approved from orders o join open_order_cheese c on c.order_id = o.id
      where c.cheese_id = ${id} and o.status = 'approved'`);
    assert.equal(counts?.approved, 50);
    await assertConsistent(shop);
  });

  test('Concurrent orders and changes of stock are counted right when tracking begins or ends at the same moment', {
    timeout: 900_000,
  }, async () => {
    const shops = opened();
    const [shop] = shops;
    const id = await newCheese(shop);
    for (let round = 0; round < starts; round += 1) {
      const before = [
        await newOrder(shop, [[id, 1]]),
        await newOrder(shop, [[id, 2]]),
        await newOrder(shop, [[id, 4]]),
      ];
      const [cancelled = 0, shipped = 0] = before;
      await changeOrder(shop, shipped, 'approve');
      const work: (() => Promise<TestResponse>)[] = [
        () => putStock(pick(shops), id, { onHand: 1000 }),
        () => placeOrder(pick(shops), [[id, 8]]),
        () => changeOrder(pick(shops), cancelled, 'cancel'),
        () => changeOrder(pick(shops), shipped, 'ship'),
        ...(round % 2 === 0 ? [] : [() => untrack(pick(shops), id)]),
      ];
      const order = work.toSorted(() => Math.random() - 0.5);
      const responses = await Promise.all(order.map((run) => run()));
      assert.ok(
        responses.every(({ status }) => status < 500 && status !== 409 && status !== 422),
        JSON.stringify(responses.map(({ status, text }) => [status, text])),
      );
      if (round % 2 === 0) {
        // The order of 4 kg and the order of 8 kg are open; the shipment was before the count or after it.
        const [onHand = 0, reserved] = await levelsOf(shop, id);
        assert.ok(onHand === 1000 || onHand === 998, String(onHand));
        assert.equal(reserved, 12);
      }
      await assertConsistent(shop);
      await untrack(shop, id);
      for (const orderId of before) {
        await changeOrder(shop, orderId, 'cancel');
        await changeOrder(shop, orderId, 'deliver');
      }
      const rows = await shop.app.database.all<{ order_id: number }>(
        sql`select order_id from open_order_cheese where cheese_id = ${id}`,
      );
      for (const { order_id } of rows) {
        await changeOrder(shop, order_id, 'cancel');
      }
    }
  });

  test('Concurrent transitions and changes of stock for the same order and cheese have one winner, and the sums are right', async () => {
    const shops = opened();
    const [shop] = shops;
    const dry = { 'dry-run': 'true' };
    const id = await trackedCheese(shop, 0);
    for (let round = 0; round < 6; round += 1) {
      await putStock(shop, id, { onHand: 5 });
      await setStatus(shop, id, 'available');
      const order = await newOrder(shop, [[id, 5]]);
      await changeOrder(shop, order, 'approve');
      const url = `/v2/store/order/${order}`;
      const [cancelled, shipped, restocked, next, ...tried] = await Promise.all([
        changeOrder(pick(shops), order, 'cancel'),
        changeOrder(pick(shops), order, 'ship'),
        adjust(pick(shops), id, 3),
        placeOrder(pick(shops), [[id, 3]]),
        pick(shops).request('DELETE', url, { as: shop.admin, headers: dry }),
        pick(shops).request('POST', `${url}/ship`, { as: shop.admin, headers: dry }),
        placeOrder(pick(shops), [[id, 3]], { headers: dry }),
        putStock(pick(shops), id, { onHand: 99 }, dry),
      ]);
      const isShipped = shipped.status === 200;
      assert.deepEqual(
        [cancelled.status, shipped.status, restocked.status],
        isShipped ? [409, 200, 201] : [204, 409, 201],
        `${cancelled.text} ${shipped.text} ${restocked.text}`,
      );
      assert.ok([201, 422].includes(next.status), next.text);
      // A dry run ends with 503 where it would wait too long for a real change.
      for (const { status, text } of tried) {
        assert.ok([200, 201, 204, 409, 422, 503].includes(status), text);
      }
      const reserved = next.status === 201 ? 3 : 0;
      const onHand = 5 + 3 - (isShipped ? 5 : 0);
      assert.deepEqual(await levelsOf(shop, id), [onHand, reserved, onHand - reserved]);
      if (next.status === 201) {
        await changeOrder(shop, next.json.id, 'cancel');
      }
      await Promise.all(shops.map(({ app }) => app.worker.run()));
      await assertConsistent(shop);
    }
  });

  test('Concurrent orders and changes of stock, of every kind, never deadlock, oversell or fail', {
    timeout: 900_000,
  }, async () => {
    const shops = opened();
    const [shop] = shops;
    const { database } = shop.app;
    const cheeses = await Promise.all(Array.from({ length: 10 }, () => trackedCheese(shop, 40, 5)));
    const open: number[] = [];
    let customers = 0;

    async function orderOnce(headers: Record<string, string> = {}): Promise<TestResponse> {
      const lines = cheeses
        .toSorted(() => Math.random() - 0.5)
        .slice(0, kilograms(4))
        .map((id) => [id, kilograms(3)] as const);
      const response = await placeOrder(pick(shops), lines, { headers });
      // An order of a dry run has a negative id.
      if (response.status === 201 && response.json.id > 0) {
        open.push(response.json.id);
      }
      return response;
    }

    async function customerOnce(): Promise<TestResponse> {
      customers += 1;
      const username = `${engine}${customers}`;
      const body = { username, email: `${username}@example.com`, password: 'good enough' };
      await pick(shops).request('POST', '/v2/customer', { body });
      const { json } = await pick(shops).request('POST', '/v2/customer/login', { body });
      const headers = { authorization: `Bearer ${json.token}` };
      await Promise.all([orderOnce(headers), orderOnce(headers), orderOnce(headers)]);
      return pick(shops).request('DELETE', `/v2/customer/${username}`, { headers });
    }

    async function replaceCheese(): Promise<TestResponse> {
      const index = Math.floor(Math.random() * cheeses.length);
      const response = await pick(shops).request('DELETE', `/v2/cheeses/${cheeses[index]}`, {
        as: shop.writer,
        headers: { 'x-confirm-delete': 'true' },
      });
      if (response.status === 204) {
        cheeses[index] = await trackedCheese(pick(shops), 40, 5);
      }
      return response;
    }

    const move = (verb: OrderChange) => () =>
      changeOrder(pick(shops), open.length === 0 ? 11 : pick(open), verb);
    const works: readonly (readonly [weight: number, run: () => Promise<TestResponse | undefined>])[] = [
      [30, orderOnce],
      [12, move('cancel')],
      [12, move('approve')],
      [12, move('ship')],
      [6, move('deliver')],
      [6, () => orderOnce({ 'dry-run': 'true' })],
      [1, customerOnce],
      [2, replaceCheese],
      [4, () => putStock(pick(shops), pick(cheeses), { onHand: kilograms(60), lowAt: 5 })],
      [6, () => adjust(pick(shops), pick(cheeses), kilograms(20))],
      [4, () => adjust(pick(shops), pick(cheeses), -kilograms(20), 'spoiled')],
      [1, () => untrack(pick(shops), pick(cheeses))],
      [
        4,
        () =>
          pick(shops)
            .app.worker.run()
            .then(() => undefined),
      ],
    ];
    const bag = works.flatMap(([weight, run]) => Array.from({ length: weight }, () => run));
    const deadline = performance.now() + loadMs;
    const counts = new Map<number, number>();
    async function client(): Promise<void> {
      for (let step = 0; step < 20 || performance.now() < deadline; step += 1) {
        const response = await pick(bag)?.();
        const status = response?.status ?? 0;
        counts.set(status, (counts.get(status) ?? 0) + 1);
        // A dry run does not wait long for a real change.
        const mayGiveUp = status === 503 && response?.headers['dry-run'] !== undefined;
        assert.ok(status < 500 || mayGiveUp, response?.text ?? '');
      }
    }
    await Promise.all(Array.from({ length: 12 }, client));
    await Promise.all(shops.map(({ app }) => app.worker.run()));
    assert.ok((counts.get(201) ?? 0) > 20, JSON.stringify([...counts]));
    await assertConsistent(shop);
    // Every cheese that is available or was set to sold by the rule follows its stock again.
    const rows = await database.all<{ id: number }>(sql`
      select c.id from cheese c join stock s on s.cheese_id = c.id
      where s.set_sold = 1 and s.on_hand > s.reserved or s.on_hand <= s.reserved and c.status = 'available'`);
    assert.equal(rows.length, 0, JSON.stringify(rows));
    if (engine === 'postgres') {
      // A connection reports what it counted within a second.
      await sleep(1100);
      await database.get(sql`select pg_stat_force_next_flush() is null as done`);
      const row = await database.get<{ deadlocks: number }>(
        sql`select deadlocks from pg_stat_database where datname = current_database()`,
      );
      assert.equal(row?.deadlocks, 0);
    }
  });
});
