/** The form of a cheese: its values as text and lists, and what they change. */
import type { Cheese } from '../../../../../client/src/index.ts';
import {
  monthRules,
  type NumberRules,
  priceRules,
  readNumber,
  writeNumber,
  writePrice,
} from '../../../parts/fields/number.ts';
import type { CheeseChanges } from '../change.tsx';
import { type FlagField, forFlags } from '../fields.ts';
import type { CheeseStatus } from '../list/filters.ts';
import { pricePerKgDecimals } from './piece-price.ts';

/** Texts of fields. */
interface PortionDraft {
  readonly grams: string;
  readonly name: string;
}

export interface FormValues extends Readonly<Record<FlagField, boolean | null>> {
  readonly name: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly status: CheeseStatus;
  readonly origin: string;
  /** The price that was written; '' for none. */
  readonly pricePerKg: string;
  readonly ageMonths: string;
  readonly portions: readonly PortionDraft[];
}

export const emptyValues: FormValues = {
  name: '',
  category: '',
  tags: [],
  status: 'available',
  origin: '',
  pricePerKg: '',
  ageMonths: '',
  ...forFlags(() => false),
  portions: [],
};

export const toFormValues = (cheese: Cheese): FormValues => ({
  name: cheese.name,
  category: cheese.category?.name ?? '',
  tags: cheese.tags.map(({ name }) => name),
  status: cheese.status,
  origin: cheese.origin ?? '',
  pricePerKg: writePrice(cheese.pricePerKg),
  ageMonths: writeNumber(cheese.ageMonths),
  ...forFlags((field) => cheese[field] ?? null),
  portions: (cheese.portions ?? []).map(({ grams, name = '' }) => ({ grams: writeNumber(grams), name })),
});

export const gramRules: NumberRules = { decimals: 0, min: 10, max: 100_000 };
export const pricePerKgRules: NumberRules = { ...priceRules, decimals: pricePerKgDecimals };

const numberRules = { pricePerKg: pricePerKgRules, ageMonths: monthRules } as const;

type Numbers = { readonly [Name in keyof typeof numberRules]?: string | undefined };

const readNumbers = (values: Numbers) =>
  (Object.keys(numberRules) as (keyof typeof numberRules)[]).flatMap((name) => {
    const text = values[name];
    return text === undefined ? [] : [[name, readNumber(text, numberRules[name])] as const];
  });

/** The numbers that were written; null for an empty field, and for one that is not a number. */
export const parseNumbers = (values: Numbers): { pricePerKg?: number | null; ageMonths?: number | null } =>
  Object.fromEntries(readNumbers(values).map(([name, { value }]) => [name, value]));

/** Whether a field of a number has another text, or a piece has no weight. The field says why it is refused. */
export const isRefused = (values: Partial<FormValues>): boolean =>
  readNumbers(values).some(([, { problem }]) => problem !== null) ||
  (values.portions?.some(({ grams }) => readNumber(grams, gramRules).value === null) ?? false);

export const refusedText =
  'A number is missing or cannot be read. Correct it, or remove the piece without a weight, and save again.';

const toPortion = ({ grams, name }: PortionDraft) => ({
  grams: readNumber(grams, gramRules).value ?? 0,
  ...(name.trim() === '' ? {} : { name: name.trim() }),
});

/** A field of the API for each value; an empty one removes the field. */
export function toChanges(values: Partial<FormValues>): CheeseChanges {
  const { category, tags, origin, pricePerKg, ageMonths, portions, ...same } = values;
  return {
    ...same,
    ...(category === undefined ? {} : { category: category === '' ? null : { name: category } }),
    ...(tags === undefined ? {} : { tags: tags.map((name) => ({ name })) }),
    ...(origin === undefined ? {} : { origin: origin === '' ? null : origin }),
    ...parseNumbers({ pricePerKg, ageMonths }),
    ...(portions === undefined ? {} : { portions: portions.map(toPortion) }),
  };
}

/** The name in the form of a field in an error: `tags[2].name` is of `tags`. */
export const toFormField = (field: string): string => field.split(/[.[]/, 1)[0] ?? '';
