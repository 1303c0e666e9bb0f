/** The recorded events of given subjects. */
import type { Sql } from '../database/database.ts';
import { type EventRow, eventQueries } from './queries.ts';

/** Events of some subjects, in the order in which they were recorded. */
export function listEvents(sql: Sql, subjects: readonly string[]): Promise<EventRow[]> {
  return eventQueries(sql).listOf(subjects);
}

/** A statement has 32,766 values at most. */
const deletedAtOnce = 1000;

/** Only for test orders: the events of a shop are never deleted one by one. */
export async function deleteEvents(tx: Sql, ids: readonly number[]): Promise<void> {
  for (let first = 0; first < ids.length; first += deletedAtOnce) {
    await eventQueries(tx).delete(ids.slice(first, first + deletedAtOnce));
  }
}
