/**
 * The engine for several instances: PostgreSQL by the driver `postgres`, with a pool and prepared statements.
 * Measured on reads by key: 55 us of CPU each, against 75 us with the driver `pg`.
 */
import postgres from 'postgres';
import { unavailable } from '../errors.ts';
import type { Database, Sql, Transaction } from './database.ts';
import { codeOf, isLost, isRetryable, READ_ONLY, translatePostgresError } from './postgres-errors.ts';
import { type Connection, type SharedState, statementsOn } from './postgres-statements.ts';
import { type TlsSettings, tlsOf } from './postgres-tls.ts';
import { createSlots } from './slots.ts';

/** Connections, unless the URL has `?max=`. */
const poolSize = 10;
const attemptsMax = 5;
/** For one statement, waits for locks included. No request needs as long. */
const statementMs = 30_000;
/**
 * For one lock. All changes to the catalogue lock one row: without this limit they would wait as long as it is locked,
 * and occupy all connections meanwhile.
 */
const lockMs = 2500;
/** Connections that changes leave to reads and to the readiness check, if the pool has as many. */
const reservedForReads = 2;
/** How long a change waits for one of the other connections. */
const slotWaitMs = 5000;
/** PostgreSQL keeps a plan for each text on each connection; lists of any length would make an unlimited number. */
const preparedMax = 500;
/** For a transaction of an instance that was stopped or cut off: its locks block all others. */
const idleInTransactionMs = 30_000;
/** Without a response while statements run: then the connections are dead without having been closed. */
const silenceMs = 40_000;
const reconnectSeconds = 0.25;
/** For statements that run on connections that are being replaced. */
const secondsToEndMax = 5;
const connectSeconds = 5;

/** Any fixed number: the advisory lock of `exclusiveTransaction`. */
const OVERHAUL_LOCK = 4_348_468;

type Pool = postgres.Sql<{ bigint: number }>;

