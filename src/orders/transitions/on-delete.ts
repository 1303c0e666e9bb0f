/** Changes orders when a cheese or a customer is deleted, in the same transaction, and may refuse the deletion. */
import { readBlocks } from '../../blocks.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { type OrderRow, orderQueries } from '../queries.ts';
import type { ShippingAddress } from '../schemas.ts';
import { shipmentQueries } from '../shipment-queries.ts';
import { allowedFrom } from './order-status.ts';
import type { Transitions } from './transitions.ts';

const namedMax = 5;
/** A block of orders with 100 lines each takes up to 9 ms on SQLite. */
const blockSize = 100;

export function createOrderOnDelete(clock: Clock, transitions: Transitions) {
  return {
    /** Cancels placed orders of the cheese. @throws AppError conflict when orders of it are approved or shipped */
    async onCheeseDelete(
      tx: Sql,
      context: Context,
      { id, name }: { readonly id: number; readonly name: string },
    ) {
      const queries = orderQueries(tx);
      const active: Pick<OrderRow, 'id' | 'status'>[] = [];
      const placed: number[] = [];
      for await (const orders of readBlocks((after) => queries.listOpenWith(id, after, blockSize))) {
        active.push(...orders.filter(({ status }) => status !== 'placed'));
        placed.push(...orders.filter(({ status }) => status === 'placed').map((order) => order.id));
      }
      if (active.length > 0) {
        const some = active.slice(0, namedMax).map((order) => `${order.id} (${order.status})`);
        const more = active.length > namedMax ? ` and ${active.length - namedMax} more` : '';
        throw new AppError(
          'conflict',
          `The cheese is in active orders: ${some.join(', ')}${more}. Deliver or cancel them first.`,
        );
      }
      // None has been approved meanwhile: an approval locks the cheeses too, and this transaction has locked this one.
      await transitions.cancelAll(tx, context, placed, `${name} was taken out of the catalogue`);
    },

    /** Cancels the customer's orders that have not shipped, and removes personal data from all of them. */
    async onCustomerDelete(tx: Sql, context: Context, { id: customerId }: { readonly id: number }) {
      const queries = orderQueries(tx);
      const list = (_: number, last: Pick<OrderRow, 'created_at' | 'id'> | null) =>
        queries.listOfCustomer(customerId, last, blockSize);
      const unshipped: number[] = [];
      for await (const orders of readBlocks(list)) {
        const some = orders.filter(({ status }) => allowedFrom('cancelled').includes(status));
        unshipped.push(...some.map(({ id }) => id));
      }
      // The lock order is that of ids; the list is in the order of creation times.
      unshipped.sort((a, b) => a - b);
      await transitions.cancelAll(tx, context, unshipped, 'the customer was deleted');
      const first = await queries.findFirstOf(customerId);
      let anonymized = 0;
      for await (const orders of readBlocks(list)) {
        anonymized += orders.length;
        const anonymous = orders.map(({ id, address }) => ({ id, address: anonymizeAddress(address) }));
        await queries.updateAnonymous(anonymous, first, timestamp(clock.now()));
        await shipmentQueries(tx).deleteAll(orders.map(({ id }) => id));
      }
      context.origin.effects?.addCount('orders.anonymized', anonymized);
    },
  };
}

/** The country stays, for accounting. */
function anonymizeAddress(address: string): string {
  const { country } = JSON.parse(address) as ShippingAddress;
  return JSON.stringify({ street: '', city: '', state: null, country } satisfies ShippingAddress);
}
