/** Cheeses in requests and responses. */

import type { XStatic } from 'typebox/schema';
import { int64, literals, timestampSchema } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';
import {
  type CheeseField,
  type CheeseFields,
  type Field,
  fieldEntries,
  fieldsThatStay,
  presentFields,
  type RequiredField,
  rangeFields,
  requiredFields,
} from './fields.ts';

/** A schema for each field. The caller states the literal types, of which TypeScript infers those of values. */
export function mapFields<T>(toSchema: (field: Field) => Schema): T {
  return Object.fromEntries(fieldEntries.map(([name, field]) => [name, toSchema(field)])) as T;
}

/** A schema that accepts null, too. */
export type Nullable<S> = {
  readonly [K in keyof S]: K extends 'type' ? (S[K] extends string ? readonly [S[K], 'null'] : S[K]) : S[K];
};

export function nullable<S extends Schema>(schema: S): Nullable<S> {
  const { type = [] } = schema;
  return { ...schema, type: typeof type === 'string' ? [type, 'null'] : type } as unknown as Nullable<S>;
}

type Values = { readonly [F in CheeseField]: CheeseFields[F]['schema'] };

export const Cheese = {
  title: 'Cheese',
  type: 'object',
  required: literals(['id', ...presentFields, 'createdAt', 'updatedAt']),
  properties: {
    id: int64,
    ...mapFields<Values>(({ schema }) => schema),
    createdAt: timestampSchema,
    updatedAt: { ...timestampSchema, description: 'Time of the last change' },
  },
  examples: [
    {
      id: 42,
      name: 'Gruyère',
      category: { id: 3, name: 'Hard' },
      photoUrls: ['https://example.com/gruyere.jpg'],
      tags: [
        { id: 1, name: 'cow' },
        { id: 4, name: 'raw milk' },
      ],
      status: 'available',
      origin: 'Switzerland',
      pricePerKg: 32.5,
      ageMonths: 9,
      organic: false,
      createdAt: '2026-01-15T09:30:00.000Z',
      updatedAt: '2026-02-03T14:12:45.120Z',
    },
  ],
} as const;
export type Cheese = XStatic<typeof Cheese>;

/** A cheese from the JSON in which it is stored and sent. */
export function parseCheese(body: string): Cheese {
  return JSON.parse(body) as Cheese;
}

type Inputs = {
  readonly [F in CheeseField]: CheeseFields[F] extends { readonly input: infer I }
    ? I
    : CheeseFields[F]['schema'];
};

const inputOf = ({ schema, input = schema }: Field): Schema => input;

/** The document does not say that null or an empty list is a default. */
function withDefault(field: Field): Schema {
  const isSaid = field.default !== undefined && typeof field.default !== 'object';
  return { ...inputOf(field), ...(isSaid ? { default: field.default } : {}) };
}

/** What the server does not supply. */
export const inputProperties = mapFields<Inputs>(withDefault);

const supplied = {
  createdAt: { ...timestampSchema, readOnly: true },
  updatedAt: { ...timestampSchema, readOnly: true },
} as const;

export const CheeseInput = {
  title: 'CheeseInput',
  type: 'object',
  required: ['name'],
  properties: { id: { ...int64, readOnly: true }, ...inputProperties, ...supplied },
  examples: [
    {
      name: 'Alpkäse',
      category: { name: 'Hard' },
      tags: [{ name: 'cow' }, { name: 'raw milk' }],
      origin: 'Switzerland',
      pricePerKg: 41.5,
      ageMonths: 12,
    },
  ],
} as const;
export type CheeseInput = XStatic<typeof CheeseInput>;

