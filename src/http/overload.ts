/**
 * Refuses early what could not be answered in time anyway: 503 while it is cheap, instead of queues that grow until
 * everybody gives up. Changes are refused first, so that a shop can still be looked at.
 */
import { unavailable } from '../errors.ts';

/** Changes under way at once: each of them waits for the writers of the database. */
const changesMax = 2000;
/** For how long the process was too busy to look at the clock. */
const lagForChangesMs = 2000;
const lagForAllMs = 5000;
const sampleMs = 250;

export interface Overload {
  /** @throws AppError unavailable where the server is too far behind for a request of this kind */
  check(isChange: boolean): void;
  /** Counts a change as long as it runs. */
  during<T>(change: Promise<T>): Promise<T>;
  /** Changes under way, and for how long the process was too busy to look at the clock, lately. */
  standing(): { readonly changes: number; readonly lagMs: number };
  stop(): void;
}

export function createOverload(): Overload {
  let changes = 0;
  let lagMs = 0;
  let expectedAt = performance.now() + sampleMs;
  const timer = setInterval(() => {
    const now = performance.now();
    lagMs = now - expectedAt;
    expectedAt = now + sampleMs;
  }, sampleMs).unref();

  return {
    check(isChange) {
      if (lagMs > lagForAllMs || (isChange && (lagMs > lagForChangesMs || changes >= changesMax))) {
        throw unavailable('Too much is asked of the server at once. Try again in a moment.', 2);
      }
    },
    async during(change) {
      changes += 1;
      try {
        return await change;
      } finally {
        changes -= 1;
      }
    },
    standing: () => ({ changes, lagMs: Math.max(0, lagMs) }),
    stop: () => clearInterval(timer),
  };
}
