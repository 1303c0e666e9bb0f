/**
 * The headers that show limits: RateLimit and RateLimit-Policy (IETF draft, ratelimit-headers), and X-RateLimit-* for
 * older clients, which know a single limit: the first. Names of headers that every response has are in lower case in the
 * code: Fastify sends them so, and converting fourteen of them took 1.2 us of the 30 us of a request.
 */
import type { LimitState } from '../../errors.ts';
import type { RateLimitStatus } from '../../limits/usage-counter.ts';

/** @param readAt when the limits were read; without it there is no X-RateLimit-*, whose reset is a point in time */
export function rateLimitHeaders(limits: readonly LimitState[], readAt?: number): Record<string, string> {
  let policies = '';
  let states = '';
  for (const { policy, limit, windowSeconds, remaining, resetMs } of limits) {
    const separator = policies === '' ? '' : ', ';
    // Counting in slots can make the wait up to one slot longer than the window; `t` never exceeds it.
    const seconds = Math.min(resetSeconds(resetMs, windowSeconds), windowSeconds);
    policies += `${separator}"${policy}";q=${limit};w=${windowSeconds}`;
    states += `${separator}"${policy}";r=${remaining};t=${seconds}`;
  }
  const headers: Record<string, string> = { 'ratelimit-policy': policies, ratelimit: states };
  const [first] = limits;
  if (readAt !== undefined && first !== undefined) {
    const resetAt = Math.ceil(readAt / 1000) + resetSeconds(first.resetMs, first.windowSeconds);
    headers['x-ratelimit-limit'] = String(first.limit);
    headers['x-ratelimit-remaining'] = String(first.remaining);
    headers['x-ratelimit-reset'] = String(resetAt);
  }
  return headers;
}

/** The headers of a response to a request that was counted for a plan, or for a publishable key. */
export function planHeaders({ hour, minute, burst, readAt }: RateLimitStatus): Record<string, string> {
  const longer = hour ?? minute;
  return rateLimitHeaders(longer === undefined ? [burst] : [longer, burst], readAt);
}

/** A window of one second always resets in one: the headers know no shorter time. */
function resetSeconds(resetMs: number, windowSeconds: number): number {
  return windowSeconds === 1 ? 1 : Math.ceil(resetMs / 1000);
}
