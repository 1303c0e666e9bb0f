/** What was called lately on whose account. A server by itself counts in own-counts.ts, several in shared-counts.ts. */

import type { MaybePromise } from '../maybe-promise.ts';
import type { PlanLimits } from '../settings/config.ts';

/** Where somebody stands with one limit. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Until more will remain. */
  readonly resetMs: number;
}

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

export interface UsageCounter {
  /** Counts a call within a second and an hour: both of them, or neither. */
  count(subject: string, limits: PlanLimits): MaybePromise<CountedUse>;
  /** Writes down what is only known here. */
  close(): Promise<void>;
  /** Deletes what is over. */
  purge(): Promise<void>;
}
