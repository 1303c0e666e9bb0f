/** What becomes of orders when a cheese or a customer is deleted: in that transaction, and it may say no. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { allowedFrom } from './order-status.ts';
import { orderQueries } from './queries.ts';
import type { ShippingAddress } from './schemas.ts';
import type { Transitions } from './transitions.ts';

const namedMax = 5;

export interface OrderOnDelete {
  /** Cancels orders that were only placed. @throws AppError conflict where more was promised */
  onCheeseDelete(
    tx: Sql,
    context: Context,
    cheese: { readonly id: number; readonly name: string },
  ): Promise<void>;
  /** Cancels what has not shipped, and parts the rest from the person. */
  onCustomerDelete(tx: Sql, context: Context, customerId: number): Promise<void>;
}

export function createOrderOnDelete(clock: Clock, steps: Transitions): OrderOnDelete {
  return {
    async onCheeseDelete(tx, context, { id, name }) {
      const open = await orderQueries(tx).listOpenWith(id);
      const promised = open.filter(({ status }) => status !== 'placed');
      if (promised.length > 0) {
        const some = promised.slice(0, namedMax).map((order) => `${order.id} (${order.status})`);
        const more = promised.length > namedMax ? ` and ${promised.length - namedMax} more` : '';
        throw new AppError(
          'conflict',
          `The cheese is in active orders: ${some.join(', ')}${more}. Deliver or cancel them first.`,
        );
      }
      for (const order of open) {
        // It is still placed: whoever approves holds the cheeses first, and this one is ours.
        await steps.transition(
          tx,
          context,
          order.id,
          steps.cancellation(`${name} was taken out of the catalogue`),
        );
      }
    },

    async onCustomerDelete(tx, context, customerId) {
      const queries = orderQueries(tx);
      const orders = await queries.listOfCustomer(customerId);
      for (const { id, status } of orders) {
        if (allowedFrom('cancelled').includes(status)) {
          await steps.tryTransition(tx, context, id, steps.cancellation('the customer was deleted'));
        }
      }
      if (orders.length > 0) {
        const anonymous = orders.map(({ id, address }) => [id, anonymizeAddress(address)] as const);
        await queries.updateAnonymous(anonymous, timestamp(clock.now()));
      }
    },
  };
}

/** The country stays, for the books. */
function anonymizeAddress(address: string): string {
  const { country } = JSON.parse(address) as ShippingAddress;
  return JSON.stringify({ street: '', city: '', state: null, country } satisfies ShippingAddress);
}
