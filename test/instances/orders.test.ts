/** Transitions of orders on several instances at the same time: each is made once, and counted once. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql, valueList } from '../../src/database/sql.ts';
import { orderCountQueries } from '../../src/orders/count-queries.ts';
import { assertError, type Scope, shared, testClock, until } from '../helper.ts';
import { deleteCheese, newCheese, placeOrder, registerAndLogIn } from '../shop-verbs.ts';
import { assertOneWon, eventsOf, type Instances, openInstances, tally } from './instances.ts';

const rounds = 10;
/** Of cheeses whose orders are due. */
const deletions = Number(process.env.CURD_TEST_DELETIONS ?? 3);

/** Instances without automatic approval, and a cheese to order. */
async function openStore(t: Scope, settings: Record<string, string> = {}) {
  const shops = await openInstances(t, 3, { settings: { CURD_APPROVAL_DELAY: '1h', ...settings } });
  const id = await newCheese(shops, { pricePerKg: 20 });
  const as = shops.admin;
  const placed = async (headers: Record<string, string> = {}) =>
    Number((await placeOrder(shops.next(), id, { as, headers })).json.id);
  const step = (order: number, name: 'approve' | 'ship' | 'deliver') =>
    shops.request('POST', `/v2/store/order/${order}/${name}`, { as });
  const cancel = (order: number) => shops.request('DELETE', `/v2/store/order/${order}`, { as });
  const typesOf = async (order: number) =>
    (await eventsOf(shops, `order:${order}`)).map(({ type }) => type.replace('order.', '')).join(' ');
  return { shops, placed, step, cancel, typesOf };
}

/** Invariants between the tables of orders. */
async function assertWhole({ all }: Instances): Promise<void> {
  const { database } = all[0].app;
  await Promise.all(all.map(({ app }) => app.orders.counter.run()));
  assert.deepEqual(await orderCountQueries(database).listDifferences(5), []);
  const loose = await database.all(sql`
    select o.id, o.status from orders o left join background_job j on j.key = cast(o.id as text)
    left join open_order_cheese c on c.order_id = o.id
    where (j.key is not null and o.status <> 'placed')
      or (c.order_id is not null) <> (o.status in ('placed', 'approved', 'shipped'))`);
  assert.deepEqual([...loose], []);
}

