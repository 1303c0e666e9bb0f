/** Notes that choose what becomes of an order, so that clients can be tested against each status. Not in production. */
import type { CustomerService } from '../../customers/service.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import type { Environment } from '../../settings/config.ts';
import type { OrderRow } from '../queries.ts';
import type { Transitions } from './transitions.ts';

const testNotes = ['test:never-approve', 'test:ship', 'test:deliver', 'test:cancel'] as const;
export type TestNote = (typeof testNotes)[number];

export type TestValues = ReturnType<typeof createTestValues>;

export function createTestValues(
  environment: Environment,
  transitions: Transitions,
  customers: Pick<CustomerService, 'lockForUpdate' | 'credit'>,
) {
  /** null for other notes: they are for people. */
  const noteOf = (notes: string | null): TestNote | null =>
    environment === 'production' ? null : (testNotes.find((note) => note === notes) ?? null);

  return {
    noteOf,

    /** Called before the approval job is locked: customers come first in the lock order. */
    async lockCustomer(tx: Sql, { notes, customer_id }: Pick<OrderRow, 'notes' | 'customer_id'>) {
      if (noteOf(notes) === 'test:deliver' && customer_id !== null) {
        await customers.lockForUpdate(tx, customer_id);
      }
    },

    /** Ships and delivers an order that was approved in this transaction, if its notes say so. */
    async afterApproval(tx: Sql, context: Context, { id, notes, customer_id }: OrderRow) {
      const note = noteOf(notes);
      if (note === 'test:ship' || note === 'test:deliver') {
        await transitions.tryChangeClaimed(tx, context, id, transitions.shipping());
      }
      if (note === 'test:deliver') {
        const row = await transitions.tryChangeClaimed(tx, context, id, transitions.delivery());
        if (row !== undefined && customer_id !== null) {
          await customers.credit(tx, context, customer_id, row.goods_cents);
        }
      }
    },
  };
}
