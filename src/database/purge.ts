/**
 * Purges: deletions of expired rows, in slices. One statement for all of them would block other changes on SQLite, and
 * reach the time limit of statements on PostgreSQL: from then on, nothing would be purged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';

const rowsOfASlice = { sqlite: 500, postgres: 2000 };
/** Of one purge: the other tasks of the maintenance, and a server that stops, wait for it. The next one continues. */
const purgeMs = 5000;

/**
 * Deletes slices until no row is left, or for five seconds. Other changes come between two slices.
 * @param deleteSlice deletes up to `limit` rows in a transaction, and returns how many
 */
export async function purgeInSlices(
  { engine }: Database,
  deleteSlice: (limit: number) => Promise<number>,
  limit = rowsOfASlice[engine],
): Promise<void> {
  const until = performance.now() + purgeMs;
  for (;;) {
    const startedAt = performance.now();
    const deleted = await deleteSlice(limit);
    const endedAt = performance.now();
    if (deleted < limit || endedAt >= until) {
      return;
    }
    // As long as the slice has taken: half of the time is left to other changes.
    await sleep(endedAt - startedAt);
  }
}
