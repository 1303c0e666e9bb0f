/** Prices of a cheese in the past, in responses. */
import type { XStatic } from 'typebox/schema';
import { timestampSchema } from '../../schema/parts.ts';
import { Cheese } from '../schemas.ts';

const { pricePerKg } = Cheese.properties;
const price = { ...pricePerKg, type: ['number', 'null'] } as const;

export const CheesePrice = {
  title: 'CheesePrice',
  description: 'A price of a cheese, and when it was current',
  type: 'object',
  required: ['pricePerKg', 'from', 'until'],
  properties: {
    pricePerKg: {
      ...price,
      description: 'A kilogram in the currency of the shop; null while the cheese had no price',
    },
    from: timestampSchema,
    until: {
      ...timestampSchema,
      type: ['string', 'null'],
      description: 'When the next price began; null for the current price',
    },
  },
  examples: [{ pricePerKg: 28, from: '2026-02-08T09:00:00.000Z', until: null }],
} as const;

export const PriceReduction = {
  title: 'PriceReduction',
  description: 'That the current price is below the one before it',
  type: ['object', 'null'],
  required: ['since', 'priorPrice', 'percent'],
  properties: {
    since: { ...timestampSchema, description: 'When the current price began' },
    priorPrice: { ...pricePerKg, description: 'The lowest price of the 30 days before `since`' },
    percent: {
      type: ['integer', 'null'],
      description:
        'By how many percent the current price is below `priorPrice`, rounded down; null where it is not below it',
    },
  },
  examples: [{ since: '2026-02-08T09:00:00.000Z', priorPrice: 30, percent: 6 }],
} as const;
export type PriceReduction = NonNullable<XStatic<typeof PriceReduction>>;

export const CheesePriceList = {
  title: 'CheesePriceList',
  type: 'object',
  required: ['items', 'lowest30Days', 'reduction', 'nextCursor', 'hasMore'],
  properties: {
    items: { type: 'array', items: CheesePrice },
    lowest30Days: {
      ...price,
      description:
        'The lowest price at any moment of the last 30 days, the current one included; null without one',
    },
    reduction: PriceReduction,
    nextCursor: {
      type: ['string', 'null'],
      description: 'Send it as `cursor` to get the next page; null on the last page',
    },
    hasMore: { type: 'boolean' },
  },
  examples: [
    {
      items: [
        ...CheesePrice.examples,
        { pricePerKg: 40, from: '2026-02-01T09:00:00.000Z', until: '2026-02-08T09:00:00.000Z' },
        { pricePerKg: 30, from: '2025-11-03T09:00:00.000Z', until: '2026-02-01T09:00:00.000Z' },
      ],
      lowest30Days: 28,
      reduction: PriceReduction.examples[0],
      nextCursor: null,
      hasMore: false,
    },
  ],
} as const;
/** The type of a schema does not have the null of the reduction. */
export type CheesePriceList = Omit<XStatic<typeof CheesePriceList>, 'reduction'> & {
  readonly reduction: PriceReduction | null;
};
