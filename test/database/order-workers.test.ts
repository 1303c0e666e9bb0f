/** Workers that approve orders: several at once, orders that cannot be processed, and a worker that is stopped. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/database/database.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { checkOrders } from '../../src/orders/consistency-check.ts';
import type { OrderStatus } from '../../src/orders/order-status.ts';
import { bern, onBothEngines, openShop, type Shop, testClock, until } from '../helper.ts';
import { open } from './notes.ts';

const delayMs = 1000;
const minuteMs = 60_000;

interface Job {
  readonly key: string;
  readonly due_at: string;
  readonly attempts: number;
}

onBothEngines('The worker', (engine) => {
  test('of two servers approves each of 60 orders once', { timeout: 60_000 }, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const { app } = await shop.another();
    const ids = await place(shop, 60);
    clock.advance(delayMs);
    shop.app.worker.start();
    app.worker.start();
    // Both look four times a second; these meet them, and each other, in the middle of it.
    await Promise.all([shop.app.worker.run(), app.worker.run(), shop.app.worker.run(), app.worker.run()]);
    await until(async () => (await jobs(shop)).length === 0);
    await Promise.all([shop.app.worker.stop(), app.worker.stop()]);

    const { database } = shop.app.services;
    const rows = await database.all<{ id: number; status: OrderStatus; version: number }>(
      sql`select id, status, version from orders order by id`,
    );
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      ids.map((id) => ({ id, status: 'approved', version: 2 })),
    );
    assert.deepEqual(await approvals(shop), ids);
  });

  test('tries again later what fails, and does the others meanwhile', { timeout: 60_000 }, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const { worker } = shop.app;
    const ids = await place(shop, 3);
    const [first, failing = 0, last] = ids;
    const mend = await failAt(shop, engine, `old.id = ${failing}`);
    clock.advance(delayMs);

    await worker.run();
    assert.deepEqual(await approvals(shop), [first, last]);
    assert.deepEqual(await jobs(shop), [jobAt(failing, clock.now() + 1000, 1)]);
    assert.equal(await statusOf(shop, failing), 'placed');

    await worker.run();
    clock.advance(999);
    await worker.run();
    assert.deepEqual(await jobs(shop), [jobAt(failing, clock.now() + 1, 1)], 'it was tried too early');

    clock.advance(1);
    await worker.run();
    assert.deepEqual(await jobs(shop), [jobAt(failing, clock.now() + 2000, 2)]);
    for (let attempts = 3; attempts <= 12; attempts += 1) {
      clock.advance(minuteMs);
      await worker.run();
      const waitMs = Math.min(minuteMs, 1000 * 2 ** (attempts - 1));
      assert.deepEqual(await jobs(shop), [jobAt(failing, clock.now() + waitMs, attempts)]);
    }

    await mend();
    clock.advance(minuteMs);
    await worker.run();
    assert.deepEqual(await approvals(shop), ids);
    assert.deepEqual(await jobs(shop), []);
  });

  test('parks an approval that fails 20 times, with its error, until somebody approves the order', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const [id = 0] = await place(shop, 1);
    const repair = await failAt(shop, engine, `old.id = ${id}`);
    const { database, orders, contextOf } = shop.app.services;
    const stored = () =>
      database.get<{ attempts: number; last_error: string; parked_at: string | null }>(
        sql`select attempts, last_error, parked_at from background_job`,
      );
    for (let attempts = 1; attempts < 20; attempts += 1) {
      clock.advance(minuteMs);
      await shop.app.worker.run();
      const job = await stored();
      assert.deepEqual([job?.attempts, job?.parked_at], [attempts, null]);
      assert.match(job?.last_error ?? '', /refused by the test/);
    }
    clock.advance(minuteMs);
    await shop.app.worker.run();
    assert.equal((await stored())?.parked_at, new Date(clock.now()).toISOString());

    await repair();
    clock.advance(60 * minuteMs);
    await shop.app.worker.run();
    assert.equal((await stored())?.attempts, 20, 'a parked job was run');
    assert.equal(await statusOf(shop, id), 'placed');
    const [finding, ...others] = await database.snapshot(checkOrders);
    assert.deepEqual([finding?.count, others], [1, []]);
    assert.match(finding?.examples[0] ?? '', new RegExp(`^order ${id}: .*refused by the test`));
    await orders.approve(contextOf('test'), id);
    assert.deepEqual([await statusOf(shop, id), await stored()], ['approved', undefined]);
  });

  test('gets past any number of orders that fail', { timeout: 60_000 }, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const ids = await place(shop, 150);
    const failing = ids.slice(0, 130);
    await failAt(shop, engine, `old.id <= ${failing.at(-1)}`);
    clock.advance(delayMs);
    await shop.app.worker.run();
    assert.deepEqual(await approvals(shop), ids.slice(130));
    assert.deepEqual(
      (await jobs(shop)).map(({ key, attempts }) => [Number(key), attempts]),
      failing.map((id) => [id, 1]),
    );
  });

  test('forgets a failing order that is cancelled', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const [id = 0] = await place(shop, 1);
    const mend = await failAt(shop, engine, `old.id = ${id}`);
    clock.advance(delayMs);
    await shop.app.worker.run();
    await mend();
    const { orders, contextOf } = shop.app.services;
    await orders.cancel(contextOf('test'), id, null);
    clock.advance(minuteMs);
    await shop.app.worker.run();
    assert.deepEqual([await statusOf(shop, id), await jobs(shop)], ['cancelled', []]);
  });

  test('finishes what is under way when it is stopped, and begins nothing more', async (t) => {
    let looks = 0;
    const clock: Clock = {
      ...systemClock,
      now: () => {
        looks += 1;
        return systemClock.now();
      },
    };
    const shop = await shopWithDelay(t, engine, clock, '0ms');
    const { worker } = shop.app;
    const [id = 0] = await place(shop, 1);
    const other = await open(t, shop.config);
    const held = holdUp(other, id);
    await held.isHeld;
    looks = 0;
    worker.start();
    await until(async () => looks > 0);

    let isStopped = false;
    const stopping = worker.stop().then(() => {
      isStopped = true;
    });
    await sleep(200);
    const wasStopped = isStopped;
    await held.release();
    await stopping;
    assert.ok(!wasStopped, 'it has left its work behind');
    assert.equal(await statusOf(shop, id), 'approved');
    const more = await place(shop, 1);
    await sleep(600);
    assert.deepEqual(
      (await jobs(shop)).map(({ key }) => Number(key)),
      more,
      'it went on working',
    );
  });
});

function shopWithDelay(t: TestContext, engine: Engine, clock: Clock, delay = `${delayMs}ms`): Promise<Shop> {
  return openShop(t, { engine, clock, settings: { CURD_APPROVAL_DELAY: delay } });
}

/** Orders of one cheese, by their ids. */
async function place(shop: Shop, howMany: number): Promise<number[]> {
  const as = await shop.createKey({ scopes: ['write:orders', 'write:cheeses'] });
  const cheese = { name: `Cheese for ${howMany} (${as.slice(-6)})`, pricePerKg: 24.5 };
  const { json } = await shop.request('POST', '/v2/cheeses', { as, body: cheese });
  const body = {
    items: [{ cheeseId: json.id, quantity: 1 }],
    shippingAddress: bern,
  };
  const responses = await Promise.all(
    Array.from({ length: howMany }, () => shop.request('POST', '/v2/store/order', { as, body })),
  );
  return responses.map((response) => Number(response.json.id)).sort(ascending);
}