suite('An order', () => {
  // Shared by tests that only check their own orders.
  const store = shared((t) => openStore(t));

  test('An order on several instances is approved at most once while another instance cancels it', async () => {
    const { shops, placed, step, cancel, typesOf } = store();
    for (let round = 0; round < rounds; round += 1) {
      const order = await placed();
      const [first, cancelled, second, again] = await Promise.all([
        step(order, 'approve'),
        cancel(order),
        step(order, 'approve'),
        cancel(order),
      ]);
      assert.equal(tally([cancelled, again]), '2 x 204');
      const approved = [first, second].filter(({ status }) => status === 200);
      assert.ok(approved.length <= 1, 'approved twice');
      for (const response of [first, second]) {
        if (!approved.includes(response)) {
          assertError(response, 409, 'conflict');
        }
      }
      const expected = approved.length === 1 ? 'placed approved cancelled' : 'placed cancelled';
      assert.equal(await typesOf(order), expected);
    }
    await assertWhole(shops);
  });

  test('An order on several instances is either shipped or cancelled', async () => {
    const { shops, placed, step, cancel, typesOf } = store();
    for (let round = 0; round < rounds; round += 1) {
      const order = await placed();
      assert.equal((await step(order, 'approve')).status, 200);
      const [shipped, cancelled] = await Promise.all([step(order, 'ship'), cancel(order)]);
      const isShipped = shipped.status === 200;
      assertError(isShipped ? cancelled : shipped, 409, 'conflict');
      assert.equal(isShipped ? 200 : cancelled.status, isShipped ? shipped.status : 204);
      assert.equal(await typesOf(order), `placed approved ${isShipped ? 'shipped' : 'cancelled'}`);
    }
    await assertWhole(shops);
  });

  test('An order on several instances is approved, shipped and delivered once each, with parallel requests', async () => {
    const { placed, step, typesOf } = store();
    for (let round = 0; round < 6; round += 1) {
      const order = await placed();
      for (const name of ['approve', 'ship', 'deliver'] as const) {
        const responses = await Promise.all(Array.from({ length: 5 }, () => step(order, name)));
        assertOneWon(responses, 200, 409, 'conflict');
      }
      assert.equal(await typesOf(order), 'placed approved shipped delivered');
    }
  });

  test('An order on several instances counts once for the tier of its customer, also with other orders in parallel', async (t) => {
    const { shops, placed, step } = await openStore(t, {
      CURD_TIERS: '{"silver":60,"gold":120,"platinum":240}',
    });
    const { headers: session } = await registerAndLogIn(shops, { username: 'ada' });
    const profile = await shops.request('GET', '/v2/customer/ada', { headers: session });
    const orders = [];
    while (orders.length < 12) {
      const order = await placed(session);
      await step(order, 'approve');
      await step(order, 'ship');
      orders.push(order);
    }
    const tier = async () =>
      (await shops.request('GET', '/v2/customer/ada', { headers: session })).json.customerStatus;
    // Each is worth 20 dollars, and is delivered twice.
    const deliver = (some: readonly number[]) =>
      Promise.all([...some, ...some].map((order) => step(order, 'deliver')));
    assert.equal(tally(await deliver(orders.slice(0, 5))), '5 x 200, 5 x 409');
    assert.equal(await tier(), 'silver');
    assert.equal(tally(await deliver(orders.slice(5, 11))), '6 x 200, 6 x 409');
    assert.equal(await tier(), 'gold', 'twenty dollars are missing');
    assert.equal(tally(await deliver(orders.slice(11))), '1 x 200, 1 x 409');
    assert.equal(await tier(), 'platinum');
    const rises = (await eventsOf(shops, `customer:${profile.json.id}`)).filter(
      ({ type }) => type === 'customer.tier_changed',
    );
    assert.equal(rises.length, 3);
  });

  test('An order on several instances is not placed beyond the limit of orders an hour', async (t) => {
    const { shops } = await openStore(t, { CURD_ORDERS_PER_HOUR: '7' });
    const id = await newCheese(shops);
    for (let round = 0; round < 3; round += 1) {
      const as = await shops.next().createKey({ scopes: ['write:orders'] });
      const responses = await shops.atOnce(20, (shop) => placeOrder(shop, id, { as }));
      assert.equal(tally(responses), '7 x 201, 13 x 429');
      for (const response of responses.filter(({ status }) => status === 429)) {
        assertError(response, 429, 'rate_limit_exceeded');
        assert.ok(Number(response.headers['retry-after']) > 3000);
      }
    }
  });

  test('An order on several instances is deleted with its customer, who is deleted while it is placed', async () => {
    const { shops, placed } = store();
    const { database } = shops.all[0].app;
    const id = await newCheese(shops);
    const ids: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const { headers: session } = await registerAndLogIn(shops, { username: `ada-${round}` });
      ids.push(await placed(session));
      const [deleted, ...orders] = await Promise.all([
        shops.request('DELETE', `/v2/customer/ada-${round}`, { headers: session }),
        ...[1, 2, 3].map(() => placeOrder(shops.next(), id, { headers: session })),
      ]);
      assert.equal(deleted.status, 204, deleted.text);
      for (const response of orders) {
        if (response.status === 201) {
          ids.push(response.json.id);
        } else {
          assertError(response, 401, 'unauthorized');
        }
      }
    }
    const left = await database.all(sql`
      select id from orders where id in (${valueList(ids)})
        and (status <> 'cancelled' or customer_id is not null or address like '%Bern%')`);
    assert.deepEqual([...left], [], 'these wait for somebody who is gone, or name them still');
    await assertWhole(shops);
  });
});

