/**
 * The engine for several instances: PostgreSQL by the driver `postgres`, with a pool and prepared statements.
 * Measured on reads by key: 55 us of CPU each, against 75 us with the driver `pg`.
 */
import { unavailable } from '../errors.ts';
import type { Database, Sql, Transaction } from './database.ts';
import { createGroups } from './groups.ts';
import { openPool, type Pool } from './postgres-connect.ts';
import {
  codeOf,
  isLost,
  isRetryable,
  isUnconnected,
  READ_ONLY,
  translatePostgresError,
} from './postgres-errors.ts';
import { groupCommit, type RunTransaction } from './postgres-group.ts';
import { urlsIn } from './postgres-hosts.ts';
import { createListener, type Listener } from './postgres-listener.ts';
import {
  type Connection,
  type SentStatements,
  type SharedState,
  statementsOn,
} from './postgres-statements.ts';
import { type TlsSettings, tlsOf } from './postgres-tls.ts';
import { runTransaction } from './postgres-transaction.ts';
import { readParameters } from './postgres-url.ts';
import { createSlots } from './slots.ts';

const attemptsMax = 5;
/** Connections that changes leave to reads and to the readiness check, if the pool has as many. */
const reservedForReads = 2;
/** PostgreSQL keeps the ids of so many savepoints of a transaction in shared memory. */
const groupSizeMax = 64;
/** How long a change waits for one of the other connections, or for its group. */
const slotWaitMs = 5000;
/** PostgreSQL keeps a plan for each text on each connection; lists of any length would make an unlimited number. */
const preparedMax = 500;
/** Without a response while statements run: then the connections are dead without having been closed. */
const silenceMs = 40_000;
/** For statements that run on connections that are being replaced. */
const secondsToEndMax = 5;
/** While no server accepts writes: how long no further attempt is made. */
const outageMs = 250;

/** Any fixed number: the advisory lock of `exclusiveTransaction`. */
const OVERHAUL_LOCK = 4_348_468;