/** Opens a pool. Connections are opened when first needed, and again after they were lost. */
export function openPostgres(url: string): Database {
  const prepared = new Set<string>();
  const connections = connectionsOf(url);
  const changes = createSlots(
    connections - Math.min(reservedForReads, Math.floor(connections / 2)),
    slotWaitMs,
  );
  const tls = tlsOf(url);
  let pool = connect(tls, connections);
  let underWay = 0;
  let done = 0;
  let doneMs = 0;
  let answeredAt = performance.now();

  /**
   * Replaces all connections. Statements on the old ones have some seconds to end, unless they cannot succeed. The
   * driver cannot use a connection that broke during a write, not even after it reconnects.
   */
  function startAfresh(secondsToEnd: number): void {
    const given = pool;
    pool = connect(tls, connections);
    answeredAt = performance.now();
    void given.end({ timeout: secondsToEnd });
  }
  const watch = setInterval(() => {
    if (underWay > 0 && performance.now() - answeredAt > silenceMs) {
      startAfresh(0);
    }
  }, 1000).unref();

  function noticeLoss(error: unknown, used: Pool): void {
    if (used === pool && isLost(error)) {
      startAfresh(secondsToEndMax);
    } else if (used === pool && codeOf(error) === READ_ONLY) {
      // The server was the primary before and is a standby now.
      startAfresh(0);
    }
  }

  /** Runs `work`, and again after errors of class 40, which leave no change. */
  async function retrying<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      const used = pool;
      try {
        return await work(used);
      } catch (error) {
        noticeLoss(error, used);
        if (!isRetryable(error)) {
          throw translatePostgresError(error);
        }
        if (attempts === attemptsMax) {
          throw unavailable('Concurrent changes are in conflict with this one. Try again shortly.', 1, error);
        }
      }
    }
  }

  /** The same with the time limits of requests. */
  async function attempt<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    underWay += 1;
    const startedAt = performance.now();
    answeredAt = underWay === 1 ? startedAt : answeredAt;
    try {
      return await retrying(work);
    } finally {
      underWay -= 1;
      answeredAt = performance.now();
      done += 1;
      doneMs += answeredAt - startedAt;
    }
  }

  /**
   * A transaction of the driver that is abandoned when its connection breaks: the driver would send a rollback to a
   * closed socket, and the process would end.
   */
  function begin<T>(used: Pool, options: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async (connection: Connection) => {
        try {
          return await work(connection);
        } catch (error) {
          reject(error);
          return isLost(error) ? new Promise<never>(() => {}) : Promise.reject(error);
        }
      };
      used.begin(options, run).then(resolve as (value: unknown) => void, reject);
    });
  }

  const shared: SharedState = {
    columnTypes: new Map(),
    isPrepared(text) {
      if (prepared.size < preparedMax) {
        prepared.add(text);
      }
      return prepared.has(text);
    },
    answered() {
      answeredAt = performance.now();
    },
  };
  const on = (connection: Connection): Sql => statementsOn(connection, shared);

  const listeners = new Set<Pool>();
  const commitListeners = new Set<() => void>();
  const transaction: Transaction = async <T>(work: (sql: Sql) => Promise<T>) => {
    const result = await changes.during(() =>
      attempt((used) => begin(used, '', (connection) => work(on(connection)))),
    );
    for (const listener of commitListeners) {
      listener();
    }
    return result;
  };

  /** Without the time limits of requests. */
  const patient =
    'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';

  return {
    engine: 'postgres',
    all: (statement) => attempt((used) => on(used).all(statement)),
    get: (statement) => attempt((used) => on(used).get(statement)),
    run: (statement) => changes.during(() => attempt((used) => on(used).run(statement))),
    insert: (table, columns, rows) =>
      changes.during(() => attempt((used) => on(used).insert(table, columns, rows))),
    transaction,
    dataVersion: () => null,
    stats: () => ({ done, seconds: doneMs / 1000, waiting: underWay + changes.waiting() }),
    isFull: () => false,
    snapshot: (work) =>
      retrying((used) =>
        begin(used, 'isolation level repeatable read read only', async (connection) => {
          await connection.unsafe(patient);
          return work(on(connection));
        }),
      ),
    exclusiveTransaction: (work) =>
      retrying((used) =>
        begin(used, '', async (connection) => {
          await connection.unsafe(patient);
          await connection.unsafe(`select pg_advisory_xact_lock(${OVERHAUL_LOCK})`);
          return work(on(connection), async (script) => {
            await connection.unsafe(script);
          });
        }),
      ),
    async listen(channel, onMessage) {
      // A connection of its own: the pool replaces its connections after a loss. The driver opens this one again.
      const listener = connect(tls, 1);
      listeners.add(listener);
      const stop = async () => {
        listeners.delete(listener);
        await listener.end({ timeout: 0 });
      };
      await listener.listen(channel, onMessage, onMessage).catch(async (error) => {
        await stop();
        throw error;
      });
      return stop;
    },
    onCommit(listener) {
      commitListeners.add(listener);
      return () => commitListeners.delete(listener);
    },
    async close() {
      clearInterval(watch);
      // The last in the queue: the others before it have begun, and the pool waits for them.
      await changes.during(async () => {}).catch(() => {});
      await Promise.all([...listeners].map((listener) => listener.end({ timeout: 0 })));
      await pool.end({ timeout: 5 });
    },
  };
}

function connectionsOf(url: string): number {
  return Number(/[?&]max=(\d+)/.exec(url)?.[1] ?? poolSize);
}

function connect({ url, ssl }: TlsSettings, max: number): Pool {
  return postgres(url, {
    ssl,
    max,
    backoff: () => reconnectSeconds,
    connect_timeout: connectSeconds,
    // No arrays are read, and a connection that breaks while their types are fetched would end the process.
    fetch_types: false,
    onnotice: () => {},
    // Ids are below 2^53, so they fit a JavaScript number.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: 'curd',
      statement_timeout: statementMs,
      lock_timeout: lockMs,
      idle_in_transaction_session_timeout: idleInTransactionMs,
    },
  });
}
