/**
 * Kills a busy server repeatedly at random moments, on PostgreSQL two servers at once. Every change with a response must
 * be stored completely and once, and a consumer of the event log must see every number once. A few kills in every run of
 * the tests; as many as you like, half of them on PostgreSQL, with
 *
 *     CURD_TEST_KILLS=100 node --test --test-global-setup=test/global-setup.ts test/faults/kill.test.ts
 */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { dollars } from '../../src/decimal.ts';
import { firstRealId, type OrderRow } from '../../src/orders/queries.ts';
import { type Config, loadConfig } from '../../src/settings/config.ts';
import { checkStock } from '../../src/stock/consistency-check.ts';
import { accountWithKey, createStock, freshShop, inShop, type RunningServer, serve } from '../cli/run.ts';
import { secret } from '../context.ts';
import { createDatabase, temporaryFolder, until } from '../helper.ts';
import { type Consumer, createConsumer } from './consumer.ts';
import { createLoad, type Load, type Memory, type OrderResponse, pick } from './load.ts';

const kills = Number(process.env.CURD_TEST_KILLS ?? 2);
const longestLifeMs = 350;
/** Enough to keep the server busy at every moment. */
const placers = 24;
const secondsForEach = 20;

/** The stock of the first cheese is tracked. One of the cheeses has no price, so that its orders wait for an operator. */
const stock = { prices: [41.5, 0.01, 19.999, 100, undefined], scopes: ['write:orders'] } as const;

suite('A server that is killed', () => {
  const options = { timeout: (kills + 1) * secondsForEach * 1000 };

  test(
    'A server that is killed keeps every confirmed change on SQLite, and makes none twice',
    options,
    async (t) => {
      await killAgainAndAgain(t, 'sqlite', kills);
    },
  );

  test(
    'A server that is killed keeps every confirmed change on PostgreSQL, and makes none twice',
    options,
    async (t) => {
      await killAgainAndAgain(t, 'postgres', Math.ceil(kills / 2));
    },
  );
});

async function killAgainAndAgain(t: TestContext, engine: Engine, times: number): Promise<void> {
  const environment = await freshShop(t, {
    CURD_SECRET: secret,
    CURD_APPROVAL_DELAY: '100ms',
    CURD_LOG_LEVEL: 'warn',
    ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {}),
  });
  const environments = [environment];
  if (engine === 'postgres') {
    environments.push({
      ...environment,
      CURD_DATA_DIR: await temporaryFolder(t),
      CURD_IMAGES: `file:${environment.CURD_DATA_DIR}/images`,
    });
  }
  const config = loadConfig(environment);
  const { key, cheeses } = await createStock(environment, stock);
  const [tracked = 0] = cheeses;
  await inShop(environment, ({ stock: { service }, contextOf }) =>
    service.replace(contextOf('test'), tracked, { onHand: 1_000_000_000 }),
  );
  const load = createLoad(key, cheeses, placers / environments.length);
  // With admin: it sees events of all types.
  const consumer = createConsumer((await accountWithKey(environment, ['admin'])).key);
  const { memory } = load;
  let unanswered = 0;
  const serveAll = () => Promise.all(environments.map((one) => serve(t, one)));
  let servers = await serveAll();
  for (let kill = 0; kill < times; kill += 1) {
    const known = new Set(memory.orders.keys());
    const knownCustomers = new Set(memory.customers.keys());
    await workAndDie(servers, load, consumer);
    const fresh = [...memory.orders.values()].filter(({ id }) => !known.has(id));
    unanswered += memory.unanswered.size;
    const newest = await inspect(config, memory);

    servers = await serveAll();
    const [server] = servers as [RunningServer];
    await requireNumbered(config, newest);
    await readBack(server, load, fresh);
    await readCustomers(server, load, knownCustomers);
    await sendAgain(server, load, fresh);
  }
  await everyOrderArrives(config, memory);
  await readWholeLog(config, servers, consumer);
  for (const server of servers) {
    assertQuiet(await server.stop());
  }
  await inspect(config, memory);
  const levels = await inShop(environment, ({ stock: { service } }) => service.find(tracked));
  assert.ok(JSON.parse(levels.body).reserved > 0, 'no order has reserved');
  const { orders, cancelled, customers } = memory;
  const answered = `${orders.size} orders, ${cancelled.size} cancellations, ${customers.size} registrations`;
  t.diagnostic(
    `${engine}: ${times} kills of ${servers.length}, ${unanswered} requests cut short; answered: ${answered}; ${consumer.sequences.length} events read`,
  );
}

