/** Pages of lists of orders: which index a page reads, and which part of it. */
import type { Sql } from '../../database/database.ts';
import { everyOwner, orderCountQueries } from '../count-queries.ts';
import type { OrderRow } from '../queries.ts';
import { type OrderStatus, orderStatuses } from '../transitions/order-status.ts';
import {
  isShort,
  type OrderFilters,
  type OrderIndex,
  type OrderPlace,
  type OrderRange,
  orderListQueries,
} from './list-queries.ts';
import { ownerOfScope } from './list-totals.ts';

export interface OrderPageQuery {
  readonly filters: OrderFilters;
  /** The last order of the page before; null for the first page. */
  readonly last: OrderPlace | null;
  readonly isAscending: boolean;
  readonly limit: number;
}

/** The place before and after all orders. */
const start: OrderPlace = { createdAt: '', id: 0 };
const end: OrderPlace = { createdAt: ':', id: 0 };

/** The orders of a page, at a cost that does not depend on how many orders a shop has. */
export async function readPage(database: Sql, request: OrderPageQuery): Promise<OrderRow[]> {
  const { filters, isAscending, limit } = request;
  const index = await chooseIndex(database, filters);
  const range = await chooseRange(database, request, index);
  return range === null ? [] : orderListQueries(database).list({ filters, index, range, isAscending, limit });
}

/**
 * A list of an owner in some statuses has two indexes to choose from: the orders of the owner, and the orders of all owners
 * in these statuses. It reads the one with fewer orders, and skips those that do not match. Most customers have few orders,
 * and few orders of a large shop wait.
 */
async function chooseIndex(database: Sql, filters: OrderFilters): Promise<OrderIndex> {
  const { statuses, customerId, placedBy, country } = filters;
  if (isShort(filters)) {
    return null;
  }
  const byCountry = country === undefined ? null : 'country';
  const byOwner = customerId !== undefined ? 'customer_id' : placedBy !== undefined ? 'placed_by' : byCountry;
  if (statuses === undefined || statuses.includes('delivered')) {
    return byOwner;
  }
  const owner = countedOwner(filters);
  if (byOwner === null || owner === null) {
    return byOwner ?? 'status';
  }
  const counts = orderCountQueries(database);
  const [inStatuses, ofOwner] = await Promise.all([
    counts.sum(everyOwner, statuses),
    counts.sum(owner, orderStatuses),
  ]);
  return inStatuses < ofOwner ? 'status' : byOwner;
}

/** An owner whose counts include the matching orders; null when there is none. */
function countedOwner({ customerId, placedBy, country }: OrderFilters): string | null {
  if (customerId !== undefined) {
    return ownerOfScope({ customerId });
  }
  return ownerOfScope(placedBy === undefined ? { country } : { placedBy });
}

/** The part of the index that can have matching orders of a page; null if there are none. */
async function chooseRange(
  database: Sql,
  { filters, last, isAscending }: OrderPageQuery,
  index: OrderIndex,
): Promise<OrderRange | null> {
  const { createdFrom, createdBefore, statuses } = filters;
  const from = createdFrom === undefined ? start : { createdAt: createdFrom, id: 0 };
  const before = createdBefore === undefined ? end : { createdAt: createdBefore, id: 0 };
  const range = isAscending
    ? { after: last === null ? from : later(last, from), before }
    : { after: from, before: last === null ? before : earlier(last, before) };
  const owner = countedOwner(filters);
  const isSkipping = statuses !== undefined && index !== 'status' && !isShort(filters);
  return isSkipping && owner !== null ? withinDays(database, owner, statuses, range) : range;
}

/**
 * Leaves out the days without matching orders at both ends. Thousands of the newest orders of a large shop are not
 * delivered yet.
 */
async function withinDays(
  database: Sql,
  owner: string,
  statuses: readonly OrderStatus[],
  { after, before }: OrderRange,
): Promise<OrderRange | null> {
  const [first, last] = [after.createdAt.slice(0, 10), before.createdAt.slice(0, 10)];
  const days = await orderCountQueries(database).findDays(owner, statuses, first, last);
  if (days === null) {
    return null;
  }
  // Times of a day begin with the day and T.
  return {
    after: later(after, { createdAt: days.oldest, id: 0 }),
    before: earlier(before, { createdAt: `${days.newest}U`, id: 0 }),
  };
}

function later(one: OrderPlace, other: OrderPlace): OrderPlace {
  return isBefore(one, other) ? other : one;
}

function earlier(one: OrderPlace, other: OrderPlace): OrderPlace {
  return isBefore(one, other) ? one : other;
}

function isBefore(one: OrderPlace, other: OrderPlace): boolean {
  return one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);
}
