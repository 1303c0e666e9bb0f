/** Runs statements on a connection of the embedded engine. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Sql } from '../database.ts';
import type { Statement, Value } from '../sql.ts';
import { translateSqliteError } from './sqlite-errors.ts';

const cachedStatementsMax = 500;
/** One statement for so many rows takes 20 % less time than one for each. */
const rowsAtOnce = 50;

/** Prepares each statement once. */
export function statementsOnSqlite(connection: DatabaseSync): Sql {
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

  const run: Sql['run'] = async (statement) =>
    execute(statement, (prepared, values) => Number(prepared.run(...values).changes));

  const insertsOfOne = new WeakMap<readonly string[], { readonly table: string; readonly text: string }>();

  /** The text for one row, made once for columns that are a constant. */
  function insertOfOne(table: string, columns: readonly string[]): string {
    const known = insertsOfOne.get(columns);
    if (known?.table === table) {
      return known.text;
    }
    const text = insertOf(table, columns, 1);
    insertsOfOne.set(columns, { table, text });
    return text;
  }

  const insert: Sql['insert'] = async (table, columns, rows) => {
    // A failure rolls back the whole write. To undo only this statement, SQLite would first copy every page.
    try {
      let done = 0;
      for (; done + rowsAtOnce <= rows.length; done += rowsAtOnce) {
        prepare(insertOf(table, columns, rowsAtOnce)).run(...rows.slice(done, done + rowsAtOnce).flat());
      }
      if (done < rows.length) {
        const one = prepare(insertOfOne(table, columns));
        for (; done < rows.length; done += 1) {
          one.run(...(rows[done] as readonly Value[]));
        }
      }
    } catch (error) {
      throw translateSqliteError(error);
    }
  };

  return {
    engine: 'sqlite',
    numbersEventsAtWrite: true,
    all: async <Row>(statement: Statement) =>
      execute(statement, (prepared, values) => prepared.all(...values) as Row[]),
    get: async <Row>(statement: Statement) =>
      execute(statement, (prepared, values) => prepared.get(...values) as Row | undefined),
    run,
    send: async (statement) => {
      await run(statement);
    },
    insert,
    sendInsert: insert,
  };
}

/** `or fail` avoids the copy of pages that undoes a single statement: a failure rolls back the whole write anyway. */
function insertOf(table: string, columns: readonly string[], rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`;
  return `insert or fail into ${table} (${columns.join(', ')}) values ${Array(rows).fill(row).join(', ')}`;
}
