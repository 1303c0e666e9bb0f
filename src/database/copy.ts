/**
 * Makes the tables of one database the same as those of another, whichever engine either runs on. What is the same
 * already stays: so a copy that was interrupted goes on where it was, and one that is made again writes what changed.
 */
import { ConstraintError, type Database, type Sql } from './database.ts';
import { plain, sql, type Value } from './sql.ts';
import {
  countRows,
  keyIs,
  keyOf,
  listTables,
  type Row,
  readLastIds,
  readRows,
  type Table,
  writeLastIds,
} from './tables.ts';

const rowsAtOnce = 5000;

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

  const removed = new Map<Table, number>();
  // A row goes after those that refer to it, and comes before them.
  for (const table of tables.toReversed()) {
    removed.set(table, (await countRows(target, table)) === 0 ? 0 : await removeExtra(source, target, table));
  }
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const written = await write(source, target, table, (rows) => advance(rows, `copying ${table.name}`));
    const { name } = table;
    copied.push({ name, rows: counts.get(table) ?? 0, written, removed: removed.get(table) ?? 0 });
  }
  await target.transaction(async (tx) =>
    writeLastIds(tx, target.engine, await readLastIds(source, sourceEngine)),
  );
  for (const table of tables) {
    await verify(source, target, table, (rows) => advance(rows, `comparing ${table.name}`));
  }
  return copied;
}

/** Rows of two tables that are not the same, of some thousands that were compared. */
interface Differences {
  compared: number;
  readonly missing: Row[];
  readonly different: Row[];
  readonly extra: Row[];
}

const noDifferences = (): Differences => ({ compared: 0, missing: [], different: [], extra: [] });

/** Goes through both tables in the order of the key, side by side. */
async function* compare(source: Sql, target: Sql, table: Table): AsyncGenerator<Differences> {
  const ours = new Reader(source, table);
  const theirs = new Reader(target, table);
  let found = noDifferences();
  for (;;) {
    const row = ours.head ?? (await ours.read());
    const other = theirs.head ?? (await theirs.read());
    if (row === undefined && other === undefined) {
      break;
    }
    const order =
      row === undefined ? 1 : other === undefined ? -1 : orderOf(keyOf(table, row), keyOf(table, other));
    if (order > 0) {
      found.extra.push(other as Row);
      theirs.skip();
    } else {
      if (order < 0) {
        found.missing.push(row as Row);
      } else {
        if ((row as Row).some((value, column) => value !== other?.[column])) {
          found.different.push(row as Row);
        }
        theirs.skip();
      }
      ours.skip();
    }
    found.compared += 1;
    if (found.compared >= rowsAtOnce) {
      yield found;
      found = noDifferences();
    }
  }
  yield found;
}

/** Reads a table in pieces, in the order of its key. */
class Reader {
  readonly #database: Sql;
  readonly #table: Table;
  #rows: readonly Row[] = [];
  #place = 0;
  #last: readonly Value[] | null = null;
  #isOver = false;

  constructor(database: Sql, table: Table) {
    this.#database = database;
    this.#table = table;
  }

  /** The row that comes next, where it was read already. */
  get head(): Row | undefined {
    return this.#rows[this.#place];
  }

  skip(): void {
    this.#place += 1;
  }

  /** The row that comes next; undefined at the end. */
  async read(): Promise<Row | undefined> {
    if (!this.#isOver) {
      this.#rows = await readRows(this.#database, this.#table, this.#last, rowsAtOnce);
      this.#place = 0;
      const last = this.#rows.at(-1);
      this.#last = last === undefined ? null : keyOf(this.#table, last);
      this.#isOver = this.#rows.length < rowsAtOnce;
    }
    return this.head;
  }
}

/** As both engines sort: numbers by value, text by its bytes. */
function orderOf(a: readonly Value[], b: readonly Value[]): number {
  for (const [place, one] of a.entries()) {
    const other = b[place] as Value;
    if (one !== other) {
      return typeof one === 'number'
        ? one - (other as number)
        : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
    }
  }
  return 0;
}

async function removeExtra(source: Sql, target: Database, table: Table): Promise<number> {
  let removed = 0;
  for await (const { extra } of compare(source, target, table)) {
    removed += extra.length;
    await target.transaction(async (tx) => {
      for (const row of extra) {
        await tx.run(sql`delete from ${plain(table.name)} where ${keyIs(table, row)}`);
      }
    });
  }
  return removed;
}

/** Returns how many rows it wrote. */
async function write(
  source: Sql,
  target: Database,
  table: Table,
  advance: (rows: number) => void,
): Promise<number> {
  let written = 0;
  let waiting: Row[] = [];
  for await (const { compared, different, missing } of compare(source, target, table)) {
    written += different.length + missing.length;
    try {
      await target.transaction(async (tx) => {
        for (const row of different) {
          await update(tx, table, row);
        }
        await tx.insert(table.name, table.columns, missing);
      });
    } catch (error) {
      if (!(error instanceof ConstraintError)) {
        throw error;
      }
      waiting.push(...different, ...missing);
    }
    advance(compared);
  }
  // What takes a name that another row still has comes after that row.
  for (let before = Infinity; waiting.length > 0 && waiting.length < before; ) {
    before = waiting.length;
    waiting = await writeOneByOne(target, table, waiting);
  }
  if (waiting.length > 0) {
    throw new Error(
      `${waiting.length} rows of ${table.name} have exchanged names that are unique: copy into an empty database instead.`,
    );
  }
  return written;
}

/** Returns the rows that a unique index refused. */
async function writeOneByOne(target: Database, table: Table, rows: readonly Row[]): Promise<Row[]> {
  const refused: Row[] = [];
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

function update(tx: Sql, table: Table, row: Row): Promise<number> {
  const sets = table.columns
    .map((column, place) => sql`${plain(column)} = ${row[place] as Value}`)
    .reduce((all, one) => sql`${all}, ${one}`);
  return tx.run(sql`update ${plain(table.name)} set ${sets} where ${keyIs(table, row)}`);
}

async function verify(
  source: Sql,
  target: Sql,
  table: Table,
  advance: (rows: number) => void,
): Promise<void> {
  for await (const { compared, missing, different, extra } of compare(source, target, table)) {
    const count = missing.length + different.length + extra.length;
    if (count > 0) {
      throw new Error(
        `${count} rows of ${table.name} differ after the copy: is somebody else writing to the target? Stop them, and copy again.`,
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

export async function endCopy(target: Database): Promise<void> {
  await target.run(sql`delete from migration where number = ${unfinished}`);
}

/** Whether a copy into it was begun and has not ended. */
export async function isBeingCopiedTo(database: Sql): Promise<boolean> {
  return (await database.get(sql`select number from migration where number = ${unfinished}`)) !== undefined;
}

/** Whether somebody's shop is in it. */
export async function holdsShop(database: Sql): Promise<boolean> {
  const row = await database.get(sql`
    select 1 as found from (select id from account union all select id from customer union all select id from cheese)
    as rows limit 1`);
  return row !== undefined;
}
