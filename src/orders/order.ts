/** An order as it is answered, and who may see it. */
import type { Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';
import { dollars } from './money.ts';
import { firstRealId, type OrderRow, orderQueries } from './queries.ts';
import type { Order } from './schemas.ts';

/** An order, and the version that its ETag carries. */
export interface VersionedOrder {
  readonly id: number;
  readonly version: number;
  readonly body: Order;
}

export function toOrder(row: OrderRow): VersionedOrder {
  return {
    id: row.id,
    version: row.version,
    body: {
      id: row.id,
      items: JSON.parse(row.items),
      shippingAddress: JSON.parse(row.address),
      status: row.status,
      notes: row.notes,
      total: dollars(row.total_cents),
      shipDate: row.ship_date,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    },
  };
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

export function seesAll({ kind, scopes }: Principal): boolean {
  return kind === 'apiKey' || scopes.has('admin');
}
