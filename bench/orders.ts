/**
 * `node bench/orders.ts [--orders 10000000] [--engine sqlite|postgres] [--timelines] [--folder /tmp/shop] [--lists-only] [--json]`
 *
 * Makes a shop with many orders by SQL, and one with 10,000, and compares the pages of every list of orders, and other
 * reads. Each must take at most three times as long as in the small shop, and /metrics at most 50 ms. Then it times
 * doctor, doctor --repair and backup, unless `--lists-only` is given.
 *
 * `--folder` keeps the shop: the data folder of SQLite, or the one of a PostgreSQL with both shops. A shop that is there
 * already is used again. Without `--timelines` the orders have no events, reservations, jobs and customers, so doctor
 * reports them. With it, `--orders` must be a multiple of 10,000.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ComposedShop, composeShop } from '../src/app/compose.ts';
import type { Database } from '../src/database/database.ts';
import { type Engine, rawSql, sql } from '../src/database/sql.ts';
import { recountOrders } from '../src/orders/lists/order-counter.ts';
import { loadConfig, type RawSettings } from '../src/settings/config.ts';
import { startPostgres, stopPostgres } from '../test/global-setup.ts';
import { onConnection } from '../test/postgres-client.ts';
import { type Running, startCurd } from './process.ts';

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '10000000' },
    engine: { type: 'string', default: 'sqlite' },
    folder: { type: 'string' },
    timelines: { type: 'boolean', default: false },
    'lists-only': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const engine = options.engine as Engine;
const orders = Number(options.orders);
const smallOrders = 10_000;
const insertedAtOnce = 500_000;
const days = 1095;
const ratioMax = 3;
const metricsMsMax = 50;
const makeSecondsMax = 600;
/** Below this, a page is fast in any shop, and a ratio says nothing. */
const floorMs = 1;
const pagesOfList = 60;
const executable = fileURLToPath(new URL('../bin/curd.js', import.meta.url));

/** A key that placed an eighth of all orders, and customer 1, who placed one in a hundred. */
const placer = 'key:4711';

interface Shop {
  readonly environment: Record<string, string>;
  readonly key: string;
  readonly makeSeconds: number | null;
}

async function openShop(count: number, folder: string): Promise<Shop> {
  const environment: Record<string, string> = {
    CURD_DATA_DIR: folder,
    CURD_SECRET: 'a secret that is only good for benches',
    CURD_PLANS: '{"enterprise":{"perHour":1000000000,"burst":60000}}',
    CURD_ADDRESS_LIMITS: '{"perMinute":60000}',
    ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase(`orders_${count}`) } : {}),
  };
  await mkdir(folder, { recursive: true });
  const services = await composeShop(loadConfig({ ...environment, CURD_LOG_LEVEL: 'silent' } as RawSettings));
  try {
    const isMade =
      (await services.database.get(sql`select id from orders where id > 10 limit 1`)) !== undefined;
    const startedAt = performance.now();
    if (!isMade) {
      await makeOrders(services.database, count);
    }
    const makeSeconds = isMade ? null : (performance.now() - startedAt) / 1000;
    const subject = `order:${10 + count}`;
    if (
      options.timelines &&
      (await services.database.get(sql`select id from event where subject = ${subject} limit 1`)) ===
        undefined
    ) {
      const begunAt = performance.now();
      await makeTimelines(services.database, count);
      console.log(`timelines of ${count} orders in ${((performance.now() - begunAt) / 1000).toFixed(0)} s`);
    }
    return { environment, key: await newKey(services), makeSeconds };
  } finally {
    await services.close();
  }
}

async function newKey({ auth: { keys }, contextOf }: ComposedShop): Promise<string> {
  const context = contextOf('cli');
  // Another one in each run: an account has few keys.
  const account = await keys.createAccount(context, `bench ${Date.now()}`, 'enterprise');
  return (await keys.create(context, account.id, { scopes: ['admin'] })).key;
}

