/** Statements for lists of orders. Each reads one index in the order of the list. */
import { queriesOn } from '../database/database.ts';
import { join, joinAnd, rawSql, type Statement, sql, valueList } from '../database/sql.ts';
import { type OrderStatus, orderStatuses } from './order-status.ts';
import { firstRealId, type OrderRow, orderColumns } from './queries.ts';

/** The orders of a customer, of a placer, of both, or of all. */
export interface OrderScope {
  readonly customerId?: number | undefined;
  /** Id of the principal that placed them. */
  readonly placedBy?: string | undefined;
}

export interface OrderFilters extends OrderScope {
  readonly statuses?: readonly OrderStatus[] | undefined;
  /** Created at or after. */
  readonly createdFrom?: string | undefined;
  /** Created before. */
  readonly createdBefore?: string | undefined;
  /** Placed, and waiting for an operator, because a cheese has no price. */
  readonly needsApproval?: boolean | undefined;
  /** Approved, and not shipped at the estimated date. */
  readonly late?: boolean | undefined;
}

/** Where a page continues. */
export interface OrderPlace {
  readonly createdAt: string;
  readonly id: number;
}

export interface OrderPageRequest {
  readonly filters: OrderFilters;
  /** For late orders. */
  readonly now: string;
  /** The last order of the page before; null for the first page. */
  readonly after: OrderPlace | null;
  readonly isAscending: boolean;
  readonly limit: number;
}

export const orderListQueries = queriesOn((tx) => ({
  list: ({ filters, now, after, isAscending, limit }: OrderPageRequest) => {
    const conditions = [
      ...conditionsOf(filters, now),
      ...(after === null
        ? []
        : [sql`(created_at, id) ${rawSql(isAscending ? '>' : '<')} (${after.createdAt}, ${after.id})`]),
    ];
    const end = sql`${rawSql(isAscending ? 'order by created_at, id' : 'order by created_at desc, id desc')} limit ${limit}`;
    const statuses = statusesOf(filters);
    const page = (more: readonly Statement[]) =>
      sql`select ${orderColumns} from orders where ${joinAnd([...conditions, ...more])} ${end}`;
    if (statuses === null || !isIndexed(filters)) {
      return tx.all<OrderRow>(page(statuses === null ? [] : [sql`status in (${valueList(statuses)})`]));
    }
    // The index has one range for each status. Their first orders are merged.
    const pages = statuses.map((status) => page([sql`status = ${status} and status <> 'delivered'`]));
    return tx.all<OrderRow>(
      pages.length === 1
        ? (pages[0] as Statement)
        : sql`select * from (${join(
            pages.map((one) => sql`select * from (${one}) as one`),
            ' union all ',
          )}) as pages ${end}`,
    );
  },

  count: async (filters: OrderFilters, now: string): Promise<number> => {
    const statuses = statusesOf(filters);
    const ofStatus =
      statuses === null
        ? []
        : [
            sql`status in (${valueList(statuses)})`,
            ...(isIndexed(filters) ? [sql`status <> 'delivered'`] : []),
          ];
    const row = await tx.get<{ total: number }>(
      sql`select count(*) as total from orders where ${joinAnd([...conditionsOf(filters, now), ...ofStatus])}`,
    );
    return row?.total ?? 0;
  },

  /** The creation time of an order, or of the last one before it. */
  createdAt: async (id: number) =>
    (
      await tx.get<{ created_at: string }>(
        sql`select created_at from orders where id <= ${id} order by id desc limit 1`,
      )
    )?.created_at,
}));

/** null for all statuses. */
function statusesOf({ statuses }: OrderFilters): readonly OrderStatus[] | null {
  return statuses === undefined || statuses.length === orderStatuses.length ? null : statuses;
}

/** Whether the index by status has the orders: it has none that are delivered. */
function isIndexed({ statuses, customerId, placedBy }: OrderFilters): boolean {
  return !statuses?.includes('delivered') && customerId === undefined && placedBy === undefined;
}

/** All conditions except those on the statuses. */
function conditionsOf(filters: OrderFilters, now: string): Statement[] {
  const { createdFrom, createdBefore, customerId, placedBy, needsApproval, late } = filters;
  return [
    sql`id >= ${firstRealId}`,
    ...(createdFrom === undefined ? [] : [sql`created_at >= ${createdFrom}`]),
    ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
    ...(customerId === undefined ? [] : [sql`customer_id = ${customerId}`]),
    ...(placedBy === undefined ? [] : [sql`placed_by = ${placedBy}`]),
    // Literals, as in the conditions of the indexes.
    ...(needsApproval ? [sql`needs_approval = 1 and status = 'placed'`] : []),
    ...(late ? [sql`status = 'approved' and ship_date < ${now}`] : []),
  ];
}
