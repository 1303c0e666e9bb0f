/** Writes events, in the transaction of the change that they record. */
import type { Origin } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import type { NewEvent } from './define.ts';
import { eventLogQueries } from './log-queries.ts';
import { eventQueries } from './queries.ts';

type EventCheck = (tx: Sql, events: readonly NewEvent[]) => Promise<void>;
let check: EventCheck | null = null;

/** Called by tests alone: `by` is called before events are written, in their transaction, and may throw. */
export function checkEvents(by: EventCheck): void {
  check = by;
}

/**
 * Records events after their change, in its transaction. The order of the log depends on that: a change locks its
 * subject before its event is inserted. On SQLite the transaction numbers the events, because there is one writer; on
 * PostgreSQL a pass numbers them after the commit (numbering.ts).
 */
export async function recordEvents(
  tx: Sql,
  origin: Origin,
  createdAt: string,
  events: readonly NewEvent[],
): Promise<void> {
  if (origin.effects !== null) {
    origin.effects.addEvents(events);
    return;
  }
  if (events.length === 0) {
    return;
  }
  await check?.(tx, events);
  const first = tx.numbersEventsAtWrite ? await firstOfNext(tx, events.length) : null;
  await eventQueries(tx).insert(origin, createdAt, events, (index) =>
    first === null ? null : first + index,
  );
}

/** Records events that no reader of the log sees, but the timeline of their subject: those of test orders. */
export async function recordOutsideLog(
  tx: Sql,
  origin: Origin,
  createdAt: string,
  events: readonly NewEvent[],
): Promise<void> {
  if (origin.effects !== null) {
    origin.effects.addEvents(events);
    return;
  }
  await eventQueries(tx).insert(origin, createdAt, events, () => 0);
}

async function firstOfNext(tx: Sql, count: number): Promise<number> {
  const row = await eventLogQueries(tx).countUp(count);
  return (row?.last ?? 0) - count + 1;
}
