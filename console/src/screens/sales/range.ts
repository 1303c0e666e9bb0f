/** The range of days that Sales shows, in UTC like the figures themselves, and the range before it. */

export const steps = ['day', 'week', 'month'] as const;
export type Step = (typeof steps)[number];

/** Days from `from` up to one before `to`, in whole steps. */
export interface Range {
  readonly from: string;
  readonly to: string;
  readonly step: Step;
}

const dayMs = 86_400_000;
const daysByDefault = 30;
/** A series of the server has at most 400 steps: of more days, weeks are shown, and of more weeks, months. */
const stepsMax = 400;

const textOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** A day so many days later. */
export const addDays = (day: string, days: number): string => textOf(Date.parse(day) + days * dayMs);

/** The first day of a month, so many months later. */
function addMonths(day: string, months: number): string {
  return textOf(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + months));
}

const daysBetween = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / dayMs);

/** Accepts the years that the server counts. */
function isDay(text: string | null): text is string {
  return (
    text !== null &&
    /^2\d{3}-\d\d-\d\d$/.test(text) &&
    !Number.isNaN(Date.parse(text)) &&
    textOf(Date.parse(text)) === text
  );
}

/** Days and step as they are in the URL, where `to` is the last day; without valid days, the last 30. */
export function chosenIn(search: URLSearchParams, today: string) {
  const [from, to] = [search.get('from'), search.get('to')];
  const last = isDay(to) ? to : today;
  return {
    from: isDay(from) ? from : addDays(last, 1 - daysByDefault),
    last,
    step: steps.find((name) => name === search.get('step')) ?? 'day',
  };
}

/** Extends the chosen days to whole steps. Null if they end before they begin. */
export function toRange({ from, last, step }: ReturnType<typeof chosenIn>): Range | null {
  const days = daysBetween(from, last) + 1;
  if (days < 1) {
    return null;
  }
  const allowed = days > stepsMax * 7 - 7 ? 'month' : days > stepsMax ? 'week' : 'day';
  const shown = steps[Math.max(steps.indexOf(step), steps.indexOf(allowed))] ?? step;
  switch (shown) {
    case 'day':
      return { from, to: addDays(last, 1), step: shown };
    case 'week': {
      // Weeks begin on Monday.
      const weekday = (day: string) => (new Date(day).getUTCDay() + 6) % 7;
      return { from: addDays(from, -weekday(from)), to: addDays(last, 7 - weekday(last)), step: shown };
    }
    case 'month':
      return { from: addMonths(from, 0), to: addMonths(last, 1), step: shown };
  }
}

/** The range before: as many months if a range has whole months, else as many days. */
export function rangeBefore({ from, to, step }: Range): Range {
  const isOfMonths = from === addMonths(from, 0) && to === addMonths(to, 0);
  if (!isOfMonths) {
    return { from: addDays(from, -daysBetween(from, to)), to: from, step };
  }
  const months =
    (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 +
    Number(to.slice(5, 7)) -
    Number(from.slice(5, 7));
  return { from: addMonths(from, -months), to: from, step };
}

/** Ranges to choose: their first and last days. */
export function listPresets(today: string) {
  const month = addMonths(today, 0);
  const year = `${today.slice(0, 4)}-01-01`;
  return [
    { label: '7 days', from: addDays(today, -6), last: today },
    { label: '30 days', from: addDays(today, 1 - daysByDefault), last: today },
    { label: '90 days', from: addDays(today, -89), last: today },
    { label: 'This month', from: month, last: today },
    { label: 'Last month', from: addMonths(today, -1), last: addDays(month, -1) },
    { label: 'This year', from: year, last: today },
  ] as const;
}

/** "+12 %"; "new" if there was nothing before. */
export function showChange(now: number, before: number): string {
  if (before === 0) {
    return now === 0 ? '' : 'new';
  }
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? '+' : ''}${percent} %`;
}
