/** Schemas of bulk changes. */
import type { XStatic } from 'typebox/schema';
import { int64 } from '../../schema/parts.ts';
import type { CheeseUpdated } from '../drafts.ts';
import { CheeseUpdate } from '../event-types.ts';
import { statuses, tagRule } from '../fields.ts';
import { CheeseMergePatch } from '../schemas.ts';

import { roundings } from './price-change.ts';

export const bulkCheesesMax = 1000;
/** Bytes of JSON that one request reads and writes. Typical cheeses have 500 to 1,000 each. */
export const bulkBytesMax = 8_000_000;
/** Bytes of the old and new value of a field that the response contains. */
export const shownBytesMax = 1000;

const { category, portions, pricePerKg } = CheeseMergePatch.properties;
const tags = (description: string, maxItems: number) =>
  ({
    type: 'array',
    maxItems,
    items: { type: 'string', minLength: 1, maxLength: 100, rule: tagRule },
    description,
    examples: [['raw milk']],
  }) as const;

const BulkChange = {
  title: 'BulkChange',
  type: 'object',
  required: ['cheeseIds'],
  properties: {
    cheeseIds: {
      type: 'array',
      minItems: 1,
      maxItems: bulkCheesesMax,
      items: { ...int64, minimum: 1 },
      description: 'Each cheese once in the request',
      examples: [[1]],
    },
    price: {
      type: 'object',
      description:
        'One of `set`, `percent` and `amount`. Cheeses without a price stay without one, except with `set`',
      properties: {
        set: { ...pricePerKg, description: 'A kilogram in the currency of the shop; null removes the price' },
        percent: {
          type: 'number',
          minimum: -99,
          maximum: 1000,
          description: 'Percent of the price to add, or to subtract with a minus sign',
          examples: [5],
        },
        amount: {
          type: 'number',
          minimum: -1_000_000,
          maximum: 1_000_000,
          description: 'To add, in the currency of the shop, or to subtract with a minus sign',
          examples: [1.5],
        },
        rounding: {
          type: 'string',
          enum: roundings,
          description:
            'With `percent` and `amount`: to cents (default), to 5 or 10 cents, or to the nearest price that ends in .95',
        },
      },
      examples: [{ percent: 5, rounding: '0.05' }],
    },
    status: { type: 'string', enum: statuses },
    portions: {
      ...portions,
      description: 'The pieces in which the cheeses are sold; null or none: by the kilogram',
    },
    category: { ...category, description: 'By name, created on first use, or by id; null removes it' },
    tags: tags('The tags that the cheeses get, in place of their own', 100),
    addTags: tags('Tags that are added to those of each cheese', 20),
    removeTags: tags('Tags that are removed from each cheese', 20),
  },
  examples: [{ cheeseIds: [1], price: { percent: 5, rounding: '0.05' }, addTags: ['raw milk'] }],
} as const;
export type BulkChange = XStatic<typeof BulkChange>;

export const BulkInput = {
  title: 'BulkInput',
  type: 'object',
  required: ['changes'],
  properties: {
    changes: {
      type: 'array',
      minItems: 1,
      maxItems: bulkCheesesMax,
      items: BulkChange,
      description: `With ${bulkCheesesMax} cheeses together at most`,
    },
  },
  examples: [{ changes: BulkChange.examples }],
} as const;
export type BulkInput = XStatic<typeof BulkInput>;

const BulkUpdate = {
  ...CheeseUpdate,
  properties: {
    ...CheeseUpdate.properties,
    omitted: {
      type: 'array',
      items: { type: 'string' },
      description: `Changed fields whose old and new values are left out of \`changes\`, because they have more than ${shownBytesMax} bytes. The event \`cheese.updated\` has them. Absent where there is none`,
    },
  },
} as const;

export const BulkResult = {
  title: 'BulkResult',
  type: 'object',
  required: ['items', 'unchanged', 'undo'],
  properties: {
    items: {
      type: 'array',
      description: 'The cheeses that are changed, in the order of the request, with the old and new values',
      items: BulkUpdate,
    },
    unchanged: { type: 'integer', description: 'Cheeses that have all values already' },
    undo: {
      anyOf: [BulkInput, { type: 'null' }],
      description: 'The body of the request that restores the old values; null where nothing is changed',
    },
  },
  examples: [
    {
      items: [{ id: 1, name: 'Gruyère', changes: { pricePerKg: { from: 32.5, to: 34.15 } } }],
      unchanged: 0,
      undo: { changes: [{ cheeseIds: [1], price: { set: 32.5 } }] },
    },
  ],
} as const;
export type ShownUpdate = CheeseUpdated & { readonly omitted?: readonly string[] };

export interface BulkResult {
  readonly items: readonly ShownUpdate[];
  readonly unchanged: number;
  readonly undo: BulkInput | null;
}