/** Kills the servers at a random moment, after responses of each kind. */
async function workAndDie(servers: readonly RunningServer[], load: Load, consumer: Consumer): Promise<void> {
  const { orders, cancelled, customers } = load.memory;
  const before = { orders: orders.size, events: consumer.sequences.length };
  const urls = servers.map(({ url }) => url);
  const working = Promise.all([...urls.map((url) => load.run(url)), consumer.readUntilCut(urls)]);
  working.catch(() => {});
  const isIdle = () =>
    orders.size === before.orders ||
    cancelled.size === 0 ||
    customers.size === 0 ||
    consumer.sequences.length === before.events;
  while (isIdle()) {
    await Promise.race([sleep(1), working]);
  }
  await Promise.race([sleep(pick(longestLifeMs)), working]);
  for (const ended of await Promise.all(servers.map((server) => server.stop('SIGKILL')))) {
    assertQuiet(ended);
  }
  await working;
}

/** A server numbers what killed servers left before it accepts connections. */
async function requireNumbered(config: Config, newest: number): Promise<void> {
  const database = await openDatabase(config);
  try {
    const rows = await database.all(sql`select id from event where id <= ${newest} and sequence is null`);
    assert.equal(rows.length, 0, 'events have no number after a start');
  } finally {
    await database.close();
  }
}

/** The consumer, which continued at its position after each kill, has seen every event once. */
async function readWholeLog(
  config: Config,
  servers: readonly RunningServer[],
  consumer: Consumer,
): Promise<void> {
  const database = await openDatabase(config);
  try {
    const countWaiting = async () =>
      (await database.all(sql`select id from event where sequence is null`)).length;
    await until(async () => (await countWaiting()) === 0, 'events have no number');
    await consumer.readRest(servers.at(-1)?.url ?? '');
    const rows = await database.all<{ sequence: number }>(
      sql`select sequence from event where sequence > 0 order by sequence`,
    );
    const numbers = rows.map(({ sequence }) => sequence);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
      'the log has gaps',
    );
    assert.deepEqual(consumer.sequences, numbers);
  } finally {
    await database.close();
  }
}

function assertQuiet({ stderr }: { stderr: string }): void {
  assert.equal(stderr, '', 'the server complained');
}

/** The responses of the killed server, read from the next one. */
async function readBack(server: RunningServer, load: Load, orders: readonly OrderResponse[]): Promise<void> {
  await inTurns(orders, async ({ id, items, total, notes }) => {
    const order = await load.read(server.url, `/v2/store/order/${id}`);
    assert.deepEqual({ items: order.items, total: order.total, notes: order.notes }, { items, total, notes });
    if (load.memory.cancelled.has(id)) {
      assert.equal(order.status, 'cancelled', `order ${id} was answered as cancelled`);
    }
  });
}

async function readCustomers(
  server: RunningServer,
  { read, memory }: Load,
  known: ReadonlySet<number>,
): Promise<void> {
  const fresh = [...memory.customers].filter(([id]) => !known.has(id));
  await inTurns(fresh, async ([id, { username }]) => {
    const customer = await read(server.url, `/v2/customer/${username}`);
    assert.equal(customer.id, id);
    assert.equal(customer.email, `${username}@example.com`);
  });
  const [, credentials] = fresh[pick(fresh.length)] ?? [];
  if (credentials !== undefined) {
    const response = await fetch(`${server.url}/v2/customer/login`, {
      method: 'POST',
      body: JSON.stringify(credentials),
      headers: { 'Content-Type': 'application/json' },
    });
    assert.equal(response.status, 200, `${credentials.username} cannot log in: ${await response.text()}`);
  }
}

/** Requests without a response get one now; the others get the same response again. */
async function sendAgain(
  server: RunningServer,
  load: Load,
  answered: readonly OrderResponse[],
): Promise<void> {
  const { attempts, orders, unanswered } = load.memory;
  await inTurns([...unanswered.values()], (attempt) => load.send(server.url, attempt));
  assert.equal(unanswered.size, 0);
  await inTurns(answered.slice(-5), async (order) => {
    const attempt = attempts.get(order.id);
    assert.ok(attempt !== undefined);
    await load.send(server.url, attempt);
    assert.deepEqual(orders.get(order.id), order);
  });
}

/**
 * The database as the killed servers left it. No other process may change it meanwhile.
 * @returns the id of the newest event
 */
