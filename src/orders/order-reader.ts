/** Reads orders: lists, counts, and the timeline of an order. */

import type { Principal } from '../auth/principal.ts';
import { type Clock, timestamp } from '../clock.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { listEvents } from '../events/history.ts';
import { findRow, ownerOf, requireOwner, toOrder } from './order.ts';
import { type OrderStatus, orderStatuses } from './order-status.ts';
import { type OrderFilters, orderQueries } from './queries.ts';

export interface OrderPage {
  /** JSON of the orders, separated by commas, without the brackets of an array. */
  readonly items: string;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly total: number;
}

export interface TimelineEntry {
  readonly status: OrderStatus;
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
}

export interface OrderRequest extends OrderFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
  /** Newest first where it is absent. */
  readonly sort?: 'createdAt' | '-createdAt' | undefined;
}

export interface OrderReader {
  /**
   * Without test orders.
   * @param principal null: the command line, which sees all orders
   * @throws AppError badRequest when the cursor belongs to another query, forbidden for filters by customer and placer
   * where the caller does not see all orders
   */
  list(principal: Principal | null, request: OrderRequest): Promise<OrderPage>;
  /** The same for one customer; the caller must have access to the customer's orders. */
  listOf(customerId: number, principal: Principal, request: OrderRequest): Promise<OrderPage>;
  /** @throws AppError notFound when the order is not one of the customer's */
  requireOf(customerId: number, id: number): Promise<void>;
  /** The id of the customer of an order; null when it has none. @throws AppError notFound, forbidden */
  customerOf(id: number, principal: Principal): Promise<number | null>;
  /** @throws AppError notFound, forbidden */
  timeline(id: number, principal: Principal | null): Promise<TimelineEntry[]>;
  /** Counts the orders in each status, without test orders. */
  countByStatus(): Promise<Record<OrderStatus, number>>;
}

type ListFilters = Omit<OrderRequest, 'cursor' | 'limit'>;

/** The position that a cursor contains. */
interface Position {
  readonly filters: ListFilters;
  /** The id of the last order of the page before; null for the first page. */
  readonly before: number | null;
}

/** @param firstId see `firstIdIn` */
export function createOrderReader(
  database: Database,
  clock: Clock,
  cursors: Cursors,
  firstId: number,
): OrderReader {
  const queries = orderQueries(database);

  function positionOf(cursor: string | undefined, requested: ListFilters): Position {
    if (cursor === undefined) {
      return { filters: requested, before: null };
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position.filters, requested, { statuses: 'status' });
    return position;
  }

  const reader: OrderReader = {
    async list(principal, { cursor, limit, ...rest }) {
      const { filters, before } = positionOf(cursor, canonicalFilters(rest));
      const owner = ownerOf(principal);
      if (owner !== null && (filters.customerId !== undefined || filters.placedBy !== undefined)) {
        throw new AppError(
          'forbidden',
          'customerId and placedBy are for callers that see all orders: an API key alone, or the scope admin.',
        );
      }
      const now = timestamp(clock.now());
      const place = { next: before, isAscending: filters.sort === 'createdAt' };
      const [rows, total] = await Promise.all([
        queries.list(owner, filters, now, place, limit + 1),
        queries.count(owner, filters, now),
      ]);
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        items: page.map((row) => toOrder(row).body).join(','),
        nextCursor:
          last === undefined ? null : cursors.encode({ filters, before: last.id } satisfies Position),
        hasMore: last !== undefined,
        total,
      };
    },

    listOf: (customerId, principal, request) =>
      reader.list({ ...principal, confinedTo: customerId }, request),

    async requireOf(customerId, id) {
      const row = await queries.find(id);
      if (row?.customer_id !== customerId) {
        throw new AppError('notFound', `The customer has no order with the id ${id}.`);
      }
    },

    async customerOf(id, principal) {
      const row = await findRow(database, id, firstId);
      requireOwner(row, principal);
      return row.customer_id;
    },

    async countByStatus() {
      const counts = new Map((await queries.countByStatus()).map(({ status, orders }) => [status, orders]));
      return Object.fromEntries(orderStatuses.map((status) => [status, counts.get(status) ?? 0])) as Record<
        OrderStatus,
        number
      >;
    },

    async timeline(id, principal) {
      requireOwner(await findRow(database, id, firstId), principal);
      const events = await listEvents(database, [`order:${id}`]);
      return events.map(({ data, actor, created_at }) => {
        const { status, reason } = JSON.parse(data);
        return { status, at: created_at, by: actor, reason };
      });
    },
  };
  return reader;
}
