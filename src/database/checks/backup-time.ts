/** When the shop was last backed up: `curd backup` stores it. */
import type { Sql } from '../database.ts';
import { sql } from '../sql.ts';

/** null without a backup. */
export async function findBackupTime(database: Sql): Promise<string | null> {
  const row = await database.get<{ last_backup_at: string | null }>(sql`select last_backup_at from shop`);
  return row?.last_backup_at ?? null;
}
