/** Completes the numbers of the event log. */
import type { Origin } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { withdrawnEvent } from './define.ts';
import { eventLogQueries, type GapRow } from './log-queries.ts';
import { eventQueries } from './queries.ts';

const gapsAtOnce = 1000;
/** Numbers of one transaction. It keeps the lock of the log, which passes need. */
const blockSize = 1000;

/** The numbers that are missing between the first and the last one of the log, in order, as ranges. */
export async function listGaps(sql: Sql, max: number): Promise<GapRow[]> {
  const queries = eventLogQueries(sql);
  const { first = 1, last = 0 } = (await queries.findLog()) ?? {};
  if (last < first) {
    return [];
  }
  // Numbers are unique: if as many are there as there should be, none is missing.
  const { numbered = 0 } = (await queries.countNumbered(first, last)) ?? {};
  if (numbered === last - first + 1) {
    return [];
  }
  const { lowest } = (await queries.findLowest(first)) ?? {};
  const start = lowest ?? last + 1;
  const atStart = start > first ? [{ from: first, until: Math.min(start - 1, last) }] : [];
  return [...atStart, ...(await queries.listGaps(first, last, max - atStart.length))];
}

/** Writes `shop.event_withdrawn` for each missing number. A server may run meanwhile. Returns how many were written. */
export async function fillGaps(database: Database, origin: Origin): Promise<number> {
  let filled = 0;
  for (;;) {
    const before = filled;
    for (const { from, until } of await database.snapshot((tx) => listGaps(tx, gapsAtOnce))) {
      for (let start = from; start <= until; start += blockSize) {
        const end = Math.min(start + blockSize - 1, until);
        filled += await database.transaction((tx) => fillBlock(tx, origin, start, end));
      }
    }
    if (filled === before) {
      return filled;
    }
  }
}

/** Locks the log, so neither a pass nor the retention moves its ends. */
async function fillBlock(tx: Sql, origin: Origin, from: number, until: number): Promise<number> {
  const queries = eventLogQueries(tx);
  const { first = 1, last = 0 } = (await queries.lockLogForUpdate()) ?? {};
  const known = new Set((await queries.listNumbers(from, until)).map(({ sequence }) => sequence));
  const missing: number[] = [];
  for (let sequence = Math.max(from, first); sequence <= Math.min(until, last); sequence += 1) {
    if (!known.has(sequence)) {
      missing.push(sequence);
    }
  }
  if (missing.length > 0) {
    // Positions by time are found by a binary search, which needs the time of a neighbor.
    const { created_at } = (await queries.findNeighbor(from)) ?? { created_at: new Date(0).toISOString() };
    await eventQueries(tx).insert(
      origin,
      created_at,
      missing.map(withdrawnEvent),
      (index) => missing[index] ?? null,
    );
  }
  return missing.length;
}
