/** Orders read back: lists of them, and what happened to one. */
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { Cursors } from '../http/cursor.ts';
import type { Principal } from '../http/principal.ts';
import { findRow, requireOwner, seesAll, toOrder } from './order.ts';
import type { OrderStatus } from './order-status.ts';
import { type OrderFilters, type Owner, orderQueries } from './queries.ts';

export interface OrderPage {
  /** JSON of the orders, separated by commas: the inside of an array. */
  readonly items: string;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly total: number;
}

export interface Happening {
  readonly status: OrderStatus;
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
}

export interface OrderHistory {
  /** The newest first; without test orders. @throws AppError badRequest where the cursor is of another query */
  list(
    principal: Principal,
    request: OrderFilters & { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<OrderPage>;
  /** @throws AppError notFound, forbidden */
  timeline(id: number, principal: Principal): Promise<Happening[]>;
}

/** Where a page ends, and what it was a page of. */
interface Position {
  readonly filters: OrderFilters;
  readonly before: number;
}

export function createOrderHistory(database: Database, cursors: Cursors): OrderHistory {
  const queries = orderQueries(database);

  return {
    async list(principal, { cursor, limit, ...rest }) {
      const given = { ...rest, statuses: rest.statuses && [...rest.statuses].sort() };
      const { filters, before } =
        cursor === undefined ? { filters: given, before: null } : resume(cursor, given);
      const owner = ownerOf(principal);
      const [rows, total] = await Promise.all([
        queries.list(owner, filters, before, limit + 1),
        queries.count(owner, filters),
      ]);
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      return {
        items: shown.map((row) => toOrder(row).body).join(','),
        nextCursor: last === undefined ? null : cursors.seal({ filters, before: last.id } satisfies Position),
        hasMore: last !== undefined,
        total,
      };
    },

    async timeline(id, principal) {
      requireOwner(await findRow(database, id), principal);
      const events = await queries.listHistory(id);
      return events.map(({ data, actor, created_at }) => {
        const { status, reason } = JSON.parse(data);
        return { status, at: created_at, by: actor, reason };
      });
    },
  };

  /** A cursor carries its filters, which may be repeated but not changed. */
  function resume(cursor: string, given: OrderFilters): Position {
    const position = cursors.open(cursor) as Position;
    for (const [name, value] of Object.entries(given)) {
      const carried = position.filters?.[name as keyof OrderFilters];
      if (value !== undefined && JSON.stringify(carried) !== JSON.stringify(value)) {
        const shown = name === 'statuses' ? 'status' : name;
        throw new AppError(
          'badRequest',
          `cursor: it belongs to a query with another ${shown}; start without it.`,
        );
      }
    }
    return position;
  }
}

/** Whose orders the caller may list. */
function ownerOf(principal: Principal): Owner {
  if (seesAll(principal)) {
    return null;
  }
  return principal.customerId === null ? { placedBy: principal.id } : { customerId: principal.customerId };
}
