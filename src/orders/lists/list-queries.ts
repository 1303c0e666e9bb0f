/** Statements for lists of orders. Each reads one index in the order of the list. */
import { queriesOn } from '../../database/database.ts';
import { join, joinAnd, noIndex, rawSql, type Statement, sql, valueList } from '../../database/sql.ts';
import { firstRealId, type OrderRow, orderColumns } from '../queries.ts';
import { type OrderStatus, orderStatuses } from '../transitions/order-status.ts';

/** The orders of a customer, of a placer, of both, or of all; and of these, those that are sent to a country. */
export interface OrderScope {
  readonly customerId?: number | undefined;
  /** Id of the principal that placed them. */
  readonly placedBy?: string | undefined;
  /** Code of a country, in upper case. */
  readonly country?: string | undefined;
}

export interface OrderFilters extends OrderScope {
  readonly statuses?: readonly OrderStatus[] | undefined;
  /** Created at or after. */
  readonly createdFrom?: string | undefined;
  /** Created before. */
  readonly createdBefore?: string | undefined;
  /** Placed, and waiting for an operator, because a cheese has no price. */
  readonly needsApproval?: boolean | undefined;
  /** Approved, and should be shipped before this time. */
  readonly shipBefore?: string | undefined;
  /** Placed, approved or shipped, with this cheese. */
  readonly cheeseId?: number | undefined;
}

/** The position from which a page continues. */
export interface OrderPlace {
  readonly createdAt: string;
  readonly id: number;
}

/** A part of the list: the orders between two places, without both. */
export interface OrderRange {
  readonly after: OrderPlace;
  readonly before: OrderPlace;
}

/** The index that a page reads. Each begins with another column, and continues with the place. */
export type OrderIndex = 'customer_id' | 'placed_by' | 'country' | 'status' | null;

export interface OrderPageRequest {
  readonly filters: OrderFilters;
  readonly index: OrderIndex;
  readonly range: OrderRange;
  readonly isAscending: boolean;
  readonly limit: number;
}

const customerIdWithoutIndex = noIndex(sql`customer_id`, 'number');
const placedByWithoutIndex = noIndex(sql`placed_by`, 'text');
const countryWithoutIndex = noIndex(sql`country`, 'text');
const createdAtWithoutIndex = noIndex(sql`created_at`, 'text');

export const orderListQueries = queriesOn((tx) => ({
  list: ({ filters, index, range, isAscending, limit }: OrderPageRequest) => {
    const { customerId, placedBy, country, statuses } = filters;
    const direction = isAscending ? sql`` : sql` desc`;
    const order = sql`created_at${direction}, id${direction}`;
    const ofStatus =
      statuses === undefined || index === 'status' ? [] : [sql`status in (${valueList(statuses)})`];
    const conditions = [...selectionOf(filters), ...ofStatus];
    if (customerId !== undefined && index !== 'customer_id') {
      conditions.push(sql`${customerIdWithoutIndex} = ${customerId}`);
    }
    if (placedBy !== undefined && index !== 'placed_by') {
      conditions.push(sql`${placedByWithoutIndex} = ${placedBy}`);
    }
    if (country !== undefined && index !== 'country') {
      conditions.push(sql`${countryWithoutIndex} = ${country}`);
    }
    /**
     * @param value of the first column of the index. It is compared as a part of the place and not for equality, so that
     * only this index has the order of the page. Otherwise PostgreSQL read all orders for a placer with few.
     * @param literal the condition of the index, which planners do not derive
     */
    const page = (value: string | number, literal: Statement) => {
      const column = rawSql(index ?? '');
      return sql`select ${orderColumns} from orders
        where (${column}, created_at, id) > (${value}, ${range.after.createdAt}, ${range.after.id})
          and (${column}, created_at, id) < (${value}, ${range.before.createdAt}, ${range.before.id})
          and ${joinAnd([...conditions, literal])}
        order by ${column}${direction}, ${order} limit ${limit}`;
    };
    switch (index) {
      case 'customer_id':
        return tx.all<OrderRow>(page(customerId as number, sql`customer_id is not null`));
      case 'placed_by':
        return tx.all<OrderRow>(page(placedBy as string, sql`true`));
      case 'country':
        return tx.all<OrderRow>(page(country as string, sql`true`));
      case 'status': {
        // A range of the index for each status. The first orders of each are merged.
        const pages = (statuses ?? []).map((status) => page(status, sql`status <> 'delivered'`));
        const all = pages.map((one) => sql`select * from (${one}) as one`);
        return tx.all<OrderRow>(
          pages.length === 1
            ? (pages[0] as Statement)
            : sql`select * from (${join(all, ' union all ')}) as pages order by ${order} limit ${limit}`,
        );
      }
      case null: {
        const isBetween = (created: Statement) => sql`
          (${created}, id) > (${range.after.createdAt}, ${range.after.id})
          and (${created}, id) < (${range.before.createdAt}, ${range.before.id}) and ${joinAnd(conditions)}`;
        if (filters.shipBefore === undefined && filters.cheeseId === undefined) {
          return tx.all<OrderRow>(sql`
            select ${orderColumns} from orders where ${isBetween(sql`created_at`)} order by ${order} limit ${limit}`);
        }
        // The index by the estimated date has the times of creation, so that orders to ship are sorted without their rows. Open
        // orders of a cheese are found by their ids.
        return tx.all<OrderRow>(sql`
          select ${orderColumns} from orders where id in (
            select id from orders where ${isBetween(createdAtWithoutIndex)} order by ${createdAtWithoutIndex}${direction}, id${direction} limit ${limit})
          order by ${order}`);
      }
    }
  },

  count: async (filters: OrderFilters): Promise<number> =>
    (await tx.get<{ total: number }>(sql`select (${selectTotal(filters)}) as total`))?.total ?? 0,

  /** The creation time of an order, or of the last one before it. */
  createdAt: async (id: number) =>
    (
      await tx.get<{ created_at: string }>(
        sql`select created_at from orders where id <= ${id} order by id desc limit 1`,
      )
    )?.created_at,
}));

