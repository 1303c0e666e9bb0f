/** Orders and logins. Their limits run in a separate process (limits.ts). */
import { randomUUID } from 'node:crypto';
import { composeShop } from '../src/app/compose.ts';
import { type Engine, rawSql, sql } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { httpRequest, runLoad } from './load.ts';
import { type Running, startCurd, startLimits } from './process.ts';

/** Shared by all parts of the bench: the number of rounds, their seconds, and a function that records a result. */
export interface Tools {
  readonly rounds: number;
  readonly seconds: number;
  readonly median: (values: readonly number[]) => number;
  readonly record: (row: {
    engine: Engine;
    work: string;
    measured: string;
    limit: string;
    ratio: number | null;
    target: string;
    isMet: boolean;
  }) => void;
}

/** A shop to start servers on. */
export interface Shop {
  readonly environment: Readonly<Record<string, string>>;
  readonly databaseUrl: string | null;
}

const connections = 64;
const loginConnections = 8;
const customer = { username: 'bench', email: 'bench@example.com', password: 'a password for the bench' };

/** An order of a cheese and of the one with the next id. */
export function orderOf(cheeseId: number): string {
  return JSON.stringify({
    items: [
      { cheeseId, quantity: 2 },
      { cheeseId: cheeseId + 1, quantity: 1 },
    ],
    shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', zipCode: '3011', country: 'CH' },
    notes: 'Please ring twice',
  });
}

/** Creates orders of two lines each, and a key with the scope to place them. */
export async function prepareOrders(shop: Shop): Promise<{ key: string; ids: number[]; bodies: string[] }> {
  const services = await composeShop(loadConfig(shop.environment));
  const account = await services.auth.keys.createAccount(
    services.contextOf('bench'),
    `bench ${randomUUID()}`,
  );
  const { key } = await services.auth.keys.create(services.contextOf('bench'), account.id, {
    scopes: ['write:orders'],
  });
  const available = await services.database.all<{ id: number }>(
    // An order has two cheeses with consecutive ids.
    sql`select a.id from cheese a join cheese b on b.id = a.id + 1 where a.status = 'available' and b.status = 'available' limit 100`,
  );
  await services.database.close();
  const ids = available.map(({ id }) => id);
  return { key, ids, bodies: ids.map(orderOf) };
}

/** Adds responses that are stored for idempotency keys. @param expiresAt of all of them */
export async function addStoredResponses(shop: Shop, rows: number, expiresAt: string): Promise<void> {
  const { database, ...services } = await composeShop(loadConfig(shop.environment));
  const numbers =
    database.engine === 'postgres'
      ? `generate_series(1, ${rows}) as numbers (n)`
      : `(with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rows}) select n from numbers) as numbers`;
  const hash = database.engine === 'postgres' ? `md5('${expiresAt}' || n)` : 'lower(hex(randomblob(16)))';
  await database.exclusiveTransaction(async (tx) => {
    await tx.run(
      rawSql(`insert into stored_response
        (request, owner, fingerprint, method, path, request_id, response, created_at, expires_at)
        select ${hash}, ${hash}, ${hash}, 'POST', '/v2/store/order', ${hash}, ${hash} || '${'x'.repeat(700)}',
          '2026-06-01T12:00:00.000Z', '${expiresAt}' from ${numbers}`),
    );
  });
  await services.close();
}

/** Requests that place orders. */
export function postOrders(
  path: string,
  bodies: readonly string[],
  headers: Record<string, string>,
): Buffer[] {
  return bodies.map((body) => httpRequest('POST', path, headers, body));
}

/** For a process whose commits on SQLite take half a millisecond longer. */
const slowCommits = { NODE_OPTIONS: `--import ${new URL('slow-commits.ts', import.meta.url).href}` };

/** `POST /v2/store/order` by 64 clients. Each order has two lines and is on disk before its response. */
export async function benchPlacement(engine: Engine, shop: Shop, tools: Tools): Promise<void> {
  const { orders, echoes, rows } = await measurePlacement(engine, shop, tools, {});
  const row = (limit: number, what: string, least: number | null, mine = orders) =>
    tools.record({
      engine,
      work: `POST /v2/store/order compared with ${what}`,
      measured: `${Math.round(mine)}/s`,
      limit: `${Math.round(limit)}/s`,
      ratio: mine / limit,
      target: least === null ? 'none' : `>= ${least}`,
      isMet: least === null || mine / limit >= least,
    });
  if (engine === 'sqlite') {
    row(rows, 'the same rows with a commit each', null);
    const slow = await measurePlacement(engine, shop, tools, slowCommits);
    row(slow.rows, 'the same rows with a commit each, half a millisecond slower', 4, slow.orders);
    row(echoes, 'a bare POST that validates and echoes', 0.2);
  } else {
    row(rows, 'the same statements run bare', 0.5);
  }
}

