/**
 * Makes the tables of one database equal to those of another, on either engine. Rows that are equal are not written, so
 * an interrupted copy continues where it stopped, and a second copy writes only what changed.
 */
import { AppError } from '../errors.ts';
import { ConstraintError, type Database, type Sql } from './database.ts';
import { rawSql, sql, type Value } from './sql.ts';
import { diffTables } from './table-diff.ts';
import {
  countRows,
  keyIs,
  listTables,
  readLastIds,
  type Table,
  type TableRow,
  writeLastIds,
} from './tables.ts';

const removedAtOnce = 1000;

/**
 * Not copied: migrations create the schema, each engine counts requests in another way, and triggers of the target count
 * its orders.
 */
const leftOut = new Set(['migration', 'quota', 'order_count', 'order_count_change']);

/** The result for one table. */
export interface TableCopyResult {
  readonly name: string;
  readonly rows: number;
  /** Rows that were inserted or updated; `removed` were deleted. */
  readonly written: number;
  readonly removed: number;
}

export type Progress = (done: number, total: number, note: string) => void;

/**
 * Copies the rows of `source`, which must not change meanwhile (see Database.snapshot), and compares them afterwards.
 * @throws Error when the databases still differ, or when rows have exchanged unique values among themselves
 */
export async function copyTables(
  source: Sql,
  sourceEngine: Database['engine'],
  target: Database,
  progress: Progress,
): Promise<TableCopyResult[]> {
  const tables = (await listTables(source, sourceEngine)).filter(({ name }) => !leftOut.has(name));
  const counts = new Map<Table, number>();
  for (const table of tables) {
    counts.set(table, await countRows(source, table));
  }
  const total = 2 * [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  const advance = (rows: number, note: string) => {
    done += rows;
    progress(done, total, note);
  };

  const passes: Pass[] = [];
  for (const table of tables) {
    passes.push(await write(source, target, table, (rows) => advance(rows, `copying ${table.name}`)));
  }
  // In reverse order: a row is deleted after the rows that refer to it.
  for (const { table, extra } of passes.toReversed()) {
    await remove(target, table, extra);
  }
  for (const { table, waiting } of passes) {
    await writeWaiting(target, table, waiting);
  }
  const lastIds = await readLastIds(source, sourceEngine);
  await target.transaction((tx) => writeLastIds(tx, target.engine, lastIds));
  for (const { table, written, extra } of passes) {
    // Tables without changes are still equal: the source is a snapshot, and no other process writes to the target.
    if (written + extra.length > 0) {
      await verify(source, target, table, (rows) => advance(rows, `comparing ${table.name}`));
    }
  }
  return passes.map(({ table, written, extra }) => ({
    name: table.name,
    rows: counts.get(table) ?? 0,
    written,
    removed: extra.length,
  }));
}

/** The state of a table after its rows were written. */
interface Pass {
  readonly table: Table;
  readonly written: number;
  /** Rows that the source does not have. They are deleted later. */
  readonly extra: TableRow[];
  /** Rows that can only be written after others are deleted or changed. */
  readonly waiting: TableRow[];
}

async function write(
  source: Sql,
  target: Database,
  table: Table,
  advance: (rows: number) => void,
): Promise<Pass> {
  let written = 0;
  const waiting: TableRow[] = [];
  const extra: TableRow[] = [];
  for await (const found of diffTables(source, target, table)) {
    const { different, missing } = found;
    written += different.length + missing.length;
    extra.push(...found.extra);
    try {
      await target.transaction(async (tx) => {
        for (const row of different) {
          await update(tx, table, row);
        }
        await tx.insert(table.name, table.columns, missing);
      });
    } catch (error) {
      if (error instanceof AppError) {
        throw error;
      }
      // Another row still has a unique value, or a referenced row is not written yet.
      waiting.push(...different, ...missing);
    }
    advance(found.compared);
  }
  return { table, written, extra, waiting };
}

async function remove(target: Database, table: Table, extra: readonly TableRow[]): Promise<void> {
  for (let first = 0; first < extra.length; first += removedAtOnce) {
    await target.transaction(async (tx) => {
      for (const row of extra.slice(first, first + removedAtOnce)) {
        await tx.run(sql`delete from ${rawSql(table.name)} where ${keyIs(table, row)}`);
      }
    });
  }
}

/** Writes rows one by one, so that a row comes after the one that still has its unique value. */
async function writeWaiting(target: Database, table: Table, rows: readonly TableRow[]): Promise<void> {
  let waiting = rows;
  while (waiting.length > 0) {
    const refused = await writeOneByOne(target, table, waiting);
    if (refused.length === waiting.length) {
      throw new Error(
        `Rows of ${table.name} have exchanged unique values (${waiting.length}). Copy into an empty database instead.`,
      );
    }
    waiting = refused;
  }
}

/** Returns the rows that a unique index refused. */
async function writeOneByOne(target: Database, table: Table, rows: readonly TableRow[]): Promise<TableRow[]> {
  const refused: TableRow[] = [];
  for (const row of rows) {
    try {
      await target.transaction(async (tx) => {
        if ((await update(tx, table, row)) === 0) {
          await tx.insert(table.name, table.columns, [row]);
        }
      });
    } catch (error) {
      if (!(error instanceof ConstraintError)) {
        throw error;
      }
      refused.push(row);
    }
  }
  return refused;
}

function update(tx: Sql, table: Table, row: TableRow): Promise<number> {
  const sets = table.columns
    .map((column, place) => sql`${rawSql(column)} = ${row[place] as Value}`)
    .reduce((all, one) => sql`${all}, ${one}`);
  return tx.run(sql`update ${rawSql(table.name)} set ${sets} where ${keyIs(table, row)}`);
}

async function verify(
  source: Sql,
  target: Sql,
  table: Table,
  advance: (rows: number) => void,
): Promise<void> {
  for await (const { compared, missing, different, extra } of diffTables(source, target, table)) {
    const count = missing.length + different.length + extra.length;
    if (count > 0) {
      throw new Error(
        `Rows of ${table.name} differ after the copy (${count}). Another process may be writing to the target: stop it and copy again.`,
      );
    }
    advance(compared);
  }
}

/** A number in the table `migration` that no migration has. */
const unfinished = 0;

/** Marks a database as the target of an unfinished copy, until `endCopy`. */
export async function beginCopy(target: Database, from: string): Promise<void> {
  await target.run(sql`
    insert into migration (number, name) values (${unfinished}, ${`copying from ${from}`})
    on conflict (number) do nothing`);
}

/** Removes the mark, so that a server can start. */
export async function endCopy(target: Database): Promise<void> {
  await target.run(sql`delete from migration where number = ${unfinished}`);
}

/** Whether a copy into the database began and has not ended. */
export async function hasUnfinishedCopy(database: Sql): Promise<boolean> {
  return (await database.get(sql`select number from migration where number = ${unfinished}`)) !== undefined;
}
