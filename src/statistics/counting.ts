/**
 * Counts events of the log into statistics, a page at a time. The position moves in the transaction that adds the
 * figures, so every event is counted exactly once, and no order waits for a counter.
 *
 * Counting begins with the history: events of orders and cheeses that are stored but were removed from the log.
 * `doctor --repair` counts everything again in the same way.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachBlock } from '../blocks.ts';
import type { Database, Sql } from '../database/database.ts';
import {
  readHistory,
  readLogState,
  readTime,
  readTimedHeads,
  type TimedHeadRow,
} from '../event-log/reading/log-reader.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';
import { readOrderValues, realOrderOf } from '../orders/order-values.ts';
import { countedTypes, quarterOf } from './measures.ts';
import { type PositionRow, statisticsQueries } from './queries.ts';
import { addHead, createTally, needsOrder, type Tally } from './tally.ts';

/** One page of the log. */
const eventsMax = 1000;
/** Rows of one page of the history, counted or not. */
const historyRowsMax = 5000;
/** Events whose orders are read at once: with 100 lines each, their JSON is parsed in 5 to 10 ms. */
const blockSize = 50;
/** Where a page has as many cheeses on days, it ends early. */
const cheesesMax = 2000;
/** Rows of one statement. */
const rowsMax = 500;
const dayMs = 86_400_000;

export type CountResult = 'counted' | 'done' | 'locked';

/** Counts the next page. `locked`: another instance counts, and this one has nothing to do. */
export async function countPage(database: Database): Promise<CountResult> {
  const position = await statisticsQueries(database).findPosition();
  if (position === undefined) {
    await database.transaction(beginCounting);
    return 'counted';
  }
  const tally = createTally();
  const next =
    position.history_id === null
      ? await countLog(database, position, tally)
      : await countHistory(database, position, position.history_id, tally);
  if (next === null) {
    return 'done';
  }
  return (await database.transaction((tx) => store(tx, position, next, tally))) ? 'counted' : 'locked';
}

/** Counts all that happened until now. */
export async function countAll(database: Database): Promise<void> {
  while ((await countPage(database)) === 'counted') {}
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
  return time === undefined ? '9999' : quarterOf(new Date(Date.parse(time) + dayMs).toISOString());
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
    const orders = block.filter(({ type }) => needsOrder(type)).map(({ subject }) => realOrderOf(subject));
    const values = await readOrderValues(sql, [...new Set(orders.filter((id) => id !== null))]);
    for (const event of block) {
      const isExpired = event.type.startsWith('customer.') && quarterOf(event.created_at) < customersFrom;
      const order = event.type.startsWith('order.') ? realOrderOf(event.subject) : 0;
      if (!isExpired && order !== null) {
        addHead(tally, event, values.get(order));
      }
    }
    counted = Math.min(counted + blockSize, events.length);
    await nextTurn();
  }
  return counted;
}

/** Returns false where another instance has counted these events, or is about to. */
async function store(tx: Sql, before: PositionRow, after: PositionRow, tally: Tally): Promise<boolean> {
  const queries = statisticsQueries(tx);
  const found = await queries.tryLockPosition();
  if (found?.sequence !== before.sequence || found.history_id !== before.history_id) {
    return false;
  }
  await forEachBlock(tally.figureRows(), rowsMax, async (rows) => {
    await queries.addFigures(rows);
  });
  await forEachBlock(tally.cheeseRows(), rowsMax, async (rows) => {
    await queries.addCheeses(rows);
  });
  await forEachBlock(tally.saleRows(), rowsMax, async (rows) => {
    await queries.addSales(rows);
  });
  await queries.upsertPosition(after);
  return true;
}

const intervalMs = 2000;

/**
 * Counts new events every two seconds. A reader that waits for events would cost more: it reads each event after its
 * commit, and on SQLite looks for commits of other processes ten times a second.
 */
export function createStatisticsCounter(database: Database, log: Pick<Log, 'error'>): RepeatedWork {
  /** Version at the last count: the database has not changed while it has the same version. */
  let counted: number | null = null;

  async function countRest(isStopped: () => boolean): Promise<void> {
    const version = database.dataVersion();
    if (version !== null && version === counted) {
      return;
    }
    while (!isStopped() && (await countPage(database)) === 'counted') {}
    counted = version;
  }

  return new RepeatedWork(intervalMs, countRest, (error) =>
    log.error({ err: error }, 'statistics could not be counted; it is tried again'),
  );
}
