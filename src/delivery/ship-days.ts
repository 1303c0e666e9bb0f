/** When goods leave the shop, and when they arrive: days of the shop's calendar. Pure functions. */
import { type DeliveryMethod, type Weekday, weekdays } from './schemas.ts';

/** What an order keeps of its delivery method. */
export interface DeliverySchedule {
  readonly shipDays: readonly Weekday[] | null;
  readonly cutOff: string | null;
  readonly transitDays: number | null;
  readonly deliveryDays: readonly Weekday[] | null;
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** The day on which the customer wants the goods to leave. */
  readonly requestedDate?: string;
}

/** What an order by a method keeps. Nothing arrives by a pickup: the customer fetches it from the ship day on. */
export function scheduleOf(
  { kind, shipDays, cutOff, transitDays, deliveryDays }: DeliveryMethod,
  timeZone: string,
): DeliverySchedule {
  return { shipDays, cutOff, transitDays: kind === 'pickup' ? null : transitDays, deliveryDays, timeZone };
}

/** A day of a calendar, such as `2026-03-29`. */
export type Day = string;

/** The last day that a customer may ask for, counted from today. */
export const requestedDaysMax = 60;

const dayMs = 86_400_000;
const workdays: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const formats = new Map<string, Intl.DateTimeFormat>();

/** The day and the time of day, such as `12:30`, in a time zone. @param at milliseconds since the epoch */
export function localTime(at: number, timeZone: string): { readonly day: Day; readonly time: string } {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return { day: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` };
}

/** Noon of a day in a time zone, in milliseconds since the epoch. */
export function toNoon(day: Day, timeZone: string): number {
  const noon = Date.parse(`${day}T12:00:00Z`);
  // The offset at noon of UTC can be that before a change of summer time: the second one is right, because no zone changes its time at noon.
  return noon - offsetAt(noon - offsetAt(noon, timeZone), timeZone);
}

/** The first moment of a day in a time zone, in milliseconds since the epoch. */
export function startOf(day: Day, timeZone: string): number {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Clocks can change during the night, and at midnight itself: one of the two offsets is right.
  const moments = [addDays(day, -1), day].map(
    (near) => midnight - offsetAt(toNoon(near, timeZone), timeZone),
  );
  return Math.min(...moments.filter((at) => localTime(at, timeZone).day === day));
}

/** How far a time zone is ahead of UTC, in milliseconds. @param at a whole minute */
function offsetAt(at: number, timeZone: string): number {
  const { day, time } = localTime(at, timeZone);
  return Date.parse(`${day}T${time}:00Z`) - at;
}

export function addDays(day: Day, count: number): Day {
  return new Date(Date.parse(day) + count * dayMs).toISOString().slice(0, 10);
}

/** The first ship day: today before the cut-off, otherwise a later one. At exactly the cut-off it is too late. */
export function firstShipDay(now: number, { shipDays, cutOff, timeZone }: DeliverySchedule): Day {
  const { day, time } = localTime(now, timeZone);
  const isTooLate = cutOff !== null && time >= cutOff;
  return nextOf(shipDays ?? weekdays, isTooLate ? addDays(day, 1) : day);
}

/** The ship day of an order that is approved now: the requested day, unless it has passed. */
export function computeShipDay(now: number, schedule: DeliverySchedule): Day {
  const first = firstShipDay(now, schedule);
  const { requestedDate } = schedule;
  return requestedDate !== undefined && requestedDate > first ? requestedDate : first;
}

/** Whether the method has days of its own: without them, the usual time until shipping counts. */
export function hasShipDays({ shipDays, cutOff, requestedDate }: DeliverySchedule): boolean {
  return shipDays !== null || cutOff !== null || requestedDate !== undefined;
}

/** The day on which goods arrive; null if it is not known. */
export function computeArrival(shipDay: Day, { transitDays, deliveryDays }: DeliverySchedule): Day | null {
  if (transitDays === null) {
    return null;
  }
  const days = deliveryDays ?? workdays;
  let day = transitDays === 0 ? nextOf(days, shipDay) : shipDay;
  for (let passed = 0; passed < transitDays; passed += 1) {
    day = nextOf(days, addDays(day, 1));
  }
  return day;
}

/**
 * When goods leave and arrive if the order is approved now.
 * @param shippingTimeMs the usual time from the approval on, for methods without ship days
 */
export function expectedDays(
  now: number,
  schedule: DeliverySchedule,
  shippingTimeMs: number,
): { readonly shipsOn: Day; readonly arrivesOn: Day | null } {
  const shipsOn = hasShipDays(schedule)
    ? computeShipDay(now, schedule)
    : localTime(now + shippingTimeMs, schedule.timeZone).day;
  return { shipsOn, arrivesOn: computeArrival(shipsOn, schedule) };
}

/** What is wrong with a requested day; null if nothing is. */
export function requestedDayError(requested: Day, now: number, schedule: DeliverySchedule): string | null {
  const { shipDays, timeZone } = schedule;
  const first = firstShipDay(now, schedule);
  let last = addDays(localTime(now, timeZone).day, requestedDaysMax);
  while (shipDays !== null && !shipDays.includes(weekdayOf(last))) {
    last = addDays(last, -1);
  }
  if (requested < first || requested > last) {
    return `must be a day from ${first} to ${last}`;
  }
  return shipDays === null || shipDays.includes(weekdayOf(requested))
    ? null
    : `goods leave the shop on ${shipDays.join(', ')} only: the next such day is ${nextOf(shipDays, requested)}`;
}

/** A day of the list, at or after a day. */
function nextOf(days: readonly Weekday[], from: Day): Day {
  let day = from;
  while (!days.includes(weekdayOf(day))) {
    day = addDays(day, 1);
  }
  return day;
}

function weekdayOf(day: Day): Weekday {
  // The first of the week is Sunday.
  return weekdays[(new Date(day).getUTCDay() + 6) % 7] as Weekday;
}
