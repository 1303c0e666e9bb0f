/** Reads of the event log within a transaction, for readers in other folders. */
import type { Sql } from '../../database/database.ts';
import {
  type EpochRow,
  type EventHeadRow,
  eventLogQueries,
  type LogEventRow,
  type TimedHeadRow,
} from '../log-queries.ts';
import { type LogState, positionAt } from './positions.ts';

export type { LogEventRow, TimedHeadRow };

/** Epochs change with a restore, a copy or a failover: they are read with the log each time. */
export async function readLogState(tx: Sql): Promise<LogState> {
  const [log, epochs] = await Promise.all([eventLogQueries(tx).findLog(), eventLogQueries(tx).listEpochs()]);
  return { last: log?.last ?? 0, first: log?.first ?? 1, epochs };
}

/** Events after a number, in order, without their data. */
export function readHeads(tx: Sql, after: number, limit: number): Promise<EventHeadRow[]> {
  return eventLogQueries(tx).listHeads(after, limit);
}

/** Events after a number, in order, with their times. */
export function readTimedHeads(tx: Sql, after: number, limit: number): Promise<TimedHeadRow[]> {
  return eventLogQueries(tx).listTimedHeads(after, limit);
}

/** A page of the history of orders and cheeses, which the retention keeps, and of what the log still has. */
export interface HistoryPage {
  readonly events: readonly TimedHeadRow[];
  /** The row up to which events were examined. */
  readonly until: number;
  /** The last row. */
  readonly last: number;
}

/** Stored events of some types up to a number, of `examined` rows after an id. */
export async function readHistory(
  tx: Sql,
  after: number,
  examined: number,
  sequence: number,
  types: readonly string[],
): Promise<HistoryPage> {
  const queries = eventLogQueries(tx);
  const last = await findLastEventId(tx);
  const until = Math.min(after + examined, last);
  return { events: await queries.listHistory(after, until, sequence, types), until, last };
}

/** The id of the newest stored event; 0 without one. */
export async function findLastEventId(tx: Sql): Promise<number> {
  return (await eventLogQueries(tx).findLastId())?.id ?? 0;
}

/** How many events of each type an actor has caused since the event with an id, whether they have numbers or not. */
export async function countEventsByActor(
  tx: Sql,
  afterId: number,
  actor: string,
  types: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await eventLogQueries(tx).countOfActor(afterId, actor, types);
  return new Map(rows.map(({ type, events }) => [type, events]));
}

/** Events that wait for their number. */
export async function countUnnumbered(tx: Sql): Promise<number> {
  return (await eventLogQueries(tx).countUnnumbered())?.count ?? 0;
}

/** The time of an event of the log. */
export async function readTime(tx: Sql, sequence: number): Promise<string | undefined> {
  return (await eventLogQueries(tx).findEvent(sequence))?.created_at;
}

/** Events by their numbers. Those that the retention has removed are missing. */
export async function readEvents(
  tx: Sql,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, LogEventRow>> {
  const { first = 1 } = (await eventLogQueries(tx).findLog()) ?? {};
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
