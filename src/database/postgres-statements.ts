/** Runs statements on a connection to PostgreSQL, and inserts rows in as few round trips as possible. */
import type postgres from 'postgres';
import { ConstraintError, type Sql } from './database.ts';
import { codeOf, UNIQUE_VIOLATION } from './postgres-errors.ts';
import type { Statement, Value } from './sql.ts';

/** Up to so many rows are bound value by value; more are bound as one value for each column. */
const fewRows = 8;

export type Connection = postgres.Sql<{ bigint: number }> | postgres.TransactionSql<{ bigint: number }>;

/** Types of columns by their names. */
type ColumnTypes = ReadonlyMap<string, string>;

/** What the connections of a database share. */
export interface SharedState {
  /** By the names of tables. */
  readonly columnTypes: Map<string, ColumnTypes>;
  isPrepared(text: string): boolean;
  /** Called after every response. */
  answered(): void;
}

/** Statements on one connection or transaction. */
export function statementsOn(
  connection: Connection,
  { columnTypes, isPrepared, answered }: SharedState,
): Sql {
  async function run(text: string, values: Value[]) {
    try {
      return await connection.unsafe(text, values, { prepare: isPrepared(text) });
    } catch (error) {
      throw codeOf(error) === UNIQUE_VIOLATION
        ? new ConstraintError((error as postgres.PostgresError).constraint_name ?? '', error)
        : error;
    } finally {
      answered();
    }
  }

  function execute(statement: Statement) {
    const { text, values } = statement.render('postgres');
    return run(text, values);
  }

  async function typesOf(table: string): Promise<ColumnTypes> {
    let types = columnTypes.get(table);
    if (types === undefined) {
      const rows = await run(
        'select attname as name, atttypid::regtype::text as type from pg_attribute where attrelid = $1::text::regclass',
        [table],
      );
      types = new Map(rows.map(({ name, type }) => [name, type]));
      columnTypes.set(table, types);
    }
    return types;
  }

  return {
    engine: 'postgres',
    all: async <Row>(statement: Statement) => (await execute(statement)) as unknown as Row[],
    get: async <Row>(statement: Statement) => (await execute(statement))[0] as Row | undefined,
    run: async (statement) => (await execute(statement)).count,
    insert: async (table, columns, rows) => {
      if (rows.length === 0) {
        return;
      }
      const types = await typesOf(table);
      const names = columns.join(', ');
      if (rows.length <= fewRows) {
        const places = rows.map((_, row) => {
          const first = row * columns.length + 1;
          return `(${columns.map((column, index) => `$${first + index}::${types.get(column)}`).join(', ')})`;
        });
        await run(`insert into ${table} (${names}) values ${places.join(', ')}`, rows.flat());
        return;
      }
      // One value for each column, for any number of rows. Measured: half the time of one value with a record for each
      // row.
      const elements = columns.map(
        (column, index) => `json_array_elements_text($${index + 1}::text::json)::${types.get(column)}`,
      );
      await run(
        `insert into ${table} (${names}) select ${elements.join(', ')}`,
        columns.map((_, index) => JSON.stringify(rows.map((row) => row[index]))),
      );
    },
  };
}
