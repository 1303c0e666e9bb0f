/** Event retention: removes old events from the beginning of the log. */
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import { eventLogQueries } from './log-queries.ts';

/** One transaction. */
const blockSize = 1000;

/**
 * Removes events that are older than the retention, but never the newest one. Rows of orders and cheeses stay, for the
 * timeline of the order and the history of the cheese, and are no longer in the log. Returns whether some are left.
 * @param retentionMs null keeps all events
 */
export async function removeExpiredEvents(
  database: Database,
  clock: Clock,
  retentionMs: number | null,
): Promise<boolean> {
  if (retentionMs === null) {
    return false;
  }
  const before = timestamp(clock.now() - retentionMs);
  return purgeInSlices(database, (tx) => removeBlock(tx, before), blockSize);
}

/** The next block: where the log begins, and how many events from there on are too old. */
async function expiredBlock(sql: Sql, before: string): Promise<{ first: number; count: number }> {
  const queries = eventLogQueries(sql);
  const { first = 1, last = 0 } = (await queries.findLog()) ?? {};
  const rows = await queries.listTimes(first, Math.min(first + blockSize, last));
  const newer = rows.findIndex(({ created_at }) => created_at >= before);
  return { first, count: newer === -1 ? rows.length : newer };
}

/**
 * The lock on the log comes last, because the passes of PostgreSQL need it. Of two instances that remove the same block,
 * the second waits for the rows that the first deletes, and then moves nothing.
 */
async function removeBlock(tx: Sql, before: string): Promise<number> {
  const queries = eventLogQueries(tx);
  const { first, count } = await expiredBlock(tx, before);
  if (count > 0) {
    await queries.deleteEvents(first, first + count);
    await queries.moveFirst(first, first + count);
  }
  return count;
}