const ascending = (a: number, b: number) => a - b;

async function jobs({ app }: Shop): Promise<Job[]> {
  const { database } = app.services;
  const found = await database.all<Job>(sql`
    select key, due_at, attempts from background_job where parked_at is null order by cast(key as bigint)`);
  return found.map((row) => ({ ...row }));
}

const jobAt = (orderId: number, dueAt: number, attempts: number): Job => ({
  key: String(orderId),
  due_at: new Date(dueAt).toISOString(),
  attempts,
});

/** The orders of all approvals that were written down: one that was approved twice is in it twice. */
async function approvals({ app }: Shop): Promise<number[]> {
  const events = await app.services.database.all<{ subject: string }>(
    sql`select subject from event where type = 'order.approved'`,
  );
  return events.map(({ subject }) => Number(subject.replace('order:', ''))).sort(ascending);
}

async function statusOf({ app }: Shop, id: number): Promise<OrderStatus | undefined> {
  const row = await app.services.database.get<{ status: OrderStatus }>(
    sql`select status from orders where id = ${id}`,
  );
  return row?.status;
}

/** Makes the database refuse to change some orders. Answers how to make it well again. */
async function failAt({ app }: Shop, engine: Engine, condition: string): Promise<() => Promise<void>> {
  const { database } = app.services;
  const [make, drop] =
    engine === 'sqlite'
      ? [
          `create trigger refusal before update on orders when ${condition}
           begin select raise(abort, 'refused by the test'); end`,
          'drop trigger refusal',
        ]
      : [
          `create function refuse() returns trigger language plpgsql as
             $$ begin raise exception 'refused by the test'; end $$;
           create trigger refusal before update on orders for each row when (${condition})
             execute function refuse()`,
          'drop trigger refusal on orders',
        ];
  await database.exclusiveTransaction((_sql, run) => run(make));
  return () => database.exclusiveTransaction((_sql, run) => run(drop));
}

/** Another process that has the order in its hands, until it is told to let go. */
function holdUp(database: Database, id: number): { isHeld: Promise<void>; release(): Promise<void> } {
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const done = database.transaction(async (tx) => {
    await tx.run(sql`update orders set version = version where id = ${id}`);
    held.resolve();
    await release.promise;
  });
  return {
    isHeld: held.promise,
    async release() {
      release.resolve();
      await done;
    },
  };
}
