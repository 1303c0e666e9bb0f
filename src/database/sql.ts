/**
 * SQL in a tagged template whose values are always bound, never inserted into the text. One statement works on both
 * engines. The fragments at the end of this file cover the differences of their dialects.
 *
 *     sql`select body from cheese where id = ${id}`
 *     sql`select * from cheese where ${condition}`      // a nested statement is inserted with its values
 */

import type { AdvisoryLock } from './lock-order.ts';

export type Engine = 'sqlite' | 'postgres';
export type Value = string | number | null;

/** SQL that differs between the two engines. */
class DialectText {
  readonly texts: Readonly<Record<Engine, string>>;

  constructor(texts: Readonly<Record<Engine, string>>) {
    this.texts = texts;
  }
}

type Part = Value | Statement | DialectText;

/** Text and values of one statement. The text of a template without nested statements is made once. */
export class Statement {
  readonly #strings: readonly string[];
  readonly #parts: readonly Part[];

  constructor(strings: readonly string[], parts: readonly Part[]) {
    this.#strings = strings;
    this.#parts = parts;
  }

  /** The statement for one engine: placeholders `?` on SQLite, `$1`, `$2` ... on PostgreSQL. */
  render(engine: Engine): { text: string; values: Value[] } {
    const values: Value[] = [];
    if (!this.#parts.every(isValue)) {
      return { text: this.#append(engine, values), values };
    }
    let text = plainTexts[engine].get(this.#strings);
    if (text === undefined) {
      text = this.#append(engine, values);
      plainTexts[engine].set(this.#strings, text);
    }
    return { text, values: this.#parts as Value[] };
  }

  #append(engine: Engine, values: Value[]): string {
    let text = this.#strings[0] ?? '';
    for (const [index, part] of this.#parts.entries()) {
      if (part instanceof Statement) {
        text += part.#append(engine, values);
      } else if (part instanceof DialectText) {
        text += part.texts[engine];
      } else {
        values.push(part);
        text += engine === 'sqlite' ? '?' : `$${values.length}`;
      }
      text += this.#strings[index + 1];
    }
    return text;
  }
}

const plainTexts: Record<Engine, WeakMap<readonly string[], string>> = {
  sqlite: new WeakMap(),
  postgres: new WeakMap(),
};

function isValue(part: Part): part is Value {
  return !(part instanceof Statement || part instanceof DialectText);
}

/** Makes a statement from a template: values become bound parameters, statements are nested. */
export function sql(strings: TemplateStringsArray, ...parts: Part[]): Statement {
  return new Statement(strings, parts);
}

/** Unchanged SQL text: names of tables and columns, never input. */
export function rawSql(text: string): Statement {
  return new Statement([text], []);
}

/** Joins statements with a separator, which is constant SQL, never input. */
export function join(statements: readonly Statement[], separator: string): Statement {
  const strings = statements.map((_, index) => (index === 0 ? '' : separator));
  return new Statement([...strings, ''], statements);
}

/** Conditions joined by `and`; true when there are none. */
export function joinAnd(conditions: readonly Statement[]): Statement {
  return conditions.length === 0 ? sql`true` : join(conditions, ' and ');
}

/** Values as a list for `in (...)`. */
export function valueList(values: readonly Value[]): Statement {
  return join(
    values.map((value) => sql`${value}`),
    ', ',
  );
}

const endOfRows = new DialectText({ sqlite: ')', postgres: '::text::jsonb)' });

/**
 * Rows from one bound value, for statements that work on many rows at once: a table with one JSON column `value`, of
 * which `value->>'name'` is a member as text.
 */
export function rowsFromJson(rows: readonly Readonly<Record<string, Value>>[]): Statement {
  return sql`${new DialectText({ sqlite: 'json_each(', postgres: 'jsonb_array_elements(' })}${JSON.stringify(rows)}${endOfRows}`;
}

/** Texts or numbers from one bound value: a table with one column `value`, which for numbers must be cast. */
export function valuesFromJson(values: readonly (number | string)[]): Statement {
  return sql`${new DialectText({ sqlite: 'json_each(', postgres: 'jsonb_array_elements_text(' })}${JSON.stringify(values)}${endOfRows}`;
}

/** Selects numbers from one bound value, for `in (...)` with many. */
export function selectIntegers(values: readonly (number | string)[]): Statement {
  return sql`select cast(value as bigint) from ${valuesFromJson(values)}`;
}

/** Selects texts from one bound value, for `in (...)` with many. */
export function selectTexts(values: readonly string[]): Statement {
  return sql`select value from ${valuesFromJson(values)}`;
}

/**
 * A column as an expression with the same value, so that planners do not choose an index that begins with it. They
 * estimate a condition on it from the whole table, and read all rows of an owner with many to find a few of another index.
 */
export function noIndex(column: Statement, type: 'number' | 'text'): Statement {
  return type === 'number' ? sql`+${column}` : sql`${column} || ''`;
}

/** Locks the rows of a `select` for the rest of the transaction. SQLite has one writer at a time and needs no lock. */
export const forUpdate: Statement = sql`${new DialectText({ sqlite: '', postgres: ' for update' })}`;

/** A shared lock: it blocks changes of the row, but no other shared lock. */
export const forShare: Statement = sql`${new DialectText({ sqlite: '', postgres: ' for share' })}`;

/**
 * Takes an exclusive lock by name until the end of the transaction, for work that has no row to lock. SQLite has one
 * writer at a time and needs no lock.
 * @param of what is locked, if the name stands for several locks
 */
export function advisoryLock(lock: AdvisoryLock, of: string | number = ''): Statement {
  const name = of === '' ? lock : `${lock} ${of}`;
  return sql`select ${new DialectText({ sqlite: 'length(', postgres: 'pg_advisory_xact_lock(hashtextextended(' })}${name}${new DialectText({ sqlite: ')', postgres: ', 0))' })} as locked`;
}

/** Locks like `forUpdate`, but skips rows that another transaction has locked. */
export const skippingLocked: Statement = sql`${new DialectText({ sqlite: '', postgres: ' for update skip locked' })}`;

/** Locks like `forShare`, but skips rows that another transaction has locked. */
export const sharingUnlocked: Statement = sql`${new DialectText({ sqlite: '', postgres: ' for share skip locked' })}`;

/**
 * Deletes rows in the order of their key, so that two statements that delete the same rows cannot deadlock. Names of
 * tables and columns are constants, never input.
 */
export function deleteInOrder(table: string, key: string, condition: Statement): Statement {
  const ordered = sql`select ${rawSql(key)} from ${rawSql(table)} where ${condition} order by ${rawSql(key)}${forUpdate}`;
  return sql`delete from ${rawSql(table)} where (${rawSql(key)}) in (${ordered})`;
}

/** Deletes rows except those that another transaction has locked: for purges, which run again later. */
export function deleteUnlocked(table: string, key: string, condition: Statement): Statement {
  const unlocked = sql`select ${rawSql(key)} from ${rawSql(table)} where ${condition}${skippingLocked}`;
  return sql`delete from ${rawSql(table)} where (${rawSql(key)}) in (${unlocked})`;
}

/** Deletes up to `limit` rows in the order of a column with an index, except those that another transaction has locked. */
export function deleteSlice(
  table: string,
  key: string,
  column: string,
  condition: Statement,
  limit: number,
): Statement {
  return deleteUnlocked(table, key, sql`${condition} order by ${rawSql(column)} limit ${limit}`);
}

/** Takes the place of a value in a column whose ids the database generates. */
export const generatedId: Statement = sql`${new DialectText({ sqlite: 'null', postgres: 'default' })}`;

/** Shortens the lock timeout of this transaction on PostgreSQL. */
export const shortLockTimeout: Statement = sql`select set_config('lock_timeout', '2s', true) as setting`;

/**
 * A text that changes when a standby of PostgreSQL is promoted or a backup is restored: versions that a standby had not
 * received may then be given again. A SQLite file has one server, and is replaced only while that does not run.
 */
export const databaseTimeline: Statement = sql`${new DialectText({
  sqlite: "''",
  postgres:
    "case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end",
})}`;
