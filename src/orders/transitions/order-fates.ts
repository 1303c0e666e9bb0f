/** Orders whose fate is decided when they are placed: outside of production, so that clients can be tested (sandbox/order-notes.ts). */
import type { CustomerService } from '../../customers/service.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import type { OrderRow } from '../queries.ts';
import type { Transitions } from './transitions.ts';

/** The status that an order has after its approval is due. */
export type OrderFate =
  | { readonly status: 'placed' | 'shipped' | 'delivered' }
  | { readonly status: 'cancelled'; readonly reason: string };

/** The fate by the notes of an order; null if the rules of the shop decide. */
export type FateOf = (notes: string | null) => OrderFate | null;

export type OrderFates = ReturnType<typeof createOrderFates>;

export function createOrderFates(
  fateOf: FateOf,
  transitions: Transitions,
  customers: Pick<CustomerService, 'lockForUpdate' | 'credit'>,
) {
  return {
    fateOf,

    /** Called before the approval job is locked: customers come first in the lock order. */
    async lockCustomer(tx: Sql, { notes, customer_id }: Pick<OrderRow, 'notes' | 'customer_id'>) {
      if (fateOf(notes)?.status === 'delivered' && customer_id !== null) {
        await customers.lockForUpdate(tx, customer_id);
      }
    },

    /** Ships and delivers an order that was approved in this transaction, if that is its fate. */
    async afterApproval(tx: Sql, context: Context, { id, notes, customer_id }: OrderRow) {
      const status = fateOf(notes)?.status;
      if (status === 'shipped' || status === 'delivered') {
        await transitions.tryChangeClaimed(tx, context, id, transitions.shipping());
      }
      if (status === 'delivered') {
        const row = await transitions.tryChangeClaimed(tx, context, id, transitions.delivery());
        if (row !== undefined && customer_id !== null) {
          await customers.credit(tx, context, customer_id, row.goods_cents);
        }
      }
    },
  };
}
