/** Orders read back: lists of them, and what happened to one. */

import type { Principal } from '../auth/principal.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { listEvents } from '../events/history.ts';
import { findRow, ownerOf, requireOwner, toOrder } from './order.ts';
import { type OrderStatus, orderStatuses } from './order-status.ts';
import { type OrderFilters, orderQueries } from './queries.ts';

export interface OrderPage {
  /** JSON of the orders, separated by commas: the inside of an array. */
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
}

export interface OrderReader {
  /** The newest first; without test orders. @throws AppError badRequest where the cursor is of another query */
  list(principal: Principal, request: OrderRequest): Promise<OrderPage>;
  /** The same of one customer, for a caller who reaches their orders. */
  listOf(customerId: number, principal: Principal, request: OrderRequest): Promise<OrderPage>;
  /** An order that is not in a customer's list does not exist for them. @throws AppError notFound */
  requireOf(customerId: number, id: number): Promise<void>;
  /** Whose order it is; null where it has no customer. @throws AppError notFound, forbidden */
  customerOf(id: number, principal: Principal): Promise<number | null>;
  /** @throws AppError notFound, forbidden */
  timeline(id: number, principal: Principal): Promise<TimelineEntry[]>;
  /** Orders in each status, test orders left out. */
  countByStatus(): Promise<Record<OrderStatus, number>>;
}

/** Where a page ends, and what it was a page of. */
interface Position {
  readonly filters: OrderFilters;
  /** null: from the newest on. */
  readonly before: number | null;
}

/** @param firstId see `firstIdIn` */
export function createOrderReader(database: Database, cursors: Cursors, firstId: number): OrderReader {
  const queries = orderQueries(database);

  function continued(cursor: string | undefined, given: OrderFilters): Position {
    if (cursor === undefined) {
      return { filters: given, before: null };
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position.filters, given, { statuses: 'status' });
    return position;
  }

  const history: OrderReader = {
    async list(principal, { cursor, limit, ...rest }) {
      const { filters, before } = continued(cursor, canonicalFilters(rest));
      const owner = ownerOf(principal);
      const [rows, total] = await Promise.all([
        queries.list(owner, filters, before, limit + 1),
        queries.count(owner, filters),
      ]);
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      return {
        items: shown.map((row) => toOrder(row).body).join(','),
        nextCursor:
          last === undefined ? null : cursors.encode({ filters, before: last.id } satisfies Position),
        hasMore: last !== undefined,
        total,
      };
    },

    listOf: (customerId, principal, request) =>
      history.list({ ...principal, confinedTo: customerId }, request),

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
  return history;
}
