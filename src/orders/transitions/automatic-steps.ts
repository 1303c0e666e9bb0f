/** The jobs of orders that ship and are delivered by themselves, in shops for tests (CURD_AUTO_SHIP, CURD_AUTO_DELIVER). */
import { type Clock, timestamp } from '../../clock.ts';
import type { Sql } from '../../database/database.ts';
import { jobQueue } from '../../jobs/queue.ts';
import type { Config } from '../../settings/config.ts';
import { firstRealId } from '../queries.ts';

export const orderShippingKind = 'order.shipping';
export const orderDeliveryKind = 'order.delivery';

export type AutomaticSteps = ReturnType<typeof createAutomaticSteps>;

export function createAutomaticSteps(
  clock: Clock,
  { autoShip, autoDeliverMs }: Pick<Config, 'autoShip' | 'autoDeliverMs'>,
) {
  return {
    /** Orders were approved, in this transaction. */
    async onApproval(tx: Sql, ids: readonly number[], shipDate: string) {
      const real = ids.filter((id) => id >= firstRealId);
      if (autoShip && real.length > 0) {
        await jobQueue(tx).schedule(orderShippingKind, real.map(String), shipDate);
      }
    },
    /** An order was shipped, in this transaction. */
    async onShipping(tx: Sql, id: number) {
      if (autoDeliverMs !== null && id >= firstRealId) {
        await jobQueue(tx).schedule(orderDeliveryKind, [String(id)], timestamp(clock.now() + autoDeliverMs));
      }
    },
  };
}
