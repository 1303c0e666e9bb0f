/** Notes of orders that choose what becomes of them, so that clients can be tested against each status. */
import type { FateOf, OrderFate } from '../orders/transitions/order-fates.ts';
import type { Environment } from '../settings/config.ts';

const fates: ReadonlyMap<string | null, OrderFate> = new Map<string, OrderFate>([
  ['test:never-approve', { status: 'placed' }],
  ['test:ship', { status: 'shipped' }],
  ['test:deliver', { status: 'delivered' }],
  ['test:cancel', { status: 'cancelled', reason: 'the notes are test:cancel' }],
]);

/** Notes decide nothing in production, where they are for people only. */
export function orderFates(environment: Environment): FateOf {
  return environment === 'production' ? () => null : (notes) => fates.get(notes) ?? null;
}