/** Creates a database, unless the kept folder has it. */
async function createDatabase(name: string): Promise<string> {
  const url = process.env.CURD_TEST_POSTGRES;
  await onConnection(`${url}/postgres`, async (query) => {
    const known = await query(`select 1 from pg_database where datname = '${name}'`);
    if (known.length === 0) {
      await query(`create database ${name}`);
    }
  });
  return `${url}/${name}`;
}

/** Without indexes and triggers, which are made again when all orders are there. */
async function makeOrders(database: Database, count: number): Promise<void> {
  const schema = await database.all<{ name: string; kind: string; made: string }>(
    engine === 'sqlite'
      ? sql`select name, type as kind, sql as made from sqlite_schema
          where tbl_name = 'orders' and type in ('index', 'trigger') and sql is not null`
      : sql`select indexname as name, 'index' as kind, indexdef as made from pg_indexes
          where tablename = 'orders' and indexname <> 'orders_pkey'`,
  );
  await database.exclusiveTransaction(async (_, runScript) => {
    await runScript(schema.map(({ name, kind }) => `drop ${kind} ${name};`).join('\n'));
    if (engine === 'postgres') {
      await runScript('alter table orders disable trigger user');
    }
  });
  for (let first = 0; first < count; first += insertedAtOnce) {
    await database.exclusiveTransaction(async (tx) => {
      await tx.run(insertion(first, Math.min(first + insertedAtOnce, count), count));
    });
  }
  await database.exclusiveTransaction(async (_, runScript) => {
    for (const { made } of schema.filter(({ kind }) => kind === 'index')) {
      await runScript(made);
    }
  });
  await database.exclusiveTransaction(recountOrders);
  await database.exclusiveTransaction(async (_, runScript) => {
    for (const { made } of schema.filter(({ kind }) => kind === 'trigger')) {
      await runScript(made);
    }
    if (engine === 'postgres') {
      await runScript('alter table orders enable trigger user; analyze orders; analyze order_count');
    }
  });
}

/**
 * Orders spread over three years. The oldest are delivered, one in 49 is cancelled, and the newest 0.3 % are open; one in
 * 25 that are approved is late. Two thirds have a customer; the average customer has 13 orders.
 */
