/**
 * Orders on PostgreSQL by the driver alone: the statements that Curd sends, in two round trips. The first contains all
 * whose values are known, the second all rows and the commit.
 */
import pg from 'pg';
import { credentialByHash } from '../src/auth/keys/queries.ts';
import { cheeseQueries } from '../src/cheeses/queries.ts';
import { systemClock } from '../src/clock.ts';
import type { Sql } from '../src/database/database.ts';
import { KnownTexts } from '../src/database/postgres/known-texts.ts';
import { statementsIn } from '../src/database/postgres/statements.ts';
import { PostgresTransaction } from '../src/database/postgres/transaction.ts';
import type { Value } from '../src/database/sql.ts';
import { recordEvents } from '../src/event-log/record.ts';
import { jobQueue } from '../src/jobs/queue.ts';
import { postgresQuotaQueries } from '../src/limits/queries.ts';
import { orderEvents } from '../src/orders/event-types.ts';
import { orderQueries } from '../src/orders/queries.ts';
import { orderApprovalKind } from '../src/orders/transitions/transitions.ts';
import { idempotencyQueries } from '../src/stored-responses/queries.ts';

interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

interface OrderStatements {
  /** The credential and the rate limit: each is a transaction of its own. */
  readonly checks: readonly Statement[];
  /** Of the transaction; the last one returns the id of the order. */
  readonly locks: readonly Statement[];
  readonly rows: readonly Statement[];
  /** The stored response of an idempotency key. */
  readonly response: readonly Statement[];
}

/** In the recorded values, these stand for the id of the order and for those of its two cheeses. */
const marks = [987_654_001, 987_654_002, 987_654_003] as const;
const now = '2026-06-01T12:00:00.000Z';
const later = '2099-06-01T13:00:00.000Z';
const connections = 10;
const hash = '0123456789abcdef'.repeat(4);

/** Collects the statements that the code of Curd sends. Only types of columns come from the database. */
async function record(client: pg.Client, send: (sql: Sql) => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const query = (text: string, values: readonly Value[] = []) => {
    if (text.includes('pg_attribute')) {
      return client.query(text, [...values]);
    }
    statements.push({ text, values });
    return Promise.resolve({ rows: [{ id: marks[0] }], rowCount: 1, command: 'COMMIT' } as never);
  };
  const transaction = new PostgresTransaction({ query }, '');
  await transaction.complete(() =>
    send(statementsIn(transaction, { columnTypes: new Map(), texts: new KnownTexts(true) })),
  );
  // Without `begin` and `commit`.
  return statements.slice(1, -1);
}

/** Opens connections that send statements without waiting for the results of those before. */
function connect(url: string, count: number): Promise<pg.Client[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = new pg.Client({ connectionString: url, pipeline: true });
      await client.connect();
      return client;
    }),
  );
}

async function recordOrder(client: pg.Client): Promise<OrderStatements> {
  const [id, first, second] = marks;
  const { rows } = await client.query('select hash from api_key order by id desc limit 1');
  const line = { quantity: 2, pricePerKg: 61.25 };
  const items = JSON.stringify([
    { cheeseId: first, cheeseName: 'Tomme Noir kelisor', ...line },
    { cheeseId: second, cheeseName: 'Brie Vieux zerlunba', ...line },
  ]);
  const shippingAddress = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', state: null, zipCode: '3011' };
  const order = {
    placed_by: 'key:1',
    customer_id: null,
    items,
    address: JSON.stringify({ ...shippingAddress, country: 'CH' }),
    notes: 'Please ring twice',
    total_cents: 13_490,
    goods_cents: 13_490,
    breakdown: null,
    delivery: null,
    gift: null,
    created_at: now,
  };
  const placed = orderEvents.placed.of(`order:${id}`, { id, status: 'placed', total: 134.9, reason: null });
  const origin = { actor: 'key:1', requestId: hash.slice(0, 32), traceId: hash.slice(0, 32), effects: null };
  return {
    checks: await record(client, async (sql) => {
      await sql.all(credentialByHash.many([rows[0].hash]));
      await postgresQuotaQueries(sql).count([['account:bare', 1, 60_000, 1e9, 0, 0]], systemClock);
    }),
    locks: await record(client, async (sql) => {
      await cheeseQueries(sql).lockForShare([first, second]);
      await orderQueries(sql).reserveId();
    }),
    rows: await record(client, async (sql) => {
      await orderQueries(sql).insert(id, order, false);
      await orderQueries(sql).insertOpenCheeses(id, [first, second], new Map());
      await jobQueue(sql).add(orderApprovalKind, String(id), later);
      await recordEvents(sql, origin, now, [placed]);
    }),
    response: await record(client, (sql) =>
      idempotencyQueries(sql).insert({
        request: `bare-${id}`,
        owner: hash.slice(0, 32),
        fingerprint: hash,
        method: 'POST',
        path: '/v2/store/order',
        request_id: origin.requestId,
        response: hash.repeat(16),
        created_at: now,
        expires_at: later,
      }),
    ),
  };
}

/** Returns a function that sends statements with the ids in the places of their marks. */
function sender(client: pg.Client, name: string, statements: readonly Statement[]) {
  return (ids: readonly number[]) =>
    statements.map(({ text, values }, index) => {
      const bound = values.map((value) => {
        const fill = (filled: string, mark: number, place: number) =>
          filled.replaceAll(`${mark}`, `${ids[place]}`);
        return value === null || !`${value}`.includes('987654') ? value : marks.reduce(fill, `${value}`);
      });
      return client.query({ name: `${name}${index}`, text, values: bound });
    });
}

function orderPlacer(client: pg.Client, statements: OrderStatements, hasChecks: boolean, hasKey: boolean) {
  const check = sender(client, 'check', hasChecks ? statements.checks : []);
  const lock = sender(client, 'lock', statements.locks);
  const insert = sender(client, 'row', [...statements.rows, ...(hasKey ? statements.response : [])]);
  return async (cheeseId: number) => {
    const ids = [0, cheeseId, cheeseId + 1];
    const results = await Promise.all([...check(ids), client.query('begin'), ...lock(ids)]);
    const id = Number(results.at(-1)?.rows[0]?.id);
    await Promise.all([...insert([id, ...ids.slice(1)]), client.query('commit')]);
  };
}

/** Returns orders per second on ten connections. Without the checks, which Curd makes for many requests at once. */
export function ordersOnPostgres(url: string, ids: readonly number[], seconds: number): Promise<number> {
  return measure(url, connections, seconds, ids, { hasChecks: false, hasKey: false });
}

/** Returns orders per second of one client on one connection. */
export function ordersOfOneClient(
  url: string,
  ids: readonly number[],
  seconds: number,
  hasKey: boolean,
): Promise<number> {
  return measure(url, 1, seconds, ids, { hasChecks: true, hasKey });
}

async function measure(
  url: string,
  count: number,
  seconds: number,
  ids: readonly number[],
  { hasChecks, hasKey }: { readonly hasChecks: boolean; readonly hasKey: boolean },
): Promise<number> {
  const clients = await connect(url, count);
  const statements = await recordOrder(clients[0] as pg.Client);
  const startedAt = performance.now();
  let orders = 0;
  const placeOrders = async (client: pg.Client) => {
    const place = orderPlacer(client, statements, hasChecks, hasKey);
    while (performance.now() < startedAt + seconds * 1000) {
      orders += 1;
      await place(ids[orders % ids.length] ?? 1);
    }
  };
  await Promise.all(clients.map(placeOrders));
  const rate = orders / ((performance.now() - startedAt) / 1000);
  await Promise.all(clients.map((client) => client.end()));
  return rate;
}
