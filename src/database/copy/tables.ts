/** The tables of a database, read from its schema: for code that treats all tables in the same way. */
import type { Sql } from '../database.ts';
import { type Engine, rawSql, type Statement, sql, type Value } from '../sql.ts';

export interface Table {
  readonly name: string;
  /** Columns that can be written: generated ones are left out. */
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
}

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  /** Position in the primary key, from 1; 0 for other columns. */
  readonly key_place: number;
}

/** All tables, each after those that it refers to. */
export async function listTables(database: Sql, engine: Engine): Promise<Table[]> {
  const rows = await database.all<ColumnRow>(engine === 'sqlite' ? columnsOnSqlite : columnsOnPostgres);
  const tables = Map.groupBy(rows, ({ table_name }) => table_name);
  return [...tables].map(([name, columns]) => ({
    name,
    columns: columns.map(({ column_name }) => column_name),
    key: columns
      .filter(({ key_place }) => key_place > 0)
      .sort((a, b) => a.key_place - b.key_place)
      .map(({ column_name }) => column_name),
  }));
}

// Sorted by creation: a table can only refer to an older one. `pragma_table_info` leaves out generated columns.
const columnsOnSqlite = sql`
  select t.name as table_name, c.name as column_name, c.pk as key_place
  from sqlite_schema t join pragma_table_info(t.name) c
  where t.type = 'table' and t.name not like 'sqlite_%' order by t.rowid, c.cid`;
const columnsOnPostgres = sql`
  select t.relname::text as table_name, c.attname::text as column_name,
    coalesce(array_position(i.indkey::int[], c.attnum::int) + 1, 0) as key_place
  from pg_class t
    join pg_attribute c on c.attrelid = t.oid and c.attnum > 0 and not c.attisdropped and c.attgenerated = ''
    left join pg_index i on i.indrelid = t.oid and i.indisprimary
  where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace order by t.oid, c.attnum`;

/** Values in the order of the table's columns. */
export type TableRow = readonly Value[];

/** The next rows in the order of the key, after a given key. */
export async function readTableRows(
  database: Sql,
  { name, columns, key }: Table,
  after: readonly Value[] | null,
  limit: number,
): Promise<TableRow[]> {
  const keys = rawSql(key.join(', '));
  const start = after === null ? sql`` : sql`where (${keys}) > (${separated(after)})`;
  const rows = await database.all<Record<string, Value>>(
    sql`select ${rawSql(columns.join(', '))} from ${rawSql(name)} ${start} order by ${keys} limit ${limit}`,
  );
  return rows.map((row) => columns.map((column) => row[column] as Value));
}

export async function countRows(database: Sql, { name }: Table): Promise<number> {
  const row = await database.get<{ count: number }>(sql`select count(*) as count from ${rawSql(name)}`);
  return row?.count ?? 0;
}

/** The values of the key. */
export function toRowKey({ columns, key }: Table, row: TableRow): readonly Value[] {
  return key.map((column) => row[columns.indexOf(column)] as Value);
}

function separated(values: readonly Value[]): Statement {
  return values
    .slice(1)
    .reduce<Statement>((list, value) => sql`${list}, ${value}`, sql`${values[0] as Value}`);
}

/**
 * The last id that each table with generated ids has used. Ids are never used again. On SQLite a table without any
 * insert so far is missing.
 */
export async function readLastIds(database: Sql, engine: Engine): Promise<Map<string, number>> {
  const rows = await database.all<{ name: string; last: number }>(
    engine === 'sqlite' ? sql`select name, seq as last from sqlite_sequence` : lastIdsOnPostgres,
  );
  return new Map(rows.map(({ name, last }) => [name, last]));
}

const lastIdsOnPostgres = sql`
  select t.relname::text as name, coalesce(pg_sequence_last_value(s.seqrelid::regclass), s.seqstart - 1) as last
  from pg_class t
    join pg_attribute c on c.attrelid = t.oid and c.attidentity <> ''
    join pg_sequence s on s.seqrelid = pg_get_serial_sequence(t.oid::regclass::text, c.attname)::regclass
  where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace`;

/** Lets generated ids continue after `lastIds` or after the largest stored id, whichever is larger. */
export async function writeLastIds(
  database: Sql,
  engine: Engine,
  lastIds: ReadonlyMap<string, number>,
): Promise<void> {
  const remembering =
    engine === 'sqlite'
      ? await database.all<{ name: string }>(
          sql`select name from sqlite_schema where type = 'table' and sql like '%autoincrement%'`,
        )
      : await database.all<{ name: string }>(lastIdsOnPostgres);
  for (const { name } of remembering) {
    const greatest = await database.get<{ id: number }>(
      sql`select coalesce(max(id), 0) as id from ${rawSql(name)}`,
    );
    const last = Math.max(lastIds.get(name) ?? 0, greatest?.id ?? 0);
    if (engine === 'sqlite') {
      await database.run(sql`delete from sqlite_sequence where name = ${name}`);
      await database.run(sql`insert into sqlite_sequence (name, seq) values (${name}, ${last})`);
    } else {
      const sequence = sql`pg_get_serial_sequence(${name}, 'id')::regclass`;
      await database.all(
        sql`select setval(${sequence}, ${Math.max(last, 1)}, ${last > 0 ? sql`true` : sql`false`})`,
      );
    }
  }
}

/**
 * Leaves out the next ids of every table with generated ids. For a database on SQLite.
 * @param known last ids of another state of the same shop, which are left out too
 */
export async function skipIds(
  database: Sql,
  known: ReadonlyMap<string, number>,
  count: number,
): Promise<void> {
  const lastIds = await readLastIds(database, 'sqlite');
  for (const [name, last] of known) {
    lastIds.set(name, Math.max(last, lastIds.get(name) ?? 0));
  }
  await writeLastIds(database, 'sqlite', lastIds);
  await database.run(sql`update sqlite_sequence set seq = seq + ${count}`);
}

/** Blocks changes of other transactions until this one ends. SQLite has one writer at a time and needs no lock. */
export async function lockTables(tx: Sql, tables: readonly Table[]): Promise<void> {
  if (tx.engine === 'postgres') {
    await tx.run(rawSql(`lock table ${tables.map(({ name }) => name).join(', ')} in exclusive mode`));
  }
}
