/** The port to the database. Two adapters implement it, in `sqlite/` and `postgres/`; `open.ts` opens them. */
import type { Engine, Statement, Value } from './sql.ts';

/** Runs statements, alone or within a transaction. The author of a statement declares the type of its rows. */
export interface Sql {
  /** What to call the engine. What differs between the engines has names of its own: the next member, and `Database`. */
  readonly engine: Engine;
  /**
   * Events get their numbers in the transaction that records them, because one transaction writes at a time. Otherwise
   * they are numbered after their commit.
   */
  readonly numbersEventsAtWrite: boolean;
  all<Row>(statement: Statement): Promise<Row[]>;
  /** The first row; undefined when there is none. */
  get<Row>(statement: Statement): Promise<Row | undefined>;
  /** Returns the number of changed rows. */
  run(statement: Statement): Promise<number>;
  /** Inserts many rows as fast as the engine can. Table and columns are constants, never input. */
  insert(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<void>;
  /**
   * Runs a statement whose result nothing needs. In a transaction it may resolve before the statement has run, which
   * saves a round trip: an error then ends the transaction later, at the latest instead of the commit.
   */
  send(statement: Statement): Promise<void>;
  /** `insert`, sent like `send`. */
  sendInsert(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<void>;
}

/**
 * Runs `work` in a transaction and resolves when the commit is on disk. An error thrown by `work` rolls it back.
 * `work` must only await statements, or pauses between them, and have no other effects, because it is run again after a
 * deadlock.
 * @throws AppError unavailable when the database cannot be reached. If that happens during the commit, the change may
 * have been made or not.
 * @param groupOrder only for changes of the catalogue, which all lock one row: on PostgreSQL, changes of this process that
 * wait for it share a transaction. It is the id of the only other row that the change locks. A group runs in ascending
 * order of it, so that two transactions cannot wait for each other.
 * @throws ConstraintError for violations of a unique index
 */
export type Transaction = <T>(work: (sql: Sql) => Promise<T>, groupOrder?: number) => Promise<T>;

export interface Database extends Sql {
  /** One server process uses the database, and may keep in memory what several would have to share. */
  readonly hasOneServer: boolean;
  /** `listen` hears of the commits of other processes. */
  readonly notifies: boolean;
  readonly transaction: Transaction;
  /**
   * A transaction that resolves before its commit is on disk. A crash of the machine can undo it, but no other change: for
   * purges, and for logs that may lose their last second.
   */
  readonly relaxedTransaction: Transaction;
  /**
   * A number that changes with every commit of any process, read at most once in a turn of the event loop; null on an
   * engine without a cheap one. A request is handled in the turn in which it is read or in a later one, so a row that
   * was cached under the same number is as fresh as a read.
   */
  dataVersion(): number | null;
  /**
   * How many were completed since the start, in how many seconds, and how many wait: group commits on SQLite,
   * statements and transactions on PostgreSQL.
   */
  stats(): { readonly done: number; readonly seconds: number; readonly waiting: number };
  /**
   * Whether a write in the last minute failed because the disk or a quota was full, and no write has succeeded since.
   * Always false on PostgreSQL, whose disk is on another machine.
   */
  isFull(): boolean;
  /**
   * Moves what was committed from the write-ahead log to the file of the database, on SQLite. It happens by itself after
   * 10,000 pages, which takes tens of milliseconds; changes of many pages do it earlier.
   */
  checkpoint(): void;
  /**
   * Runs `work`, which only reads, on a snapshot of the database. Few run at once, so that they leave connections to
   * other requests.
   * @throws AppError unavailable after waiting too long for the others
   */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs `work` of a command on a snapshot, without the time limits of requests. */
  longSnapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * A transaction without the time limits of requests, one at a time among all processes: for migrations and for
   * commands that change whole tables. `runScript` runs several statements.
   */
  exclusiveTransaction<T>(
    work: (sql: Sql, runScript: (script: string) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  /**
   * Calls `onMessage` for each notification of a channel, by any process; never on SQLite, which has none. Messages
   * that are sent while the connection is lost do not arrive. Returns a function that ends that.
   */
  listen(channel: string, onMessage: () => void): Promise<() => Promise<void>>;
  /** Calls `listener` after each commit of a transaction of this process. Returns a function that ends that. */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Makes the queries of one folder once for each connection or transaction that they run on. */
export function queriesOn<Q>(make: (sql: Sql) => Q): (sql: Sql) => Q {
  const made = new WeakMap<Sql, Q>();
  return (sql) => {
    let queries = made.get(sql);
    if (queries === undefined) {
      queries = make(sql);
      made.set(sql, queries);
    }
    return queries;
  };
}

/** A unique index refused a row. The caller knows which rule the index enforces. */
export class ConstraintError extends Error {
  /** Name of the index on PostgreSQL; on SQLite the columns or the index, as its message names them. */
  readonly constraint: string;

  constructor(constraint: string, cause: unknown) {
    super(`unique constraint: ${constraint}`, { cause });
    this.constraint = constraint;
  }
}

/** A statement left a column null that must not be. Some statements do so to end their transaction. */
export class NotNullError extends Error {
  /** `table.column`. */
  readonly column: string;

  constructor(column: string, cause: unknown) {
    super(`not null: ${column}`, { cause });
    this.column = column;
  }
}
