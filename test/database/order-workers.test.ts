/** Workers that approve orders: several at once, approvals that fail, and a worker that is stopped. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { forEachBlock } from '../../src/blocks.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Database, Sql } from '../../src/database/database.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { checkOrders } from '../../src/orders/consistency-check.ts';
import type { OrderStatus } from '../../src/orders/transitions/order-status.ts';
import { onBothEngines, openShop, type Shop, testClock, until } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { open } from './notes.ts';

/** CURD_TEST_APPROVALS=5000: ten servers. */
const orders = Number(process.env.CURD_TEST_APPROVALS ?? 60);
const servers = orders > 60 ? 10 : 2;
const delayMs = 1000;
const minuteMs = 60_000;

interface Job {
  readonly key: string;
  readonly due_at: string;
  readonly attempts: number;
}

onBothEngines('The worker', (engine) => {
  test(`The order worker on ${servers} servers approves each of ${orders} orders once`, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const workers = [shop.app.worker];
    while (workers.length < servers) {
      workers.push((await shop.another()).app.worker);
    }
    const ids = await placeMany(shop, orders);
    clock.advance(delayMs);
    const startedAt = performance.now();
    for (const worker of workers) {
      worker.start();
    }
    // All look four times a second. These calls run concurrently with them and with each other.
    await Promise.all([...workers, ...workers].map((worker) => worker.run()));
    await until(async () => (await jobs(shop)).length === 0, 'orders wait', 60_000);
    t.diagnostic(`${orders} orders in ${Math.round(performance.now() - startedAt)} ms`);
    await Promise.all(workers.map((worker) => worker.stop()));

    const { database } = shop.app;
    const rows = await database.all<{ id: number; status: OrderStatus; version: number }>(
      sql`select id, status, version from orders order by id`,
    );
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      ids.map((id) => ({ id, status: 'approved', version: 2 })),
    );
    assert.deepEqual(await approvals(shop), ids);
    if (engine === 'postgres') {
      const [row] = await database.all<{ transactions: number }>(
        sql`select count(distinct cast(xmin as text)) as transactions from orders`,
      );
      assert.ok((row?.transactions ?? 0) <= orders / 10, `${row?.transactions} transactions`);
    }
  });

  test('The order worker retries a failed approval later, and runs the others meanwhile', {
    timeout: 60_000,
  }, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const { worker } = shop.app;
    const ids = await placeMany(shop, 64);
    const [failing = 0] = ids.splice(30, 1);
    const repair = await failAt(shop, engine, `old.id = ${failing}`);
    clock.advance(delayMs);

    await worker.run();
    assert.deepEqual(await approvals(shop), ids);
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
    assert.deepEqual(await approvals(shop), [...ids, failing].sort(ascending));
    assert.deepEqual(await jobs(shop), []);
  });

  test('The order worker parks an approval that fails 20 times, with its error, until an operator approves the order', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const [id = 0] = await placeMany(shop, 1);
    const repair = await failAt(shop, engine, `old.id = ${id}`);
    const {
      database,
      orders: { service: orders },
      contextOf,
    } = shop.app;
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

  test('The order worker runs due jobs behind any number of failing ones', { timeout: 60_000 }, async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const ids = await placeMany(shop, 150);
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

  test('The order worker deletes the job of a failing order that is cancelled', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, engine, clock);
    const [id = 0] = await placeMany(shop, 1);
    const repair = await failAt(shop, engine, `old.id = ${id}`);
    clock.advance(delayMs);
    await shop.app.worker.run();
    await repair();
    const {
      orders: { service: orders },
      contextOf,
    } = shop.app;
    await orders.cancel(contextOf('test'), id, null);
    clock.advance(minuteMs);
    await shop.app.worker.run();
    assert.deepEqual([await statusOf(shop, id), await jobs(shop)], ['cancelled', []]);
  });

  test('The order worker finishes running jobs when it is stopped, and starts no more', async (t) => {
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
    const [id = 0] = await placeMany(shop, 1);
    const other = await open(t, shop.config);
    const lock = lockEvents(other);
    await lock.isLocked;
    looks = 0;
    worker.start();
    // Once for each kind of jobs, and once for the batch.
    await until(async () => looks > 2);

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
    const more = await placeMany(shop, 1);
    await sleep(600);
    assert.deepEqual(
      (await jobs(shop)).map(({ key }) => Number(key)),
      more,
      'it started more jobs',
    );
  });
});

