/** Cheeses in requests and responses. */

import type { XStatic } from 'typebox/schema';
import { int64, timestampSchema } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';
import { lineRule } from '../schema/text-rules.ts';
import { portionsSchema } from './portions.ts';
import { photoUrlRule, tagRule } from './text-rules.ts';

export const statuses = ['available', 'pending', 'sold'] as const;
export type Status = (typeof statuses)[number];

const statusText = {
  type: 'string',
  enum: statuses,
  description: 'available can be ordered; pending and sold cannot',
} as const;
const nameText = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  rule: lineRule,
  examples: ['Gruyère'],
} as const;
const originText = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 100,
  rule: lineRule,
  description: 'Name of the country of origin; null when it is not known',
  examples: ['Switzerland'],
} as const;
const price = {
  type: 'number',
  minimum: 0,
  maximum: 1_000_000,
  description: 'What a kilogram costs, in the currency of the shop',
  examples: [32.5],
} as const;
const age = {
  type: 'integer',
  minimum: 0,
  maximum: 120,
  description: 'Ageing in whole months',
  examples: [9],
} as const;
const organicFlag = { type: 'boolean', description: 'Certified organic' } as const;
const photos = {
  type: 'array',
  maxItems: 100,
  items: { type: 'string', minLength: 1, maxLength: 2048, rule: photoUrlRule },
  description: 'URLs of photos, the primary one first. The server never fetches them',
  examples: [['https://example.com/gruyere.jpg']],
} as const;

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

export const Cheese = {
  title: 'Cheese',
  type: 'object',
  required: ['id', 'name', 'photoUrls', 'tags', 'status', 'origin', 'organic', 'createdAt', 'updatedAt'],
  properties: {
    id: int64,
    name: nameText,
    category: Category,
    photoUrls: photos,
    tags: { type: 'array', items: Tag },
    status: statusText,
    origin: originText,
    pricePerKg: price,
    ageMonths: age,
    organic: organicFlag,
    portions: { ...portionsSchema, description: `${portionsSchema.description}. Absent if there are none` },
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
/** A field that requests can set. Where a schema or literal must have all of them, the compiler checks it. */
export type CheeseField = Exclude<keyof Cheese, 'id' | 'createdAt' | 'updatedAt'>;

/** A cheese from the JSON in which it is stored and sent. */
export function parseCheese(body: string): Cheese {
  return JSON.parse(body) as Cheese;
}

const categoryInput = {
  type: 'object',
  minProperties: 1,
  properties: {
    id: { ...int64, description: 'Used only when no name is given' },
    name: { type: 'string', minLength: 1, maxLength: 100, rule: lineRule, examples: ['Hard'] },
  },
  description: 'By name, created on first use, or by the id of an existing category',
} as const;

const tagInput = {
  type: 'object',
  minProperties: 1,
  properties: {
    id: { ...int64, description: 'Used only when no name is given' },
    name: { type: 'string', minLength: 1, maxLength: 100, rule: tagRule, examples: ['raw milk'] },
  },
} as const;

/** What the server does not supply. */
export const inputProperties = {
  name: { ...nameText, description: 'Unique within the category' },
  category: categoryInput,
  photoUrls: photos,
  tags: {
    type: 'array',
    maxItems: 100,
    items: tagInput,
    description: 'Duplicates are removed, the order is kept',
  },
  status: { ...statusText, default: 'available' },
  origin: originText,
  pricePerKg: price,
  ageMonths: age,
  organic: { ...organicFlag, default: false },
  portions: { ...portionsSchema, type: ['array', 'null'] },
} as const satisfies Readonly<Record<CheeseField, Schema>>;

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
  description:
    'The whole cheese. Optional fields that are absent get their defaults, except portions, which stay',
  type: 'object',
  required: ['id', 'name', 'status'],
  properties: { id: int64, ...inputProperties, status: statusText, ...supplied },
  examples: [
    { id: 2, name: 'Alpkäse, a new wheel', category: { name: 'Hard' }, status: 'available', pricePerKg: 39 },
  ],
} as const;
export type CheeseReplacement = XStatic<typeof CheeseReplacement>;

export const CheesePatch = {
  title: 'CheesePatch',
  type: 'object',
  properties: { name: nameText, status: statusText },
  // The reference page also sends the first status in the query, and both must be equal.
  examples: [{ name: 'Appenzeller, nine months', status: 'available' }],
} as const;
export type CheesePatch = XStatic<typeof CheesePatch>;

export const CheeseMergePatch = {
  title: 'CheeseMergePatch',
  description:
    'A JSON Merge Patch (RFC 7396): fields that are absent stay, null removes a field, and arrays are replaced',
  type: 'object',
  properties: {
    id: { ...int64, readOnly: true },
    name: { ...nameText, refusesNull: true, description: 'Unique within the category' },
    category: { ...categoryInput, type: ['object', 'null'] },
    photoUrls: { ...photos, type: ['array', 'null'] },
    tags: { ...inputProperties.tags, type: ['array', 'null'] },
    status: { ...statusText, refusesNull: true },
    origin: originText,
    pricePerKg: { ...price, type: ['number', 'null'] },
    ageMonths: { ...age, type: ['integer', 'null'] },
    organic: { type: ['boolean', 'null'], description: 'Certified organic' },
    portions: { ...portionsSchema, type: ['array', 'null'] },
    ...supplied,
  },
  examples: [{ pricePerKg: 29.5, tags: [{ name: 'cow' }], ageMonths: null }],
} as const satisfies { properties: Readonly<Record<keyof Cheese, Schema>>; [keyword: string]: unknown };
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

export const sorts = [
  'name',
  '-name',
  'createdAt',
  '-createdAt',
  'pricePerKg',
  '-pricePerKg',
  'ageMonths',
  '-ageMonths',
] as const;
export type Sort = (typeof sorts)[number];

/** Fields that cheeses without them can be found by. */
export const missingFields = ['price', 'image'] as const;
export type MissingField = (typeof missingFields)[number];
