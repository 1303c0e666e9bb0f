/** Schemas of statistics. */

import { int64, timestampSchema } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';
import { measures } from './measures.ts';
import { steps } from './periods.ts';

export const asOf = {
  type: ['string', 'null'],
  description: 'The last event that is counted; null while counting begins, and the values are not complete',
  examples: ['evt_k3Xw_1043'],
} as const;

const points: Schema = {
  type: 'array',
  description: 'One pair for each step: its beginning in UTC, and the value',
  items: { type: 'array', minItems: 2, maxItems: 2, items: { anyOf: [timestampSchema, { type: 'number' }] } },
};

export const StatisticsSeries = {
  title: 'StatisticsSeries',
  type: 'object',
  required: ['from', 'to', 'step', 'zone', 'series', 'asOf'],
  properties: {
    from: { ...timestampSchema, description: 'The beginning of the first step' },
    to: { ...timestampSchema, description: 'The end of the last step' },
    step: { type: 'string', enum: steps },
    zone: { type: 'string' },
    series: {
      type: 'object',
      description: 'The requested measures. Steps in which nothing happened have the value 0',
      required: [],
      properties: Object.fromEntries(measures.map((measure) => [measure, points])),
    },
    asOf,
  },
  examples: [
    {
      from: '2026-06-01T22:00:00.000Z',
      to: '2026-06-03T22:00:00.000Z',
      step: 'day',
      zone: 'Europe/Zurich',
      series: {
        'orders.placed': [
          ['2026-06-01T22:00:00.000Z', 12],
          ['2026-06-02T22:00:00.000Z', 9],
        ],
        'orders.placedValue': [
          ['2026-06-01T22:00:00.000Z', 709.5],
          ['2026-06-02T22:00:00.000Z', 412],
        ],
      },
      asOf: 'evt_k3Xw_1043',
    },
  ],
} as const;

const BestSeller = {
  title: 'BestSeller',
  type: 'object',
  required: ['cheeseId', 'cheeseName', 'orders', 'kilograms', 'value'],
  properties: {
    cheeseId: int64,
    cheeseName: { type: 'string', description: 'On the last of these orders' },
    orders: { ...int64, description: 'Orders with this cheese' },
    kilograms: { type: 'number', description: 'Pieces are counted by their weight' },
    value: { type: 'number', description: 'In the currency of the shop' },
  },
  examples: [{ cheeseId: 12, cheeseName: 'Gruyère', orders: 31, kilograms: 84, value: 2730 }],
} as const;

export const BestSellerList = {
  title: 'BestSellerList',
  type: 'object',
  required: ['items', 'since', 'asOf'],
  properties: {
    items: { type: 'array', items: BestSeller },
    since: {
      type: ['string', 'null'],
      description:
        'The first day, in UTC, of which the shop has counted orders: an average of a new shop is of fewer days. null without one',
    },
    asOf,
  },
  examples: [{ items: BestSeller.examples, since: '2026-01-15', asOf: 'evt_k3Xw_1043' }],
} as const;
