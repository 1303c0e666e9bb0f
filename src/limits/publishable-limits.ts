/**
 * Limits of publishable keys, for a key and client IP together: whoever copies a key out of a page limits nobody else. Each
 * server counts them in memory, like the other limits by client IP.
 */
import type { Clock } from '../clock.ts';
import { AppError, type LimitState } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { SlidingWindow } from './sliding-window.ts';
import { burstState, type RateLimitStatus, type RequestCharge } from './usage-counter.ts';

const minuteMs = 60_000;
/** Keys and client IPs that are counted within two minutes. Both windows of one have 0.2 KB of counts. */
const subjectsMax = 20_000;
/** The name of these limits. Those of other credentials have the name of a plan. */
const planName = 'publishable';

interface Windows {
  readonly minute: SlidingWindow;
  readonly second: SlidingWindow;
}

/** Returns the function that counts a request. It throws AppError rateLimited. */
export function createPublishableLimits(
  { perMinute, burst }: Config['publishableLimits'],
  clock: Clock,
  onRefusal: () => void,
): (subject: string) => RequestCharge {
  const counted = createGenerationalCache<Windows>(subjectsMax, 2 * minuteMs, clock);

  function statusOf({ minute, second }: Windows): RateLimitStatus {
    const now = clock.now();
    return {
      plan: planName,
      hour: null,
      minute: {
        policy: 'minute',
        limit: perMinute,
        windowSeconds: 60,
        remaining: Math.max(0, perMinute - minute.count(now)),
        resetMs: minute.msUntilFree(now),
      },
      burst: burstState(burst, Math.max(0, burst - second.count(now))),
      readAt: now,
    };
  }

  function refusal(windows: Windows, refusedBy: 'minute' | 'burst', waitMs: number): AppError {
    onRefusal();
    const { minute, burst: second, readAt } = statusOf(windows);
    const reason =
      refusedBy === 'minute'
        ? `within a minute: ${perMinute} are permitted`
        : `within a second: ${burst} are permitted`;
    return new AppError(
      'rateLimited',
      `Too many requests with this publishable key from one client IP ${reason}. Wait as long as Retry-After says.`,
      {
        details: {
          retryAfterMs: waitMs,
          limits: [minute as LimitState, second],
          readAt,
          refusedBy,
        },
      },
    );
  }

  return (subject) => {
    const windows =
      counted.get(subject) ??
      counted.set(subject, {
        minute: new SlidingWindow(minuteMs, 1000),
        second: new SlidingWindow(1000, 50),
      });
    const now = clock.now();
    const { minute, second } = windows;
    if (minute.count(now) >= perMinute) {
      throw refusal(windows, 'minute', minute.msUntilFree(now));
    }
    if (second.count(now) >= burst) {
      throw refusal(windows, 'burst', second.msUntilFree(now));
    }
    const slot = minute.add(now);
    second.add(now);
    return { rateLimitStatus: () => statusOf(windows), refund: () => minute.refund(slot) };
  };
}
