import type { Context } from '../database/context.ts';
import type { Order } from '../orders/schemas.ts';
import type { OrderService } from '../orders/service.ts';
import type { Versioned } from '../versioned.ts';
import { type CommandOptions, parseId, printResult, withServices } from './run-command.ts';

type Verb = 'approve' | 'ship' | 'deliver' | 'cancel';

const verbs: Readonly<
  Record<Verb, (orders: OrderService, context: Context, id: number) => Promise<Versioned>>
> = {
  approve: (orders, context, id) => orders.approve(context, id),
  ship: (orders, context, id) => orders.ship(context, id),
  deliver: (orders, context, id) => orders.deliver(context, id),
  cancel: (orders, context, id) => orders.cancel(context, id, null),
};

/** Moves an order on, as an operator does. */
export function moveOrder(verb: Verb, id: string, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ orders, contextOf }) => {
    const orderId = parseId(id, 'no order id: it is the number that the order was answered with');
    const { body } = await verbs[verb](orders, contextOf('cli'), orderId);
    const order = JSON.parse(body) as Order;
    printResult(options, order, `Order ${order.id} is ${order.status}.`);
  });
}
