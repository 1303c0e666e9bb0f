/** Time and randomness behind one interface, so that tests need not wait for an expiry. */
import { randomBytes, randomUUID } from 'node:crypto';
import { isoDuration } from './duration.ts';
import type { MaybePromise } from './maybe-promise.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** How far the clock was moved ahead of that of the machine; 0 for clocks that cannot be moved. */
  advancedMs(): number;
  /** Learns how far another process has moved it. Called before each request, and before jobs are looked for. */
  refresh(): MaybePromise<void>;
  /** Whether it is being moved at this moment. Who does so runs the jobs that become due, in their order. */
  isAdvancing(): boolean;
  /** Whether it follows the clock of the machine. Several machines then use the clock of their database, if they must agree. */
  readonly isSystem: boolean;
  /** `length` unpredictable bytes. */
  random(length: number): Uint8Array;
  /** A new UUID. */
  uuid(): string;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: Date.now,
  advancedMs: () => 0,
  refresh: () => undefined,
  isAdvancing: () => false,
  isSystem: true,
  random: randomBytes,
  uuid: randomUUID,
};

/** The time of the machine: for what is compared with times of other programs. */
export function machineTime(clock: Pick<Clock, 'now' | 'advancedMs'>): number {
  return clock.now() - clock.advancedMs();
}

/** The time of the shop, and how far it was moved, as the API shows both. */
export function clockState(clock: Pick<Clock, 'now' | 'advancedMs'>) {
  return { now: timestamp(clock.now()), advancedBy: isoDuration(clock.advancedMs()) };
}

/** RFC 3339, section 5.6, with up to nine digits of a second and without leap seconds. */
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
// Times are compared as texts, which sort by time only within the years 0000 to 9999. An offset can lead out of them.
const timeMin = Date.parse('0000-01-01T00:00:00Z');
const timeMax = Date.parse('9999-12-31T23:59:59.999Z');

/** A time that a client sends, in milliseconds since the epoch; NaN for any other text, also for February 30. */
export function parseTime(text: string): number {
  if (!timePattern.test(text)) {
    return Number.NaN;
  }
  try {
    const time = Temporal.Instant.from(text.toUpperCase()).epochMilliseconds;
    return time >= timeMin && time <= timeMax ? time : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** A time as the API writes it: RFC 3339, UTC, milliseconds, `Z`. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
