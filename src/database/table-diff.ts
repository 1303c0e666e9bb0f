/** Compares one table of two databases row by row. */
import type { Sql } from './database.ts';
import type { Value } from './sql.ts';
import { keyOf, readTableRows, type Table, type TableRow } from './tables.ts';

const rowsAtOnce = 5000;

/** Differences among the next thousands of compared rows. */
export interface Differences {
  compared: number;
  readonly missing: TableRow[];
  readonly different: TableRow[];
  readonly extra: TableRow[];
}

const noDifferences = (): Differences => ({ compared: 0, missing: [], different: [], extra: [] });

/** Compares both tables in the order of the key, some thousands of rows at a time. */
export async function* diffTables(source: Sql, target: Sql, table: Table): AsyncGenerator<Differences> {
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
      found.extra.push(other as TableRow);
      theirs.skip();
    } else {
      if (order < 0) {
        found.missing.push(row as TableRow);
      } else {
        if ((row as TableRow).some((value, column) => value !== other?.[column])) {
          found.different.push(row as TableRow);
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
  #rows: readonly TableRow[] = [];
  #place = 0;
  #last: readonly Value[] | null = null;
  #isOver = false;

  constructor(database: Sql, table: Table) {
    this.#database = database;
    this.#table = table;
  }

  /** The next row, if it is in memory. */
  get head(): TableRow | undefined {
    return this.#rows[this.#place];
  }

  skip(): void {
    this.#place += 1;
  }

  /** The next row; undefined at the end. */
  async read(): Promise<TableRow | undefined> {
    if (!this.#isOver) {
      this.#rows = await readTableRows(this.#database, this.#table, this.#last, rowsAtOnce);
      this.#place = 0;
      const last = this.#rows.at(-1);
      this.#last = last === undefined ? null : keyOf(this.#table, last);
      this.#isOver = this.#rows.length < rowsAtOnce;
    }
    return this.head;
  }
}

/** The sort order of both engines: numbers by value, text by its bytes. */
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
