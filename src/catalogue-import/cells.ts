/** The texts of cells in tables: how each kind of field is read and written, and formulas. */

import type { FieldKind, FieldWith } from '../cheeses/fields.ts';
import { parsePortions, portionsText } from '../cheeses/portions.ts';
import type { Cheese } from '../cheeses/schemas.ts';
import { toDecimal } from '../decimal.ts';
import { validationError } from '../errors.ts';
import { cut } from './row-changes.ts';

/**
 * Cells of a CSV file that a spreadsheet would execute as a formula (OWASP, "CSV Injection"). The export prefixes them
 * with an apostrophe, which makes them text. The import removes it.
 *
 * Includes full-width forms, which some spreadsheets read like the ASCII character. Leading apostrophes match too: a
 * value whose own apostrophe the import would remove gets another one, so that every round trip is exact.
 */
const formula = /^(?:[\s"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|'*[\t\r\n])/;

/** The text of a cell with this value, which no spreadsheet executes. */
export function escapeFormula(value: string): string {
  return formula.test(value) ? `'${value}` : value;
}

/** The value of a cell, whether it was prefixed or not. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

/**
 * A comma or a point separates the decimals of a price. Three digits after it, and no more, could be thousands: the price
 * would be read a thousand times too small. After a zero they are decimals.
 */
const price = /^(?:\$\s*)?(0(?=[.,])|\d+(?![.,]\d{3}$))(?:[.,](\d+))?$/;

/** @throws AppError validation */
export const parsePrice = (text: string, field: string): number =>
  parseDecimal(text, field, 'a price. Write digits with at most two decimals');

/** @throws AppError validation */
const parseKilograms = (text: string, field: string): number =>
  parseDecimal(
    text,
    field,
    'a number of kilograms. Write digits with two decimals, or with four, such as 6.4250,',
  );

function parseDecimal(text: string, field: string, kind: string): number {
  const [matched, whole, decimals = '0'] = price.exec(text) ?? [];
  if (matched === undefined) {
    const message = `"${cut(text)}" is not ${kind} and without separators of thousands, such as 1234.50`;
    throw validationError([{ field, message }]);
  }
  return Number(`${whole}.${decimals}`);
}

/** The text of a price or a number of kilograms, which is read back exactly. */
function decimalCell(price: number): string {
  const { digits, scale } = toDecimal(price);
  const text = digits.toString().padStart(scale + 1, '0');
  const decimals = scale === 3 ? `${text.slice(-3)}0` : text.slice(text.length - scale);
  return scale === 0 ? text : `${text.slice(0, -scale)}.${decimals}`;
}

/** @returns whole months; null when the text is neither a number nor an age in prose. @throws AppError validation */
function parseAge(text: string, field: string): number | null {
  if (!Number.isFinite(Number(text.replace(',', '.')))) {
    return parseRipening(text);
  }
  // Programs write the numbers of a column with empty cells as `6.0`. Three zeros could be thousands.
  const [, whole] = /^(\d+)(?:[.,](?:0{1,2}|0{4,}))?$/.exec(text) ?? [];
  if (whole === undefined) {
    const message = `"${cut(text)}" is not a whole number of 0 or more. Write digits only, such as 12`;
    throw validationError([{ field, message }]);
  }
  return Number(whole);
}

const daysInMonth = 30;
const monthsIn: Readonly<Record<string, number>> = {
  day: 1 / daysInMonth,
  week: 7 / daysInMonth,
  month: 1,
  year: 12,
};

/**
 * Parses ages in prose: "9 Months", "2 Years", "3 to 6 months", "Less than 1 Month", "Unripened".
 * @returns whole months, for a range its lower end; null when the text is not an age
 */
export function parseRipening(text: string): number | null {
  const plain = text.trim().toLowerCase();
  if (/^(un-?ripened|unriped|none|fresh)\.?$/.test(plain)) {
    return 0;
  }
  // The lookbehind keeps the time linear: a match starts at the first digit of a number only.
  const match =
    /(?<![\d.,])(\d+(?:[.,]\d+)?)\s*(?:(?:-|to|or)\s*\d+(?:[.,]\d+)?\s*)?(day|week|month|year)s?\b/.exec(
      plain,
    );
  if (match === null) {
    return null;
  }
  const months = Math.floor(Number(match[1]?.replace(',', '.')) * (monthsIn[match[2] ?? ''] ?? 0));
  return /\bless than\b/.test(plain) ? Math.max(0, months - 1) : months;
}

/** `1.0` is how programs write the 1 of a column with empty cells. */
const flags: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  yes: true,
  0: false,
  false: false,
  no: false,
};

/** More than the validation permits. Without it, a cell of a megabyte would be split into a million values. */
const listMax = 1000;

const splitTags = (text: string) =>
  text
    .split(',', listMax)
    .map((tag) => ({ name: tag.replace(/^ +|(?<! ) +$/g, '') }))
    .filter(({ name }) => name !== '');

/** Shops write a comma between URLs, which can also be in a URL. */
const splitUrls = (text: string) =>
  text.split(/\r?\n|,\s*(?=https?:\/\/)/, listMax).filter((url) => url !== '');

export type CellKind = FieldKind | 'kilograms';
type ValueOf<Kind extends CellKind> = Kind extends 'kilograms'
  ? number
  : NonNullable<Cheese[FieldWith<{ readonly kind: Kind }>]>;

interface CellFormat<Value> {
  /**
   * The value for validation; undefined, with a remark, if it is left out.
   * @throws AppError validation
   */
  read(cell: string, field: string, remarks: string[]): unknown;
  write(value: Value): string;
}

const asIs = { read: (cell: string) => cell, write: (value: string) => value };

const formats: { readonly [Kind in CellKind]: CellFormat<ValueOf<Kind>> } = {
  text: asIs,
  choice: { ...asIs, read: (cell) => cell.trim().toLowerCase() },
  price: { read: (cell, field) => parsePrice(cell.trim(), field), write: decimalCell },
  kilograms: { read: (cell, field) => parseKilograms(cell.trim(), field), write: decimalCell },
  months: {
    read(cell, field, remarks) {
      const months = parseAge(cell.trim(), field);
      if (months === null) {
        remarks.push(`${field} "${cell.trim()}" is not an age in months and was left out`);
      }
      return months ?? undefined;
    },
    write: String,
  },
  flag: {
    read: (cell) =>
      flags[
        cell
          .trim()
          .toLowerCase()
          .replace(/[.,]0+$/, '')
      ] ?? cell.trim(),
    write: String,
  },
  category: { read: (cell) => ({ name: cell }), write: ({ name }) => name },
  tags: { read: splitTags, write: (tags) => tags.map(({ name }) => name).join(',') },
  urls: { read: splitUrls, write: (urls) => urls.join('\n') },
  portions: { read: (cell) => parsePortions(cell.trim()), write: portionsText },
};

/** The value of a cell, for validation. @throws AppError validation */
export function readCell(kind: CellKind, cell: string, field: string, remarks: string[]): unknown {
  return formats[kind].read(cell, field, remarks);
}

/** The cell of a value, which `readCell` reads back exactly. */
export function writeCell(kind: CellKind, value: unknown): string {
  const { write } = formats[kind] as CellFormat<unknown>;
  return value === undefined || value === null ? '' : write(value);
}
