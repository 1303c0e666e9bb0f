/** How a request with a valid credential was counted. */
import type { LimitState } from '../errors.ts';

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
