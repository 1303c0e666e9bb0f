/** Notes that choose what becomes of an order, so that clients can be tested against each status. Not in production. */
import type { CustomerService } from '../../customers/service.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import type { Environment } from '../../settings/config.ts';
import type { OrderRow } from '../queries.ts';
import type { Transitions } from './transitions.ts';

const testNotes = ['test:never-approve', 'test:ship', 'test:deliver', 'test:cancel'] as const;
export type TestNote = (typeof testNotes)[number];

interface Dependencies {
  readonly environment: Environment;
  readonly transitions: Transitions;
  readonly customers: Pick<CustomerService, 'lockForUpdate' | 'credit'>;
}

export interface TestValues {
  /** null for other notes: they are for people. */
  noteOf(notes: string | null): TestNote | null;
  /** Called before the approval job is locked: customers come first in the lock order. */
  lockCustomer(tx: Sql, order: Pick<OrderRow, 'notes' | 'customer_id'>): Promise<void>;
  /** Ships and delivers an order that was approved in this transaction, if its notes say so. */
  afterApproval(tx: Sql, context: Context, order: OrderRow): Promise<void>;
}

export function createTestValues({ environment, transitions, customers }: Dependencies): TestValues {
  const noteOf: TestValues['noteOf'] = (notes) =>
    environment === 'production' ? null : (testNotes.find((note) => note === notes) ?? null);

  return {
    noteOf,

    async lockCustomer(tx, { notes, customer_id }) {
      if (noteOf(notes) === 'test:deliver' && customer_id !== null) {
        await customers.lockForUpdate(tx, customer_id);
      }
    },

    async afterApproval(tx, context, { id, notes, customer_id }) {
      const note = noteOf(notes);
      if (note === 'test:ship' || note === 'test:deliver') {
        await transitions.changeStatus(tx, context, id, transitions.shipping());
      }
      if (note === 'test:deliver') {
        const row = await transitions.changeStatus(tx, context, id, transitions.delivery());
        if (row !== undefined && customer_id !== null) {
          await customers.credit(tx, context, customer_id, row.total_cents);
        }
      }
    },
  };
}
