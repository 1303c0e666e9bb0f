/**
 * Time and randomness behind one small interface, so that expiry and hourly windows are tested without sleeping.
 */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whether it is the machine's own: then several machines may go by their database's instead. */
  readonly isSystem: boolean;
  /** `length` unpredictable bytes. */
  random(length: number): Uint8Array;
  /** A fresh unique name, used for request ids. */
  uuid(): string;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: Date.now,
  isSystem: true,
  random: randomBytes,
  uuid: randomUUID,
};

/** A moment as the API writes it: RFC 3339, UTC, milliseconds, `Z`. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
