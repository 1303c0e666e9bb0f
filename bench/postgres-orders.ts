/**
 * Orders on PostgreSQL by the driver alone: the statements that Curd sends, in two round trips. The first contains all
 * whose values are known, the second all rows and the commit.
 */
import postgres from 'postgres';
import { credentialByHash } from '../src/auth/keys/queries.ts';
import { cheeseQueries } from '../src/cheeses/queries.ts';
import type { Sql } from '../src/database/database.ts';
import { type SentStatements, statementsOn } from '../src/database/postgres-statements.ts';
import type { Value } from '../src/database/sql.ts';
import { recordEvents } from '../src/events/record.ts';
import { idempotencyQueries } from '../src/idempotency/queries.ts';
import { postgresQuotaQueries } from '../src/limits/queries.ts';
import { addApprovalJob } from '../src/orders/approval-job.ts';
import { orderEvents } from '../src/orders/event-types.ts';
import { orderQueries } from '../src/orders/queries.ts';

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

type Pool = postgres.Sql;
type Connection = Pick<Pool, 'unsafe'>;

/** Collects the statements that the code of Curd sends. Only types of columns come from the database. */
async function record(pool: Pool, send: (sql: Sql) => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const unsafe = (text: string, values: (string | number)[]) => {
    if (text.includes('pg_attribute')) {
      return pool.unsafe(text, values);
    }
    statements.push({ text, values: [...values] });
    return Promise.resolve(Object.assign([{ id: marks[0] }], { count: 1 }));
  };
  const shared = { columnTypes: new Map(), isPrepared: () => true, answered: () => {} };
  const sent: SentStatements = {
    isBegun: true,
    begun: Promise.resolve(),
    results: [],
    waiting: 0,
    failure: undefined,
    inserts: [],
    sendInserts: () => {},
  };
  await send(statementsOn({ unsafe } as never, shared, sent));
  sent.sendInserts();
  return statements;
}

async function recordOrder(pool: Pool): Promise<OrderStatements> {
  const [id, first, second] = marks;
  const [key] = await pool`select hash, account_id from api_key order by id desc limit 1`;
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
    created_at: now,
  };
  const placed = orderEvents.placed.of(`order:${id}`, { id, status: 'placed', total: 134.9, reason: null });
  const origin = { actor: 'key:1', requestId: hash.slice(0, 32), traceId: hash.slice(0, 32), effects: null };
  return {
    checks: await record(pool, async (sql) => {
      await sql.all(credentialByHash.many([key?.hash]));
      await postgresQuotaQueries(sql).count([['account:bare', 1, 60_000, 1e9, 0, 0]], null);
    }),
    locks: await record(pool, async (sql) => {
      await cheeseQueries(sql).lockForShare([first, second]);
      await orderQueries(sql).reserveId();
    }),
    rows: await record(pool, async (sql) => {
      await orderQueries(sql).insert(id, order, false);
      await orderQueries(sql).insertOpenCheeses(id, [first, second], new Map());
      await addApprovalJob(sql, id, later);
      await recordEvents(sql, origin, now, [placed]);
    }),
    response: await record(pool, (sql) =>
      idempotencyQueries(sql).insert(
        {
          request: `bare-${id}`,
          owner: hash.slice(0, 32),
          fingerprint: hash,
          method: 'POST',
          path: '/v2/store/order',
          request_id: origin.requestId,
          sealed: hash.repeat(16),
          created_at: now,
          expires_at: later,
        },
        hash.slice(0, 32),
      ),
    ),
  };
}

/** Returns a function that sends statements with the ids in the places of their marks. */
function sender(connection: Connection, statements: readonly Statement[]) {
  return (ids: readonly number[]) =>
    statements.map(({ text, values }) => {
      const bound = values.map((value) => {
        const fill = (filled: string, mark: number, index: number) =>
          filled.replaceAll(`${mark}`, `${ids[index]}`);
        return value === null || !`${value}`.includes('987654') ? value : marks.reduce(fill, `${value}`);
      });
      return connection.unsafe(text, bound as string[], { prepare: true }).execute();
    });
}

function orderPlacer(
  connection: Connection,
  statements: OrderStatements,
  hasChecks: boolean,
  hasKey: boolean,
) {
  const check = sender(connection, hasChecks ? statements.checks : []);
  const lock = sender(connection, statements.locks);
  const insert = sender(connection, [...statements.rows, ...(hasKey ? statements.response : [])]);
  return async (cheeseId: number) => {
    const ids = [0, cheeseId, cheeseId + 1];
    const results = await Promise.all([...check(ids), connection.unsafe('begin').execute(), ...lock(ids)]);
    const id = Number(results.at(-1)?.[0]?.id);
    await Promise.all([...insert([id, ...ids.slice(1)]), connection.unsafe('commit').execute()]);
  };
}

/** Returns orders per second on ten connections. Without the checks, which Curd makes for many requests at once. */
export async function ordersOnPostgres(
  url: string,
  ids: readonly number[],
  seconds: number,
): Promise<number> {
  const pool = postgres(url, { max: connections, onnotice: () => {} });
  const statements = await recordOrder(pool);
  const reserved = await Promise.all(Array.from({ length: connections }, () => pool.reserve()));
  const startedAt = performance.now();
  let orders = 0;
  const placeOrders = async (connection: Connection) => {
    const place = orderPlacer(connection, statements, false, false);
    while (performance.now() < startedAt + seconds * 1000) {
      orders += 1;
      await place(ids[orders % ids.length] ?? 1);
    }
  };
  await Promise.all(reserved.map(placeOrders));
  const rate = orders / ((performance.now() - startedAt) / 1000);
  for (const connection of reserved) {
    connection.release();
  }
  await pool.end();
  return rate;
}

/** Returns orders per second of one client on one connection. */
export async function ordersOfOneClient(
  url: string,
  ids: readonly number[],
  seconds: number,
  hasKey: boolean,
): Promise<number> {
  const pool = postgres(url, { max: 1, onnotice: () => {} });
  const statements = await recordOrder(pool);
  const connection = await pool.reserve();
  const place = orderPlacer(connection, statements, true, hasKey);
  const startedAt = performance.now();
  let orders = 0;
  while (performance.now() < startedAt + seconds * 1000) {
    orders += 1;
    await place(ids[orders % ids.length] ?? 1);
  }
  const rate = orders / ((performance.now() - startedAt) / 1000);
  connection.release();
  await pool.end();
  return rate;
}
