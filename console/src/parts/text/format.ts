/** Numbers, money and times in the language of the browser. Money is in the currency of the shop. */
import { shopCurrency } from '../../currency.ts';

/** The language of the browser. One that Intl refuses is replaced: a browser names such a language under LANG=POSIX. */
function usableLocale(): string {
  try {
    return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en-US';
  } catch {
    // The library of the charts formats with the language of the browser as soon as it is loaded.
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
    return 'en-US';
  }
}

export const locale = usableLocale();

const money = new Intl.NumberFormat(locale, { style: 'currency', currency: shopCurrency });
const shortMoney = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: shopCurrency,
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const currencyPart = (language: string, currencyDisplay: 'symbol' | 'name'): string =>
  new Intl.NumberFormat(language, { style: 'currency', currency: shopCurrency, currencyDisplay })
    .formatToParts(2)
    .find(({ type }) => type === 'currency')?.value ?? shopCurrency;
/** The currency beside a field: "€". */
export const currencySymbol = currencyPart(locale, 'symbol');
/** The currency in a sentence: "euros". */
export const currencyName = currencyPart('en', 'name');
const shortNumber = new Intl.NumberFormat(locale, { notation: 'compact' });
const number = new Intl.NumberFormat(locale);
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const minute = { month: 'short', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
const shortTime = new Intl.DateTimeFormat(locale, minute);
const shortTimeOfYear = new Intl.DateTimeFormat(locale, { ...minute, year: 'numeric' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const monthDay = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' });
/** A date without a time is the same one everywhere. */
const date = new Intl.DateTimeFormat(locale, {
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  timeZone: 'UTC',
});
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' });

export const showMoney = (amount: number): string => money.format(amount);
/** A text as short as an axis needs: "€200K". */
export const showShortMoney = (amount: number): string => shortMoney.format(amount);
export const showShortNumber = (value: number): string => shortNumber.format(value);
export const showNumber = (value: number): string => number.format(value);
export const showTime = (time: string): string => dateTime.format(new Date(time));
/** Leaves out the seconds, and the year if it is this one. */
export function showShortTime(time: string, now = new Date()): string {
  const date = new Date(time);
  return (date.getFullYear() === now.getFullYear() ? shortTime : shortTimeOfYear).format(date);
}
export const showDay = (time: string): string => day.format(new Date(time));
/** A date on the axis of a chart: "Nov 12". */
export const showMonthDay = (time: string): string => monthDay.format(new Date(time));
/** "Monday, November 30" of "2026-11-30". */
export const showDate = (day: string): string => date.format(new Date(day));
/** "Mon" @param index 0 for Monday */
export const showWeekday = (index: number): string => weekday.format(Date.UTC(2024, 0, 1 + index));
export const showClock = (time: string): string => clock.format(new Date(time));
export const showKilograms = (value: number): string => `${number.format(value)} kg`;
/** The weight of a piece: "200 g", and "8 kg" from a kilogram on. */
export const showGrams = (grams: number): string =>
  grams < 1000 ? `${grams} g` : showKilograms(grams / 1000);

const spanUnits = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** A span of time in its two largest units, rounded to seconds: "3 days 4 hours". */
export function showSpan(milliseconds: number): string {
  let rest = Math.max(1000, Math.round(milliseconds / 1000) * 1000);
  const parts: string[] = [];
  for (const [unit, size] of spanUnits) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) {
      parts.push(new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count));
    }
  }
  return parts.join(' ');
}

/** A long id by its ends: "mob_8FqK2x…YcD1". */
export function shorten(id: string, lengthMax = 20): string {
  return id.length <= lengthMax ? id : `${id.slice(0, lengthMax - 6)}…${id.slice(-4)}`;
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** How long ago, in the largest unit, as short as the language allows: "2d ago". Less than a minute is "now". */
export function showAge(time: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 60];
  return relative.format(Math.trunc(seconds / size), unit);
}
