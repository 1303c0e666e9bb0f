/** Counts requests for the only server of a database: seconds in memory, hours by shares that are stored in advance. */
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { LimitState } from '../errors.ts';
import { chain } from '../maybe-promise.ts';
import type { PlanLimits } from '../settings/config.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { createHourlyShares, type HourlyShares, type Share } from './hourly-share.ts';
import { SlidingWindow } from './sliding-window.ts';
import { burstState, type CountedUse, type UsageCounter } from './usage-counter.ts';

const secondMs = 1000;
/** Accounts and customers within two seconds. */
const subjectsMax = 5000;

/** A usage counter in this process. */
export function createLocalCounter(database: Database, clock: Clock): UsageCounter {
  const shares = createHourlyShares(database, clock);
  const bursts = createGenerationalCache<SlidingWindow>(subjectsMax, 2 * secondMs, clock);

  return {
    async read(subject, limits) {
      const window = bursts.get(subject) ?? new SlidingWindow(secondMs, 1);
      const burst = new LocalUse(subject, limits, window, shares, clock).burst();
      const hour = limits.perHour === null ? null : await shares.read(subject, limits.perHour);
      return { burst: () => burst, hour: () => hour };
    },

    count(subject, limits) {
      const window = bursts.get(subject) ?? bursts.set(subject, new SlidingWindow(secondMs, 1));
      const use = new LocalUse(subject, limits, window, shares, clock);
      const now = clock.now();
      if (window.count(now) >= limits.burst) {
        use.refusedBy = 'burst';
        return use;
      }
      const slot = window.add(now);
      if (limits.perHour === null) {
        return use;
      }
      return chain(shares.take(subject, limits.perHour), (share) => {
        if (share === null) {
          window.refund(slot);
          use.refusedBy = 'hour';
        }
        use.share = share;
        return use;
      });
    },
    close: shares.close,
    purge: shares.purge,
  };
}

class LocalUse implements CountedUse {
  refusedBy: CountedUse['refusedBy'] = null;
  /** The share that the request was counted on, if the hour has a limit. */
  share: Share | null = null;
  readonly #subject: string;
  readonly #limits: PlanLimits;
  readonly #window: SlidingWindow;
  readonly #shares: HourlyShares;
  readonly #clock: Clock;

  constructor(
    subject: string,
    limits: PlanLimits,
    window: SlidingWindow,
    shares: HourlyShares,
    clock: Clock,
  ) {
    this.#subject = subject;
    this.#limits = limits;
    this.#window = window;
    this.#shares = shares;
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
    return perHour === null ? null : this.#shares.state(this.#subject, perHour);
  }

  refund(): void {
    if (this.share !== null) {
      this.#shares.refund(this.#subject, this.share);
    }
  }
}
