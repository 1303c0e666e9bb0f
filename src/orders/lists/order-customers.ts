/** Orders for the mails to their customers. */
import type { Sql } from '../../database/database.ts';
import { toOrder } from '../order.ts';
import { firstRealId, orderQueries } from '../queries.ts';
import type { Order } from '../schemas.ts';

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

/** An order of a customer; undefined where it is not, or where the customer was deleted. */
export async function readOrderOf(sql: Sql, customerId: number, id: number): Promise<Order | undefined> {
  const row = await orderQueries(sql).find(id);
  return row?.customer_id === customerId ? (JSON.parse(toOrder(row).body) as Order) : undefined;
}
