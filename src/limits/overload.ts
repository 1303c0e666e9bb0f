/**
 * Refuses early what could not be answered in time anyway: 503 while it is cheap, instead of queues that grow until
 * everybody gives up. Changes are refused first, so that a shop can still be looked at. One pause of the process or the
 * disk is no overload: several samples in a row must be late.
 */
import { unavailable } from '../errors.ts';

/** Changes under way at once: each of them waits for the writers of the database. */
const changesMax = 2000;
/** Each of the last samples came so late. Together with their intervals, three of them last 3.75 seconds or more. */
const lagForChangesMs = 1000;
const lagForAllMs = 2500;
const sampleMs = 250;
const samplesInRow = 3;

export interface Overload {
  /** @throws AppError unavailable where the server is too far behind for a request of this kind */
  check(isChange: boolean): void;
  /** Counts a change as long as it runs. */
  track<T>(change: Promise<T>): Promise<T>;
  /** Changes under way, and for how long the process was too busy to look at the clock, lately. */
  standing(): { readonly changes: number; readonly lagMs: number };
  stop(): void;
}

export function createOverload(): Overload {
  let changes = 0;
  let lags: readonly number[] = Array(samplesInRow).fill(0);
  let expectedAt = performance.now() + sampleMs;
  const timer = setInterval(() => {
    const now = performance.now();
    lags = [...lags.slice(1), Math.max(0, now - expectedAt)];
    expectedAt = now + sampleMs;
  }, sampleMs).unref();

  return {
    check(isChange) {
      const lastingMs = Math.min(...lags);
      if (lastingMs > lagForAllMs || (isChange && (lastingMs > lagForChangesMs || changes >= changesMax))) {
        throw unavailable('Too much is asked of the server at once. Try again in a moment.', 2);
      }
    },
    async track(change) {
      changes += 1;
      try {
        return await change;
      } finally {
        changes -= 1;
      }
    },
    standing: () => ({ changes, lagMs: lags.at(-1) ?? 0 }),
    stop: () => clearInterval(timer),
  };
}
