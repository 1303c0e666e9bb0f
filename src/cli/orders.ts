import type { Context } from '../database/context.ts';

import type { Order } from '../orders/schemas.ts';
import type { OrderService } from '../orders/service.ts';
import type { Versioned } from '../versioned.ts';
import type { CommandOptions } from './options.ts';
import { printResult } from './output.ts';
import { withServices } from './run-command.ts';

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
export function changeOrder(verb: Verb, id: number, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ orders, contextOf }) => {
    const { body } = await transitions[verb](orders, contextOf('cli'), id);
    const order = JSON.parse(body) as Order;
    printResult(options, order, `Order ${order.id} is ${order.status}.`);
  });
}
