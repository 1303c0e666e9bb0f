import type { Context } from '../../../database/context.ts';
import type { Order } from '../../../orders/schemas.ts';
import type { OrderService } from '../../../orders/service.ts';
import type { ShipmentInput } from '../../../orders/shipments/schemas.ts';
import type { Versioned } from '../../../versioned.ts';
import { type ChangeOptions, type ChangeResult, makeChange } from '../../framework/change.ts';
import type { OptionsOf } from '../../framework/options.ts';
import type { shipmentOptions } from '../../framework/shop-options.ts';

type Verb = 'approve' | 'deliver' | 'cancel';
type ShipmentChangeOptions = ChangeOptions & OptionsOf<typeof shipmentOptions>;

const transitions: Readonly<
  Record<Verb, (orders: OrderService, context: Context, id: number) => Promise<Versioned>>
> = {
  approve: (orders, context, id) => orders.approve(context, id),
  deliver: (orders, context, id) => orders.deliver(context, id),
  cancel: (orders, context, id) => orders.cancel(context, id, null),
};

/** Changes the status of an order. */
export function changeOrder(verb: Verb, id: number, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ orders: { service: orders } }, context) => {
    return changedOrder(await transitions[verb](orders, context, id));
  });
}

/** Marks an order as shipped. */
export function shipOrder(id: number, options: ShipmentChangeOptions): Promise<void> {
  return makeChange(options, async ({ orders: { service: orders } }, context) =>
    changedOrder(await orders.ship(context, id, undefined, shipmentOf(options))),
  );
}

/** Changes how an order is shipped. */
export function changeShipment(id: number, options: ShipmentChangeOptions): Promise<void> {
  return makeChange(options, async ({ orders: { shipments } }, context) => {
    const { body } = await shipments.replace(context, id, shipmentOf(options));
    return { value: JSON.parse(body), text: `The shipment of order ${id} is changed.` };
  });
}

const shipmentOf = ({ carrier, trackingNumber, trackingUrl }: ShipmentChangeOptions): ShipmentInput => ({
  carrier: carrier ?? null,
  trackingNumber: trackingNumber ?? null,
  trackingUrl: trackingUrl ?? null,
});

function changedOrder({ body }: Versioned): ChangeResult {
  const order = JSON.parse(body) as Order;
  return { value: order, text: `Order ${order.id} is ${order.status}.` };
}
