/**
 * How much of the server one caller may take. Whoever shows a valid credential is counted by account (all its keys and
 * applications together) or by customer: by the hour and, in addition, by the second. Everybody else is counted by
 * address. A request that is turned away uses up nothing.
 */

import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import { AppError, type LimitState } from '../errors.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Config, PlanLimits } from '../settings/config.ts';
import { createGenerationalCache, type GenerationalCache } from './generational-cache.ts';
import { SlidingWindow } from './sliding-window.ts';
import type { CountedUse, UsageCounter } from './usage-counter.ts';

const secondMs = 1000;
const minuteMs = 60_000;
/** Within two minutes. */
const addressesMax = 50_000;

interface Plan extends PlanLimits {
  readonly name: string;
}

/** The limits of a caller after a request was counted. */
export interface RateLimitStatus {
  readonly plan: string;
  readonly hour: LimitState | null;
  readonly burst: LimitState;
  /** Milliseconds since the epoch. */
  readonly readAt: number;
}

/** A call that was counted. */
export interface RequestCharge {
  rateLimitStatus(): RateLimitStatus;
  /** The call costs nothing of the hour after all. */
  refund(): void;
}

export interface RateLimits {
  /** Counts a call with valid credentials. @throws AppError rateLimited */
  charge(principals: readonly Principal[]): MaybePromise<RequestCharge>;
  /** Counts a call without a valid credential. @throws AppError rateLimited */
  countClientIp(clientIp: string, group: RateLimitGroup): ClientIpCount;
  /** Calls turned away so far, by the limit that did. */
  refusals(): Readonly<Record<string, number>>;
}

/** A request that was counted by client IP. */
export interface ClientIpCount {
  /**
   * Counts the request as several, which it is found to be once its body is read. One that exceeds a limit by itself
   * passes where nothing else counts. @throws AppError rateLimited, and the request counts nothing
   */
  countAs(requests: number): void;
}

/**
 * What a request is for. `login` has a lower limit, against guessed passwords and mass registration. `public` (pages and
 * images) has a higher one, because these requests need no credential and cost little. `health` is counted apart from
 * `public`, so that a flood of pages from one client IP, or through an unlisted proxy, does not fail health checks.
 */
export type RateLimitGroup = 'any' | 'login' | 'public' | 'health';

interface Dependencies {
  readonly config: Pick<Config, 'plans' | 'addressLimits'>;
  readonly clock: Clock;
  readonly counts: UsageCounter;
}

