/**
 * The retry schedule of webhooks, an exponential backoff: ten attempts over three days, as Standard Webhooks recommends.
 */

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Waits from one attempt to the next, by the number of attempts made. */
const waitsMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

export const attemptsMax = waitsMs.length + 1;
/** A receiver may ask for a longer wait, up to this. */
const retryAfterMsMax = 24 * hourMs;

/**
 * Milliseconds to the next attempt; null where there is none.
 * @param attempts made so far, at least 1
 * @param random from 0 to 1: spreads attempts over 0.9 to 1.1 times the wait
 * @param retryAfterMs what the receiver asked for; 0 where it asked for nothing
 */
export function nextAttemptMs(attempts: number, random: number, retryAfterMs = 0): number | null {
  const wait = waitsMs[attempts - 1];
  return wait === undefined
    ? null
    : Math.round(Math.max(wait * (0.9 + 0.2 * random), Math.min(retryAfterMs, retryAfterMsMax)));
}

/** Milliseconds of a Retry-After header, a number of seconds or a date; 0 where it is absent or malformed. */
export function parseRetryAfter(header: string | undefined, now: number): number {
  if (header === undefined) {
    return 0;
  }
  const text = header.trim();
  const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now;
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
}
