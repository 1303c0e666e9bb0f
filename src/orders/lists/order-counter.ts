/**
 * Adds the changes of orders, which triggers have recorded, to the counts of orders. Totals include the changes that are
 * not yet added, so they are exact at any moment: the counter only keeps these few.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockTables } from '../../database/copy/tables.ts';
import type { Database, Sql } from '../../database/database.ts';
import type { Loops } from '../../jobs/loops.ts';
import { RepeatedWork } from '../../jobs/repeated-work.ts';
import type { Log } from '../../log.ts';
import {
  allDays,
  type CountChange,
  listOwners,
  type OrderCountRow,
  orderCountQueries,
} from '../count-queries.ts';
import { type OrderStatus, orderStatuses } from '../transitions/order-status.ts';

const intervalMs = 1000;
/** Changes of one transaction: it takes 1 to 4 ms on SQLite. */
const changesMax = 200;

export function createOrderCounter(database: Database, log: Pick<Log, 'error'>, loops: Loops): RepeatedWork {
  return new RepeatedWork({
    loops,
    name: 'order.counts',
    everyMs: intervalMs,
    run: (isStopped) => addChanges(database, isStopped),
    onError: (error) => log.error({ err: error }, 'orders could not be counted; it is tried again'),
  });
}

/** Adds all recorded changes to the counts. */
export async function addChanges(database: Database, isStopped = () => false): Promise<void> {
  let added = (await orderCountQueries(database).hasChanges()) ? changesMax : 0;
  while (!isStopped() && added >= changesMax) {
    added = await database.transaction(addSomeChanges);
    await nextTurn();
  }
}

/** Returns how many changes it added. Several instances may do so at once: they lock counts in the order of their keys. */
async function addSomeChanges(tx: Sql): Promise<number> {
  const queries = orderCountQueries(tx);
  const changes = await queries.takeChanges(changesMax);
  const rows = sumChanges(changes);
  if (rows.length > 0) {
    await queries.add(rows);
  }
  const fewer = rows.filter((row) => orderStatuses.some((status) => row[status] < 0));
  if (fewer.length > 0) {
    await queries.deleteEmpty(fewer);
  }
  return changes.length;
}

type CountRow = { -readonly [Column in keyof OrderCountRow]: OrderCountRow[Column] };
const none = { placed: 0, approved: 0, shipped: 0, delivered: 0, cancelled: 0 };

/** What changes, in the order of the key. */
function sumChanges(changes: readonly CountChange[]): OrderCountRow[] {
  const rows = new Map<string, CountRow>();
  for (const change of changes) {
    for (const owner of listOwners(change)) {
      for (const day of [allDays, change.day]) {
        const key = `${owner} ${day}`;
        const row = rows.get(key) ?? { owner, day, ...none };
        add(row, change.old_status, -1);
        add(row, change.new_status, 1);
        rows.set(key, row);
      }
    }
  }
  return [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
    .filter((row) => orderStatuses.some((status) => row[status] !== 0));
}

function add(row: CountRow, status: OrderStatus | null, orders: number): void {
  if (status !== null) {
    row[status] += orders;
  }
}

/** Counts all orders again, in an exclusive transaction. On PostgreSQL changes of orders wait meanwhile. */
export async function recountOrders(tx: Sql): Promise<void> {
  await lockTables(tx, [{ name: 'orders', columns: [], key: [] }]);
  await orderCountQueries(tx).rebuild();
}
