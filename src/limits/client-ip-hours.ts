/**
 * Counts what each client IP does within an hour. Each server counts in memory, like the other limits by client IP. An hour
 * is counted by the minute.
 */
import type { Clock } from '../clock.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { SlidingWindow } from './sliding-window.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Client IPs that are counted within two hours. */
const clientIpsMax = 20_000;

/** @param limit within an hour */
export function createClientIpHours(clock: Clock, limit: number) {
  const windows = createGenerationalCache<SlidingWindow>(clientIpsMax, 2 * hourMs, clock);
  return {
    /** Milliseconds until another one is permitted; 0 if it is now. */
    waitMs: (clientIp: string) => windows.get(clientIp)?.untilAtMost(limit - 1, clock.now()) ?? 0,
    add(clientIp: string) {
      const window = windows.get(clientIp) ?? windows.set(clientIp, new SlidingWindow(hourMs, minuteMs));
      window.add(clock.now());
    },
  };
}
