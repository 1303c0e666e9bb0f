/** The clock of a shop for tests, which can be ahead of that of the machine. */
import type { Result } from '../../../client/src/index.ts';
import { useApi } from './queries.ts';

/** Other programs move it too. */
const refreshMs = 15_000;

export type ShopClock = Result<'getSandboxClock'>;

/** Used outside of production alone, which has no such operation. */
export function useShopClock() {
  return useApi(['clock'], (curd, signal) => curd.sandbox.getClock({ signal }), refreshMs);
}

/** Milliseconds. */
export const toMsAhead = ({ now, system }: ShopClock): number => Date.parse(now) - Date.parse(system);
