/** The port to the database. Two adapters implement it: sqlite.ts and postgres.ts. */
import type { Config } from '../settings/config.ts';
import type { Engine, Statement, Value } from './sql.ts';

/** Runs statements, alone or within a transaction. The type of a row is promised by whoever writes the statement. */
export interface Sql {
  all<Row>(statement: Statement): Promise<Row[]>;
  /** The first row, if there is one. */
  get<Row>(statement: Statement): Promise<Row | undefined>;
  /** How many rows changed. */
  run(statement: Statement): Promise<number>;
  /** Inserts many rows as fast as the engine can. Table and columns are names of ours, never input. */
  insert(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<void>;
}

/**
 * Runs `work` in a transaction and answers when it is on disk. Whatever `work` throws rolls it back.
 * Only database work may be awaited inside, and `work` may be run again after a deadlock: it changes nothing else.
 * @throws AppError unavailable where the database cannot be reached; where that happens while it commits, the change may
 * have been made or not
 * Uniqueness violations come out as ConstraintError.
 */
export type Transaction = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

export interface Database extends Sql {
  readonly engine: Engine;
  readonly transaction: Transaction;
  /**
   * A number that changes with every commit of any process, asked for at most once in a turn of the event loop; null
   * where the engine cannot tell as cheaply. A request is handled in the turn in which it is read or a later one, so
   * what is remembered under an unchanged stamp is as fresh as a read.
   */
  dataVersion(): number | null;
  /**
   * What was done since the start and how long it took, and what waits: on SQLite commits of changes, each of a group;
   * on PostgreSQL statements and transactions.
   */
  stats(): { readonly done: number; readonly seconds: number; readonly waiting: number };
  /**
   * Whether a write within the last minute failed because the disk or a quota was full, and none has succeeded since.
   * Always false on PostgreSQL, which has a disk of its own.
   */
  isFull(): boolean;
  /** Shows the database as it is at one moment, however long `work` takes. It only reads. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * A transaction without the bounds on time that hold for requests, one at a time among all processes: for migrations,
   * and for commands that go over whole tables. `runScript` takes several statements at once.
   */
  exclusiveTransaction<T>(
    work: (sql: Sql, runScript: (script: string) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

/** Queries of one area, put together once for each connection or transaction that they run on. */
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

/** A unique index refused a row. The caller knows which rule the index stands for. */
export class ConstraintError extends Error {
  /** Name of the index on PostgreSQL; on SQLite the columns or the index, as SQLite names them. */
  readonly constraint: string;

  constructor(constraint: string, cause: unknown) {
    super(`unique constraint: ${constraint}`, { cause });
    this.constraint = constraint;
  }
}

/** Opens the database of the settings; neither engine's code is loaded where the other is used. */
export async function openDatabase({ database: place }: Pick<Config, 'database'>): Promise<Database> {
  if (place.engine === 'sqlite') {
    const { openSqlite } = await import('./sqlite.ts');
    return openSqlite(place.file);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres(place.url);
}
