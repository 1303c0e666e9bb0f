/** Chooses the adapter of the database. */
import type { Config } from '../settings/config.ts';
import type { Database } from './database.ts';

/** Opens the database of the settings. Only the code of its engine is loaded. */
export async function openDatabase({ database: place }: Pick<Config, 'database'>): Promise<Database> {
  if (place.engine === 'sqlite') {
    const { openSqlite } = await import('./sqlite/sqlite.ts');
    return openSqlite(place.file);
  }
  const { openPostgres } = await import('./postgres/postgres.ts');
  return openPostgres(place.url);
}
