/** The engine for several instances: PostgreSQL, with a pool of connections and prepared statements. */
import type { Database, Sql, Transaction } from '../database.ts';
import { createGroupCommit } from '../group-commit.ts';
import { createSemaphore } from '../semaphore.ts';
import { sql } from '../sql.ts';
import { KnownTexts } from './known-texts.ts';
import { groupCommit } from './postgres-group.ts';
import { Primary } from './primary.ts';
import { type SharedState, statementsAlone, statementsIn } from './statements.ts';
import { PostgresTransaction } from './transaction.ts';
import { readParameters, serversIn } from './url.ts';

/** Connections that changes and snapshots leave to reads, and slow reads to changes, if there are as many. */
const reservedMax = 2;
/** Snapshots of requests use at most so many of the connections, and at least one. */
const snapshotShare = 0.2;
/** PostgreSQL keeps the ids of so many savepoints of a transaction in shared memory. */
const groupSizeMax = 64;
/** How long a change waits for one of the other connections, or for its group. */
const permitWaitMs = 5000;

/** Any fixed number: the advisory lock of `exclusiveTransaction`. */
const OVERHAUL_LOCK = 4_348_468;

/** A database without the time limits of requests. */
const patient =
  'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';
const ofSnapshot = 'isolation level repeatable read read only';

/** Opens the database. @throws ConfigError */
export function openPostgres(url: string): Database {
  const { max, prepare } = readParameters(url);
  const share = max - Math.min(reservedMax, Math.floor(max / 2));
  const primary = new Primary(serversIn(url), max, share);
  const shared: SharedState = { columnTypes: new Map(), texts: new KnownTexts(prepare) };
  const changes = createSemaphore(share, permitWaitMs);
  const snapshots = createSemaphore(Math.max(1, Math.floor(max * snapshotShare)), permitWaitMs, 'reports');
  const meter = createMeter();

  const alone = statementsAlone((text, values, isChange) => {
    const run = () =>
      meter.during(() => primary.run((pool) => pool.query(text, values, shared.texts.get(text), isChange)));
    return isChange ? changes.during(run) : run();
  }, shared);
  const { runOnce, onCommit } = changesOf(primary, shared, (work) =>
    changes.during(() => meter.during(work)),
  );
  const groups = createGroupCommit({
    sizeMax: groupSizeMax,
    waitMs: permitWaitMs,
    commit: groupCommit(runOnce),
  });
  const transaction: Transaction = (work, groupOrder) =>
    groupOrder === undefined ? runOnce(work) : groups.add(work, groupOrder);

  return {
    ...alone,
    transaction,
    relaxedTransaction: (work) =>
      transaction(async (tx) => {
        await tx.send(sql`select set_config('synchronous_commit', 'off', true)`);
        return work(tx);
      }),
    dataVersion: () => null,
    checkpoint: () => {},
    stats: () => {
      const { done, seconds, underWay } = meter.read();
      return { done, seconds, waiting: underWay + changes.waiting() + groups.waiting() };
    },
    isFull: () => false,
    snapshot: (work) =>
      snapshots.during(() =>
        changes.during(() => meter.during(() => runIn(primary, shared, ofSnapshot, (_, sql) => work(sql)))),
      ),
    ...patientTransactions(primary, shared),
    hasOneServer: false,
    notifies: true,
    listen: (channel, onMessage) => primary.listen(channel, onMessage),
    onCommit,
    async close() {
      await groups.ended();
      // The pool refuses what waits for a connection, and a change with a permit may still do so.
      await changes.ended();
      await primary.close();
    },
  };
}

/** Counts what runs, and how long it takes. */
function createMeter() {
  let underWay = 0;
  let done = 0;
  let doneMs = 0;
  return {
    read: () => ({ underWay, done, seconds: doneMs / 1000 }),
    async during<T>(work: () => Promise<T>): Promise<T> {
      underWay += 1;
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        underWay -= 1;
        done += 1;
        doneMs += performance.now() - startedAt;
      }
    },
  };
}

/** Transactions of requests. @param limited waits for a permit */
function changesOf(
  primary: Primary,
  shared: SharedState,
  limited: <T>(work: () => Promise<T>) => Promise<T>,
) {
  const listeners = new Set<() => void>();
  return {
    async runOnce<T>(work: (sql: Sql, transaction: PostgresTransaction) => Promise<T>): Promise<T> {
      const result = await limited(() =>
        runIn(primary, shared, '', (transaction, sql) => work(sql, transaction)),
      );
      for (const listener of listeners) {
        listener();
      }
      return result;
    },
    onCommit(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Transactions of commands. */
function patientTransactions(
  primary: Primary,
  shared: SharedState,
): Pick<Database, 'longSnapshot' | 'exclusiveTransaction'> {
  const run = <T>(options: string, work: (transaction: PostgresTransaction, sql: Sql) => Promise<T>) =>
    runIn(
      primary,
      shared,
      options,
      async (transaction, sql) => {
        await transaction.query(patient);
        return work(transaction, sql);
      },
      true,
    );
  return {
    longSnapshot: (work) => run(ofSnapshot, (_, sql) => work(sql)),
    exclusiveTransaction: (work) =>
      run('', async (transaction, sql) => {
        await transaction.query(`select pg_advisory_xact_lock(${OVERHAUL_LOCK})`);
        return work(sql, async (script) => {
          await transaction.query(script);
        });
      }),
  };
}

/** @param options of `begin` @param isPatient whether its statements have no time limits */
function runIn<T>(
  primary: Primary,
  shared: SharedState,
  options: string,
  work: (transaction: PostgresTransaction, sql: Sql) => Promise<T>,
  isPatient = false,
): Promise<T> {
  return primary.run((pool) =>
    pool.during((connection) => {
      const transaction = new PostgresTransaction(connection, options);
      return transaction.complete(() => work(transaction, statementsIn(transaction, shared)));
    }, isPatient),
  );
}
