/**
 * The fields of a cheese that requests can set, one entry each. Schemas, events, filters, facets, sorts, the search index
 * and the columns of files follow from this table. A cheese is stored as JSON with its members in this order.
 */
import { int64 } from '../schema/parts.ts';
import type { Parameters, Schema, TextRule } from '../schema/schema.ts';
import { lineRule, searchRule } from '../schema/text-rules.ts';
import { portionsSchema } from './portions.ts';

/** What a value is: how a file writes it in a cell, and what an event has of it. */
export type FieldKind =
  | 'text'
  | 'choice'
  | 'price'
  | 'months'
  | 'flag'
  | 'category'
  | 'tags'
  | 'urls'
  | 'portions';

export interface Field {
  readonly kind: FieldKind;
  /** The schema in responses, and also in requests if there is no `input`. */
  readonly schema: Schema & { readonly type: string | readonly string[] };
  readonly input?: Schema & { readonly type: string | readonly string[] };
  /** PUT requires it, and a merge patch cannot remove it. */
  readonly isRequired?: true;
  /** The value of a cheese for which none is given. Without a default, the cheese does not have the member. */
  readonly default?: string | boolean | null | readonly never[];
  /** A PUT without it changes nothing: clients that do not know the field would remove it. */
  readonly staysInPut?: true;
  /** Parameters of lists. */
  readonly filters?: Parameters;
  /**
   * The search index has a set of cheeses for each value, of which facets are counted. The filter with the name of the
   * field compares values exactly, as spellings of one name, or without case and accents.
   */
  readonly labels?: 'exact' | 'spelling' | 'folded';
  /** Lists can be sorted by the number, and these filters are its bounds. */
  readonly range?: { readonly min: string; readonly max: string };
}

export const statuses = ['available', 'pending', 'sold'] as const;
export type Status = (typeof statuses)[number];

/** Query parameters separate tags by commas. */
export const tagRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && !text.includes(','),
  message:
    'must contain at least one visible character, and no commas, control or invisible characters (joiners between two characters are allowed)',
};

/** A URL that web pages show as an image. Schemes that can carry a script or name a local file are refused. */
const photoUrlRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && !/^(javascript|data|file)\s*:/i.test(text),
  message:
    'must be a URL without control or invisible characters, and not of the scheme javascript, data or file',
};

const termName = { type: 'string', minLength: 1, maxLength: 100 } as const;
const searchedName = { ...termName, rule: searchRule } as const;
// The format is part of the published document. Programs ignore a format that they do not know.
const searchedTag = { ...searchedName, format: 'line' } as const;
const price = { type: 'number', minimum: 0, maximum: 1_000_000 } as const;
const age = { type: 'integer', minimum: 0, maximum: 120 } as const;

export const Category = {
  title: 'Category',
  description: 'A kind of cheese. Names of cheeses are unique within a category',
  type: 'object',
  required: ['id', 'name'],
  properties: { id: int64, name: { type: 'string' } },
  examples: [{ id: 3, name: 'Hard' }],
} as const;

export const Tag = {
  title: 'Tag',
  description: 'A label by which cheeses can be found',
  type: 'object',
  required: ['id', 'name'],
  properties: { id: int64, name: { type: 'string' } },
  examples: [{ id: 4, name: 'raw milk' }],
} as const;

const categoryInput = {
  type: 'object',
  minProperties: 1,
  properties: {
    id: { ...int64, description: 'Used only when no name is given' },
    name: { ...termName, rule: lineRule, examples: ['Hard'] },
  },
  description: 'By name, created on first use, or by the id of an existing category',
} as const;

const tagInput = {
  type: 'object',
  minProperties: 1,
  properties: {
    id: { ...int64, description: 'Used only when no name is given' },
    name: { ...termName, rule: tagRule, examples: ['raw milk'] },
  },
} as const;

const name = { type: 'string', minLength: 1, maxLength: 255, rule: lineRule, examples: ['Gruyère'] } as const;