suite('The worker on PostgreSQL', () => {
  test('The order worker on PostgreSQL leaves orders that others change, and orders of cheeses that others change', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, 'postgres', clock);
    const some = await placeMany(shop, 3);
    const others = await placeMany(shop, 3);
    const { database } = shop.app;
    const [cheese] = await database.all<{ id: number }>(sql`select min(id) as id from cheese`);
    const other = await open(t, shop.config);
    const locks = [
      hold(other, (tx) => tx.run(sql`update orders set version = version where id = ${others[1] ?? 0}`)),
      hold(other, (tx) => tx.run(sql`update cheese set version = version where id = ${cheese?.id ?? 0}`)),
    ];
    await Promise.all(locks.map(({ isLocked }) => isLocked));
    clock.advance(delayMs);
    await shop.app.worker.run();
    assert.deepEqual(await approvals(shop), [others[0], others[2]]);
    const left = [...some, others[1] ?? 0];
    assert.deepEqual(
      (await jobs(shop)).map(({ key, attempts }) => [Number(key), attempts]),
      left.map((id) => [id, 0]),
    );
    await Promise.all(locks.map((lock) => lock.release()));
    await shop.app.worker.run();
    assert.deepEqual(await approvals(shop), [...some, ...others]);
  });

  test('The order worker on PostgreSQL loses no order of a batch whose connection ends, and approves none twice', async (t) => {
    const clock = testClock();
    const shop = await shopWithDelay(t, 'postgres', clock);
    const ids = await placeMany(shop, 20);
    const other = await open(t, shop.config);
    const lock = lockEvents(other);
    await lock.isLocked;
    clock.advance(delayMs);
    const running = shop.app.worker.run();
    // The batch has locked its jobs and orders, and records its events.
    await until(async () => {
      const ended = await other.all(sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into event%'`);
      return ended.length > 0;
    });
    await lock.release();
    await running.catch(() => {});
    await until(async () => {
      clock.advance(minuteMs);
      await shop.app.worker.run().catch(() => {});
      return (await jobs(shop)).length === 0;
    });
    assert.deepEqual(await approvals(shop), ids);
  });
});

function shopWithDelay(t: TestContext, engine: Engine, clock: Clock, delay = `${delayMs}ms`): Promise<Shop> {
  return openShop(t, { engine, clock, settings: { CURD_APPROVAL_DELAY: delay } });
}

/** Places orders of one cheese, many at once. @returns their ids in order */
async function placeMany(shop: Shop, howMany: number): Promise<number[]> {
  const as = await shop.createKey({ scopes: ['write:orders'] });
  const cheese = await newCheese(shop);
  const ids: number[] = [];
  await forEachBlock(Array.from({ length: howMany }), 150, async (block) => {
    ids.push(...(await Promise.all(block.map(() => newOrder(shop, cheese, { as })))));
  });
  return ids.sort(ascending);
}

const ascending = (a: number, b: number) => a - b;

async function jobs({ app }: Shop): Promise<Job[]> {
  const { database } = app;
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
  const events = await app.database.all<{ subject: string }>(
    sql`select subject from event where type = 'order.approved'`,
  );
  return events.map(({ subject }) => Number(subject.replace('order:', ''))).sort(ascending);
}

async function statusOf({ app }: Shop, id: number): Promise<OrderStatus | undefined> {
  const row = await app.database.get<{ status: OrderStatus }>(
    sql`select status from orders where id = ${id}`,
  );
  return row?.status;
}

/** Makes the database refuse changes of some orders. Returns a function that ends this. */
async function failAt({ app }: Shop, engine: Engine, condition: string): Promise<() => Promise<void>> {
  const { database } = app;
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

/** Lets no other connection record events until `release` is called. SQLite has one writer at a time. */
function lockEvents(database: Database): Lock {
  return hold(database, (tx) =>
    tx.run(
      database.engine === 'postgres'
        ? sql`lock table event in share mode`
        : sql`update catalogue set version = version`,
    ),
  );
}

interface Lock {
  readonly isLocked: Promise<void>;
  release(): Promise<void>;
}

/** Keeps the locks of a statement until `release` is called. */
function hold(database: Database, lock: (tx: Sql) => Promise<unknown>): Lock {
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const done = database.transaction(async (tx) => {
    await lock(tx);
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
