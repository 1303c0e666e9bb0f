/**
 * Limits of requests without a valid credential, by client IP and per minute. Each server counts them in memory. On
 * PostgreSQL, logins and registrations are also counted for all servers together: what the memory refuses costs no
 * statement.
 */
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Config } from '../settings/config.ts';
import type { ClientIpCounter } from './client-ip-counter.ts';
import { createGenerationalCache, type GenerationalCache } from './generational-cache.ts';
import { SlidingWindow } from './sliding-window.ts';

const secondMs = 1000;
const minuteMs = 60_000;
/**
 * Client IPs that are counted within two minutes. A limit for each of them hardly slows a sender with more of them. Measured with a million
 * client IPs in each group: a process of 450 MB, against 680 MB with 50,000.
 */
const clientIpsMax = 20_000;

/** A request that was counted by client IP. */
export interface ClientIpCount {
  /**
   * Counts the request as several, as for a batch whose size is known once its body is read. A batch that exceeds a
   * limit by itself passes if nothing else was counted. @throws AppError rateLimited, and the request is not counted
   */
  countAs(requests: number): MaybePromise<void>;
}

/**
 * What a request is for. `login` has a lower limit, against guessed passwords and mass registration. `public` (pages and
 * images) has a higher one, because these requests need no credential and cost little. `health` is counted apart from
 * `public`, so that a flood of pages from one client IP, or through an unlisted proxy, does not fail health checks.
 */
export type RateLimitGroup = 'any' | 'login' | 'public' | 'health';

/** Counts a request without a valid credential. @throws AppError rateLimited */
export interface CountClientIp {
  (clientIp: string, group: Exclude<RateLimitGroup, 'login'>): ClientIpCount;
  (clientIp: string, group: RateLimitGroup): MaybePromise<ClientIpCount>;
}

interface Dependencies {
  readonly limits: Config['addressLimits'];
  readonly clock: Clock;
  /** Counts logins for all servers; undefined if there is one. */
  readonly sharedLogins: ClientIpCounter | undefined;
  readonly onRefusal: () => void;
}

/** A limit of this server, and the requests that it has counted. */
interface LocalLimit {
  readonly limit: number;
  readonly windows: GenerationalCache<SlidingWindow>;
}

/** One request in the window of its client IP. */
interface LocalCount {
  readonly limit: number;
  readonly window: SlidingWindow;
  readonly slot: number;
}

/** Returns the function that counts requests. */
export function createClientIpLimits({
  limits,
  clock,
  sharedLogins,
  onRefusal,
}: Dependencies): CountClientIp {
  const localLimit = (limit: number): LocalLimit => ({ limit, windows: cacheOf(clock) });
  const allRequests = localLimit(limits.perMinute);
  const countedHere: Readonly<Record<RateLimitGroup, readonly LocalLimit[]>> = {
    any: [allRequests],
    login: sharedLogins === undefined ? [localLimit(limits.accountsPerMinute), allRequests] : [allRequests],
    public: [localLimit(limits.publicPerMinute)],
    health: [localLimit(limits.publicPerMinute)],
  };
  /** The time until which all servers together refuse logins of a client IP. */
  const refusedUntil: GenerationalCache<number> = cacheOf(clock);

  function refusal(limit: number, waitMs: number): AppError {
    onRefusal();
    return new AppError(
      'rateLimited',
      `Too many requests of this kind from one client IP within a minute: without a valid credential, ${limit} are permitted. Wait as long as Retry-After says.`,
      {
        details: {
          retryAfterMs: waitMs,
          limits: [{ policy: 'address', limit, windowSeconds: 60, remaining: 0, resetMs: waitMs }],
          readAt: clock.now(),
          refusedBy: 'clientIp',
        },
      },
    );
  }

  function countHere(clientIp: string, group: RateLimitGroup): readonly LocalCount[] {
    const now = clock.now();
    const found = countedHere[group].map(({ limit, windows }) => {
      const window = windows.get(clientIp) ?? windows.set(clientIp, new SlidingWindow(minuteMs, secondMs));
      if (window.count(now) >= limit) {
        throw refusal(limit, window.msUntilFree(now));
      }
      return { window, limit };
    });
    return found.map(({ window, limit }) => ({ window, limit, slot: window.add(now) }));
  }

  /** @throws AppError rateLimited if a request that was counted may not count as so many */
  function requirePermitted(counted: readonly LocalCount[], requests: number): void {
    const now = clock.now();
    for (const { window, limit } of counted) {
      const others = Math.max(0, window.count(now) - 1);
      const permitted = Math.max(0, limit - requests);
      if (others > permitted) {
        refund(counted);
        throw refusal(limit, window.untilAtMost(permitted, now));
      }
    }
  }

  function addHere(counted: readonly LocalCount[], requests: number): void {
    const now = clock.now();
    for (const { window } of counted) {
      window.add(now, requests - 1);
    }
  }

  async function countLogin(clientIp: string, count: ClientIpCounter): Promise<ClientIpCount> {
    const limit = limits.accountsPerMinute;
    const waitMs = (refusedUntil.get(clientIp) ?? 0) - clock.now();
    if (waitMs > 0) {
      throw refusal(limit, waitMs);
    }
    const counted = countHere(clientIp, 'login');
    const first = await count({ clientIp, requests: 1, limit, countedIn: null });
    if (first.wait_ms > 0) {
      refusedUntil.set(clientIp, clock.now() + first.wait_ms);
    }
    if (first.passed === 0) {
      refund(counted);
      throw refusal(limit, first.wait_ms);
    }
    return {
      async countAs(requests) {
        requirePermitted(counted, requests);
        const all = await count({ clientIp, requests, limit, countedIn: first.slot });
        if (all.passed === 0) {
          // The batch no longer counts as one request either, so that another may be permitted.
          refusedUntil.set(clientIp, 0);
          refund(counted);
          throw refusal(limit, all.wait_ms);
        }
        addHere(counted, requests);
      },
    };
  }

  function countClientIp(clientIp: string, group: Exclude<RateLimitGroup, 'login'>): ClientIpCount;
  function countClientIp(clientIp: string, group: RateLimitGroup): MaybePromise<ClientIpCount>;
  function countClientIp(clientIp: string, group: RateLimitGroup): MaybePromise<ClientIpCount> {
    if (group === 'login' && sharedLogins !== undefined) {
      return countLogin(clientIp, sharedLogins);
    }
    const counted = countHere(clientIp, group);
    return {
      countAs(requests) {
        requirePermitted(counted, requests);
        addHere(counted, requests);
      },
    };
  }
  return countClientIp;
}

function cacheOf<T>(clock: Clock): GenerationalCache<T> {
  return createGenerationalCache(clientIpsMax, 2 * minuteMs, clock);
}

function refund(counted: readonly LocalCount[]): void {
  for (const { window, slot } of counted) {
    window.refund(slot);
  }
}
