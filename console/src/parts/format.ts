/** Numbers, money and times in the language of the browser. */

/** Under LANG=POSIX, a browser names a language that Intl refuses. */
function usableLocale(): string {
  try {
    return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en-US';
  } catch {
    return 'en-US';
  }
}

export const locale = usableLocale();

const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' });
const number = new Intl.NumberFormat(locale);
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const minute = { month: 'short', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
const shortTime = new Intl.DateTimeFormat(locale, minute);
const shortTimeOfYear = new Intl.DateTimeFormat(locale, { ...minute, year: 'numeric' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' });

/** US dollars. */
export const showMoney = (amount: number): string => money.format(amount);
export const showNumber = (value: number): string => number.format(value);
export const showTime = (time: string): string => dateTime.format(new Date(time));
/** Without seconds, and without the year if it is this one. */
export function showShortTime(time: string, now = new Date()): string {
  const date = new Date(time);
  return (date.getFullYear() === now.getFullYear() ? shortTime : shortTimeOfYear).format(date);
}
export const showDay = (time: string): string => day.format(new Date(time));
export const showClock = (time: string): string => clock.format(new Date(time));
export const showKilograms = (value: number): string => `${number.format(value)} kg`;

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** How long ago, in the largest unit, as short as the language allows: "2d ago". */
export function showAge(time: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}
