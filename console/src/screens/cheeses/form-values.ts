/** The form of a cheese: its values as text and lists, and what they change. */
import type { Cheese } from '../../../../client/src/index.ts';
import type { CheeseChanges } from './change.tsx';
import type { CheeseStatus } from './filters.ts';

export interface FormValues {
  readonly name: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly status: CheeseStatus;
  readonly origin: string;
  /** '' for none. */
  readonly pricePerKg: number | string;
  readonly ageMonths: number | string;
  readonly organic: boolean;
}

export const emptyValues: FormValues = {
  name: '',
  category: '',
  tags: [],
  status: 'available',
  origin: '',
  pricePerKg: '',
  ageMonths: '',
  organic: false,
};

export const valuesOf = (cheese: Cheese): FormValues => ({
  name: cheese.name,
  category: cheese.category?.name ?? '',
  tags: cheese.tags.map(({ name }) => name),
  status: cheese.status,
  origin: cheese.origin ?? '',
  pricePerKg: cheese.pricePerKg ?? '',
  ageMonths: cheese.ageMonths ?? '',
  organic: cheese.organic,
});

export const isSameValue = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The edits that differ from what is stored. */
export function changedValues(edits: Partial<FormValues>, stored: FormValues): Partial<FormValues> {
  const names = Object.keys(edits) as (keyof FormValues)[];
  return Object.fromEntries(
    names.filter((name) => !isSameValue(edits[name], stored[name])).map((name) => [name, edits[name]]),
  );
}

/** A field of the API for each value; an empty one removes the field. */
export function toChanges(values: Partial<FormValues>): CheeseChanges {
  const { category, tags, origin, pricePerKg, ageMonths, ...same } = values;
  const numberOf = (value: number | string) => (value === '' ? null : Number(value));
  return {
    ...same,
    ...(category === undefined ? {} : { category: category === '' ? null : { name: category } }),
    ...(tags === undefined ? {} : { tags: tags.map((name) => ({ name })) }),
    ...(origin === undefined ? {} : { origin: origin === '' ? null : origin }),
    ...(pricePerKg === undefined ? {} : { pricePerKg: numberOf(pricePerKg) }),
    ...(ageMonths === undefined ? {} : { ageMonths: numberOf(ageMonths) }),
  };
}

/** The name in the form of a field in an error: `tags[2].name` is of `tags`. */
export const formFieldOf = (field: string): string => field.split(/[.[]/, 1)[0] ?? '';
