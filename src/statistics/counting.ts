/**
 * Counts events of the log into statistics: it follows the event log, and stores figures.
 *
 * Counting begins with the history: events of orders and cheeses that are stored but were removed from the log.
 * `doctor --repair` counts everything again in the same way.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachBlock } from '../blocks.ts';
import type { Database, Sql } from '../database/database.ts';
import { type EventFollower, followToEnd } from '../event-log/reading/event-follower.ts';
import {
  readHistory,
  readLogState,
  readTime,
  readTimedHeads,
  type TimedHeadRow,
} from '../event-log/reading/log-reader.ts';
import { findRealOrder, readOrderValues } from '../orders/order-values.ts';
import { countedTypes, toQuarterHour } from './measures.ts';
import { type PositionRow, statisticsQueries } from './queries.ts';
import { addHead, createTally, needsOrder, type Tally } from './tally.ts';

/** One page of the log. */
const eventsMax = 1000;
/** Rows of one page of the history, counted or not. */
const historyRowsMax = 5000;
/** Events whose orders are read at once: with 100 lines each, their JSON is parsed in 5 to 10 ms. */
const blockSize = 50;
/** A page ends early when its events have changed so many rows, each of one cheese on one day. */
const cheesesMax = 2000;
/** Rows of one statement. */
const rowsMax = 500;
const dayMs = 86_400_000;

/** Counts all that happened until now. */
export async function countAll(database: Database): Promise<void> {
  await followToEnd(database, statisticsFollower);
}

/** Begins to count everything again. Figures of customers whose events have expired are kept. */
export async function beginCounting(tx: Sql): Promise<void> {
  const queries = statisticsQueries(tx);
  const known = await queries.lockPosition();
  const { first, last } = await readLogState(tx);
  const customers_from = known === undefined ? '' : await firstQuarterOfCustomers(tx);
  await queries.deleteFigures(customers_from);
  await queries.deleteCheeses();
  await queries.deleteSales();
  const sequence = Math.min(known?.sequence ?? first - 1, last);
  await queries.upsertPosition({ sequence, history_id: 0, customers_from });
}

/** The quarter from which the log has all events of customers: it begins in the middle of one, and moves on. */
export async function firstQuarterOfCustomers(sql: Sql): Promise<string> {
  const { first } = await readLogState(sql);
  if (first === 1) {
    return '';
  }
  const time = await readTime(sql, first);
  return time === undefined ? '9999' : toQuarterHour(new Date(Date.parse(time) + dayMs).toISOString());
}

async function countLog(sql: Sql, position: PositionRow, tally: Tally): Promise<PositionRow | null> {
  const events = await readTimedHeads(sql, position.sequence, eventsMax);
  const counted = await addEvents(sql, events, tally);
  const last = events[counted - 1];
  return last === undefined ? null : { ...position, sequence: last.sequence };
}

async function countHistory(
  sql: Sql,
  position: PositionRow,
  after: number,
  tally: Tally,
): Promise<PositionRow> {
  const { sequence, customers_from } = position;
  const { events, until, last } = await readHistory(sql, after, historyRowsMax, sequence, countedTypes);
  const counted = await addEvents(sql, events, tally, customers_from);
  if (counted < events.length) {
    return { ...position, history_id: events[counted - 1]?.id ?? after };
  }
  return { ...position, history_id: until >= last ? null : until };
}

/** Adds everything up to a number to a tally, for the consistency check. */
export async function tallyAll(
  sql: Sql,
  sequence: number,
  customersFrom: string,
  onProgress: (done: number, total: number) => void,
): Promise<Tally> {
  const tally = createTally();
  for (let after = 0, isLast = false; !isLast; ) {
    const { events, until, last } = await readHistory(sql, after, historyRowsMax, sequence, countedTypes);
    await addEvents(sql, events, tally, customersFrom, Number.POSITIVE_INFINITY);
    onProgress(until, last);
    after = until;
    isLast = until >= last;
  }
  return tally;
}

/** Adds events until the tally is full. Returns how many. */
async function addEvents(
  sql: Sql,
  events: readonly TimedHeadRow[],
  tally: Tally,
  customersFrom = '',
  max = cheesesMax,
): Promise<number> {
  let counted = 0;
  while (counted < events.length && tally.cheeses.size < max) {
    const block = events.slice(counted, counted + blockSize);
    const orders = block.filter(({ type }) => needsOrder(type)).map(({ subject }) => findRealOrder(subject));
    const values = await readOrderValues(sql, [...new Set(orders.filter((id) => id !== null))]);
    for (const event of block) {
      const isExpired = event.type.startsWith('customer.') && toQuarterHour(event.created_at) < customersFrom;
      const order = event.type.startsWith('order.') ? findRealOrder(event.subject) : 0;
      if (!isExpired && order !== null) {
        addHead(tally, event, values.get(order));
      }
    }
    counted = Math.min(counted + blockSize, events.length);
    await nextTurn();
  }
  return counted;
}

export const statisticsFollower: EventFollower<PositionRow, Tally> = {
  name: 'statistics.events',
  failure: 'statistics could not be counted; it is tried again',
  findPosition: async (sql) => (await statisticsQueries(sql).findPosition()) ?? null,
  begin: beginCounting,
  async read(sql, position) {
    const page = createTally();
    const next =
      position.history_id === null
        ? await countLog(sql, position, page)
        : await countHistory(sql, position, position.history_id, page);
    return next === null ? null : { page, next };
  },
  lockPosition: async (tx) => (await statisticsQueries(tx).tryLockPosition()) ?? null,
  async store(tx, tally, next) {
    const queries = statisticsQueries(tx);
    await forEachBlock(tally.figureRows(), rowsMax, async (rows) => {
      await queries.addFigures(rows);
    });
    await forEachBlock(tally.cheeseRows(), rowsMax, async (rows) => {
      await queries.addCheeses(rows);
    });
    await forEachBlock(tally.saleRows(), rowsMax, async (rows) => {
      await queries.addSales(rows);
    });
    await queries.upsertPosition(next);
  },
};
