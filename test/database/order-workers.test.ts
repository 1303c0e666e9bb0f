/** Workers that approve orders: several at once, approvals that fail, and a worker that is stopped. */
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
    // Both look four times a second. These calls run concurrently with them and with each other.
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

  test('retries a failed approval later, and runs the others meanwhile', { timeout: 60_000 }, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const { worker } = shop.app;
    const ids = await place(shop, 3);
    const [first, failing = 0, last] = ids;
    const repair = await failAt(shop, engine, `old.id = ${failing}`);
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

    await repair();
    clock.advance(minuteMs);
    await worker.run();
    assert.deepEqual(await approvals(shop), ids);
    assert.deepEqual(await jobs(shop), []);
  });

  test('parks an approval that fails 20 times, with its error, until an operator approves the order', async (t) => {
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

  test('runs due jobs behind any number of failing ones', { timeout: 60_000 }, async (t) => {
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

  test('deletes the job of a failing order that is cancelled', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const [id = 0] = await place(shop, 1);
    const repair = await failAt(shop, engine, `old.id = ${id}`);
    clock.advance(delayMs);
    await shop.app.worker.run();
    await repair();
    const { orders, contextOf } = shop.app.services;
    await orders.cancel(contextOf('test'), id, null);
    clock.advance(minuteMs);
    await shop.app.worker.run();
    assert.deepEqual([await statusOf(shop, id), await jobs(shop)], ['cancelled', []]);
  });

  test('finishes running jobs when it is stopped, and starts no more', async (t) => {
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
    const lock = lockOrder(other, id);
    await lock.isLocked;
    looks = 0;
    worker.start();
    await until(async () => looks > 0);

    let isStopped = false;
    const stopping = worker.stop().then(() => {
      isStopped = true;
    });
    await sleep(200);
    const wasStopped = isStopped;
    await lock.release();
    await stopping;
    assert.ok(!wasStopped, 'it stopped before its jobs were finished');
    assert.equal(await statusOf(shop, id), 'approved');
    const more = await place(shop, 1);
    await sleep(600);
    assert.deepEqual(
      (await jobs(shop)).map(({ key }) => Number(key)),
      more,
      'it started more jobs',
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

/** The orders of all recorded approvals: an order that was approved twice is listed twice. */
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

/** Makes the database refuse changes of some orders. Returns a function that ends this. */
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

/** Locks an order from another connection until `release` is called. */
function lockOrder(database: Database, id: number): { isLocked: Promise<void>; release(): Promise<void> } {
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const done = database.transaction(async (tx) => {
    await tx.run(sql`update orders set version = version where id = ${id}`);
    locked.resolve();
    await release.promise;
  });
  return {
    isLocked: locked.promise,
    async release() {
      release.resolve();
      await done;
    },
  };
}
