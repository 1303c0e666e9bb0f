/** Days in the time zone of the browser. */

export const dayMs = 24 * 60 * 60_000;

/** The zone that statistics are counted in. */
export const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** The local date, so many days from today: "2026-11-22". */
export function toLocalDate(daysFromToday: number): string {
  const day = new Date();
  day.setHours(12, 0, 0, 0);
  day.setDate(day.getDate() + daysFromToday);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** Midnight of a local date, so many days from today. */
export function midnight(daysFromToday: number): number {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() + daysFromToday);
  return day.getTime();
}

/** Pairs of a series: the beginning of a step, and the value. */
type Points = readonly (readonly (string | number)[])[];

export const listTimes = (points: Points): string[] => points.map(([time]) => String(time));
export const listValues = (points: Points): number[] => points.map(([, value]) => Number(value));

/** The sum of the steps that begin in a period. */
export function sumBetween(points: Points, from: number, to: number): number {
  return points.reduce((sum, [time, value]) => {
    const at = Date.parse(String(time));
    return at >= from && at < to ? sum + Number(value) : sum;
  }, 0);
}

/** "+12 % vs last Sun", "same as last Sun"; null if there is nothing to compare with. */
export function changeText(today: number, before: number, locale: string): string | null {
  if (before === 0) {
    return null;
  }
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' }).format(new Date());
  const percent = Math.round(((today - before) / before) * 100);
  return percent === 0
    ? `same as last ${weekday}`
    : `${percent > 0 ? '+' : ''}${percent} % vs last ${weekday}`;
}
