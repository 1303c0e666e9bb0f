/** Counts requests for the only server of a database: seconds in memory, hours by leases that are stored in advance. */
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
/** Accounts and customers within two seconds. */
const subjectsMax = 5000;

/** A usage counter in this process. */
export function createLocalCounter(database: Database, clock: Clock): UsageCounter {
  const leases = createHourlyLeases(database, clock);
  const bursts = createGenerationalCache<SlidingWindow>(subjectsMax, 2 * secondMs, clock);

  return {
    async read(subject, limits) {
      const window = bursts.get(subject) ?? new SlidingWindow(secondMs, 1);
      const burst = new LocalUse(subject, limits, window, leases, clock).burst();
      const hour = limits.perHour === null ? null : await leases.read(subject, limits.perHour);
      return { burst: () => burst, hour: () => hour };
    },

    count(subject, limits) {
      const window = bursts.get(subject) ?? bursts.set(subject, new SlidingWindow(secondMs, 1));
      const use = new LocalUse(subject, limits, window, leases, clock);
      const now = clock.now();
      if (window.count(now) >= limits.burst) {
        use.refusedBy = 'burst';
        return use;
      }
      const slot = window.add(now);
      if (limits.perHour === null) {
        return use;
      }
      return chain(leases.take(subject, limits.perHour), (lease) => {
        if (lease === null) {
          window.refund(slot);
          use.refusedBy = 'hour';
        }
        use.lease = lease;
        return use;
      });
    },
    close: leases.close,
    purge: leases.purge,
  };
}

class LocalUse implements CountedUse {
  refusedBy: CountedUse['refusedBy'] = null;
  /** The lease that the request was counted on, where the hour has a limit. */
  lease: Lease | null = null;
  readonly #subject: string;
  readonly #limits: PlanLimits;
  readonly #window: SlidingWindow;
  readonly #leases: HourlyLeases;
  readonly #clock: Clock;

  constructor(
    subject: string,
    limits: PlanLimits,
    window: SlidingWindow,
    leases: HourlyLeases,
    clock: Clock,
  ) {
    this.#subject = subject;
    this.#limits = limits;
    this.#window = window;
    this.#leases = leases;
    this.#clock = clock;
  }

  burst(): LimitState {
    const { burst } = this.#limits;
    return burstState(burst, Math.max(0, burst - this.#window.count(this.#clock.now())));
  }

  msUntilBurstPermits(): number {
    return this.#window.msUntilFree(this.#clock.now());
  }

  hour(): LimitState | null {
    const { perHour } = this.#limits;
    return perHour === null ? null : this.#leases.state(this.#subject, perHour);
  }

  refund(): void {
    if (this.lease !== null) {
      this.#leases.refund(this.#subject, this.lease);
    }
  }
}