/** A count of the orders that match. */
export function selectTotal(filters: OrderFilters): Statement {
  const { statuses, createdFrom, createdBefore, customerId, placedBy, country, shipBefore, cheeseId } =
    filters;
  const isFew = isShort(filters);
  // Planners must not choose the index of an owner, who may have many orders, for one of these few.
  const [customer, placer] = isFew
    ? [customerIdWithoutIndex, placedByWithoutIndex]
    : [sql`customer_id`, sql`placed_by`];
  const created =
    shipBefore !== undefined || cheeseId !== undefined ? createdAtWithoutIndex : sql`created_at`;
  const conditions = [
    ...selectionOf(filters),
    ...(createdFrom === undefined ? [] : [sql`${created} >= ${createdFrom}`]),
    ...(createdBefore === undefined ? [] : [sql`${created} < ${createdBefore}`]),
    ...(customerId === undefined ? [] : [sql`${customer} = ${customerId}`]),
    ...(placedBy === undefined ? [] : [sql`${placer} = ${placedBy}`]),
    ...(country === undefined
      ? []
      : [sql`${isFew || customerId !== undefined ? countryWithoutIndex : sql`country`} = ${country}`]),
  ];
  const count = (...more: Statement[]) =>
    sql`select count(*) from orders where ${joinAnd([...conditions, ...more])}`;
  if (statuses === undefined) {
    return count();
  }
  if (isFew || customerId !== undefined || placedBy !== undefined || country !== undefined) {
    return count(sql`status in (${valueList(statuses)})`);
  }
  // Two indexes have all that is needed. Reading the rows for their status takes six times as long.
  const open = (some: readonly OrderStatus[]) =>
    count(sql`status in (${valueList(some)}) and status <> 'delivered'`);
  return statuses.includes('delivered')
    ? sql`select (${count()}) - (${open(orderStatuses.filter((status) => !statuses.includes(status)))})`
    : open(statuses);
}

/** Whether few orders match, however many a shop has. They have no counts. */
export function isShort({ needsApproval, shipBefore, cheeseId }: OrderFilters): boolean {
  return needsApproval === true || shipBefore !== undefined || cheeseId !== undefined;
}

function selectionOf({ needsApproval, shipBefore, cheeseId }: OrderFilters): Statement[] {
  return [
    // SQLite would read the whole table from this id on.
    sql`${noIndex(sql`id`, 'number')} >= ${firstRealId}`,
    // Literals, as in the conditions of the indexes.
    ...(needsApproval ? [sql`needs_approval = 1 and status = 'placed'`] : []),
    ...(cheeseId === undefined
      ? []
      : [sql`id in (select order_id from open_order_cheese where cheese_id = ${cheeseId})`]),
    ...(shipBefore === undefined ? [] : [sql`status = 'approved' and ship_date < ${shipBefore}`]),
  ];
}
