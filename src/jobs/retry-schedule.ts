/** Retry schedules of an outbox: an exponential backoff with jitter, as a list of waits. */

const dayMs = 24 * 60 * 60_000;

export interface RetrySchedule {
  /** Waits from one attempt to the next, by the number of attempts made. */
  readonly waitsMs: readonly number[];
  /** Spreads attempts over 1 - jitter to 1 + jitter times the wait. */
  readonly jitter: number;
}

/** A receiver may ask for a longer wait, up to this. */
const askedMsMax = dayMs;

/**
 * Milliseconds to the next attempt; null if there is none.
 * @param attempts made so far, at least 1
 * @param random from 0 to 1
 * @param askedMs what the receiver asked for; 0 if it asked for nothing
 */
export function nextAttemptMs(
  { waitsMs, jitter }: RetrySchedule,
  attempts: number,
  random: number,
  askedMs = 0,
): number | null {
  const wait = waitsMs[attempts - 1];
  return wait === undefined
    ? null
    : Math.round(Math.max(wait * (1 - jitter + 2 * jitter * random), Math.min(askedMs, askedMsMax)));
}
