/** Counts requests of accounts and customers: local-counter.ts for a single server, postgres-counter.ts for several. */
import type { LimitState } from '../errors.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { PlanLimits } from '../settings/config.ts';

/** A request that was counted, or that a limit refused and that was therefore not counted. */
export interface CountedUse {
  /** null if no limit refuses the request. */
  readonly refusedBy: 'burst' | 'hour' | null;
  burst(): LimitState;
  /** Milliseconds until the second permits a request; 0 if it does now. */
  msUntilBurstPermits(): number;
  /** null if the hour has no limit. */
  hour(): LimitState | null;
  /** Gives the request back to the hourly quota. */
  refund(): void;
}

/** What remains for a subject. */
export type RemainingUse = Pick<CountedUse, 'burst' | 'hour'>;

export interface UsageCounter {
  /** Counts nothing. */
  read(subject: string, limits: PlanLimits): MaybePromise<RemainingUse>;
  /** Counts a request in the second and in the hour: in both or in neither. */
  count(subject: string, limits: PlanLimits): MaybePromise<CountedUse>;
  /** Stores what only this process knows. */
  close(): Promise<void>;
  /** Deletes counters that no longer matter. Call it regularly. */
  purge(): Promise<void>;
}

/** The limits of a caller after a request was counted. */
export interface RateLimitStatus {
  readonly plan: string;
  readonly hour: LimitState | null;
  /** The limit of a publishable key and client IP. */
  readonly minute?: LimitState;
  readonly burst: LimitState;
  /** Milliseconds since the epoch. */
  readonly readAt: number;
}

/** A request that was counted for a plan, or for a publishable key and client IP. */
export interface RequestCharge {
  rateLimitStatus(): RateLimitStatus;
  /** Gives the request back to the longer limit. */
  refund(): void;
}

/** The state of the limit within a second. Headers count whole seconds, so its reset is the end of the window. */
export function burstState(limit: number, remaining: number): LimitState {
  return { policy: 'burst', limit, windowSeconds: 1, remaining, resetMs: 1000 };
}

/** The state of the limit within an hour. */
export function hourState(limit: number, remaining: number, resetMs: number): LimitState {
  return { policy: 'hour', limit, windowSeconds: 3600, remaining, resetMs };
}
