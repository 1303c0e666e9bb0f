/**
 * The embedded engine: node:sqlite in WAL mode, with one connection that reads and one that writes.
 *
 * Writes are committed in groups. They wait in a queue. A flush opens one transaction, runs each waiting write in a
 * savepoint, and commits once, with one fsync, before any of them resolves. So a write that has resolved is on disk, as
 * with one commit each, at many times the rate.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AppError, unavailable } from '../errors.ts';
import { restrict } from '../permissions.ts';
import type { Database, Sql, Transaction } from './database.ts';
import { isBusy, isDiskFull, translateSqliteError } from './sqlite-errors.ts';
import { statementsOnSqlite } from './sqlite-statements.ts';

/** Another process, such as an import, may have the write lock. Reads are not blocked meanwhile. */
const lockWaitMs = 10_000;
const groupSizeMax = 256;

/** How long `isFull` stays true after a failed write: without requests, no write shows that there is space again. */
const fullMs = 60_000;

interface Write {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  /** False when the write was rolled back. */
  readonly isKept: boolean;
  /** Resolves or rejects the write, after the end of its group. */
  readonly respond: () => void;
}

/** Opens the database file; creates it and its folder when they do not exist. */
export function openSqlite(file: string): Database {
  const writer = create(file);
  const reader = connect(file);
  reader.exec('pragma query_only = on');
  const reads = statementsOnSqlite(reader);
  const writes = statementsOnSqlite(writer);
  const savepoint = writer.prepare('savepoint one');
  const release = writer.prepare('release one');
  const rollback = writer.prepare('rollback to one');
  const dataVersion = reader.prepare('pragma data_version');
  const queue: Write[] = [];
  const commitListeners = new Set<() => void>();
  let lastStamp: number | undefined;
  let commits = 0;
  let commitMs = 0;
  /** When a write last failed on a full disk, by performance.now(); null when a later one succeeded. */
  let fullAt: number | null = null;
  let flushing: Promise<void> | undefined;

  const transaction: Transaction = <T>(work: (sql: Sql) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      flushing ??= flush();
    });

  async function flush(): Promise<void> {
    // After one turn of the event loop, every request that has arrived is in the group.
    await nextTurn();
    while (queue.length > 0) {
      await commitGroup(queue.splice(0, groupSizeMax));
    }
    // In the same turn as the check of the queue: a write that arrives later starts another flush.
    flushing = undefined;
  }

  async function commitGroup(group: readonly Write[]): Promise<void> {
    const outcomes: Outcome[] = [];
    const startedAt = performance.now();
    let isCommit = false;
    try {
      rollBack();
      await begin(writer);
      // A single write needs no savepoint, which would copy every page that an import changes.
      const run = group.length === 1 ? runAlone : runInSavepoint;
      for (const write of group) {
        outcomes.push(await run(write));
      }
      if (outcomes.some(({ isKept }) => isKept)) {
        isCommit = true;
        writer.exec('commit');
        commits += 1;
        commitMs += performance.now() - startedAt;
        if (fullAt !== null && fullAt < startedAt) {
          fullAt = null;
        }
      } else {
        // A commit would write to disk: the pages that a savepoint has restored count as changed.
        writer.exec('rollback');
      }
    } catch (error) {
      try {
        rollBack();
      } catch {
        // The disk fails: the next group tries again.
      }
      const failure = translateSqliteError(error, isCommit);
      noteFull(failure);
      for (const write of group) {
        write.reject(failure);
      }
      return;
    }
    lastStamp = undefined;
    for (const { respond } of outcomes) {
      respond();
    }
    for (const listener of commitListeners) {
      listener();
    }
  }

  function rollBack(): void {
    if (writer.isTransaction) {
      writer.exec('rollback');
    }
  }

  function noteFull(failure: unknown): void {
    if (isDiskFull(failure)) {
      fullAt = performance.now();
    }
  }

  async function runAlone(write: Write): Promise<Outcome> {
    const value = await write.work(writes);
    return { isKept: true, respond: () => write.resolve(value) };
  }

  async function runInSavepoint(write: Write): Promise<Outcome> {
    savepoint.run();
    try {
      const value = await write.work(writes);
      release.run();
      return { isKept: true, respond: () => write.resolve(value) };
    } catch (error) {
      if (!writer.isTransaction) {
        throw error;
      }
      rollback.run();
      release.run();
      noteFull(error);
      return { isKept: false, respond: () => write.reject(error) };
    }
  }

  return {
    ...reads,
    dataVersion() {
      if (lastStamp === undefined) {
        lastStamp = Number(dataVersion.get()?.data_version);
        setImmediate(() => {
          lastStamp = undefined;
        });
      }
      return lastStamp;
    },
    run: (statement) => transaction((sql) => sql.run(statement)),
    send: (statement) => transaction((sql) => sql.send(statement)),
    insert: (table, columns, rows) => transaction((sql) => sql.insert(table, columns, rows)),
    sendInsert: (table, columns, rows) => transaction((sql) => sql.insert(table, columns, rows)),
    transaction,
    stats: () => ({ done: commits, seconds: commitMs / 1000, waiting: queue.length }),
    isFull: () => fullAt !== null && performance.now() - fullAt < fullMs,
    async snapshot(work) {
      const connection = connect(file);
      try {
        connection.exec('pragma query_only = on; begin');
        return await work(statementsOnSqlite(connection));
      } finally {
        connection.close();
      }
    },
    exclusiveTransaction: (work) => transaction((sql) => work(sql, async (script) => writer.exec(script))),
    listen: async () => async () => {},
    onCommit(listener) {
      commitListeners.add(listener);
      return () => commitListeners.delete(listener);
    },
    async close() {
      await flushing;
      reader.close();
      writer.close();
    },
  };
}

function create(file: string): DatabaseSync {
  restrict(file, `${file}-wal`, `${file}-shm`);
  let what = `The data folder ${dirname(file)} cannot be written`;
  try {
    // Only for its owner: the database contains shipping addresses of customers.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    what = `The database ${file} cannot be opened: this user must be able to read and write it`;
    return connect(file);
  } catch (error) {
    throw new AppError('unavailable', what, { cause: error });
  }
}

function connect(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: 0 });
  retryWhileBusy(() => connection.exec('pragma journal_mode = wal'));
  // FULL: a commit returns when the log is on disk, so a write that has resolved survives a power cut.
  connection.exec(`
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma secure_delete = on;
    pragma cache_size = -10000;
    pragma wal_autocheckpoint = 10000;
    pragma journal_size_limit = 67108864;
  `);
  return connection;
}

/** The switch to WAL locks the database for milliseconds, and a second process may start meanwhile. */
function retryWhileBusy(step: () => void): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      step();
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === 100) {
        throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

async function begin(connection: DatabaseSync): Promise<void> {
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    try {
      connection.exec('begin immediate');
      return;
    } catch (error) {
      if (!isBusy(error)) {
        throw error;
      }
      if (performance.now() > deadline) {
        throw unavailable('Another process is writing to the database. Try again shortly.', 1, error);
      }
      await sleep(2);
    }
  }
}
