/**
 * Purges: deletions of expired rows, in slices. One statement for all of them would block other changes on SQLite, and
 * reach the time limit of statements on PostgreSQL: from then on, nothing would be purged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from './database.ts';

/** SQLite runs nothing else meanwhile: 1.5 ms for stored responses. */
const rowsOfASlice = { sqlite: 200, postgres: 2000 };
/** Longest purge: the other tasks of the maintenance, and a server that stops, wait for it. */
const purgeMs = 5000;

/**
 * Deletes slices until no row is left, or for five seconds. Other changes come between two slices.
 * @param deleteSlice deletes up to `limit` rows in the transaction of the slice, and returns how many
 * @returns whether rows are left: a task of the maintenance that returns it runs again
 */
export async function purgeInSlices(
  database: Database,
  deleteSlice: (tx: Sql, limit: number) => Promise<number>,
  limit = rowsOfASlice[database.engine],
): Promise<boolean> {
  const until = performance.now() + purgeMs;
  for (;;) {
    const startedAt = performance.now();
    const deleted = await database.relaxedTransaction((tx) => deleteSlice(tx, limit));
    const endedAt = performance.now();
    if (deleted < limit) {
      return false;
    }
    if (endedAt >= until) {
      return true;
    }
    // The pause is as long as the slice took: half of the time is left to other changes.
    await sleep(endedAt - startedAt);
    // This checkpoint prevents a longer one after many slices, which would block reads for 50 ms and more.
    const checkpointAt = performance.now();
    database.checkpoint();
    await sleep(performance.now() - checkpointAt);
  }
}