suite('The job workers of several instances', () => {
  test('The job workers of several instances approve each order once, while other orders are cancelled and cheeses deleted', async (t) => {
    const clock = testClock();
    const shops = await openInstances(t, 3, { clock, settings: { CURD_APPROVAL_DELAY: '1s' } });
    const as = shops.admin;
    const [kept, going, sold] = [await newCheese(shops), await newCheese(shops), await newCheese(shops)];
    const placed = await shops.atOnce(60, (shop, index) =>
      placeOrder(shop, [kept, kept, kept, going, sold][index % 5] ?? 0, { as }),
    );
    const ids = placed.map(({ json }) => Number(json.id));
    clock.advance(1000);
    const cancelled = ids.filter((_, index) => index % 10 === 0);
    const work = () => Promise.all(shops.all.map(({ app }) => app.worker.run()));
    const [, deleted, marked, ...cancellations] = await Promise.all([
      work(),
      deleteCheese(shops.next(), going),
      shops.request('POST', `/v2/cheeses/${sold}`, { as: shops.writer, body: { status: 'sold' } }),
      ...cancelled.map((id) => shops.request('DELETE', `/v2/store/order/${id}`, { as })),
      work(),
    ]);
    assert.ok([204, 409].includes(deleted.status), deleted.text);
    assert.equal(marked.status, 200);
    assert.equal(tally(cancellations.slice(0, -1) as (typeof deleted)[]), '6 x 204');
    const { database } = shops.all[0].app;
    await until(async () => {
      await work();
      return (await database.all(sql`select key from background_job`)).length === 0;
    }, 'orders wait');

    const ways = new Map<string, number>();
    for (const [index, id] of ids.entries()) {
      const way = (await eventsOf(shops, `order:${id}`)).map(({ type }) => type.slice(6)).join(' ');
      ways.set(way, (ways.get(way) ?? 0) + 1);
      const isTold = cancelled.includes(id);
      const ends = index % 5 < 3 ? [isTold ? 'cancelled' : 'approved'] : ['approved', 'cancelled'];
      assert.ok(
        ends.some((end) => way.endsWith(end)),
        `${id}: ${way}`,
      );
      const { json } = await shops.request('GET', `/v2/store/order/${id}`, { as });
      assert.equal(json.status, way.split(' ').at(-1));
    }
    const allowed = ['placed approved', 'placed cancelled', 'placed approved cancelled'];
    assert.deepEqual(
      [...ways.keys()].filter((way) => !allowed.includes(way)),
      [],
    );
    await assertWhole(shops);
    t.diagnostic(`${[...ways].map(([way, times]) => `${times} ${way}`).join(', ')}`);
  });

  test('The job workers of several instances approve 64 orders in a batch while their cheese is deleted', async (t) => {
    const clock = testClock();
    const shops = await openInstances(t, 2, { clock, settings: { CURD_APPROVAL_DELAY: '1s' } });
    const { database } = shops.all[0].app;
    const tallies = new Map<string, number>();
    for (let round = 0; round < deletions; round += 1) {
      const id = await newCheese(shops);
      await shops.atOnce(64, (shop) => placeOrder(shop, id));
      clock.advance(1000);
      const working = Promise.all(shops.all.map(({ app }) => app.worker.run()));
      await sleep(round % 8);
      const deleted = await deleteCheese(shops.next(), id);
      await working;
      await Promise.all(shops.all.map(({ app }) => app.worker.run()));
      assert.ok([204, 409].includes(deleted.status), deleted.text);
      const rows = await database.all<{ status: string; orders: number }>(sql`
        select status, count(*) as orders from orders where id in (
          select id from orders order by id desc limit 64) group by status`);
      const whole = rows.map(({ status, orders }) => `${orders} ${status}`).join(', ');
      assert.equal(whole, deleted.status === 204 ? '64 cancelled' : '64 approved');
      tallies.set(whole, (tallies.get(whole) ?? 0) + 1);
    }
    const [row] = await database.all<{ deadlocks: number }>(
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    );
    assert.equal(row?.deadlocks, 0);
    await assertWhole(shops);
    t.diagnostic([...tallies].map(([what, times]) => `${times} x ${what}`).join(', '));
  });
});
