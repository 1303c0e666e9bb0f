/**
 * The embedded engine: node:sqlite in WAL mode, with one connection that reads and one that writes.
 *
 * A group of writes is committed with one fsync (group-commit.ts), and each of them resolves after it. So a write that
 * has resolved is on disk, as with one commit each, at many times the rate.
 */
import type { Database, Sql, Transaction } from '../database.ts';
import { type ChangeOutcome, createGroupCommit, untilLate, type Work } from '../group-commit.ts';
import { createSemaphore } from '../semaphore.ts';
import { beginWrite, connectToFile, createFile } from './connection.ts';
import { isDiskFull, translateSqliteError } from './sqlite-errors.ts';
import { statementsOnSqlite } from './statements.ts';

const groupSizeMax = 256;
/** Writes that would begin later are in the next group. */
const groupMs = 20;

/** Each has a connection, and keeps the write-ahead log from being reset. */
const snapshotsMax = 2;
/** How long one waits for the others. */
const snapshotWaitMs = 5000;

/** How long `isFull` stays true after a failed write: without requests, no write shows that there is space again. */
const fullMs = 60_000;

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
  const commitListeners = new Set<() => void>();
  /** Changes that may be lost in a crash of the machine. */
  const relaxed = new WeakSet<Work>();
  /** The connection begins with FULL. */
  let synchronous: 'full' | 'normal' = 'full';
  let lastStamp: number | undefined;
  let commits = 0;
  let commitMs = 0;
  /** When a write last failed on a full disk, by performance.now(); null when a later one succeeded. */
  let fullAt: number | null = null;
  const snapshots = createSemaphore(snapshotsMax, snapshotWaitMs, 'reports');
  const groups = createGroupCommit({ sizeMax: groupSizeMax, commit });

  const transaction: Transaction = (work) => groups.add(work);

  const relaxedTransaction: Transaction = (work) => {
    const change: typeof work = (sql) => work(sql);
    relaxed.add(change);
    return groups.add(change);
  };

  /** NORMAL: a commit does not wait for the disk. The next commit of other changes does so for it, too. */
  async function begin(works: readonly Work[]): Promise<void> {
    const level = works.every((work) => relaxed.has(work)) ? 'normal' : 'full';
    if (level !== synchronous) {
      writer.exec(`pragma synchronous = ${level}`);
      synchronous = level;
    }
    await beginWrite(writer);
  }

  async function commit(works: readonly Work[], hasSavepoints: boolean): Promise<ChangeOutcome[] | null> {
    const startedAt = performance.now();
    let isCommit = false;
    let outcomes: ChangeOutcome[] | null;
    try {
      rollBack();
      await begin(works);
      outcomes = await (hasSavepoints ? runInSavepoints(works) : runTogether(works));
      if (outcomes?.some((outcome) => 'value' in outcome)) {
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
      throw failure;
    }
    lastStamp = undefined;
    for (const listener of isCommit ? commitListeners : []) {
      listener();
    }
    return outcomes;
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

  /** Null if a write has failed after others, or before others because the disk is full: they must not clear `fullAt`. */
  async function runTogether(works: readonly Work[]): Promise<ChangeOutcome[] | null> {
    const outcomes: ChangeOutcome[] = [];
    try {
      for (const work of untilLate(works, groupMs)) {
        outcomes.push({ value: await work(writes) });
      }
      return outcomes;
    } catch (error) {
      if (!writer.isTransaction) {
        throw error;
      }
      const hidesNothing = works.length === 1 || !isDiskFull(error);
      return outcomes.length === 0 && hidesNothing ? [rejection(error)] : null;
    }
  }

  async function runInSavepoints(works: readonly Work[]): Promise<ChangeOutcome[]> {
    const outcomes: ChangeOutcome[] = [];
    for (const work of untilLate(works, groupMs)) {
      outcomes.push(await runInSavepoint(work));
    }
    return outcomes;
  }

  async function runInSavepoint(work: Work): Promise<ChangeOutcome> {
    savepoint.run();
    try {
      const value = await work(writes);
      release.run();
      return { value };
    } catch (error) {
      if (!writer.isTransaction) {
        throw error;
      }
      rollback.run();
      release.run();
      return rejection(error);
    }
  }

  function rejection(error: unknown): ChangeOutcome {
    noteFull(error);
    return { error };
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
    relaxedTransaction,
    stats: () => ({ done: commits, seconds: commitMs / 1000, waiting: groups.waiting() }),
    // The connection that reads is never in a transaction between two statements.
    checkpoint: () => reader.exec('pragma wal_checkpoint(passive)'),
    isFull: () => fullAt !== null && performance.now() - fullAt < fullMs,
    snapshot: (work) => snapshots.during(() => snapshotOf(file, work)),
    longSnapshot: (work) => snapshotOf(file, work),
    exclusiveTransaction: (work) => transaction((sql) => work(sql, async (script) => writer.exec(script))),
    hasOneServer: true,
    notifies: false,
    listen: async () => async () => {},
    onCommit(listener) {
      commitListeners.add(listener);
      return () => commitListeners.delete(listener);
    },
    async close() {
      await groups.ended();
      reader.close();
      writer.close();
    },
  };
}

/** Opens its own connection. */
async function snapshotOf<T>(file: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const connection = connectToFile(file);
  try {
    connection.exec('pragma query_only = on; begin');
    return await work(statementsOnSqlite(connection));
  } finally {
    connection.close();
  }
}