export const CheeseReplacement = {
  title: 'CheeseReplacement',
  description: `The whole cheese. Optional fields that are absent get their defaults, except ${fieldsThatStay.join(' and ')}, which stay`,
  type: 'object',
  required: literals(['id', ...requiredFields]),
  properties: {
    id: int64,
    ...mapFields<Inputs>((field) => (field.isRequired ? inputOf(field) : withDefault(field))),
    ...supplied,
  },
  examples: [
    { id: 2, name: 'Alpkäse, a new wheel', category: { name: 'Hard' }, status: 'available', pricePerKg: 39 },
  ],
} as const;
export type CheeseReplacement = XStatic<typeof CheeseReplacement>;

export const CheesePatch = {
  title: 'CheesePatch',
  type: 'object',
  properties: { name: Cheese.properties.name, status: Cheese.properties.status },
  // The reference page also sends the first status in the query, and both must be equal.
  examples: [{ name: 'Appenzeller, nine months', status: 'available' }],
} as const;
export type CheesePatch = XStatic<typeof CheesePatch>;

type MergedInputs = {
  readonly [F in CheeseField]: F extends RequiredField ? Inputs[F] : Nullable<Inputs[F]>;
};

export const CheeseMergePatch = {
  title: 'CheeseMergePatch',
  description:
    'A JSON Merge Patch (RFC 7396): fields that are absent stay, null removes a field, and arrays are replaced',
  type: 'object',
  properties: {
    id: { ...int64, readOnly: true },
    ...mapFields<MergedInputs>((field) =>
      field.isRequired ? { ...inputOf(field), refusesNull: true } : nullable(inputOf(field)),
    ),
    ...supplied,
  },
  examples: [{ pricePerKg: 29.5, tags: [{ name: 'cow' }], ageMonths: null }],
} as const;
export type CheeseMergePatch = XStatic<typeof CheeseMergePatch>;

export const CheeseList = {
  title: 'CheeseList',
  type: 'object',
  required: ['items', 'nextCursor', 'hasMore', 'total'],
  properties: {
    items: { type: 'array', items: Cheese },
    nextCursor: {
      type: ['string', 'null'],
      description: 'Send it as `cursor` to get the next page; null on the last page',
    },
    hasMore: { type: 'boolean' },
    total: { type: 'integer', description: 'Number of matching cheeses on all pages' },
  },
  examples: [
    { items: Cheese.examples, nextCursor: 'eyJuYW1lIjoiR3J1ecOocmUiLCJpZCI6NDJ9', hasMore: true, total: 57 },
  ],
} as const;

/** The reader of a list of changes sends `since` again until `hasMore` is false, and later from time to time. */
export const CheeseChange = {
  title: 'CheeseChange',
  type: 'object',
  required: ['id', 'deleted', 'changedAt'],
  properties: {
    id: int64,
    deleted: {
      type: 'boolean',
      description: 'Whether the cheese does not exist any more; then `cheese` is absent',
    },
    changedAt: { ...timestampSchema, description: 'When the cheese was last changed or deleted' },
    cheese: Cheese,
  },
  examples: [{ id: 8, deleted: true, changedAt: '2026-11-22T09:42:13.123Z' }],
} as const;

export const CheeseChangeList = {
  title: 'CheeseChangeList',
  type: 'object',
  required: ['items', 'next', 'hasMore'],
  properties: {
    items: { type: 'array', items: CheeseChange },
    next: { type: 'string', description: 'Send it as `since` to get the changes after these' },
    hasMore: { type: 'boolean', description: 'Whether more changes follow now' },
  },
  examples: [
    { items: CheeseChange.examples, next: 'eyJlcG9jaCI6ImszWHcifQ.q83vEjRWeJCrze8SNFZ4kA', hasMore: false },
  ],
} as const;

const sortFields = ['name', 'createdAt', ...rangeFields] as const;
type SortField = (typeof sortFields)[number];
export type Sort = SortField | `-${SortField}`;
export const sorts = sortFields.flatMap((field): Sort[] => [field, `-${field}`]);

/** Fields that cheeses without them can be found by. */
export const missingFields = ['price', 'image'] as const;
export type MissingField = (typeof missingFields)[number];