/** Orders a second of Curd, bare POSTs, and the rows or statements of orders alone, in turns. */
async function measurePlacement(
  engine: Engine,
  shop: Shop,
  { rounds, seconds, median }: Tools,
  environment: Record<string, string>,
): Promise<{ orders: number; echoes: number; rows: number }> {
  const { key, ids, bodies } = await prepareOrders(shop);
  // Approval is other work and would start during a round.
  const server = await startCurd({ ...shop.environment, ...environment, CURD_APPROVAL_DELAY: '1h' });
  const limits = await startLimits({ databaseUrl: shop.databaseUrl, cheeseIds: ids }, environment);
  const ours: number[] = [];
  const echoes: number[] = [];
  const bare: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const time = round < 0 ? 1 : seconds;
    const placed = await runLoad({
      port: server.port,
      requests: postOrders('/v2/store/order', bodies, { 'X-API-Key': key }),
      connections,
      seconds: time,
      // The bare statements run without a load process. A load that never sleeps would take a core from PostgreSQL.
      ...(engine === 'postgres' ? { pauseMs: 0 } : {}),
    });
    const echoed = await runLoad({
      port: limits.port,
      requests: postOrders('/echo', bodies, {}),
      connections,
      seconds: time,
    });
    const written = await runLimit(limits, `/orders?seconds=${time}`);
    if (round >= 0) {
      ours.push(placed.requestsPerSecond);
      echoes.push(echoed.requestsPerSecond);
      bare.push(written);
    }
  }
  await limits.stop();
  await server.stop();
  return { orders: median(ours), echoes: median(echoes), rows: median(bare) };
}

/** Logins compared with argon2 alone in as many slots, and their effect on the latency of other requests. */
export async function benchLogin(engine: Engine, shop: Shop, tools: Tools): Promise<void> {
  const { rounds, seconds, median, record } = tools;
  const services = await composeShop(loadConfig(shop.environment));
  const account = await services.auth.keys.createAccount(services.contextOf('bench'), 'bench login');
  const { key } = await services.auth.keys.create(services.contextOf('bench'), account.id, {});
  await services.customers.service.register(services.contextOf('bench'), customer);
  await services.database.close();
  const server = await startCurd(shop.environment);
  const limits = await startLimits({ databaseUrl: null, cheeseIds: [] });
  const body = JSON.stringify({ username: customer.username, password: customer.password });
  const logins = { port: server.port, requests: [httpRequest('POST', '/v2/customer/login', {}, body)] };
  const reads = {
    port: server.port,
    requests: [httpRequest('GET', '/v2/cheeses/1', { 'X-API-Key': key })],
    connections: 1,
    pauseMs: 2,
  };
  const rates: number[] = [];
  const bare: number[] = [];
  const quiet: number[] = [];
  const busy: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const time = round < 0 ? 1 : seconds;
    const calm = await runLoad({ ...reads, seconds: time });
    const login = await runLoad({ ...logins, connections: loginConnections, seconds: time, pauseMs: 0 });
    const [, beside] = await Promise.all([
      runLoad({ ...logins, connections: loginConnections, seconds: time, pauseMs: 0 }),
      runLoad({ ...reads, seconds: time }),
    ]);
    const hashes = await runLimit(limits, `/argon2?seconds=${time}`);
    if (round >= 0) {
      rates.push(login.requestsPerSecond);
      bare.push(hashes);
      quiet.push(calm.p99);
      busy.push(beside.p99);
    }
  }
  const [mine, limit, calm, beside] = [median(rates), median(bare), median(quiet), median(busy)];
  record({
    engine,
    work: 'login compared with argon2 alone in the same number of slots',
    measured: `${mine.toFixed(1)}/s`,
    limit: `${limit.toFixed(1)}/s`,
    ratio: mine / limit,
    target: '>= 0.9',
    isMet: mine / limit >= 0.9,
  });
  record({
    engine,
    work: 'p99 of other requests during logins compared with their idle p99',
    measured: `${beside.toFixed(2)} ms`,
    limit: `${calm.toFixed(2)} ms`,
    ratio: beside / calm,
    target: '<= 3',
    isMet: beside / calm <= 3,
  });
  await limits.stop();
  await server.stop();
}

/** Runs a limit. Returns its rate per second. */
async function runLimit({ port }: Running, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return Number(await response.text());
}
