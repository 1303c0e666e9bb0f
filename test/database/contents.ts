/** All rows of a shop, for a comparison with another shop. */

import { listTables, readTableRows } from '../../src/database/copy/tables.ts';
import type { Database } from '../../src/database/database.ts';

/** Usage counters, applied migrations, changes of orders that are not counted yet, and what a copy changes. */
const excepted = [
  ...['quota', 'migration', 'order_count', 'order_count_change'],
  ...['event_log', 'event_epoch', 'mail_reader'],
];

/** Rows by table, except the excepted ones, for a comparison with a copy. */
export async function contentsOf(database: Database): Promise<Record<string, readonly unknown[]>> {
  const contents: Record<string, readonly unknown[]> = {};
  for (const table of await listTables(database, database.engine)) {
    if (!excepted.includes(table.name)) {
      contents[table.name] = await readTableRows(database, table, null, 1_000_000);
    }
  }
  return contents;
}
