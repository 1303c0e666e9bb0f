/**
 * Load shedding: refuses requests early that could not be processed in time, instead of letting queues grow until all
 * clients time out. Changes are refused first, so that the catalogue can still be read. One pause of the process or the
 * disk is no overload: several samples in a row must be late.
 *
 * The lag is sampled with a timer. `monitorEventLoopDelay` would need the same timer to reset it, and its maximum is not
 * the figure that /metrics shows.
 */
import { unavailable } from '../errors.ts';

/** Changes that run at once: each of them waits for the writers of the database. */
const changesMax = 2000;
/** The lag of each of the last samples. With their intervals, three samples last at least 3.75 seconds. */
const lagForChangesMs = 1000;
const lagForAllMs = 2500;
const sampleMs = 250;
const samplesInRow = 3;

export type Overload = ReturnType<typeof createOverloadGuard>;

export function createOverloadGuard() {
  let changes = 0;
  let lags: readonly number[] = Array(samplesInRow).fill(0);
  let expectedAt = performance.now() + sampleMs;
  const timer = setInterval(() => {
    const now = performance.now();
    lags = [...lags.slice(1), Math.max(0, now - expectedAt)];
    expectedAt = now + sampleMs;
  }, sampleMs).unref();

  return {
    /** @throws AppError unavailable if the lag is too long for a request of this kind */
    check(isChange: boolean) {
      const shortestLagMs = Math.min(...lags);
      if (
        shortestLagMs > lagForAllMs ||
        (isChange && (shortestLagMs > lagForChangesMs || changes >= changesMax))
      ) {
        throw unavailable('The server is overloaded. Try again in a moment.', 2);
      }
    },
    /** Counts a change while it runs. */
    async track<T>(change: Promise<T>) {
      changes += 1;
      try {
        return await change;
      } finally {
        changes -= 1;
      }
    },
    /** Changes that run, and the last lag of the event loop. */
    stats: () => ({ changes, lagMs: lags.at(-1) ?? 0 }),
    stop: () => clearInterval(timer),
  };
}
