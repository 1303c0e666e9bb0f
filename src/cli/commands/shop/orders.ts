import type { Context } from '../../../database/context.ts';

import type { Order } from '../../../orders/schemas.ts';
import type { OrderService } from '../../../orders/service.ts';
import type { Versioned } from '../../../versioned.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';

type Verb = 'approve' | 'ship' | 'deliver' | 'cancel';

const transitions: Readonly<
  Record<Verb, (orders: OrderService, context: Context, id: number) => Promise<Versioned>>
> = {
  approve: (orders, context, id) => orders.approve(context, id),
  ship: (orders, context, id) => orders.ship(context, id),
  deliver: (orders, context, id) => orders.deliver(context, id),
  cancel: (orders, context, id) => orders.cancel(context, id, null),
};

/** Changes the status of an order. */
export function changeOrder(verb: Verb, id: number, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ orders: { service: orders } }, context) => {
    const { body } = await transitions[verb](orders, context, id);
    const order = JSON.parse(body) as Order;
    return { value: order, text: `Order ${order.id} is ${order.status}.` };
  });
}
