/** Reads of the event log within a transaction, for readers in other folders. */
import type { Sql } from '../database/database.ts';
import { type EpochRow, type EventHeadRow, eventLogQueries, type LogEventRow } from './log-queries.ts';
import { type LogState, positionAt } from './positions.ts';

export type { LogEventRow };

/** Epochs change with a restore, a copy or a failover: they are read with the log each time. */
export async function readLogState(tx: Sql): Promise<LogState> {
  const [log, epochs] = await Promise.all([eventLogQueries(tx).findLog(), eventLogQueries(tx).listEpochs()]);
  return { last: log?.last ?? 0, first: log?.first ?? 1, epochs };
}

/** Events after a number, in order, without their data. */
export function readHeads(tx: Sql, after: number, limit: number): Promise<EventHeadRow[]> {
  return eventLogQueries(tx).listHeads(after, limit);
}

/** Events by their numbers. Those that the retention has removed are missing. */
export async function readEvents(
  tx: Sql,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, LogEventRow>> {
  const { first } = await readLogState(tx);
  const rows = sequences.length === 0 ? [] : await eventLogQueries(tx).listEvents(sequences);
  return new Map(rows.filter(({ sequence }) => sequence >= first).map((row) => [row.sequence, row]));
}

/** An event as list, stream and webhooks show it. */
export interface EventItem {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  /** The JSON object. */
  readonly text: string;
}

/** The item of a row. */
export function toItem(row: LogEventRow, epochs: readonly EpochRow[]): EventItem {
  const { sequence, type, subject } = row;
  const id = positionAt(sequence, epochs);
  return { sequence, id, type, subject, text: toEvent(row, id) };
}

/** The JSON object of an event. */
export function toEvent(row: LogEventRow, id: string): string {
  const head = JSON.stringify({
    id,
    type: row.type,
    timestamp: row.created_at,
    sequence: row.sequence,
    subject: row.subject,
    actor: row.actor,
    requestId: row.request_id,
  });
  return `${head.slice(0, -1)},"data":${row.data}}`;
}
