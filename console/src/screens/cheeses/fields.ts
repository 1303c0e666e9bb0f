/**
 * The fields of a cheese in the console, one entry each: in words, as the column of a file, and for a flag its switch,
 * filter and column. The compiler requires an entry for each field of the API.
 */
import type { Cheese } from '../../../../client/src/index.ts';
import type { CsvValue } from '../../parts/tables/csv.ts';
import { showGrams, showKilograms, showMoney } from '../../parts/text/format.ts';

export type CheeseField = Exclude<keyof Cheese, 'id' | 'createdAt' | 'updatedAt'>;
export type ImportField = CheeseField | 'stockKg';
export type FlagField = {
  [F in CheeseField]: NonNullable<Cheese[F]> extends boolean ? F : never;
}[CheeseField];

interface FieldView<Value> {
  /** The name in sentences, if it is not that of the field. */
  readonly name?: string;
  /** The title of a column, if it is not the name of the field. */
  readonly title?: string;
  /** A value of a cheese, of the form or of an event. Default: its name, yes or no, or its text. */
  readonly show?: (value: unknown) => string;
  /** The cell of a file, which the import reads. Default: the value. */
  csv?(value: Value): CsvValue;
}

interface FlagView extends FieldView<boolean> {
  readonly switchLabel: string;
}

type FieldViews = {
  readonly [F in CheeseField]: F extends FlagField ? FlagView : FieldView<NonNullable<Cheese[F]>>;
} & { readonly stockKg: FieldView<number> };

interface ShownPortion {
  /** Text of a field, too. */
  readonly grams: number | string;
  readonly name?: string;
}

/** "200 g", or "Half wheel of 8 kg". */
export const portionText = ({ grams, name = '' }: ShownPortion): string =>
  name === '' ? showGrams(Number(grams)) : `${name} of ${showGrams(Number(grams))}`;

const showAge = (months: unknown): string =>
  months === 0 ? 'under 1 month' : months === 1 ? '1 month' : `${months} months`;

export const fieldViews: FieldViews = {
  name: {},
  category: {
    csv: ({ name }) => name,
  },
  tags: {
    csv: (tags) => tags.map(({ name }) => name).join(','),
  },
  status: {},
  origin: {},
  pricePerKg: {
    name: 'price',
    title: 'Price per kilogram',
    show: (value) => showMoney(Number(value)),
  },
  ageMonths: {
    name: 'age',
    title: 'Age in months',
    show: showAge,
  },
  organic: {
    switchLabel: 'Certified organic',
  },
  portions: {
    name: 'pieces',
    show: (value) =>
      Array.isArray(value) ? (value as readonly ShownPortion[]).map(portionText).join(', ') : String(value),
    csv: (portions) =>
      portions.map(({ grams, name }) => (name === undefined ? grams : `${grams} g ${name}`)).join('; '),
  },
  photoUrls: {
    name: 'images',
    title: 'Image URLs',
    show: (value) => (Array.isArray(value) ? `${value.length}` : String(value)),
    csv: (urls) => urls.join('\n'),
  },
  stockKg: {
    name: 'stock',
    title: 'Kilograms in stock',
    show: (value) => showKilograms(Number(value)),
  },
};

export const importFields = Object.keys(fieldViews) as readonly ImportField[];
export const flagFields = importFields.filter(
  (field): field is FlagField => 'switchLabel' in fieldViews[field],
);

/** A value for each flag. */
export function forFlags<Value>(of: (field: FlagField) => Value) {
  return Object.fromEntries(flagFields.map((field) => [field, of(field)])) as Record<FlagField, Value>;
}

const viewOf = (field: string): FieldView<unknown> | undefined =>
  (fieldViews as Readonly<Record<string, FieldView<unknown>>>)[field];

/** "price" for `pricePerKg`. */
export const nameOfField = (field: string): string => viewOf(field)?.name ?? field;

/** "Price per kilogram" for `pricePerKg`, and "Origin" for `origin`. */
export const toFieldTitle = (field: ImportField): string =>
  fieldViews[field].title ?? field.replace(/^./, (letter) => letter.toUpperCase());

/** A value of a field, as in a cheese or in an event. */
export function showField(value: unknown, field: string): string {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    return 'none';
  }
  return (viewOf(field)?.show ?? showNames)(value);
}

const showNames = (value: unknown): string => [value].flat().map(nameOf).join(', ');

const nameOf = (value: unknown): string =>
  typeof value === 'boolean'
    ? value
      ? 'yes'
      : 'no'
    : typeof value === 'object' && value !== null
      ? String((value as { name?: unknown }).name ?? '')
      : String(value);

/** The cell of a file. */
export function toCsvValue(cheese: Cheese, field: CheeseField): CsvValue {
  const value = cheese[field];
  const { csv } = fieldViews[field] as FieldView<unknown>;
  return csv === undefined || value === undefined ? (value as CsvValue) : csv(value);
}
