/** The recorded events of given subjects. */
import { forEachBlock } from '../blocks.ts';
import type { Sql } from '../database/database.ts';
import { withdrawnEvent } from './define.ts';
import { type EventRow, eventQueries } from './queries.ts';

/** Events of some subjects, in the order in which they were recorded. */
export function listEvents(sql: Sql, subjects: readonly string[]): Promise<EventRow[]> {
  return eventQueries(sql).listOf(subjects);
}

/** A statement has 32,766 values at most. */
const blockSize = 1000;

/**
 * Removes events of test orders from their timelines. An event with a number, or one that waits for it, is replaced by
 * `shop.event_withdrawn`, because no number of the log may be missing: an earlier version recorded some transitions of
 * test orders in the log.
 */
export async function removeFromTimeline(tx: Sql, ids: readonly number[]): Promise<void> {
  await forEachBlock(ids, blockSize, async (block) => {
    await eventQueries(tx).deleteOutsideLog(block);
    await eventQueries(tx).replace(block, withdrawnEvent());
  });
}
