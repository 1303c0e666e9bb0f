/** Whether the database responds. */
import type { Sql } from '../database.ts';
import { sql } from '../sql.ts';

/** @throws AppError unavailable */
export async function ping(database: Sql): Promise<void> {
  await database.get(sql`select 1 as answer`);
}
