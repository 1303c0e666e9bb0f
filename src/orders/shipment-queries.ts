/** Statements on the shipments of orders. */
import { queriesOn } from '../database/database.ts';
import { selectIntegers, sql } from '../database/sql.ts';

/** How an order is shipped, if something was stated. */
export interface ShipmentRow {
  readonly order_id: number;
  readonly carrier: string | null;
  readonly tracking_number: string | null;
  readonly tracking_url: string | null;
  readonly version: number;
}

export const shipmentQueries = queriesOn((tx) => ({
  find: (orderId: number) =>
    tx.get<ShipmentRow>(sql`
      select order_id, carrier, tracking_number, tracking_url, version from shipment where order_id = ${orderId}`),

  /** The order is locked. */
  upsert: (row: ShipmentRow) =>
    tx.run(sql`
      insert into shipment (order_id, carrier, tracking_number, tracking_url, version)
      values (${row.order_id}, ${row.carrier}, ${row.tracking_number}, ${row.tracking_url}, ${row.version})
      on conflict (order_id) do update set carrier = excluded.carrier, tracking_number = excluded.tracking_number,
        tracking_url = excluded.tracking_url, version = excluded.version`),

  /** The orders are locked. */
  deleteAll: (orderIds: readonly number[]) =>
    tx.run(sql`delete from shipment where order_id in (${selectIntegers(orderIds)})`),
}));
