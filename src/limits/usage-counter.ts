/** What was called lately on whose account. A server by itself counts in own-counts.ts, several in shared-counts.ts. */
import type { LimitState } from '../errors.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { PlanLimits } from '../settings/config.ts';

/** A call that was counted, or one that is refused and so was not. */
export interface CountedUse {
  /** The limit that refuses it; null where it may pass. */
  readonly refusedBy: 'burst' | 'hour' | null;
  burst(): LimitState;
  /** null where the hour has no limit. */
  hour(): LimitState | null;
  /** It costs nothing of the hour after all. */
  refund(): void;
}

/** The state of the limit within a second. */
export function burstState(limit: number, remaining: number, resetMs: number): LimitState {
  return { policy: 'burst', limit, windowSeconds: 1, remaining, resetMs };
}

/** The state of the limit within an hour. */
export function hourState(limit: number, remaining: number, resetMs: number): LimitState {
  return { policy: 'hour', limit, windowSeconds: 3600, remaining, resetMs };
}

export interface UsageCounter {
  /** Counts a call within a second and an hour: both of them, or neither. */
  count(subject: string, limits: PlanLimits): MaybePromise<CountedUse>;
  /** Writes down what is only known here. */
  close(): Promise<void>;
  /** Deletes what is over. */
  purge(): Promise<void>;
}
