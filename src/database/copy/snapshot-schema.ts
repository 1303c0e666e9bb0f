/** Snapshots on PostgreSQL: copies of tables in a schema of the same database, which all instances can read. */
import type { Database } from '../database.ts';
import { toErrorCode } from '../postgres/postgres-errors.ts';
import { sql } from '../sql.ts';
import { listTables, lockTables, readLastIds, type Table } from './tables.ts';

const namePrefix = 'curd_snapshot_';
const INSUFFICIENT_PRIVILEGE = '42501';

/** The name of a new schema. @param token lower-case letters and digits */
export const snapshotSchemaName = (token: string) => `${namePrefix}${token}`;

/** What a snapshot has of the shop. */
export interface WrittenSnapshot {
  readonly bytes: number;
  /** The last ids that each table had given, those of tables that were left out included. */
  readonly lastIds: Readonly<Record<string, number>>;
}

/** Whether the user of the database may not create schemas. */
export const mayNotCreateSchema = (error: unknown) => toErrorCode(error) === INSUFFICIENT_PRIVILEGE;

/** Changes of the tables wait meanwhile. */
export function writeSnapshotSchema(
  database: Database,
  schema: string,
  isCopied: (table: Table) => boolean,
): Promise<WrittenSnapshot> {
  return database.exclusiveTransaction(async (tx, runScript) => {
    const tables = (await listTables(tx, tx.engine)).filter(isCopied);
    await runScript(`create schema ${schema}`);
    await lockTables(tx, tables);
    for (const { name, columns } of tables) {
      await runScript(`create table ${schema}.${name} as select ${columns.join(', ')} from public.${name}`);
    }
    const size = await tx.get<{ bytes: number | string }>(sql`
      select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relkind = 'r'`);
    const lastIds = Object.fromEntries(await readLastIds(tx, tx.engine));
    return { bytes: Number(size?.bytes), lastIds };
  });
}

/** The schemas of all snapshots. */
export async function listSnapshotSchemas(database: Database): Promise<string[]> {
  const rows = await database.all<{ name: string }>(
    sql`select nspname::text as name from pg_namespace where starts_with(nspname, ${namePrefix})`,
  );
  return rows.map(({ name }) => name);
}

export async function dropSnapshotSchema(database: Database, schema: string): Promise<void> {
  await database.exclusiveTransaction((_, runScript) => runScript(`drop schema if exists ${schema} cascade`));
}
