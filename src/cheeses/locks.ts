/** Locks of the catalogue and of cheeses, for transactions of other areas. They come first in the lock order. */
import type { Sql } from '../database/database.ts';
import { cheeseQueries } from './queries.ts';
import { parseCheese, type Status } from './schemas.ts';

/** Until the end of the transaction, no other one changes the catalogue. Comes before the locks of cheeses. */
export async function lockCatalogue(tx: Sql): Promise<void> {
  await cheeseQueries(tx).lockCatalogue();
}

/**
 * Until the end of the transaction, no other one changes the cheese or orders it. Returns its status; undefined when
 * there is no such cheese.
 */
export async function lockCheese(tx: Sql, id: number): Promise<Status | undefined> {
  const row = await cheeseQueries(tx).lockForUpdate(id);
  return row === undefined ? undefined : parseCheese(row.body).status;
}

/** Stores in the rows of cheeses whether their stock is tracked. The rows are locked. */
export async function setTracked(tx: Sql, ids: readonly number[], isTracked: boolean): Promise<void> {
  await cheeseQueries(tx).updateTracked(ids, isTracked ? 1 : 0);
}
