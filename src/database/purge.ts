/**
 * Purges: deletions of expired rows, in slices. One statement for all of them would block other changes on SQLite, and
 * reach the time limit of statements on PostgreSQL: from then on, nothing would be purged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from './database.ts';

/** SQLite runs nothing else meanwhile: 1.5 ms for stored responses. */
const rowsOfASlice = { sqlite: 200, postgres: 2000 };
/** Leaves the disk and the processor to other requests, which take as long as without a purge. */
const pauseMs = 200;
/** Longest purge: the other tasks of the maintenance, and a server that stops, wait for it. */
const purgeMs = 5000;

/**
 * Deletes slices until no row is left, or for five seconds: 500 rows a second on SQLite, 5,000 on PostgreSQL.
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
    const deleted = await database.relaxedTransaction((tx) => deleteSlice(tx, limit));
    if (deleted < limit) {
      return false;
    }
    if (performance.now() >= until) {
      return true;
    }
    await sleep(pauseMs);
    // This checkpoint prevents a longer one after many slices, which would block reads for 50 ms and more.
    database.checkpoint();
    await sleep(pauseMs);
  }
}
