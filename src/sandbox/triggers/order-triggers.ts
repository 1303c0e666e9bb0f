/** Events of orders. */
import type { Principal } from '../../access/principal.ts';
import { AppError } from '../../errors.ts';
import { isTestOrder } from '../../orders/order.ts';
import type { Order } from '../../orders/schemas.ts';
import type { OrderService } from '../../orders/service.ts';
import type { Shipments } from '../../orders/shipments/shipments.ts';
import type { MakeCheese } from './cheese-triggers.ts';
import { changing, making, type Trigger, type TriggerRequest, type Triggers } from './trigger.ts';

interface Dependencies {
  readonly orders: OrderService;
  readonly shipments: Shipments;
}

/** Kilograms of an order. */
const quantity = 2;

/** Places an order of one cheese. @returns its id */
export type PlaceOrder = (
  request: TriggerRequest,
  placer: Principal,
  cheeseId: number,
  quantity?: number,
) => Promise<number>;

export function createPlaceOrder(orders: OrderService): PlaceOrder {
  return async ({ context }, placer, cheeseId, kilograms = quantity) => {
    const input = {
      items: [{ cheeseId, quantity: kilograms }],
      shippingAddress: { street: 'Teststrasse 1', city: 'Bern', country: 'CH' },
    };
    const { body } = await orders.place(context, placer, input, { isInvented: true });
    return (JSON.parse(body) as Order).id;
  };
}

export function orderTriggers(
  { orders, shipments }: Dependencies,
  makeCheese: MakeCheese,
  placeOrder: PlaceOrder,
): Triggers {
  type Change = (request: TriggerRequest, id: number) => Promise<unknown>;
  const make = async (request: TriggerRequest) =>
    placeOrder(request, request.principal, await makeCheese(request));
  const approve: Change = ({ context }, id) => orders.approve(context, id);
  const ship: Change = ({ context }, id) => orders.ship(context, id);
  const deliver: Change = ({ context }, id) => orders.deliver(context, id);

  /** @param before what a new order needs first */
  function transition(change: Change, ...before: readonly Change[]): Trigger {
    return changing(
      'order',
      async (request) => {
        const id = await make(request);
        for (const one of before) {
          await one(request, id);
        }
        return id;
      },
      async (request, id) => {
        if (isTestOrder(id)) {
          throw new AppError(
            'conflict',
            `Order ${id} is a test order, and the event log has no events of test orders. Give another order, or none.`,
          );
        }
        await change(request, id);
      },
    );
  }

  return {
    'order.placed': making('order', make),
    'order.approved': transition(approve),
    'order.shipped': transition(ship, approve),
    'order.delivered': transition(deliver, approve, ship),
    'order.cancelled': transition(({ context }, id) => orders.cancel(context, id, null)),
    'order.shipment_changed': transition(
      async ({ context }, id) => {
        const { body } = await shipments.find(id, null);
        const { trackingNumber } = JSON.parse(body) as { readonly trackingNumber: string | null };
        await shipments.replace(context, id, {
          carrier: 'Test carrier',
          trackingNumber: trackingNumber === 'TEST-1' ? 'TEST-2' : 'TEST-1',
          trackingUrl: null,
        });
      },
      approve,
      ship,
    ),
  };
}
