/** All that a shop has written down, to be held against what another has. */
import type { Database } from '../../src/database/database.ts';
import { listTables, readTableRows } from '../../src/database/tables.ts';

/** Rows by table, but for what is counted anew and how far the schema is. */
export async function contentsOf(database: Database): Promise<Record<string, readonly unknown[]>> {
  const contents: Record<string, readonly unknown[]> = {};
  for (const table of await listTables(database, database.engine)) {
    if (!['quota', 'migration'].includes(table.name)) {
      contents[table.name] = await readTableRows(database, table, null, 1_000_000);
    }
  }
  return contents;
}
