/**
 * The embedded engine: node:sqlite in WAL mode, with one connection that reads and one that writes.
 *
 * Writes are committed in groups. They wait in a queue. A flush opens one transaction, runs each waiting write in a
 * savepoint, and commits once, with one fsync, before any of them resolves. So a write that has resolved is on disk, as
 * with one commit each, at many times the rate.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AppError, unavailable } from '../errors.ts';
import { restrict } from '../permissions.ts';
import type { Database, Sql, Transaction } from './database.ts';
import type { Statement, Value } from './sql.ts';
import { isBusy, isDiskFull, translateSqliteError } from './sqlite-errors.ts';

/** Another process, such as an import, may have the write lock. Reads are not blocked meanwhile. */
const lockWaitMs = 10_000;
const groupSizeMax = 256;
const cachedStatementsMax = 500;
/** One statement for so many rows takes 20 % less time than one for each. */
const rowsAtOnce = 50;

/** How long `isFull` stays true after a failed write: without requests, no write shows that there is space again. */
const fullMs = 60_000;

interface Write {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens the database file; creates it and its folder when they do not exist. */
export function openSqlite(file: string): Database {
  const writer = create(file);
  const reader = connect(file);
  reader.exec('pragma query_only = on');
  const reads = statementsOn(reader);
  const writes = statementsOn(writer);
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
      const startedAt = performance.now();
      await commitGroup(queue.splice(0, groupSizeMax));
      commits += 1;
      commitMs += performance.now() - startedAt;
    }
    // In the same turn as the check of the queue: a write that arrives later starts another flush.
    flushing = undefined;
  }

  async function commitGroup(group: readonly Write[]): Promise<void> {
    const responses: (() => void)[] = [];
    const startedAt = performance.now();
    let isCommit = false;
    try {
      rollBack();
      await begin(writer);
      // A single write needs no savepoint, which would copy every page that an import changes.
      const run = group.length === 1 ? runAlone : runInSavepoint;
      for (const write of group) {
        responses.push(await run(write));
      }
      isCommit = true;
      writer.exec('commit');
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
    if (fullAt !== null && fullAt < startedAt) {
      fullAt = null;
    }
    for (const response of responses) {
      response();
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

  async function runAlone(write: Write): Promise<() => void> {
    const value = await write.work(writes);
    return () => write.resolve(value);
  }

  /** Runs one write and returns a function that resolves it after the commit of the group. */
  async function runInSavepoint(write: Write): Promise<() => void> {
    savepoint.run();
    try {
      const value = await write.work(writes);
      release.run();
      return () => write.resolve(value);
    } catch (error) {
      if (!writer.isTransaction) {
        throw error;
      }
      rollback.run();
      release.run();
      noteFull(error);
      return () => write.reject(error);
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
    insert: (table, columns, rows) => transaction((sql) => sql.insert(table, columns, rows)),
    transaction,
    stats: () => ({ done: commits, seconds: commitMs / 1000, waiting: queue.length }),
    isFull: () => fullAt !== null && performance.now() - fullAt < fullMs,
    async snapshot(work) {
      const connection = connect(file);
      try {
        connection.exec('pragma query_only = on; begin');
        return await work(statementsOn(connection));
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

function statementsOn(connection: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>();

  function prepare(text: string): StatementSync {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = connection.prepare(text);
      if (prepared.size >= cachedStatementsMax) {
        prepared.delete(prepared.keys().next().value ?? '');
      }
      prepared.set(text, statement);
    }
    return statement;
  }

  function execute<T>(statement: Statement, use: (prepared: StatementSync, values: Value[]) => T): T {
    const { text, values } = statement.render('sqlite');
    try {
      return use(prepare(text), values);
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  return {
    engine: 'sqlite',
    all: async <Row>(statement: Statement) =>
      execute(statement, (one, values) => one.all(...values) as Row[]),
    get: async <Row>(statement: Statement) =>
      execute(statement, (one, values) => one.get(...values) as Row | undefined),
    run: async (statement) => execute(statement, (one, values) => Number(one.run(...values).changes)),
    insert: async (table, columns, rows) => {
      // A failure rolls back the whole write. To undo only this statement, SQLite would first copy every page.
      try {
        let done = 0;
        for (; done + rowsAtOnce <= rows.length; done += rowsAtOnce) {
          prepare(insertOf(table, columns, rowsAtOnce)).run(...rows.slice(done, done + rowsAtOnce).flat());
        }
        for (const rest of rows.slice(done)) {
          prepare(insertOf(table, columns, 1)).run(...rest);
        }
      } catch (error) {
        throw translateSqliteError(error);
      }
    },
  };
}

/** `or fail` avoids the copy of pages that undoes a single statement: a failure rolls back the whole write anyway. */
function insertOf(table: string, columns: readonly string[], rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`;
  return `insert or fail into ${table} (${columns.join(', ')}) values ${Array(rows).fill(row).join(', ')}`;
}
