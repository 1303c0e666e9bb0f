/** Context of a change: every service verb that writes receives one. */
import type { KeyLimits } from '../access/key-limits.ts';
import type { Transaction } from './database.ts';
import type { Effects } from './dry-run.ts';

/** Who caused a change, as events record it. */
export interface Origin {
  /** `key:12`, `cli`, `system`. */
  readonly actor: string;
  readonly requestId: string | null;
  readonly traceId: string | null;
  /** Limits of the API key that makes the change. */
  readonly limits?: KeyLimits | null;
  /** The events of a dry run are collected here and not recorded. Null for a real change. */
  readonly effects: Effects | null;
}

export interface Context {
  /**
   * The transaction function of the database, or one that also stores the response by its idempotency key, or one that
   * rolls back.
   */
  readonly transaction: Transaction;
  readonly origin: Origin;
}

/** Whether a text can be a request id that a client sends. */
export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(text);
}
