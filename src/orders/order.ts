/** The JSON of an order, and who may see it. */
import type { Principal } from '../access/principal.ts';
import type { Sql } from '../database/database.ts';
import { dollars } from '../decimal.ts';
import { computeArrival, type DeliverySchedule, localTime } from '../delivery/ship-days.ts';
import { AppError } from '../errors.ts';
import type { Environment } from '../settings/config.ts';
import { type LineWeight, lineGrams } from '../stock/line-weight.ts';
import type { Versioned } from '../versioned.ts';
import type { Breakdown } from './pricing/schemas.ts';
import { firstRealId, type OrderRow, type Owner, orderQueries } from './queries.ts';
import type { Order, OrderItem } from './schemas.ts';

/** The first id of an order that requests can read: production has no test orders, even if its table contains some. */
export function firstIdIn(environment: Environment): number {
  return environment === 'production' ? firstRealId : 1;
}

/** Test orders have no events in the log. */
export function isTestOrder(id: number): boolean {
  return id < firstRealId;
}

/** Lines, shipping address and breakdown are stored as the JSON of responses. */
export function toOrder(row: OrderRow): Versioned {
  const { id, status, notes, total_cents, breakdown, ship_date, created_at, updated_at } = row;
  const amounts = JSON.stringify({ status, notes, total: dollars(total_cents) });
  const rest = JSON.stringify({
    shipDate: ship_date,
    createdAt: created_at,
    updatedAt: updated_at,
  });
  const schedule: DeliverySchedule | null = row.delivery === null ? null : JSON.parse(row.delivery);
  const { requestedDate } = schedule ?? {};
  const arrivesOn =
    schedule &&
    ship_date &&
    computeArrival(localTime(Date.parse(ship_date), schedule.timeZone).day, schedule);
  const parts = [
    `{"id":${id},"items":${row.items},"shippingAddress":${row.address}`,
    amounts.slice(1, -1),
    ...(breakdown === null ? [] : [`"breakdown":${breakdown}`]),
    ...(requestedDate === undefined ? [] : [`"requestedDate":"${requestedDate}"`]),
    ...(row.gift === null ? [] : [`"gift":${row.gift}`]),
    ...(arrivesOn === null ? [] : [`"arrivesOn":"${arrivesOn}"`]),
    rest.slice(1),
  ];
  return { id, version: row.version, body: parts.join(',') };
}

/** The distinct ids of the cheeses of an order. */
export function listCheeseIds(lines: readonly Pick<OrderItem, 'cheeseId'>[]): number[] {
  return [...new Set(lines.map(({ cheeseId }) => cheeseId))];
}

/** Grams of each cheese. Several lines can have the same cheese. */
export function gramsByCheese(lines: readonly LineWeight[]): Map<number, number> {
  const grams = new Map<number, number>();
  for (const line of lines) {
    grams.set(line.cheeseId, (grams.get(line.cheeseId) ?? 0) + lineGrams(line));
  }
  return grams;
}

/** @param firstId see `firstIdIn` @throws AppError notFound */
export async function findRow(sql: Sql, id: number, firstId: number): Promise<OrderRow> {
  const row = id < firstId ? undefined : await orderQueries(sql).find(id);
  if (row === undefined) {
    throw new AppError('notFound', `There is no order with the id ${id}.`);
  }
  return row;
}

/** Test orders are open to all callers. @throws AppError forbidden when the caller may not see the order */
export function requireOwner({ id, customer_id, placed_by }: OrderRow, principal: Principal | null): void {
  const owner = toOwner(principal);
  const isOwn =
    owner === null ||
    ('customerId' in owner ? customer_id === owner.customerId : placed_by === owner.placedBy);
  if (!isOwn && id >= firstRealId) {
    throw new AppError(
      'forbidden',
      (principal?.confinedTo ?? null) === null
        ? 'The order belongs to another customer or client.'
        : 'The order does not belong to the customer for whom this request acts. An API key alone reaches every order.',
    );
  }
}

/**
 * The owner whose orders the caller can see. API keys and admins see all orders, unless they act for a customer.
 * @param principal null: the command line, which sees all orders
 */
export function toOwner(principal: Principal | null): Owner {
  if (principal === null) {
    return null;
  }
  const { kind, id, scopes, customerId, confinedTo } = principal;
  if (confinedTo !== null) {
    return { customerId: confinedTo };
  }
  if (kind === 'apiKey' || scopes.has('admin')) {
    return null;
  }
  return customerId === null ? { placedBy: id } : { customerId };
}

/** The customers of orders. Orders without a customer, and test orders, are missing. */
export async function readCustomersOfOrders(
  sql: Sql,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = ids.length === 0 ? [] : await orderQueries(sql).listCustomers(ids);
  return new Map(
    rows.flatMap(({ id, customer_id }) =>
      id < firstRealId || customer_id === null ? [] : [[id, customer_id] as const],
    ),
  );
}

/** An order of a customer with what it keeps of its delivery method; undefined if it is not, or if the customer was deleted. */
export async function readOrderOfCustomer(
  sql: Sql,
  customerId: number,
  id: number,
): Promise<{ readonly order: Order; readonly schedule: DeliverySchedule | null } | undefined> {
  const row = await orderQueries(sql).find(id);
  return row?.customer_id === customerId
    ? {
        order: JSON.parse(toOrder(row).body),
        schedule: row.delivery === null ? null : JSON.parse(row.delivery),
      }
    : undefined;
}

/** Those of the orders that their customers fetch. */
export async function readPickups(sql: Sql, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = ids.length === 0 ? [] : await orderQueries(sql).listBreakdowns(ids);
  const isPickup = ({ breakdown }: { readonly breakdown: string }) =>
    (JSON.parse(breakdown) as Breakdown).delivery?.kind === 'pickup';
  return new Set(rows.filter(isPickup).map(({ id }) => id));
}
