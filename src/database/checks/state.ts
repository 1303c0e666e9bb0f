/** The state of a database: whether it responds, its size, its last backup. */
import type { Database, Sql } from '../database.ts';
import { sql } from '../sql.ts';

const statements = {
  sqlite: sql`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`,
  postgres: sql`select pg_database_size(current_database()) as bytes`,
};

const shopStatements = {
  sqlite: statements.sqlite,
  postgres: sql`
    select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`,
};

/** Bytes of the tables of the shop, without the snapshots of it. */
export async function shopSize(database: Database): Promise<number> {
  const row = await database.get<{ bytes: number | string }>(shopStatements[database.engine]);
  return Number(row?.bytes);
}

/** Bytes on disk, without the log of SQLite, which is limited to 64 MiB. */
export async function databaseSize(database: Database): Promise<number> {
  const row = await database.get<{ bytes: number | string }>(statements[database.engine]);
  return Number(row?.bytes);
}

/** Whether the database responds. @throws AppError unavailable */
export async function ping(database: Sql): Promise<void> {
  await database.get(sql`select 1 as answer`);
}

/** When the shop was last backed up, which `curd backup` stores; null without a backup. */
export async function findBackupTime(database: Sql): Promise<string | null> {
  const row = await database.get<{ last_backup_at: string | null }>(sql`select last_backup_at from shop`);
  return row?.last_backup_at ?? null;
}
