/** Reads orders: lists, counts, and the timeline of an order. */

import type { Principal } from '../../access/principal.ts';
import { type Clock, timestamp } from '../../clock.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../../cursor.ts';
import type { Database, Sql } from '../../database/database.ts';
import { addDays, localTime, startOf } from '../../delivery/ship-days.ts';
import { AppError, parameterError } from '../../errors.ts';
import { listEvents } from '../../event-log/history.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import { orderCountQueries } from '../count-queries.ts';
import { shipmentChanged } from '../event-types.ts';
import { findRow, requireOwner, toOrder, toOwner } from '../order.ts';
import { orderQueries } from '../queries.ts';
import { shipmentQueries } from '../shipment-queries.ts';
import type { Shipment } from '../shipments/schemas.ts';
import { toTracking } from '../shipments/shipments.ts';
import { type OrderStatus, orderStatuses } from '../transitions/order-status.ts';
import { type OrderFilters, type OrderPlace, orderListQueries } from './list-queries.ts';
import { countOrders } from './list-totals.ts';
import { readPage } from './order-pages.ts';

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
  /** What was stated when the order was shipped, or since then; null for other transitions, and if nothing was. */
  readonly shipment: Omit<Shipment, 'shippedAt'> | null;
}

export interface OrderRequest extends Omit<OrderFilters, 'shipBefore'> {
  /** Approved, and not shipped at the estimated date. */
  readonly late?: boolean | undefined;
  /** Approved, and to be shipped today or before, by the calendar of the shop. */
  readonly shipsToday?: boolean | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
  /** Newest first if it is absent. */
  readonly sort?: 'createdAt' | '-createdAt' | undefined;
}

type ListFilters = Omit<OrderRequest, 'cursor' | 'limit'>;

/** The position that a cursor contains. */
interface Position {
  readonly filters: ListFilters;
  /**
   * The id of the last order of the page before. Instances of a version that sorts by the id alone continue from it, and
   * cursors that they made have nothing else.
   */
  readonly before: number;
  readonly createdAt?: string;
}

export type OrderReader = ReturnType<typeof createOrderReader>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly profile: Pick<ShopProfile, 'current'>;
  /** See `firstIdIn`. */
  readonly firstId: number;
}

export function createOrderReader({ database, clock, cursors, profile, firstId }: Dependencies) {
  const queries = orderQueries(database);
  const lists = orderListQueries(database);

  /** The filters of a list, and the order after which it continues. */
  async function positionOf(
    cursor: string | undefined,
    requested: ListFilters,
  ): Promise<{ filters: ListFilters; after: OrderPlace | null }> {
    if (cursor === undefined) {
      return { filters: requested, after: null };
    }
    const { filters, before: id, createdAt } = cursors.decode(cursor) as Position;
    requireSameQuery(filters, requested, { statuses: 'status' });
    return { filters, after: { id, createdAt: createdAt ?? (await lists.createdAt(id)) ?? '' } };
  }

  function shipBeforeOf({ late, shipsToday }: ListFilters): string | undefined {
    const now = clock.now();
    if (late || !shipsToday) {
      // Late orders leave today or before as well.
      return late ? timestamp(now) : undefined;
    }
    const { timeZone } = profile.current;
    return timestamp(startOf(addDays(localTime(now, timeZone).day, 1), timeZone));
  }

  const reader = {
    /**
     * Lists orders without test orders.
     * @param principal null: the command line, which sees all orders
     * @throws AppError badRequest when the cursor belongs to another query, or if country and placer are combined, forbidden for
     * filters by customer, placer, country and cheese if the caller does not see all orders
     */
    async list(principal: Principal | null, { cursor, limit, ...rest }: OrderRequest): Promise<OrderPage> {
      const { filters, after } = await positionOf(cursor, canonicalFilters(rest));
      const owner = toOwner(principal);
      const { customerId, placedBy, country, cheeseId } = filters;
      if (owner !== null && [customerId, placedBy, country, cheeseId].some((one) => one !== undefined)) {
        throw new AppError(
          'forbidden',
          'customerId, placedBy, country and cheeseId are for callers that see all orders: an API key alone, or the scope admin.',
        );
      }
      // Neither of them may be short, so that a page could skip all orders of the other.
      if (placedBy !== undefined && country !== undefined) {
        throw parameterError(
          'country',
          'cannot be combined with placedBy. Send one of them, or customerId with country.',
        );
      }
      const isEveryStatus = filters.statuses?.length === orderStatuses.length;
      const owned = {
        ...filters,
        ...owner,
        ...(isEveryStatus ? { statuses: undefined } : {}),
        shipBefore: shipBeforeOf(filters),
      };
      const isAscending = filters.sort === 'createdAt';
      const [rows, total] = await Promise.all([
        readPage(database, { filters: owned, last: after, isAscending, limit: limit + 1 }),
        countOrders(database, owned),
      ]);
      const { page, ...end } = cursors.page(
        rows,
        limit,
        ({ id, created_at }): Position => ({ filters, before: id, createdAt: created_at }),
      );
      return { items: page.map((row) => toOrder(row).body).join(','), ...end, total };
    },

    /** Works like `list`, for one customer; the caller must have access to the customer's orders. */
    listOf: (customerId: number, principal: Principal, request: OrderRequest): Promise<OrderPage> =>
      reader.list({ ...principal, confinedTo: customerId }, request),

    /** @throws AppError notFound when the order is not one of the customer's */
    async requireOf(customerId: number, id: number): Promise<void> {
      const row = await queries.find(id);
      if (row?.customer_id !== customerId) {
        throw new AppError('notFound', `The customer has no order with the id ${id}.`);
      }
    },

    /** Those of these orders that exist. */
    async listIds(ids: readonly number[]): Promise<number[]> {
      const rows = await orderQueries(database).listCustomers(ids);
      return rows.map(({ id }) => id).filter((id) => id >= firstId);
    },

    /** Those of the cheeses that are in open orders. */
    async listInOpenOrders(tx: Sql, cheeseIds: readonly number[]): Promise<number[]> {
      const rows = await orderQueries(tx).listOpenCheeses(cheeseIds);
      return rows.map(({ cheese_id }) => cheese_id);
    },

    /** The id of the customer of an order; null when it has none. @throws AppError notFound, forbidden */
    async customerOf(id: number, principal: Principal | null): Promise<number | null> {
      const row = await findRow(database, id, firstId);
      requireOwner(row, principal);
      return row.customer_id;
    },

    /** Counts the orders in each status, without test orders. */
    countByStatus: (): Promise<Record<OrderStatus, number>> => orderCountQueries(database).countByStatus(),

    /** @throws AppError notFound, forbidden */
    async timeline(id: number, principal: Principal | null): Promise<TimelineEntry[]> {
      requireOwner(await findRow(database, id, firstId), principal);
      const [events, row] = await Promise.all([
        listEvents(database, [`order:${id}`]),
        shipmentQueries(database).find(id),
      ]);
      return events
        .filter(({ type }) => type !== shipmentChanged.type)
        .map(({ data, actor, created_at }) => {
          const { status, reason } = JSON.parse(data);
          const shipment = status === 'shipped' ? toTracking(row) : null;
          return { status, at: created_at, by: actor, reason, shipment };
        });
    },
  };
  return reader;
}
