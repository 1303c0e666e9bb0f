/** Periods of series: hours, days, weeks or months of a time zone. */
import { parseTime } from '../clock.ts';
import { parameterError } from '../errors.ts';
import type { TextRule } from '../schema/schema.ts';

export const steps = ['hour', 'day', 'week', 'month'] as const;
export type SeriesStep = (typeof steps)[number];

/** Points of a series. */
export const pointsMax = 400;
/** Days of sales: ten years and some days. */
export const daysMax = 3660;

const datePattern = /^\d{4}-\d\d-\d\d$/;

/** Dates and times of these years, so that all times have four digits for the year. */
const isInRange = (text: string) => text >= '2000' && text < '3000';

/** A date, or an RFC 3339 time. */
export const momentRule: TextRule = {
  test: (text) =>
    isInRange(text) &&
    (datePattern.test(text) ? isValid(() => Temporal.PlainDate.from(text)) : !Number.isNaN(parseTime(text))),
  message: 'must be a date such as 2026-06-01 or an RFC 3339 time, of the years 2000 to 2999',
};

/** A name of the time zone database. Offsets are none: they can differ from quarters of an hour. */
export const zoneRule: TextRule = {
  test: (text) =>
    /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text) && isValid(() => new Temporal.ZonedDateTime(0n, text)),
  message: 'must be a time zone such as Europe/Zurich',
};

function isValid(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

/** A period, up to the beginning of the next one. */
export interface Range {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
}

/**
 * The beginnings of all steps in a range, and the end of the last one, as times in UTC. The first step contains `from`,
 * the last one ends at `to` or contains it.
 * @throws AppError badRequest if the range is empty or has more than 400 steps
 */
export function listBoundaries({ from, to, zone }: Range, step: SeriesStep): string[] {
  const end = instantOf(to, zone);
  let start = startOf(instantOf(from, zone).toZonedDateTimeISO(zone), step);
  if (Temporal.Instant.compare(instantOf(from, zone), end) >= 0) {
    throw parameterError('to', `must be later than from (${from}). The period ends before to.`);
  }
  const boundaries = [textOf(start)];
  while (Temporal.Instant.compare(start.toInstant(), end) < 0) {
    if (boundaries.length > pointsMax) {
      throw parameterError(
        'to',
        `the period has more than ${pointsMax} steps. Send a larger step or a shorter period.`,
      );
    }
    start = nextAfter(start, step);
    boundaries.push(textOf(start));
  }
  return boundaries;
}

/** The days in UTC that a range touches: the first one, and the one after the last. @throws AppError badRequest */
export function parseDays(from: string, to: string): readonly [string, string] {
  const boundaries = [from, to].map((text) => instantOf(text, 'UTC').toZonedDateTimeISO('UTC'));
  const [first, last] = boundaries as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
  if (Temporal.ZonedDateTime.compare(first, last) >= 0) {
    throw parameterError('to', `must be later than from (${from}). The period ends before to.`);
  }
  const start = last.startOfDay();
  const end = start.equals(last) ? last : start.add({ days: 1 });
  return [first.toPlainDate().toString(), end.toPlainDate().toString()];
}

/** Works like `parseDays`, for at most 3660 days. @throws AppError badRequest */
export function parseSalesDays(from: string, to: string): readonly [string, string] {
  const [first, before] = parseDays(from, to);
  if (Temporal.PlainDate.from(first).until(before).days > daysMax) {
    throw parameterError('to', `the period has more than ${daysMax} days. Send a shorter period.`);
  }
  return [first, before];
}

function instantOf(text: string, zone: string): Temporal.Instant {
  return datePattern.test(text)
    ? Temporal.PlainDate.from(text).toZonedDateTime(zone).toInstant()
    : Temporal.Instant.from(text.toUpperCase());
}

function startOf(time: Temporal.ZonedDateTime, step: SeriesStep): Temporal.ZonedDateTime {
  switch (step) {
    case 'hour':
      return time.round({ smallestUnit: 'hour', roundingMode: 'floor' });
    case 'day':
      return time.startOfDay();
    case 'week':
      return time
        .startOfDay()
        .subtract({ days: time.dayOfWeek - 1 })
        .startOfDay();
    case 'month':
      return time.with({ day: 1 }).startOfDay();
  }
}

/** Days have 23 to 25 hours when clocks change, and hours 30 to 90 minutes when they change by half an hour. */
function nextAfter(start: Temporal.ZonedDateTime, step: SeriesStep): Temporal.ZonedDateTime {
  switch (step) {
    case 'hour': {
      const added = start.add({ hours: 1 });
      const rounded = startOf(added, step);
      return Temporal.ZonedDateTime.compare(rounded, start) > 0 ? rounded : added;
    }
    case 'day':
      return start.add({ days: 1 }).startOfDay();
    case 'week':
      return start.add({ weeks: 1 }).startOfDay();
    case 'month':
      return start.add({ months: 1 }).startOfDay();
  }
}

function textOf(time: Temporal.ZonedDateTime): string {
  return time.toInstant().toString({ fractionalSecondDigits: 3 });
}
