/** The recorded events of given subjects. */
import { forEachBlock } from '../blocks.ts';
import type { Sql } from '../database/database.ts';
import { type EventRow, eventQueries } from './queries.ts';

/** Events of some subjects, in the order in which they were recorded. */
export function listEvents(sql: Sql, subjects: readonly string[]): Promise<EventRow[]> {
  return eventQueries(sql).listOf(subjects);
}

/** A statement has 32,766 values at most. */
const blockSize = 1000;

/** Only for test orders: the events of a shop are never deleted one by one. */
export async function deleteEvents(tx: Sql, ids: readonly number[]): Promise<void> {
  await forEachBlock(ids, blockSize, async (block) => {
    await eventQueries(tx).delete(block);
  });
}
