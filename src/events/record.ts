/** Writes events, in the transaction of the change that they record. */
import type { Origin } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { eventQueries } from './queries.ts';
import type { NewEvent } from './schemas.ts';

export function recordEvents(
  tx: Sql,
  origin: Origin,
  createdAt: string,
  events: readonly NewEvent[],
): Promise<void> {
  return eventQueries(tx).insert(origin, createdAt, events);
}
