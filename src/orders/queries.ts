/** Statements on orders and on the cheeses of open orders. */
import { queriesOn } from '../database/database.ts';
import { reserveId } from '../database/dry-run.ts';
import { insertReturningId, sendRows } from '../database/rows.ts';
import {
  advisoryLock,
  forUpdate,
  rowsFromJson,
  selectIntegers,
  skippingLocked,
  sql,
  valueList,
} from '../database/sql.ts';
import type { OrderStatus } from './transitions/order-status.ts';

/** Orders with lower ids are test orders. */
export const firstRealId = 11;

export interface OrderRow {
  readonly id: number;
  readonly status: OrderStatus;
  /** Id of the principal that placed it. */
  readonly placed_by: string;
  readonly customer_id: number | null;
  /** JSON of the lines. */
  readonly items: string;
  /** JSON of the shipping address. */
  readonly address: string;
  readonly notes: string | null;
  readonly total_cents: number;
  /** What the lines cost after the discount. */
  readonly goods_cents: number;
  /** JSON of the breakdown; null if the total is the sum of the lines and nothing else. */
  readonly breakdown: string | null;
  /** JSON of a `DeliverySchedule`; null without a delivery method. */
  readonly delivery: string | null;
  /** JSON of the gift message; null if it is no gift. */
  readonly gift: string | null;
  readonly ship_date: string | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export type PlacedOrder = Pick<OrderRow, 'id' | 'items' | 'notes' | 'total_cents' | 'delivery'>;

export type NewOrderRow = Omit<OrderRow, 'id' | 'version' | 'ship_date' | 'updated_at' | 'status'>;

export type TestOrderRow = Pick<
  OrderRow,
  'id' | 'status' | 'ship_date' | 'items' | 'address' | 'notes' | 'total_cents' | 'goods_cents' | 'created_at'
>;

/** An owner of orders: a customer, a credential without a customer, or null for all orders. */
export type Owner = { readonly customerId: number } | { readonly placedBy: string } | null;

/** Grams of a cheese that an open order has reserved; 0 if the stock is not tracked, and after shipping. */
export type DiscountedRow = Pick<OrderRow, 'id' | 'status' | 'customer_id' | 'created_at'> & {
  readonly breakdown: string;
};

export interface Reservation {
  readonly cheese_id: number;
  readonly reserved: number;
}

/** What statistics read of an order. */
export interface SoldOrderRow
  extends Pick<OrderRow, 'id' | 'items' | 'address' | 'goods_cents' | 'breakdown' | 'created_at'> {
  readonly is_first: 0 | 1 | null;
}

export interface StatusChange {
  readonly status: OrderStatus;
  /** undefined keeps the stored date. */
  readonly shipDate: string | null | undefined;
  readonly now: string;
}

/** The columns of an `OrderRow`. */
export const orderColumns = sql`id, status, placed_by, customer_id, items, address, notes, total_cents, goods_cents, breakdown,
  delivery, gift, ship_date, version, created_at, updated_at`;

const idsIn = (ids: readonly number[]) => sql`(${selectIntegers(ids)})`;

const placedIn = (ids: readonly number[]) =>
  sql`select id, items, notes, total_cents, delivery from orders where id in ${idsIn(ids)} and status = 'placed'`;

/** Rows of the table open_order_cheese by their key. */
const pairRows = (rows: readonly (readonly [cheeseId: number, orderId: number])[]) =>
  rowsFromJson(rows.map(([cheese, order]) => ({ cheese, order })));

export const orderQueries = queriesOn((tx) => ({
  reserveId: () => reserveId(tx, 'orders_id_seq'),

  /** Reads no column but the id: the others are known. @param id by `reserveId`; SQLite generates it for null */
  insert: async (id: number | null, order: NewOrderRow, needsApproval: boolean): Promise<OrderRow> => {
    const row = {
      id,
      status: 'placed',
      ...order,
      updated_at: order.created_at,
      needs_approval: needsApproval ? 1 : 0,
    };
    let generated: { readonly id: number } | undefined;
    if (id === null) {
      generated = await tx.get<{ id: number }>(insertReturningId('orders', row));
    } else {
      await sendRows(tx, 'orders', [row]);
    }
    return {
      ...order,
      id: id ?? generated?.id ?? Number.NaN,
      status: 'placed',
      ship_date: null,
      version: 1,
      updated_at: order.created_at,
    };
  },

  find: (id: number) => tx.get<OrderRow>(sql`select ${orderColumns} from orders where id = ${id}`),

  /**
   * What statistics read of orders. is_first: whether a customer ordered for the first time; null without a customer.
   * The first order is the one with the lowest id: a placement locks its customer before it gets an id, so that the
   * orders of a customer are committed in the order of their ids. A deletion of the customer keeps which one it was.
   */
  listSold: (ids: readonly number[]) =>
    tx.all<SoldOrderRow>(sql`
      select o.id, o.items, o.address, o.goods_cents, o.breakdown, o.created_at,
        case when o.customer_id is null then o.was_first when exists (
            select 1 from orders e where e.customer_id = o.customer_id and e.id < o.id)
          then 0 else 1 end as is_first
      from orders o where o.id in ${idsIn(ids)}`),

  /** The first order of a customer; null without one. */
  findFirstOf: async (customerId: number) =>
    (
      await tx.get<{ id: number | null }>(
        sql`select min(id) as id from orders where customer_id = ${customerId}`,
      )
    )?.id ?? null,

  listCustomers: (ids: readonly number[]) =>
    tx.all<Pick<OrderRow, 'id' | 'customer_id'>>(
      sql`select id, customer_id from orders where id in ${idsIn(ids)}`,
    ),

  /** Those of the orders that have a breakdown. */
  listBreakdowns: (ids: readonly number[]) =>
    tx.all<{ readonly id: number; readonly breakdown: string }>(
      sql`select id, breakdown from orders where id in ${idsIn(ids)} and breakdown is not null`,
    ),

  /**
   * Changes the statuses that are one of `from`: of several concurrent updates of an order, one succeeds. Locks the
   * orders by their ids. Returns the changed orders in any order.
   */
  updateStatuses: (ids: readonly number[], from: readonly OrderStatus[], change: StatusChange) =>
    tx.all<OrderRow>(sql`
      update orders set status = ${change.status},
        ship_date = ${change.shipDate === undefined ? sql`ship_date` : sql`${change.shipDate}`}, version = version + 1,
        updated_at = ${change.now}
      where ${
        ids.length === 1
          ? sql`id = ${ids[0] as number} and status in (${valueList(from)})`
          : sql`id in (
              select id from orders
              where id in (${selectIntegers(ids)})
                and status in (${valueList(from)})
              order by id${forUpdate})`
      } returning ${orderColumns}`),

  /** Locks orders that are placed, except those that another transaction has locked. */
  lockPlaced: (ids: readonly number[]) => tx.all<PlacedOrder>(sql`${placedIn(ids)}${skippingLocked}`),

  listPlaced: (ids: readonly number[]) => tx.all<PlacedOrder>(placedIn(ids)),

  /** Approves orders that are locked and placed. */
  approveLocked: (ids: readonly number[], shipDate: string, now: string) =>
    tx.send(sql`
      update orders set status = 'approved', ship_date = ${shipDate}, version = version + 1, updated_at = ${now}
      where id in ${idsIn(ids)}`),

  /** Locks placements by a credential until the transaction ends. */
  lockPlacer: (placedBy: string) => tx.get(advisoryLock('orders of', placedBy)),

  /** Creation times of a credential's orders in a period, the oldest first. */
  listRecent: (placedBy: string, since: string, until: string) =>
    tx.all<{ created_at: string }>(sql`
      select created_at from orders
      where placed_by = ${placedBy} and created_at > ${since} and created_at <= ${until} order by created_at, id`),

  /** The first orders of a customer after another one, by their creation. */
  listOfCustomer: (customerId: number, after: Pick<OrderRow, 'created_at' | 'id'> | null, limit: number) =>
    tx.all<Pick<OrderRow, 'id' | 'status' | 'address' | 'created_at'>>(sql`
      select id, status, address, created_at from orders
      where customer_id = ${customerId} and (created_at, id) > (${after?.created_at ?? ''}, ${after?.id ?? 0})
      order by created_at, id limit ${limit}`),

  /** Removes the customer and personal data from orders. @param first the first order of the customer */
  updateAnonymous: (
    orders: readonly { readonly id: number; readonly address: string }[],
    first: number | null,
    now: string,
  ) =>
    tx.run(sql`
      update orders set address = named.address, notes = null, gift = null, customer_id = null,
        was_first = case when orders.id = ${first} then 1 else 0 end, version = version + 1, updated_at = ${now}
      from (select cast(value->>'id' as bigint) as id, value->>'address' as address from ${rowsFromJson(orders)}) as named
      where orders.id = named.id`),

  /** @param reserved grams of those cheeses whose stock is tracked */
  insertOpenCheeses: (orderId: number, cheeseIds: readonly number[], reserved: ReadonlyMap<number, number>) =>
    sendRows(
      tx,
      'open_order_cheese',
      cheeseIds.map((id) => ({ cheese_id: id, order_id: orderId, reserved: reserved.get(id) ?? 0 })),
    ),

  deleteOpenCheeses: (rows: readonly (readonly [cheeseId: number, orderId: number])[]) =>
    tx.all<Reservation>(sql`
      delete from open_order_cheese where (cheese_id, order_id) in (
        select cast(value->>'cheese' as bigint), cast(value->>'order' as bigint)
        from ${pairRows(rows)})
      returning cheese_id, reserved`),

  /** Those of the cheeses that are in open orders. */
  listOpenCheeses: (cheeseIds: readonly number[]) =>
    tx.all<Pick<Reservation, 'cheese_id'>>(sql`
      select distinct cheese_id from open_order_cheese where cheese_id in ${idsIn(cheeseIds)}`),

  listReservations: (rows: readonly (readonly [cheeseId: number, orderId: number])[]) =>
    tx.all<Reservation & { order_id: number }>(sql`
      select cheese_id, order_id, reserved from open_order_cheese
      where reserved > 0 and (cheese_id, order_id) in (
        select cast(value->>'cheese' as bigint), cast(value->>'order' as bigint)
        from ${pairRows(rows)})`),

  /** The order is locked. */
  updateReserved: (rows: readonly (readonly [cheeseId: number, orderId: number, grams: number])[]) =>
    tx.run(sql`
      update open_order_cheese set reserved = changed.grams
      from (select cast(value->>'cheese' as bigint) as cheese, cast(value->>'order' as bigint) as id,
          cast(value->>'grams' as bigint) as grams
        from ${rowsFromJson(rows.map(([cheese, order, grams]) => ({ cheese, order, grams })))}) as changed
      where cheese_id = changed.cheese and order_id = changed.id`),

  /** Locks orders by their ids. */
  lockAll: (ids: readonly number[]) =>
    tx.all<Pick<OrderRow, 'id' | 'status' | 'items'>>(sql`
      select id, status, items from orders
      where id in (${selectIntegers(ids)})
      order by id${forUpdate}`),

  /** The first open orders after an id that contain a cheese. */
  listOpenWith: (cheeseId: number, after: number, limit: number) =>
    tx.all<Pick<OrderRow, 'id' | 'status'>>(sql`
      select o.id, o.status from open_order_cheese c join orders o on o.id = c.order_id
      where c.cheese_id = ${cheeseId} and c.order_id > ${after} order by c.order_id limit ${limit}`),

  /** Orders after an id that have a breakdown, and so may have a discount code. */
  listDiscounted: (after: number, limit: number) =>
    tx.all<DiscountedRow>(sql`
      select id, status, customer_id, created_at, breakdown from orders
      where id > ${after} and breakdown is not null order by id limit ${limit}`),

  listWithBreakdown: (ids: readonly number[]) =>
    tx.all<{ id: number }>(
      sql`select id from orders where breakdown is not null and id in (${selectIntegers(ids)})`,
    ),

  /** Locks the restore of test orders until the transaction ends. */
  lockTestOrders: () => tx.get(advisoryLock('test orders')),

  lockAllTestOrders: () =>
    tx.all<OrderRow>(
      sql`select ${orderColumns} from orders where id < ${firstRealId} order by id${forUpdate}`,
    ),

  deleteTestOrders: () => tx.run(sql`delete from orders where id < ${firstRealId}`),

  /** Inserts or overwrites test orders. */
  restore: (orders: readonly TestOrderRow[]) =>
    tx.run(sql`
      insert into orders (id, status, ship_date, items, address, total_cents, goods_cents, created_at, updated_at,
        placed_by)
      select cast(value->>'id' as bigint), value->>'status', value->>'ship_date', value->>'items', value->>'address',
        cast(value->>'total_cents' as bigint), cast(value->>'goods_cents' as bigint), value->>'created_at', value->>'created_at', 'system'
      from ${rowsFromJson(orders.map((order) => ({ ...order })))}
      where true
      on conflict (id) do update set status = excluded.status, ship_date = excluded.ship_date, notes = null,
        items = excluded.items, address = excluded.address, total_cents = excluded.total_cents,
        goods_cents = excluded.goods_cents, breakdown = null, delivery = null, gift = null,
        version = orders.version + 1, updated_at = excluded.updated_at`),
}));
