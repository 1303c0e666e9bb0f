/** Reads numbers as people write them, and refuses those that could also be another number. */
import { locale } from '../text/format.ts';

export interface NumberRules {
  readonly decimals: number;
  readonly min: number;
  readonly max: number;
}

/** An amount of money. */
export const priceRules: NumberRules = { decimals: 2, min: 0, max: 1_000_000 };
export const monthRules: NumberRules = { decimals: 0, min: 0, max: 120 };

/** The problem is a sentence for the person who wrote the number. */
export type ReadNumber =
  | { readonly value: number | null; readonly problem: null }
  | { readonly value: null; readonly problem: string };

const refuse = (problem: string): ReadNumber => ({ value: null, problem });

const separatorOf = (language: string): string =>
  new Intl.NumberFormat(language).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';

/**
 * @param text decimals follow a point, or the separator of the language of the browser
 * @returns the value null for an empty text
 */
export function readNumber(text: string, rules: NumberRules, language = locale): ReadNumber {
  const written = text.trim().replace('\u2212', '-');
  if (written === '') {
    return { value: null, problem: null };
  }
  const separator = separatorOf(language);
  const [, sign = '', whole = '', decimals = ''] =
    /^(-?)(\d*)(?:\.(\d*))?$/.exec(written.replace(separator, '.')) ?? [];
  if (whole + decimals === '') {
    if (separator === '.' && rules.decimals > 0 && /^-?\d+,\d{1,2}$/.test(written)) {
      return refuse(`Write a point before the decimals: ${written.replace(',', '.')}.`);
    }
    const example = rules.decimals === 0 ? '1234' : `1234${separator}5`;
    return refuse(`Write digits without separators of thousands, such as ${example}.`);
  }
  if (decimals.length > rules.decimals) {
    const isWhole = rules.decimals === 0;
    return refuse(isWhole ? 'Write a whole number.' : `Write at most ${rules.decimals} decimals.`);
  }
  if (
    separator !== '.' &&
    decimals.length === 3 &&
    /^[1-9]\d{0,2}\.\d{3}$/.test(written.slice(sign.length))
  ) {
    return refuse(
      `Write ${sign}${whole}${decimals} without a separator, or ${sign}${whole}${separator}${decimals} for decimals.`,
    );
  }
  const value = Number(`${sign}0${whole}.${decimals}0`);
  const show = (limit: number) => new Intl.NumberFormat(language).format(limit);
  return value < rules.min || value > rules.max
    ? refuse(`Write a number from ${show(rules.min)} to ${show(rules.max)}.`)
    : { value, problem: null };
}

/** A price as the lists show it: "32.50", and "99.00". Cheeses from JSON may have more decimals. */
export function writePrice(value: number | null | undefined, language = locale): string {
  const isInCents = value !== null && value !== undefined && Number(value.toFixed(2)) === value;
  return isInCents ? value.toFixed(2).replace('.', separatorOf(language)) : writeNumber(value, language);
}

/** A number as a person would write it in a field; '' for none. */
export function writeNumber(value: number | null | undefined, language = locale): string {
  return value === null || value === undefined ? '' : String(value).replace('.', separatorOf(language));
}
