/** Changes orders when a cheese or a customer is deleted, in the same transaction, and may refuse the deletion. */
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
  /** Cancels placed orders of the cheese. @throws AppError conflict when orders of it are approved or shipped */
  onCheeseDelete(
    tx: Sql,
    context: Context,
    cheese: { readonly id: number; readonly name: string },
  ): Promise<void>;
  /** Cancels the customer's orders that have not shipped, and removes personal data from all of them. */
  onCustomerDelete(tx: Sql, context: Context, customerId: number): Promise<void>;
}

export function createOrderOnDelete(clock: Clock, transitions: Transitions): OrderOnDelete {
  return {
    async onCheeseDelete(tx, context, { id, name }) {
      const open = await orderQueries(tx).listOpenWith(id);
      const active = open.filter(({ status }) => status !== 'placed');
      if (active.length > 0) {
        const some = active.slice(0, namedMax).map((order) => `${order.id} (${order.status})`);
        const more = active.length > namedMax ? ` and ${active.length - namedMax} more` : '';
        throw new AppError(
          'conflict',
          `The cheese is in active orders: ${some.join(', ')}${more}. Deliver or cancel them first.`,
        );
      }
      for (const order of open) {
        // It is still placed: an approval locks the cheeses first, and this transaction has locked this one.
        await transitions.transition(
          tx,
          context,
          order.id,
          transitions.cancellation(`${name} was taken out of the catalogue`),
        );
      }
    },

    async onCustomerDelete(tx, context, customerId) {
      const queries = orderQueries(tx);
      const orders = await queries.listOfCustomer(customerId);
      for (const { id, status } of orders) {
        if (allowedFrom('cancelled').includes(status)) {
          await transitions.tryTransition(
            tx,
            context,
            id,
            transitions.cancellation('the customer was deleted'),
          );
        }
      }
      if (orders.length > 0) {
        const anonymous = orders.map(({ id, address }) => [id, anonymizeAddress(address)] as const);
        await queries.updateAnonymous(anonymous, timestamp(clock.now()));
      }
    },
  };
}

/** The country stays, for accounting. */
function anonymizeAddress(address: string): string {
  const { country } = JSON.parse(address) as ShippingAddress;
  return JSON.stringify({ street: '', city: '', state: null, country } satisfies ShippingAddress);
}
