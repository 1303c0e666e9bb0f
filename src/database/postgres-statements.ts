/** Runs statements on a connection to PostgreSQL, and inserts rows in as few round trips as possible. */
import type postgres from 'postgres';
import type { Sql } from './database.ts';
import { codeOf, IN_FAILED_TRANSACTION, translateViolation } from './postgres-errors.ts';
import type { Statement, Value } from './sql.ts';

/** More statements without a result fill the memory. */
const sentMax = 16;
/** Up to so many rows are bound value by value; more are bound as one value for each column. */
const fewRows = 8;

export type Connection = Pick<postgres.Sql<{ bigint: number }>, 'unsafe'>;

/** Types of columns by their names. */
type ColumnTypes = ReadonlyMap<string, string>;
type Rows = readonly (readonly Value[])[];

/** Statements of a transaction whose results nothing waits for. */
export interface SentStatements {
  /** Whether the transaction has begun. If it could not, statements would be committed one by one. */
  isBegun: boolean;
  readonly begun: Promise<void>;
  /** They never reject. */
  readonly results: Promise<void>[];
  /** How many have no result yet. */
  waiting: number;
  /** The error of the first one that failed. PostgreSQL refuses all statements after it, and the commit. */
  failure: unknown;
}

/** What the connections of a database share. */
export interface SharedState {
  /** By the names of tables. */
  readonly columnTypes: Map<string, ColumnTypes>;
  isPrepared(text: string): boolean;
  /** Called after every response. */
  answered(): void;
}

/** Statements on one connection or transaction. @param sent null outside of transactions */
export function statementsOn(
  connection: Connection,
  { columnTypes, isPrepared, answered }: SharedState,
  sent: SentStatements | null = null,
): Sql {
  async function run(text: string, values: Value[]) {
    const before = sent?.results.length;
    try {
      return await connection.unsafe(text, values, { prepare: isPrepared(text) });
    } catch (error) {
      if (sent !== null && codeOf(error) === IN_FAILED_TRANSACTION) {
        await Promise.all(sent.results.slice(0, before));
        throw sent.failure ?? error;
      }
      throw translateViolation(error);
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

  /** With values, or where the rows are many, with one value for each column: half the time of a record for each row. */
  function insertRows(types: ColumnTypes, table: string, columns: readonly string[], rows: Rows) {
    const names = columns.join(', ');
    if (rows.length <= fewRows) {
      const places = rows.map((_, row) => {
        const first = row * columns.length + 1;
        return `(${columns.map((column, index) => `$${first + index}::${types.get(column)}`).join(', ')})`;
      });
      return run(`insert into ${table} (${names}) values ${places.join(', ')}`, rows.flat());
    }
    const elements = columns.map(
      (column, index) => `json_array_elements_text($${index + 1}::text::json)::${types.get(column)}`,
    );
    return run(
      `insert into ${table} (${names}) select ${elements.join(', ')}`,
      columns.map((_, index) => JSON.stringify(rows.map((row) => row[index]))),
    );
  }

  /** Waits for the result outside of transactions, and where too many statements have none. */
  async function withoutResult(start: () => Promise<unknown>): Promise<void> {
    if (sent === null) {
      await start();
      return;
    }
    if (!sent.isBegun) {
      await sent.begun;
    }
    sent.waiting += 1;
    const ended = start().then(
      () => {
        sent.waiting -= 1;
      },
      (error) => {
        sent.waiting -= 1;
        sent.failure ??= error;
      },
    );
    sent.results.push(ended);
    if (sent.waiting > sentMax) {
      await ended;
    }
  }

  return {
    engine: 'postgres',
    all: async <Row>(statement: Statement) => (await execute(statement)) as unknown as Row[],
    get: async <Row>(statement: Statement) => (await execute(statement))[0] as Row | undefined,
    run: async (statement) => (await execute(statement)).count,
    send: (statement) => withoutResult(() => execute(statement)),
    insert: async (table, columns, rows) => {
      if (rows.length > 0) {
        await insertRows(await typesOf(table), table, columns, rows);
      }
    },
    sendInsert: async (table, columns, rows) => {
      if (rows.length > 0) {
        const types = await typesOf(table);
        await withoutResult(() => insertRows(types, table, columns, rows));
      }
    },
  };
}
