/** An order as it is answered, and who may see it. */
import type { Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';
import { dollars } from './money.ts';
import { firstRealId, type OrderRow, orderQueries } from './queries.ts';
import type { OrderItem } from './schemas.ts';

/** An order as JSON, and the version that its ETag carries. */
export interface VersionedOrder {
  readonly id: number;
  readonly version: number;
  readonly body: string;
}

/** Lines and address are stored as the JSON that answers for them. */
export function toOrder(row: OrderRow): VersionedOrder {
  const { id, status, notes, total_cents, ship_date, created_at, updated_at } = row;
  const rest = JSON.stringify({
    status,
    notes,
    total: dollars(total_cents),
    shipDate: ship_date,
    createdAt: created_at,
    updatedAt: updated_at,
  });
  const body = `{"id":${id},"items":${row.items},"shippingAddress":${row.address},${rest.slice(1)}`;
  return { id, version: row.version, body };
}

/** Ids of the cheeses of an order, each once. */
export function cheesesOf(lines: readonly Pick<OrderItem, 'cheeseId'>[]): number[] {
  return [...new Set(lines.map(({ cheeseId }) => cheeseId))];
}

/** @throws AppError notFound */
export async function findRow(sql: Sql, id: number): Promise<OrderRow> {
  const row = await orderQueries(sql).find(id);
  if (row === undefined) {
    throw new AppError('notFound', `There is no order with the id ${id}.`);
  }
  return row;
}

/** API keys and admins see every order, others their own; test orders are everybody's. @throws AppError forbidden */
export function requireOwner({ id, customer_id, placed_by }: OrderRow, principal: Principal): void {
  const isOwn =
    principal.customerId === null ? placed_by === principal.id : customer_id === principal.customerId;
  if (!seesAll(principal) && !isOwn && id >= firstRealId) {
    throw new AppError('forbidden', 'This is the order of somebody else.');
  }
}

/** Every order, and not just their own. */
export function seesAll({ kind, scopes }: Principal): boolean {
  return kind === 'apiKey' || scopes.has('admin');
}
