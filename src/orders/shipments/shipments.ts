/** Reads and changes how orders are shipped: carrier and tracking. The route that ships an order may state them, too. */
import type { Principal } from '../../access/principal.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { recordEvents, recordOutsideLog } from '../../event-log/record.ts';
import type { Precondition, Versioned } from '../../versioned.ts';
import { shipmentChanged } from '../event-types.ts';
import { findRow, requireOwner } from '../order.ts';
import { firstRealId, type OrderRow, orderQueries } from '../queries.ts';
import { type ShipmentRow, shipmentQueries } from '../shipment-queries.ts';
import type { Shipment, ShipmentInput } from './schemas.ts';

export type Shipments = ReturnType<typeof createShipments>;

/** @param firstId see `firstIdIn` */
export function createShipments(database: Database, clock: Pick<Clock, 'now'>, firstId: number) {
  return {
    /** @param principal null: the command line @throws AppError notFound, forbidden */
    async find(id: number, principal: Principal | null): Promise<Versioned> {
      const order = await findRow(database, id, firstId);
      requireOwner(order, principal);
      return toShipment(order, await shipmentQueries(database).find(id));
    },

    /**
     * Replaces what is stated about an order that has shipped and is not delivered.
     * @throws AppError notFound, preconditionFailed, conflict
     */
    replace: (context: Context, id: number, input: ShipmentInput, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        await orderQueries(tx).lockAll([id]);
        const order = await findRow(tx, id, firstId);
        const stored = await shipmentQueries(tx).find(id);
        precondition?.(toShipment(order, stored).version);
        if (order.status !== 'shipped') {
          throw new AppError('conflict', refusal(order));
        }
        const row = toRow(id, input, (stored?.version ?? 0) + 1);
        if (isSame(row, stored)) {
          return toShipment(order, stored);
        }
        await shipmentQueries(tx).upsert(row);
        const record = id < firstRealId ? recordOutsideLog : recordEvents;
        const event = shipmentChanged.of(`order:${id}`, { id });
        await record(tx, context.origin, timestamp(clock.now()), [event]);
        return toShipment(order, row);
      }),

    /** States how an order is shipped, in the transaction that ships it. */
    async add(tx: Sql, id: number, input: ShipmentInput) {
      const row = toRow(id, input, 1);
      if (!isSame(row, undefined)) {
        await shipmentQueries(tx).upsert(row);
      }
    },
  };
}

function refusal({ status }: OrderRow): string {
  const shown = `The order is ${status}.`;
  switch (status) {
    case 'placed':
      return `${shown} Carrier and tracking belong to an order that has shipped: approve it, then ship it with them.`;
    case 'approved':
      return `${shown} Carrier and tracking belong to an order that has shipped: ship it with them.`;
    default:
      return `${shown} Its shipment can no longer be changed.`;
  }
}

function toRow(id: number, input: ShipmentInput, version: number): ShipmentRow {
  const { carrier = null, trackingNumber = null, trackingUrl = null } = input;
  return { order_id: id, carrier, tracking_number: trackingNumber, tracking_url: trackingUrl, version };
}

function isSame(row: ShipmentRow, stored: ShipmentRow | undefined): boolean {
  return (
    row.carrier === (stored?.carrier ?? null) &&
    row.tracking_number === (stored?.tracking_number ?? null) &&
    row.tracking_url === (stored?.tracking_url ?? null)
  );
}

const nothing = { carrier: null, trackingNumber: null, trackingUrl: null };

/** What was stated; null without. */
export function toTracking(row: ShipmentRow | undefined): Omit<Shipment, 'shippedAt'> | null {
  return row === undefined
    ? null
    : { carrier: row.carrier, trackingNumber: row.tracking_number, trackingUrl: row.tracking_url };
}

/** The version contains that of the order, because shippedAt is its. */
function toShipment(order: OrderRow, row: ShipmentRow | undefined): Versioned {
  const hasShipped = order.status === 'shipped' || order.status === 'delivered';
  const shipment: Shipment = {
    shippedAt: hasShipped ? order.ship_date : null,
    ...(toTracking(row) ?? nothing),
  };
  return { id: order.id, version: `${order.version}-${row?.version ?? 0}`, body: JSON.stringify(shipment) };
}