function insertion(first: number, end: number, count: number) {
  const [from, to] = [rawSql(String(first)), rawSql(String(end))];
  const step = (days * 86_400) / count;
  const begin = Math.floor(Date.now() / 1000) - days * 86_400;
  const seconds = rawSql(`${begin} + n * ${step.toFixed(9)}`);
  const created =
    engine === 'sqlite'
      ? sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch')`
      : sql`to_char(to_timestamp(${seconds}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const share = (part: number) => rawSql(String(Math.floor(count * (1 - part))));
  const customers = rawSql(String(Math.max(10, Math.floor(count / 20))));
  const items =
    '[{"cheeseId":1,"cheeseName":"Gruyère","quantity":2,"pricePerKg":32.5},{"cheeseId":2,"cheeseName":"Brie","quantity":1,"pricePerKg":18}]';
  const address =
    '{"street":"Gerechtigkeitsgasse 1","city":"Bern","state":"BE","zipCode":"3011","country":"CH"}';
  const numbers =
    engine === 'sqlite'
      ? sql`numbers (n) as (select ${from} union all select n + 1 from numbers where n + 1 < ${to})`
      : sql`numbers (n) as (select * from generate_series(cast(${from} as bigint), ${to} - 1))`;
  return sql`
    with recursive ${numbers}, made as (
      select n, ${created} as created,
        case when n % 49 = 8 then 'cancelled' when n >= ${share(0.0002)} then 'placed' when n >= ${share(0.001)} then 'approved'
          when n >= ${share(0.003)} then 'shipped' else 'delivered' end as status,
        case when n % 3 = 0 then null when n % 100 = 1 then 1 else 2 + n * 7919 % ${customers} end as customer
      from numbers)
    insert into orders (id, status, placed_by, customer_id, items, address, notes, total_cents, goods_cents, ship_date, created_at,
      updated_at, needs_approval)
    select 11 + n, status,
      case when n % 8 = 0 then ${placer} when customer is null then 'client:bench' else 'customer:' || customer end,
      customer, ${items}, ${address}, null, 8300, 8300, case when status in ('approved', 'shipped') then case when n % 25 = 0 then created else '9999' end end, created,
      created, case when status = 'placed' and n % 20 = 0 then 1 else 0 end
    from made`;
}

/**
 * The events, reservations and jobs of the orders, as transitions make them, and their customers. The events have no ids
 * of requests. Of 10,000 orders each, all are placed, then approved, and so on.
 */
async function makeTimelines(database: Database, count: number): Promise<void> {
  const indexes = await database.all<{ name: string; made: string }>(
    engine === 'sqlite'
      ? sql`select name, sql as made from sqlite_schema where tbl_name = 'event' and type = 'index' and sql is not null`
      : sql`select indexname as name, indexdef as made from pg_indexes
          where tablename = 'event' and indexname <> 'event_pkey'`,
  );
  await database.exclusiveTransaction(async (_, runScript) => {
    await runScript(indexes.map(({ name }) => `drop index ${name};`).join('\n'));
  });
  let last = (await database.get<{ last: number }>(sql`select last from event_log`))?.last ?? 0;
  for (let first = 0; first < count; first += insertedAtOnce) {
    await database.exclusiveTransaction(async (tx) => {
      last += await tx.run(timelines(first, Math.min(first + insertedAtOnce, count), last));
    });
  }
  await database.exclusiveTransaction(async (tx, runScript) => {
    for (const { made } of indexes) {
      await runScript(made);
    }
    await tx.run(sql`update event_log set last = ${last}`);
    const open = sql`select id, created_at from orders where status in ('placed', 'approved', 'shipped')
      and status <> 'delivered' and id > 10`;
    await tx.run(sql`
      insert into open_order_cheese (cheese_id, order_id)
      select cheese, id from (${open}) as open cross join (select 1 as cheese union all select 2) as cheeses`);
    // Far in the future, so that the open orders stay as they are.
    await tx.run(sql`
      insert into background_job (kind, key, due_at)
      select 'order.approval', cast(id as text), '9999' from orders where status = 'placed' and id > 10`);
    await tx.run(sql`
      insert into customer (id, username, username_key, email, email_key, first_name, last_name, password, tier, created_at,
        delivered_cents, last_first, first_last)
      select customer_id, name, name, name || '@mail.example', name || '@mail.example', 'Ada', 'User', '', 'bronze', first,
        cents, 'user ada', 'ada user'
      from (
        select customer_id, 'user' || customer_id as name, min(created_at) as first,
          sum(case when status = 'delivered' then total_cents else 0 end) as cents
        from orders where customer_id is not null group by customer_id) as of_customer`);
    if (engine === 'postgres') {
      await runScript(`
        update event_log set floor_id = (select max(id) from event);
        select setval('customer_id_seq', (select max(id) from customer));
        analyze event; analyze customer`);
    }
  });
}

function timelines(first: number, end: number, last: number) {
  const [from, to] = [rawSql(String(first)), rawSql(String(end))];
  const block = 10_000;
  const numbers =
    engine === 'sqlite'
      ? sql`numbers (e) as (select 4 * ${from} union all select e + 1 from numbers where e + 1 < 4 * ${to})`
      : sql`numbers (e) as (select * from generate_series(4 * cast(${from} as bigint), 4 * ${to} - 1))`;
  return sql`
    with recursive ${numbers}, steps as (
      select e, e % ${rawSql(String(4 * block))} / ${rawSql(String(block))} as step,
        11 + e / ${rawSql(String(4 * block))} * ${rawSql(String(block))} + e % ${rawSql(String(block))} as id
      from numbers
    ), changes as (
      select e, id, placed_by, created_at, case when step = 0 then 'placed' when step = 1 and status = 'cancelled' then status
        when step = 1 and status <> 'placed' then 'approved' when step = 2 and status in ('shipped', 'delivered') then 'shipped'
        when step = 3 and status = 'delivered' then status end as status
      from steps join orders using (id)
    )
    insert into event (type, subject, actor, data, created_at, sequence)
    select 'order.' || status, 'order:' || id, case when status = 'placed' then placed_by else 'client:console' end,
      '{"id":' || id || ',"status":"' || status || '","total":83,"reason":null}', created_at,
      ${rawSql(String(last))} + row_number() over (order by e)
    from changes where status is not null order by e`;
}

/** Lists, with times at both ends of the three years. */
function listsOf(now: number): Record<string, string> {
  const day = (ago: number) => new Date(now - ago * 86_400_000).toISOString();
  return {
    'all orders': '',
    'all, oldest first': 'sort=createdAt',
    'of a customer': 'customerId=17',
    'of a large customer': 'customerId=1',
    'of a large customer, delivered': 'customerId=1&status=delivered',
    'of a large customer, placed': 'customerId=1&status=placed',
    'of a key': `placedBy=${placer}`,
    'of a key, shipped': `placedBy=${placer}&status=shipped`,
    'of a key, cancelled': `placedBy=${placer}&status=cancelled`,
    'of a key, delivered': `placedBy=${placer}&status=delivered`,
    placed: 'status=placed',
    approved: 'status=approved',
    shipped: 'status=shipped',
    delivered: 'status=delivered',
    cancelled: 'status=cancelled',
    'open ones': 'status=placed,approved,shipped',
    'delivered or cancelled': 'status=delivered,cancelled',
    'the last hour': `createdFrom=${day(1 / 24)}`,
    'since the first days': `createdFrom=${day(days - 3.3)}`,
    'before the last days': `createdBefore=${day(3.3)}`,
    'the first days': `createdBefore=${day(days - 3.3)}`,
    'a year, delivered': `createdFrom=${day(800.4)}&createdBefore=${day(435.7)}&status=delivered`,
    'of a key in a year': `placedBy=${placer}&createdFrom=${day(800.4)}&createdBefore=${day(435.7)}`,
    'waiting for an operator': 'needsApproval=true',
    late: 'late=true',
  };
}

/** Other reads, of the last month. */
function readsOf(now: number): Record<string, string> {
  const from = new Date(now - 30 * 86_400_000).toISOString();
  return {
    'status of the shop': '/v2/status',
    'series of a month': `/v2/statistics/series?measures=orders.placed,orders.placedValue&from=${from}`,
    'best sellers of a month': `/v2/statistics/best-sellers?from=${from}`,
    'low stock': '/v2/stock?status=low',
    'the first events': '/v2/events?limit=100',
    'the end of the events': '/v2/events?limit=100&since=latest',
    'events from a time on': `/v2/events?limit=100&since=${from}`,
    'an order': '/v2/store/order/5000',
    'its timeline': '/v2/store/order/5000/timeline',
    customers: '/v2/customers?q=user1',
  };
}

/** A quarter of the values are lower. Other load on the machine changes it less than the median. */
function lowerQuartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN;
}

async function timed(
  server: Running,
  path: string,
  shopKey: string,
): Promise<{ ms: number; nextCursor: string | null; total: number }> {
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { 'X-API-Key': shopKey },
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${path}: ${response.status} ${text}`);
  }
  const ms = performance.now() - startedAt;
  const { nextCursor = null, total = 0 } = text.startsWith('{') ? JSON.parse(text) : {};
  return { ms, nextCursor, total };
}

