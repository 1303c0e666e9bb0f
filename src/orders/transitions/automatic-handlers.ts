/** Ships and delivers orders whose jobs are due. An operator may be first: a job that finds another status does nothing. */
import { type Clock, timestamp } from '../../clock.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { Context } from '../../database/context.ts';
import { jobQueue } from '../../jobs/queue.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { findRow } from '../order.ts';
import { firstRealId } from '../queries.ts';
import { orderDeliveryKind, orderShippingKind } from './automatic-steps.ts';
import type { Transitions } from './transitions.ts';

/** Handlers of both kinds. The last of 20 attempts is about 15 minutes after the first. */
export function createAutomaticHandlers(
  clock: Clock,
  transitions: Transitions,
  customers: Pick<CustomerService, 'lockForUpdate' | 'credit'>,
  context: Context,
): JobHandler[] {
  const now = () => timestamp(clock.now());
  return [
    {
      kind: orderShippingKind,
      attemptsMax: 20,
      async run(tx, { key }) {
        if (await jobQueue(tx).claim(orderShippingKind, key, now())) {
          await transitions.tryChangeClaimed(tx, context, Number(key), transitions.shipping());
        }
      },
    },
    {
      kind: orderDeliveryKind,
      attemptsMax: 20,
      async run(tx, { key }) {
        // The customer before the job, by the lock order.
        const { customer_id } = await findRow(tx, Number(key), firstRealId);
        const isTheirs = customer_id !== null && (await customers.lockForUpdate(tx, customer_id));
        if (await jobQueue(tx).claim(orderDeliveryKind, key, now())) {
          const row = await transitions.tryChangeClaimed(tx, context, Number(key), transitions.delivery());
          if (row !== undefined && isTheirs) {
            await customers.credit(tx, context, customer_id, row.goods_cents);
          }
        }
      },
    },
  ];
}
