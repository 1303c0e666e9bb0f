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

/** Milliseconds since the epoch. @throws AppError validation */
export function targetOf({ advance, to }: AdvanceRequest, clock: Clock): number {
  const now = clock.now();
  if ((advance === undefined) === (to === undefined)) {
    throw refusal('', 'must have exactly one of the members advance and to');
  }
  const target = to === undefined ? now + (parseDuration(advance as string) ?? 0) : Date.parse(to);
  requireReachable(target, now, clock, to === undefined ? 'advance' : 'to');
  return target;
}

function requireReachable(target: number, now: number, clock: Clock, field: string): void {
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
