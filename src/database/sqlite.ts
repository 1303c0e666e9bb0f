/**
 * The embedded engine: node:sqlite in WAL mode, with one connection that reads and one that writes.
 *
 * Writes are committed in groups. They wait in a queue. A flush opens one transaction, runs the waiting writes, and
 * commits once, with one fsync, before any of them resolves. So a write that has resolved is on disk, as with one commit
 * each, at many times the rate. If a write fails, the others of its group run again, each in a savepoint.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, Sql, Transaction } from './database.ts';
import { beginWrite, connectToFile, createFile } from './sqlite-connection.ts';
import { isDiskFull, translateSqliteError } from './sqlite-errors.ts';
import { statementsOnSqlite } from './sqlite-statements.ts';

const groupSizeMax = 256;
/** The writes that follow are in the next group: those of this one do not wait for them, and do not run again with them. */
const groupMs = 20;
/**
 * After a failed write, so many groups use savepoints, which copy each page that a write changes: an eighth of the CPU
 * time of an order. Without savepoints, the other writes of a group with a failed one run twice.
 */
const groupsWithSavepoints = 16;

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
  const writer = createFile(file);
  const reader = connectToFile(file);
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
  /** How many of the next groups use savepoints. */
  let savepointGroups = 0;
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
      const group = queue.splice(0, groupSizeMax);
      const done = await commitGroup(group);
      queue.unshift(...group.slice(done));
    }
    // In the same turn as the check of the queue: a write that arrives later starts another flush.
    flushing = undefined;
  }

  /** Runs and commits the first writes of a group. Returns how many. */
  async function commitGroup(group: readonly Write[]): Promise<number> {
    let outcomes: Outcome[] = [];
    const startedAt = performance.now();
    let isCommit = false;
    try {
      rollBack();
      await beginWrite(writer);
      outcomes = (await runTogether(group)) ?? (await runInSavepoints(group));
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
        rollBack();
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
      return group.length;
    }
    lastStamp = undefined;
    for (const { respond } of outcomes) {
      respond();
    }
    for (const listener of commitListeners) {
      listener();
    }
    return outcomes.length;
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

  /** Returns null when the writes must run in savepoints: one has failed now or in the last groups. */
  async function runTogether(group: readonly Write[]): Promise<Outcome[] | null> {
    if (savepointGroups > 0 && group.length > 1) {
      savepointGroups -= 1;
      return null;
    }
    const outcomes: Outcome[] = [];
    try {
      for (const write of untilLate(group)) {
        outcomes.push(await runAlone(write));
      }
      return outcomes;
    } catch (error) {
      if (!writer.isTransaction) {
        throw error;
      }
      writer.exec('rollback');
      if (outcomes.length === 0) {
        return [rejection(group[0] as Write, error)];
      }
      savepointGroups = groupsWithSavepoints;
      await beginWrite(writer);
      return null;
    }
  }

  async function runInSavepoints(group: readonly Write[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const write of untilLate(group)) {
      outcomes.push(await runInSavepoint(write));
    }
    return outcomes;
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
      return rejection(write, error);
    }
  }

  function rejection(write: Write, error: unknown): Outcome {
    noteFull(error);
    return { isKept: false, respond: () => write.reject(error) };
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
      const connection = connectToFile(file);
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

/** The first write, and those that follow it within `groupMs`. */
function* untilLate(group: readonly Write[]): Generator<Write> {
  const until = performance.now() + groupMs;
  for (const [index, write] of group.entries()) {
    if (index > 0 && performance.now() >= until) {
      return;
    }
    yield write;
  }
}