/** Opens a pool. Connections are opened when first needed, and again after they were lost. */
export function openPostgres(url: string): Database {
  const prepared = new Set<string>();
  const connections = readParameters(url).max;
  const changes = createSlots(
    connections - Math.min(reservedForReads, Math.floor(connections / 2)),
    slotWaitMs,
  );
  const hosts = urlsIn(url).map(tlsOf);
  /** Pools whose server is a standby. */
  const standbys = new WeakSet<Pool>();
  let host = 0;
  let outageUntil = 0;
  let pool = open(connections);
  let underWay = 0;
  let done = 0;
  let doneMs = 0;
  let answeredAt = performance.now();
  const listeners = new Set<Listener>();

  /** A pool of the server that was found last. */
  function open(max: number): Pool {
    const opened = openPool(hosts[host] as TlsSettings, max, (isStandby) => {
      standbys[isStandby ? 'add' : 'delete'](opened);
    });
    return opened;
  }

  /**
   * Replaces all connections. Statements on the old ones have some seconds to end, unless they cannot succeed. The
   * driver cannot use a connection that broke during a write, not even after it reconnects.
   */
  function startAfresh(secondsToEnd: number): void {
    const given = pool;
    pool = open(connections);
    answeredAt = performance.now();
    void given.end({ timeout: secondsToEnd });
    for (const listener of listeners) {
      listener.restart();
    }
  }
  const watch = setInterval(() => {
    if (underWay > 0 && performance.now() - answeredAt > silenceMs) {
      startAfresh(0);
    }
  }, 1000).unref();

  /** Whether the server that was used cannot run any statement. Then the next one is used. */
  function noticeLoss(error: unknown, used: Pool): boolean {
    const isStandby = standbys.has(used) || codeOf(error) === READ_ONLY;
    const isUnusable = isStandby || (isUnconnected(error) && hosts.length > 1);
    if (used === pool && isUnusable) {
      host = (host + 1) % hosts.length;
      startAfresh(0);
    } else if (used === pool && isLost(error)) {
      startAfresh(secondsToEndMax);
    }
    return isUnusable;
  }

  /** Runs `work` once. A standby may lack the last changes, so what it returns does not count. */
  async function runOn<T>(used: Pool, work: (pool: Pool) => Promise<T>): Promise<T> {
    if (performance.now() >= outageUntil) {
      const result = await work(used);
      if (!standbys.has(used)) {
        return result;
      }
    }
    throw unavailable('No database server accepts changes right now. Try again shortly.', 1);
  }

  /** Runs `work`, again after errors of class 40, which leave no change, and on the other servers. */
  async function retrying<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    let hostsTried = 0;
    for (let attempts = 1; ; attempts += 1) {
      const used = pool;
      try {
        return await runOn(used, work);
      } catch (error) {
        if (noticeLoss(error, used)) {
          hostsTried += 1;
          if (hostsTried < hosts.length) {
            continue;
          }
          outageUntil = performance.now() + outageMs;
        }
        if (!isRetryable(error)) {
          throw translatePostgresError(error);
        }
        if (attempts >= attemptsMax) {
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
  const on = (connection: Connection, sent?: SentStatements): Sql => statementsOn(connection, shared, sent);

  const commitListeners = new Set<() => void>();
  const runOnce: RunTransaction = async (work) => {
    const result = await changes.during(() =>
      attempt((used) =>
        runTransaction(used, '', (connection, sent) => work(on(connection, sent), connection, sent)),
      ),
    );
    for (const listener of commitListeners) {
      listener();
    }
    return result;
  };
  const groups = createGroups({ sizeMax: groupSizeMax, waitMs: slotWaitMs, commit: groupCommit(runOnce) });
  const transaction: Transaction = (work, groupOrder) =>
    groupOrder === undefined ? runOnce(work) : groups.add(work, groupOrder);

  const run: Sql['run'] = (statement) => changes.during(() => attempt((used) => on(used).run(statement)));
  const insert: Sql['insert'] = (table, columns, rows) =>
    changes.during(() => attempt((used) => on(used).insert(table, columns, rows)));

  /** Without the time limits of requests. */
  const patient =
    'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';

  return {
    engine: 'postgres',
    all: (statement) => attempt((used) => on(used).all(statement)),
    get: (statement) => attempt((used) => on(used).get(statement)),
    run,
    insert,
    send: async (statement) => {
      await run(statement);
    },
    sendInsert: insert,
    transaction,
    dataVersion: () => null,
    stats: () => ({ done, seconds: doneMs / 1000, waiting: underWay + changes.waiting() + groups.waiting() }),
    isFull: () => false,
    snapshot: (work) =>
      retrying((used) =>
        runTransaction(used, 'isolation level repeatable read read only', async (connection, sent) => {
          await connection.unsafe(patient);
          return work(on(connection, sent));
        }),
      ),
    exclusiveTransaction: (work) =>
      retrying((used) =>
        runTransaction(used, '', async (connection, sent) => {
          await connection.unsafe(patient);
          await connection.unsafe(`select pg_advisory_xact_lock(${OVERHAUL_LOCK})`);
          return work(on(connection, sent), async (script) => {
            await connection.unsafe(script);
          });
        }),
      ),
    async listen(channel, onMessage) {
      const listener = createListener(() => open(1), channel, onMessage);
      listeners.add(listener);
      const stop = () => {
        listeners.delete(listener);
        return listener.stop();
      };
      await listener.started.catch(async (error) => {
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
      await groups.ended();
      // The last in the queue: the others before it have begun, and the pool waits for them.
      await changes.during(async () => {}).catch(() => {});
      await Promise.all([...listeners].map((listener) => listener.stop()));
      // Statements that lose their server meanwhile replace the pool.
      for (let ended: Pool | undefined; ended !== pool; ) {
        ended = pool;
        await ended.end({ timeout: secondsToEndMax });
      }
    },
  };
}