/** The time of a page among the first ones of a list, read one after another; from the first again after the last. */
async function timePages(
  server: Running,
  path: string,
  shopKey: string,
): Promise<{ ms: number; total: number }> {
  const times: number[] = [];
  let total = 0;
  for (let cursor = ''; times.length < pagesOfList; ) {
    const page = await timed(server, `${path}${cursor}`, shopKey);
    times.push(page.ms);
    total = page.total;
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  }
  return { ms: lowerQuartile(times.slice(2)), total };
}

function run(shop: Shop, ...args: string[]): number {
  const startedAt = performance.now();
  try {
    execFileSync(process.execPath, [executable, ...args], {
      env: { ...process.env, ...shop.environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch (error) {
    // doctor has findings, because the orders have no timelines.
    if ((error as { status?: number }).status !== 2) {
      throw error;
    }
  }
  return (performance.now() - startedAt) / 1000;
}

interface Row {
  readonly list: string;
  readonly total: number;
  readonly smallMs: number;
  readonly ms: number;
  readonly isOk: boolean;
}

async function main(): Promise<void> {
  if (engine === 'postgres') {
    await startPostgres(
      [
        'shared_buffers=1GB',
        'maintenance_work_mem=1GB',
        'max_wal_size=4GB',
        'wal_level=minimal',
        'max_wal_senders=0',
      ],
      tmpdir(),
      options.folder && join(options.folder, 'postgres'),
    );
  }
  const scratch = await mkdtemp(join(tmpdir(), 'curd-orders-'));
  try {
    const small = await openShop(smallOrders, join(scratch, 'small'));
    const folder = options.folder ?? join(scratch, 'large');
    const large = await openShop(orders, folder);
    console.log(
      large.makeSeconds === null
        ? `${folder} has orders already`
        : `${orders} orders in ${large.makeSeconds.toFixed(0)} s (at most ${makeSecondsMax})`,
    );
    // First, because --repair counts statistics, which a server would do meanwhile.
    if (!options['lists-only']) {
      console.log(`doctor --repair ${run(large, 'doctor', '--repair', '--no-record').toFixed(0)} s`);
      console.log(`doctor ${run(large, 'doctor', '--no-record').toFixed(0)} s`);
      if (engine === 'sqlite') {
        const backup = join(scratch, 'backup.tar');
        const seconds = run(large, 'backup', backup);
        console.log(`backup ${seconds.toFixed(0)} s, ${((await stat(backup)).size / 1e9).toFixed(1)} GB`);
        await rm(backup);
      }
    }
    const rows: Row[] = [];
    let isMet = false;
    // Not a setting of the servers.
    delete process.env.CURD_TEST_POSTGRES;
    const servers = [await startCurd(small.environment), await startCurd(large.environment)] as const;
    console.log(`start ${servers[1].startMs.toFixed(0)} ms (${servers[0].startMs.toFixed(0)} ms)`);
    try {
      const lists = Object.entries(listsOf(Date.now())).map(([name, query]) => [
        name,
        `/v2/store/orders?${query}`,
      ]);
      for (const [name = '', path = ''] of [...lists, ...Object.entries(readsOf(Date.now()))]) {
        const { ms: smallMs } = await timePages(servers[0], path, small.key);
        const { ms, total } = await timePages(servers[1], path, large.key);
        const isOk = ms <= Math.max(floorMs, ratioMax * smallMs);
        rows.push({ list: name, total, smallMs, ms, isOk });
        console.log(
          `${isOk ? 'ok  ' : 'MISS'} ${name.padEnd(32)} ${String(total).padStart(9)} ${smallMs.toFixed(2)} ms ${ms.toFixed(2)} ms`,
        );
      }
      const { ms } = await timePages(servers[1], '/metrics', large.key);
      const isOk = ms <= metricsMsMax;
      isMet = isOk && rows.every((row) => row.isOk);
      console.log(`${isOk ? 'ok  ' : 'MISS'} /metrics ${ms.toFixed(1)} ms (at most ${metricsMsMax})`);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
    if (options.json) {
      console.log(JSON.stringify(rows));
    }
    process.exitCode = isMet ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
    if (engine === 'postgres') {
      await stopPostgres();
    }
  }
}

await main();