export const cheeseFields = {
  name: {
    kind: 'text',
    schema: name,
    input: { ...name, description: 'Unique within the category' },
    isRequired: true,
  },
  category: {
    kind: 'category',
    schema: Category,
    input: categoryInput,
    labels: 'folded',
    filters: {
      category: { ...searchedName, description: 'Name of a category. Accents and case are ignored' },
      categoryId: { type: 'integer', format: 'int64', minimum: 1, description: 'Id of a category' },
    },
  },
  photoUrls: {
    kind: 'urls',
    schema: {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', minLength: 1, maxLength: 2048, rule: photoUrlRule },
      description: 'URLs of photos, the primary one first. The server never fetches them',
      examples: [['https://example.com/gruyere.jpg']],
    },
    default: [],
  },
  tags: {
    kind: 'tags',
    schema: { type: 'array', items: Tag },
    input: {
      type: 'array',
      maxItems: 100,
      items: tagInput,
      description: 'Duplicates are removed, the order is kept',
    },
    default: [],
    labels: 'spelling',
    filters: {
      tags: {
        type: 'array',
        items: searchedTag,
        maxItems: 20,
        description: 'Cheeses with at least one of these tags',
      },
      tagsAll: {
        type: 'array',
        items: searchedTag,
        maxItems: 20,
        description: 'Cheeses with all of these tags',
      },
    },
  },
  status: {
    kind: 'choice',
    schema: {
      type: 'string',
      enum: statuses,
      description: 'available can be ordered; pending and sold cannot',
    },
    isRequired: true,
    default: 'available',
    labels: 'exact',
    filters: {
      status: {
        type: 'array',
        items: { type: 'string', enum: statuses },
        description: 'One status, or several separated by commas',
      },
    },
  },
  origin: {
    kind: 'text',
    schema: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 100,
      rule: lineRule,
      description: 'Name of the country of origin; null when it is not known',
      examples: ['Switzerland'],
    },
    default: null,
    labels: 'folded',
    filters: {
      origin: { ...searchedName, description: 'Name of a country of origin. Accents and case are ignored' },
    },
  },
  pricePerKg: {
    kind: 'price',
    schema: {
      ...price,
      description: 'What a kilogram costs, in the currency of the shop',
      examples: [32.5],
    },
    range: { min: 'minPrice', max: 'maxPrice' },
    filters: {
      minPrice: { ...price, description: 'Lowest price per kilogram. Cheeses without a price never match' },
      maxPrice: { ...price, description: 'Highest price per kilogram. Cheeses without a price never match' },
    },
  },
  ageMonths: {
    kind: 'months',
    schema: { ...age, description: 'Ageing in whole months', examples: [9] },
    range: { min: 'minAge', max: 'maxAge' },
    filters: {
      minAge: { ...age, description: 'Lowest age in months. Cheeses without an age never match' },
      maxAge: { ...age, description: 'Highest age in months. Cheeses without an age never match' },
    },
  },
  organic: {
    kind: 'flag',
    schema: { type: 'boolean', description: 'Certified organic' },
    default: false,
    labels: 'exact',
    filters: {
      organic: { type: 'boolean', description: 'Only cheeses that are certified organic, or only others' },
    },
  },
  portions: {
    kind: 'portions',
    schema: { ...portionsSchema, description: `${portionsSchema.description}. Absent if there are none` },
    input: { ...portionsSchema, type: ['array', 'null'] },
    staysInPut: true,
  },
} as const satisfies Readonly<Record<string, Field>>;

export type CheeseFields = typeof cheeseFields;
export type CheeseField = keyof CheeseFields;
export type FieldWith<Part> = {
  [F in CheeseField]: CheeseFields[F] extends Part ? F : never;
}[CheeseField];
export type RequiredField = FieldWith<{ readonly isRequired: true }>;
/** A field that every cheese has. */
export type PresentField = FieldWith<{ readonly isRequired: true } | { readonly default: unknown }>;
export type LabelField = FieldWith<{ readonly labels: unknown }>;
export type RangeField = FieldWith<{ readonly range: unknown }>;

export const fieldEntries = Object.entries(cheeseFields) as readonly (readonly [CheeseField, Field])[];
export const fieldNames = fieldEntries.map(([field]) => field);

function fieldsWith<F extends CheeseField>(has: (field: Field) => boolean): readonly F[] {
  return fieldEntries.flatMap(([name, field]) => (has(field) ? [name as F] : []));
}

export const requiredFields = fieldsWith<RequiredField>(({ isRequired }) => isRequired === true);
export const presentFields = fieldsWith<PresentField>(isPresent);
export const labelFields = fieldsWith<LabelField>(({ labels }) => labels !== undefined);
export const rangeFields = fieldsWith<RangeField>(({ range }) => range !== undefined);
export const fieldsThatStay = fieldsWith(({ staysInPut }) => staysInPut === true);

export function isPresent({ isRequired, default: value }: Field): boolean {
  return isRequired === true || value !== undefined;
}

type FilteredField = CheeseFields[LabelField | RangeField]['filters'];
type NamesOf<Filters> = Filters extends unknown ? keyof Filters : never;
export type FilterParameters = {
  readonly [N in NamesOf<FilteredField>]: Extract<FilteredField, Readonly<Record<N, unknown>>>[N];
};

/** The filters of all fields: labels before ranges. */
export const filterParameters = Object.assign(
  {},
  ...[...labelFields, ...rangeFields].map((field) => cheeseFields[field].filters),
) as FilterParameters;
