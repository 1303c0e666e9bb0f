/** The recorded events of given subjects. */
import type { Sql } from '../database/database.ts';
import { type EventRow, eventQueries } from './queries.ts';

/** Events of some subjects, in the order in which they were recorded. */
export function listEvents(sql: Sql, subjects: readonly string[]): Promise<EventRow[]> {
  return eventQueries(sql).listOf(subjects);
}

/** Only for test orders: the events of a shop are never deleted one by one. */
export async function deleteEvents(tx: Sql, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) {
    await eventQueries(tx).delete(ids);
  }
}
