/** Locks of the catalogue and of cheeses, for transactions of other areas. They come first in the lock order. */
import type { Sql } from '../database/database.ts';
import { cheeseQueries } from './queries.ts';
import { parseCheese, type Status } from './schemas.ts';

/**
 * Locks the catalogue until the end of the transaction: no other transaction changes it. Comes before the locks of
 * cheeses.
 */
export async function lockCatalogue(tx: Sql): Promise<void> {
  await cheeseQueries(tx).lockCatalogue();
}

/**
 * Locks a cheese until the end of the transaction: no other transaction changes or orders it. Returns its status;
 * undefined when there is no such cheese.
 */
export async function lockCheese(tx: Sql, id: number): Promise<Status | undefined> {
  const row = await cheeseQueries(tx).lockForUpdate(id);
  return row === undefined ? undefined : parseCheese(row.body).status;
}

/**
 * The statuses of cheeses that no other transaction changes until the end of this one, which does not wait for them.
 * null: another transaction changes the cheese now. Cheeses that do not exist are missing.
 */
export async function tryLockForShare(tx: Sql, ids: readonly number[]): Promise<Map<number, Status | null>> {
  const statuses = new Map<number, Status | null>();
  for (const { id, status } of await cheeseQueries(tx).lockUnlocked(ids)) {
    statuses.set(id, status);
  }
  const others = ids.filter((id) => !statuses.has(id));
  for (const { id } of others.length > 0 ? await cheeseQueries(tx).listStatuses(others) : []) {
    statuses.set(id, null);
  }
  return statuses;
}

/** Stores in the rows of cheeses whether their stock is tracked. The rows are locked. */
export async function setTracked(tx: Sql, ids: readonly number[], isTracked: boolean): Promise<void> {
  await cheeseQueries(tx).updateTracked(ids, isTracked ? 1 : 0);
}
