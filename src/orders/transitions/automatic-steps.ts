/**
 * Orders that ship and are delivered by themselves, in shops for tests (CURD_AUTO_SHIP, CURD_AUTO_DELIVER): one job for
 * each step. An operator may be first, so a job that finds another status does nothing.
 */
import { type Clock, timestamp } from '../../clock.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { claimJob, scheduleJobs } from '../../jobs/queue.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import type { Config } from '../../settings/config.ts';
import { findRow } from '../order.ts';
import { firstRealId } from '../queries.ts';
import type { Transitions } from './transitions.ts';

export const orderShippingKind = 'order.shipping';
export const orderDeliveryKind = 'order.delivery';

export interface AutomaticSteps {
  /** Orders were approved, in this transaction. */
  onApproval(tx: Sql, ids: readonly number[], shipDate: string): Promise<void>;
  /** An order was shipped, in this transaction. */
  onShipping(tx: Sql, id: number): Promise<void>;
}

export function createAutomaticSteps(
  clock: Clock,
  { autoShip, autoDeliverMs }: Pick<Config, 'autoShip' | 'autoDeliverMs'>,
): AutomaticSteps {
  return {
    async onApproval(tx, ids, shipDate) {
      const real = ids.filter((id) => id >= firstRealId);
      if (autoShip && real.length > 0) {
        await scheduleJobs(tx, orderShippingKind, real.map(String), shipDate);
      }
    },
    async onShipping(tx, id) {
      if (autoDeliverMs !== null && id >= firstRealId) {
        await scheduleJobs(tx, orderDeliveryKind, [String(id)], timestamp(clock.now() + autoDeliverMs));
      }
    },
  };
}

interface Dependencies {
  readonly clock: Clock;
  readonly transitions: Transitions;
  readonly customers: Pick<CustomerService, 'lockForUpdate' | 'credit'>;
}

/** Handlers of both kinds. The last of 20 attempts is about 15 minutes after the first. */
export function createAutomaticHandlers(
  { clock, transitions, customers }: Dependencies,
  context: Context,
): JobHandler[] {
  const now = () => timestamp(clock.now());
  return [
    {
      kind: orderShippingKind,
      attemptsMax: 20,
      async run(tx, { key }) {
        if (await claimJob(tx, orderShippingKind, key, now())) {
          await transitions.changeStatus(tx, context, Number(key), transitions.shipping());
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
        if (await claimJob(tx, orderDeliveryKind, key, now())) {
          const row = await transitions.changeStatus(tx, context, Number(key), transitions.delivery());
          if (row !== undefined && isTheirs) {
            await customers.credit(tx, context, customer_id, row.total_cents);
          }
        }
      },
    },
  ];
}
