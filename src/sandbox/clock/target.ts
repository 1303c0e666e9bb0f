/** The time to which a request moves the clock. */
import { type Clock, machineTime } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import { validationError } from '../../errors.ts';

const dayMs = 24 * 60 * 60_000;
/** Limit of one request. */
const daysMax = 366;
/** Limit of all requests together. */
const totalDaysMax = 3650;

/** Exactly one of both. */
export interface AdvanceRequest {
  /** A duration. */
  readonly advance?: string | undefined;
  /** A time. */
  readonly to?: string | undefined;
}

/** A distance from the clock of the machine, or a time, in milliseconds. The first does not depend on how long it takes. */
export type Target = { readonly advancedMs: number } | { readonly time: number };

/** @throws AppError validation */
export function parseTarget({ advance, to }: AdvanceRequest, clock: Clock): Target {
  const target =
    to === undefined
      ? { advancedMs: clock.advancedMs() + (parseDuration(advance as string) ?? 0) }
      : { time: Date.parse(to) };
  requireReachable(toTargetTime(target, clock), clock, to === undefined ? 'advance' : 'to');
  return target;
}

/** The time of the shop at the target. */
export function toTargetTime(target: Target, clock: Clock): number {
  return 'time' in target ? target.time : machineTime(clock) + target.advancedMs;
}

/** How far the clock is ahead of the machine at the target. */
export function toTargetDistance(target: Target, clock: Clock): number {
  return 'time' in target ? target.time - machineTime(clock) : target.advancedMs;
}

function requireReachable(target: number, clock: Clock, field: string): void {
  const now = clock.now();
  if (target < now) {
    throw refusal(
      field,
      'is in the past: the clock only moves forward. POST /v2/sandbox/reset sets it back, and empties the shop',
    );
  }
  if (target - now > daysMax * dayMs) {
    throw refusal(field, `is too far: one request moves the clock by at most ${daysMax} days`);
  }
  if (target - machineTime(clock) > totalDaysMax * dayMs) {
    throw refusal(
      field,
      `is too far: the clock can be ahead by at most ${totalDaysMax} days. POST /v2/sandbox/reset sets it back, and empties the shop`,
    );
  }
}

const refusal = (field: string, message: string) => validationError([{ field, message }]);