/** @param counts where calls are counted, which whoever made them closes */
export function createRateLimits({ config, clock, counts }: Dependencies): RateLimits {
  const plans = new Map(Object.entries(config.plans).map(([name, limits]) => [name, { ...limits, name }]));
  const strictest = [...plans.values()].toSorted(
    (a, b) => (a.perHour ?? Infinity) - (b.perHour ?? Infinity),
  )[0];
  const { perMinute, accountsPerMinute, publicPerMinute } = config.addressLimits;
  const anyCalls = { limit: perMinute, windows: recentWindows(clock) };
  const logins = { limit: accountsPerMinute, windows: recentWindows(clock) };
  const publicRequests = { limit: publicPerMinute, windows: recentWindows(clock) };
  const healthChecks = { limit: publicPerMinute, windows: recentWindows(clock) };
  const countedFor = {
    any: [anyCalls],
    login: [logins, anyCalls],
    public: [publicRequests],
    health: [healthChecks],
  };

  const refused = { burst: 0, hour: 0, address: 0 };

  function chargeTo(subject: string, plan: Plan): MaybePromise<RequestCharge> {
    return chain(counts.count(subject, plan), (count) => {
      const charge = new PlanCharge(plan, count, clock);
      if (count.refusedBy !== null) {
        refused[count.refusedBy] += 1;
      }
      if (count.refusedBy === 'burst') {
        const waitMs = Math.max(count.burst().resetMs, charge.untilHourPermits());
        throw refusal(
          charge,
          `Too many requests within a second: the plan ${plan.name} permits ${plan.burst}.`,
          waitMs,
        );
      }
      if (count.refusedBy === 'hour') {
        const waitMs = charge.untilHourPermits();
        throw refusal(
          charge,
          `Too many requests within an hour: the plan ${plan.name} permits ${plan.perHour}.`,
          waitMs,
        );
      }
      return charge;
    });
  }

  function refusal(charge: RequestCharge, why: string, waitMs: number): AppError {
    const { hour, burst, readAt } = charge.rateLimitStatus();
    return new AppError('rateLimited', `${why} Wait as long as Retry-After says.`, {
      details: { retryAfterMs: waitMs, limits: hour === null ? [burst] : [hour, burst], readAt },
    });
  }

  function tooMany(limit: number, waitMs: number): AppError {
    return new AppError(
      'rateLimited',
      `Too many such requests from one client IP within a minute: without a valid credential, ${limit} are permitted. Wait as long as Retry-After says.`,
      {
        details: {
          retryAfterMs: waitMs,
          limits: [{ policy: 'address', limit, windowSeconds: 60, remaining: 0, resetMs: waitMs }],
          readAt: clock.now(),
        },
      },
    );
  }

  return {
    charge(principals) {
      // A key that acts for a customer is paid for by its account.
      const { accountId, customerId, plan } =
        principals.find((one) => one.accountId !== null) ?? (principals[0] as Principal);
      const subject = accountId === null ? `customer:${customerId}` : `account:${accountId}`;
      // A plan that the settings no longer name leaves the least.
      return chargeTo(subject, plans.get(plan) ?? (strictest as Plan));
    },

    refusals: () =>
      Object.fromEntries(Object.entries(refused).map(([limit, calls]) => [`{limit="${limit}"}`, calls])),

    countClientIp(clientIp, group) {
      const now = clock.now();
      const counted = countedFor[group].map(({ limit, windows }) => {
        const window = windows.get(clientIp) ?? windows.set(clientIp, new SlidingWindow(minuteMs, secondMs));
        if (window.count(now) >= limit) {
          refused.address += 1;
          throw tooMany(limit, window.msUntilFree(now));
        }
        return { window, limit };
      });
      const slots = counted.map(({ window }) => window.add(now));
      return {
        countAs(requests) {
          const now = clock.now();
          for (const { window, limit } of counted) {
            const others = Math.max(0, window.count(now) - 1);
            const permitted = Math.max(0, limit - requests);
            if (others > permitted) {
              for (const [index, counter] of counted.entries()) {
                counter.window.refund(slots[index] as number);
              }
              refused.address += 1;
              throw tooMany(limit, window.untilAtMost(permitted, now));
            }
          }
          for (const { window } of counted) {
            window.add(now, requests - 1);
          }
        },
      };
    },
  };
}

function recentWindows(clock: Clock): GenerationalCache<SlidingWindow> {
  return createGenerationalCache(addressesMax, 2 * minuteMs, clock);
}

class PlanCharge implements RequestCharge {
  readonly #plan: Plan;
  readonly #count: CountedUse;
  readonly #clock: Clock;

  constructor(plan: Plan, count: CountedUse, clock: Clock) {
    this.#plan = plan;
    this.#count = count;
    this.#clock = clock;
  }

  rateLimitStatus(): RateLimitStatus {
    return {
      plan: this.#plan.name,
      hour: this.#count.hour(),
      burst: this.#count.burst(),
      readAt: this.#clock.now(),
    };
  }

  /** Milliseconds; 0 where it permits more now. */
  untilHourPermits(): number {
    const hour = this.#count.hour();
    return hour === null || hour.remaining > 0 ? 0 : hour.resetMs;
  }

  refund(): void {
    this.#count.refund();
  }
}
