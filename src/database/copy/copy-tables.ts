/** Copies the rows of one database into another one, on either engine. */
import type { Sql } from '../database.ts';
import { rawSql, sql, type Value } from '../sql.ts';
import {
  countRows,
  listTables,
  lockTables,
  readLastIds,
  readTableRows,
  type Table,
  toRowKey,
  writeLastIds,
} from './tables.ts';

const rowsAtOnce = 5000;

/**
 * Tables that are not copied: migrations create the schema, each engine counts requests in another way, triggers of the
 * target count its orders, servers of the source do not use the target, and snapshots stay in the source.
 */
const leftOut = new Set([
  'migration',
  'quota',
  'order_count',
  'order_count_change',
  'instance',
  'snapshot',
  'image_file_pin',
]);

/** How many rows of a table were copied. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
}

export type Progress = (done: number, total: number, note: string) => void;

/**
 * Replaces the rows of all tables by those of `source`, which must not change meanwhile (see Database.snapshot).
 * @param tx an exclusive transaction of the target, which has the same schema: a copy that fails leaves nothing
 */
export async function copyTables(source: Sql, tx: Sql, progress: Progress): Promise<CopiedTable[]> {
  const tables = (await listTables(source, source.engine)).filter(({ name }) => !leftOut.has(name));
  const counts = await Promise.all(tables.map((table) => countRows(source, table)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  await lockTables(tx, tables);
  // The order is reversed: a row is deleted after the rows that refer to it.
  for (const { name } of tables.toReversed()) {
    await tx.run(sql`delete from ${rawSql(name)}`);
  }
  const copied: CopiedTable[] = [];
  let done = 0;
  for (const table of tables) {
    const rows = await copyRows(source, tx, table, (more) => {
      done += more;
      progress(done, total, `copying ${table.name}`);
    });
    copied.push({ name: table.name, rows });
  }
  await writeLastIds(tx, tx.engine, await readLastIds(source, source.engine));
  return copied;
}

async function copyRows(
  source: Sql,
  tx: Sql,
  table: Table,
  advance: (rows: number) => void,
): Promise<number> {
  let copied = 0;
  let after: readonly Value[] | null = null;
  for (;;) {
    const rows = await readTableRows(source, table, after, rowsAtOnce);
    const last = rows.at(-1);
    if (last === undefined) {
      return copied;
    }
    await tx.insert(table.name, table.columns, rows);
    copied += rows.length;
    advance(rows.length);
    after = toRowKey(table, last);
  }
}
