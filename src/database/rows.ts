/** Rows by the names of their columns: the keys of an object name the columns, and its values are inserted. */
import type { Sql } from './database.ts';
import { Statement, type Value } from './sql.ts';

type NamedValues<Row> = { readonly [Column in keyof Row]: Value };

/** Columns of the last rows of each table. Adapters make the text of an insert once for the same list. */
const columnsByTable = new Map<string, readonly string[]>();
const insertTexts = new WeakMap<readonly string[], readonly string[]>();

/** Inserts rows with the same keys, like `Sql.insert`. Table and keys are constants, never input. */
export function insertRows<Row extends NamedValues<Row>>(
  tx: Sql,
  table: string,
  rows: readonly Row[],
): Promise<void> {
  const columns = columnsOf(table, rows[0]);
  return tx.insert(
    table,
    columns,
    rows.map((row) => valuesOf(columns, row)),
  );
}

/** `insertRows`, sent like `Sql.sendInsert`. */
export function sendRows<Row extends NamedValues<Row>>(
  tx: Sql,
  table: string,
  rows: readonly Row[],
): Promise<void> {
  const columns = columnsOf(table, rows[0]);
  return tx.sendInsert(
    table,
    columns,
    rows.map((row) => valuesOf(columns, row)),
  );
}

/** Inserts one row and returns its id. */
export function insertReturningId<Row extends NamedValues<Row>>(table: string, row: Row): Statement {
  const columns = columnsOf(table, row);
  let strings = insertTexts.get(columns);
  if (strings === undefined) {
    const first = `insert into ${table} (${columns.join(', ')}) values (`;
    strings = [first, ...Array<string>(columns.length - 1).fill(', '), ') returning id'];
    insertTexts.set(columns, strings);
  }
  return new Statement(strings, valuesOf(columns, row));
}

function columnsOf(table: string, row: object | undefined): readonly string[] {
  const columns = Object.keys(row ?? {});
  const known = columnsByTable.get(table);
  if (known?.length === columns.length && known.every((column, index) => column === columns[index])) {
    return known;
  }
  columnsByTable.set(table, columns);
  return columns;
}

function valuesOf(columns: readonly string[], row: object): Value[] {
  return columns.map((column) => (row as Readonly<Record<string, Value>>)[column] as Value);
}
