/** Calls counted by the only server of a database: seconds in memory, hours by leases that are written down before. */
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { LimitState } from '../errors.ts';
import { chain } from '../maybe-promise.ts';
import type { PlanLimits } from '../settings/config.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { createHourlyLeases, type HourlyLeases, type Lease } from './hourly-lease.ts';
import { SlidingWindow } from './sliding-window.ts';
import { burstState, type CountedUse, type UsageCounter } from './usage-counter.ts';

const secondMs = 1000;
/** Of accounts and customers within two seconds. */
const callersMax = 5000;

/** Counts in this process. `close` writes down what was spent, and `purge` is to be called now and then. */
export function createLocalCounter(database: Database, clock: Clock): UsageCounter {
  const quotas = createHourlyLeases(database, clock);
  const bursts = createGenerationalCache<SlidingWindow>(callersMax, 2 * secondMs, clock);

  return {
    count(subject, limits) {
      const window = bursts.get(subject) ?? bursts.set(subject, new SlidingWindow(secondMs, 1));
      const count = new LocalUse(subject, limits, window, quotas, clock);
      const now = clock.now();
      if (window.count(now) >= limits.burst) {
        count.refusedBy = 'burst';
        return count;
      }
      const slot = window.add(now);
      if (limits.perHour === null) {
        return count;
      }
      return chain(quotas.take(subject, limits.perHour), (lease) => {
        if (lease === null) {
          window.refund(slot);
          count.refusedBy = 'hour';
        }
        count.lease = lease;
        return count;
      });
    },
    close: quotas.close,
    purge: quotas.purge,
  };
}

class LocalUse implements CountedUse {
  refusedBy: CountedUse['refusedBy'] = null;
  /** What it was taken from, where the hour has a limit. */
  lease: Lease | null = null;
  readonly #subject: string;
  readonly #limits: PlanLimits;
  readonly #window: SlidingWindow;
  readonly #quotas: HourlyLeases;
  readonly #clock: Clock;

  constructor(
    subject: string,
    limits: PlanLimits,
    window: SlidingWindow,
    quotas: HourlyLeases,
    clock: Clock,
  ) {
    this.#subject = subject;
    this.#limits = limits;
    this.#window = window;
    this.#quotas = quotas;
    this.#clock = clock;
  }

  burst(): LimitState {
    const { burst } = this.#limits;
    const now = this.#clock.now();
    const remaining = Math.max(0, burst - this.#window.count(now));
    return burstState(burst, remaining, this.#window.msUntilFree(now));
  }

  hour(): LimitState | null {
    const { perHour } = this.#limits;
    return perHour === null ? null : this.#quotas.state(this.#subject, perHour);
  }

  refund(): void {
    if (this.lease !== null) {
      this.#quotas.refund(this.#subject, this.lease);
    }
  }
}
