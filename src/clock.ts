/** Time and randomness behind one interface, so that tests need not wait for an expiry. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whether it is the clock of the machine. Several machines then use the clock of their database, where they must agree. */
  readonly isSystem: boolean;
  /** `length` unpredictable bytes. */
  random(length: number): Uint8Array;
  /** A new UUID. */
  uuid(): string;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: Date.now,
  isSystem: true,
  random: randomBytes,
  uuid: randomUUID,
};

/** Times that parameters accept: RFC 3339, with up to nine digits of a second. */
export const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** A time as the API writes it: RFC 3339, UTC, milliseconds, `Z`. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
