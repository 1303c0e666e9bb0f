/** How many orders match the filters of a list: exact, at a cost that does not depend on how many orders a shop has. */
import type { Sql } from '../../database/database.ts';
import { type Statement, sql } from '../../database/sql.ts';
import { everyOwner, isCountedPlacer, orderCountQueries, ownerOfCountry } from '../count-queries.ts';
import { orderStatuses } from '../transitions/order-status.ts';
import {
  isShort,
  type OrderFilters,
  type OrderScope,
  orderListQueries,
  selectTotal,
} from './list-queries.ts';

const dayMs = 86_400_000;
/** Bounds before and after the days of all orders. */
const [firstDay, afterLastDay] = ['0', ':'];
const midnight = 'T00:00:00.000Z';

/** The owner under which the orders of a scope are counted; null when they are not. */
export function ownerOfScope({ customerId, placedBy, country }: OrderScope): string | null {
  if (country !== undefined) {
    return customerId === undefined && placedBy === undefined ? ownerOfCountry(country) : null;
  }
  if (customerId !== undefined) {
    return placedBy === undefined ? `customer:${customerId}` : null;
  }
  if (placedBy !== undefined) {
    return isCountedPlacer(placedBy) ? placedBy : null;
  }
  return everyOwner;
}

/**
 * Counts the matching orders. Whole days come from the counts of orders; orders of the two days at the ends of a period
 * are counted by an index. So are lists that have no counts: orders that wait for an operator, orders to
 * ship, open orders of a cheese, and orders of a customer by country or by who placed them. They are short.
 */
export async function countOrders(database: Sql, filters: OrderFilters): Promise<number> {
  const { createdFrom, createdBefore, statuses = orderStatuses } = filters;
  const owner = ownerOfScope(filters);
  if (owner === null || isShort(filters)) {
    return orderListQueries(database).count(filters);
  }
  const counts = orderCountQueries(database);
  if (createdFrom === undefined && createdBefore === undefined) {
    return counts.sum(owner, statuses);
  }
  const first = createdFrom === undefined ? firstDay : dayFrom(createdFrom);
  const end = createdBefore === undefined ? afterLastDay : createdBefore.slice(0, 10);
  if (first > end) {
    // Both times are within one day, or the period is empty.
    return orderListQueries(database).count(filters);
  }
  const rests: Statement[] = [];
  if (createdFrom !== undefined && !createdFrom.endsWith(midnight)) {
    rests.push(selectTotal({ ...filters, createdBefore: `${first}${midnight}` }));
  }
  if (createdBefore !== undefined && !createdBefore.endsWith(midnight)) {
    rests.push(selectTotal({ ...filters, createdFrom: `${end}${midnight}` }));
  }
  const rest = rests.reduce((sum, one) => sql`${sum} + (${one})`, sql`0`);
  return counts.sumOfDays(owner, statuses, first, end, rest);
}

/** The first whole day of a period. */
function dayFrom(createdFrom: string): string {
  const day = createdFrom.slice(0, 10);
  if (createdFrom.endsWith(midnight)) {
    return day;
  }
  const next = new Date(Date.parse(`${day}${midnight}`) + dayMs).toISOString();
  // The year 10000 is written with a plus sign.
  return next.startsWith('+') ? afterLastDay : next.slice(0, 10);
}
