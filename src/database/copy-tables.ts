/**
 * Makes the tables of one database the same as those of another, whichever engine either runs on. What is the same
 * already stays: so a copy that was interrupted goes on where it was, and one that is made again writes what changed.
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
 * Not copied: schemas are made by migrations, and calls of the last hour are counted in another way on each engine.
 */
const leftOut = new Set(['migration', 'quota']);

/** What became of one table. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  /** Rows that were not there before, or not the same, and others that are there no longer. */
  readonly written: number;
  readonly removed: number;
}

export type Progress = (done: number, total: number, note: string) => void;

/**
 * Copies the rows of `source`, which should not change meanwhile (see Database.snapshot), and compares all of them
 * afterwards.
 * @throws Error where the two still differ then, and where rows have exchanged among themselves what must be unique
 */
export async function copyTables(
  source: Sql,
  sourceEngine: Database['engine'],
  target: Database,
  progress: Progress,
): Promise<CopiedTable[]> {
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
  // Rows go after those that refer to them.
  for (const { table, extra } of passes.toReversed()) {
    await remove(target, table, extra);
  }
  for (const { table, waiting } of passes) {
    await writeWaiting(target, table, waiting);
  }
  const lastIds = await readLastIds(source, sourceEngine);
  await target.transaction((tx) => writeLastIds(tx, target.engine, lastIds));
  for (const { table, written, extra } of passes) {
    // What was the same is so still: the source is of one moment, and nobody else writes to the target.
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

/** What became of a table when its rows were written. */
interface Pass {
  readonly table: Table;
  readonly written: number;
  /** Rows that the source does not have, still to be removed. */
  readonly extra: TableRow[];
  /** Rows that could not be written before others are removed or changed. */
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
      // A name that another row still has, or a row to refer to that waits itself.
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

/** What takes a name that another row still has comes after that row. */
async function writeWaiting(target: Database, table: Table, rows: readonly TableRow[]): Promise<void> {
  let waiting = rows;
  while (waiting.length > 0) {
    const refused = await writeOneByOne(target, table, waiting);
    if (refused.length === waiting.length) {
      throw new Error(
        `Rows of ${table.name} have exchanged names that are unique (${waiting.length}): copy into an empty database instead.`,
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
        `Rows of ${table.name} differ after the copy (${count}): is somebody else writing to the target? Stop them, and copy again.`,
      );
    }
    advance(compared);
  }
}

/** In the table of migrations: one that no schema has. */
const unfinished = 0;

/** Marks a database as one that is being copied into, until `endCopy`. */
export async function beginCopy(target: Database, from: string): Promise<void> {
  await target.run(sql`
    insert into migration (number, name) values (${unfinished}, ${`copying from ${from}`})
    on conflict (number) do nothing`);
}

/** From now on a server may start on it. */
export async function endCopy(target: Database): Promise<void> {
  await target.run(sql`delete from migration where number = ${unfinished}`);
}

/** Whether a copy into it was begun and has not ended. */
export async function hasUnfinishedCopy(database: Sql): Promise<boolean> {
  return (await database.get(sql`select number from migration where number = ${unfinished}`)) !== undefined;
}