async function inspect(config: Config, memory: Memory): Promise<number> {
  if (config.database.engine === 'sqlite') {
    const file = new DatabaseSync(config.database.file);
    assert.deepEqual({ ...file.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' });
    file.close();
  }
  const database = await openDatabase(config);
  try {
    await untilAlone(database);
    await requireWhole(database, memory);
    const row = await database.get<{ newest: number }>(sql`select max(id) as newest from event`);
    return row?.newest ?? 0;
  } finally {
    await database.close();
  }
}

/** On PostgreSQL, the last statements of a killed process may still be running. */
async function untilAlone(database: Database): Promise<void> {
  while (database.engine === 'postgres') {
    const others = await database.all(sql`
      select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`);
    if (others.length === 0) {
      return;
    }
    await sleep(5);
  }
}

async function requireWhole(database: Database, memory: Memory): Promise<void> {
  const orders = await ordersIn(database);
  const byId = new Map(orders.map((order) => [order.id, order]));
  for (const { id, items, total, notes } of memory.orders.values()) {
    const row = byId.get(id);
    assert.ok(row !== undefined, `order ${id} was answered and is not there`);
    const stored = { items: JSON.parse(row.items), total: dollars(row.total_cents), notes: row.notes };
    assert.deepEqual(stored, { items, total, notes });
  }
  const lost = [...memory.cancelled].filter((id) => byId.get(id)?.status !== 'cancelled');
  assert.deepEqual(lost, [], 'these were answered as cancelled');
  const keys = new Set(orders.map(({ notes }) => notes));
  assert.equal(keys.size, orders.length, 'a request made two orders');

  await requireEvents(database, orders);

  const inOrders = await database.all<{ cheese_id: number; order_id: number }>(
    sql`select cheese_id, order_id from open_order_cheese order by order_id, cheese_id`,
  );
  assert.deepEqual(
    inOrders.map(({ cheese_id, order_id }) => `${order_id}: ${cheese_id}`),
    orders.filter(isOpen).flatMap((order) => cheesesIn(order).map((cheeseId) => `${order.id}: ${cheeseId}`)),
    'open_order_cheese',
  );
  assert.deepEqual(await database.snapshot(checkStock), [], 'a reservation without its order');
  const jobs = await database.all<{ key: string }>(sql`select key from background_job`);
  assert.deepEqual(
    jobs.map(({ key }) => Number(key)).sort((a, b) => a - b),
    orders.filter((order) => order.status === 'placed' && isPriced(order)).map(({ id }) => id),
    'jobs',
  );
}

/** Every order and customer has each of its events once, and there are no other events. */
async function requireEvents(database: Database, orders: readonly OrderRow[]): Promise<void> {
  // By their numbers, as consumers see them; those without a number come last.
  const events = await database.all<{ type: string; subject: string }>(sql`
    select type, subject from event where type like 'order.%' or type like 'customer.%'
    order by coalesce(nullif(sequence, 0), 1000000000), id`);
  const customers = await database.all<{ id: number }>(sql`select id from customer`);
  const happened = new Map<string, string[]>(customers.map(({ id }) => [`customer:${id}`, []]));
  for (const { id } of orders) {
    happened.set(`order:${id}`, []);
  }
  for (const { type, subject } of events) {
    if (Number(/^order:(\d+)$/.exec(subject)?.[1] ?? firstRealId) >= firstRealId) {
      const types = happened.get(subject);
      assert.ok(types !== undefined, `${type} of ${subject}, which is not there`);
      types.push(type);
    }
  }
  for (const { id, status } of orders) {
    const types = happened.get(`order:${id}`)?.join(' ');
    const ways: Record<string, string[]> = {
      placed: ['order.placed'],
      approved: ['order.placed order.approved'],
      cancelled: ['order.placed order.cancelled', 'order.placed order.approved order.cancelled'],
    };
    assert.ok(ways[status]?.includes(types ?? ''), `order ${id} is ${status}, and its events are ${types}`);
  }
  for (const { id } of customers) {
    assert.deepEqual(happened.get(`customer:${id}`), ['customer.created']);
  }
}

/** Orders that were not cancelled are approved automatically in the end, except those without a price. */
async function everyOrderArrives(config: Config, { cancelled, maybeCancelled }: Memory): Promise<void> {
  const database = await openDatabase(config);
  const deadline = performance.now() + secondsForEach * 1000;
  const waiting = async () =>
    (await ordersIn(database)).filter((order) => order.status === 'placed' && isPriced(order));
  try {
    while ((await waiting()).length > 0) {
      assert.ok(performance.now() < deadline, `${(await waiting()).length} orders were not approved`);
      await sleep(50);
    }
    for (const order of await ordersIn(database)) {
      const maybe = maybeCancelled.has(order.id) && !cancelled.has(order.id);
      const due = isPriced(order) ? 'approved' : 'placed';
      const expected = cancelled.has(order.id) || (maybe && order.status === 'cancelled') ? 'cancelled' : due;
      assert.equal(order.status, expected, `order ${order.id}`);
    }
  } finally {
    await database.close();
  }
}

function ordersIn(database: Database): Promise<OrderRow[]> {
  return database.all<OrderRow>(sql`
    select id, status, items, total_cents, notes from orders where id >= ${firstRealId} order by id`);
}

const isOpen = ({ status }: OrderRow) => ['placed', 'approved', 'shipped'].includes(status);

const isPriced = ({ items }: OrderRow) =>
  (JSON.parse(items) as { pricePerKg: number }[]).every(({ pricePerKg }) => pricePerKg > 0);

function cheesesIn({ items }: OrderRow): number[] {
  const ids = (JSON.parse(items) as { cheeseId: number }[]).map(({ cheeseId }) => cheeseId);
  return [...new Set(ids)].sort((a, b) => a - b);
}

/** A few at once. */
async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const next = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      await work(one);
    }
  };
  await Promise.all(Array.from({ length: 8 }, next));
}
