/** Stock in requests and responses. Quantities are kilograms with at most three decimals: the shop counts grams. */
import type { XStatic } from 'typebox/schema';
import { statuses } from '../cheeses/fields.ts';
import { Portion } from '../cheeses/portions.ts';
import { int64, timestampSchema } from '../schema/parts.ts';

const kilogramsMax = 1_000_000_000;
const kilograms = { type: 'number', decimals: 3 } as const;

export const onHandSchema = {
  ...kilograms,
  minimum: 0,
  maximum: kilogramsMax,
  description: 'Kilograms in the storeroom, with at most three decimals',
} as const;
const lowAtSchema = {
  ...kilograms,
  type: ['number', 'null'],
  minimum: 0,
  maximum: kilogramsMax,
  description: 'At this number of available kilograms or below, the stock is low; null: no warning',
} as const;
const levels = {
  onHand: onHandSchema,
  reserved: { ...kilograms, description: 'Kilograms promised to orders that are placed or approved' },
  available: {
    ...kilograms,
    description: 'onHand minus reserved: what new orders can have. Negative only after a loss',
  },
  lowAt: lowAtSchema,
  trackedSince: timestampSchema,
} as const;

export const Stock = {
  title: 'Stock',
  description: 'Kilograms of a cheese whose stock is tracked',
  type: 'object',
  required: ['onHand', 'reserved', 'available', 'lowAt', 'trackedSince'],
  properties: levels,
  examples: [
    { onHand: 50, reserved: 12, available: 38, lowAt: 10, trackedSince: '2026-01-15T09:30:00.000Z' },
  ],
} as const;

export type Stock = XStatic<typeof Stock>;

export const StockInput = {
  title: 'StockInput',
  type: 'object',
  required: ['onHand'],
  properties: {
    onHand: onHandSchema,
    lowAt: { ...lowAtSchema, default: null },
    reserved: { ...levels.reserved, readOnly: true },
    available: { ...levels.available, readOnly: true },
    trackedSince: { ...timestampSchema, readOnly: true },
  },
  examples: [{ onHand: 50, lowAt: 10 }],
} as const;
export type StockInput = XStatic<typeof StockInput>;

/** Why a quantity changed. A list, because events contain no free text. */
export const adjustmentReasons = [
  'received',
  'returned',
  'spoiled',
  'sold_elsewhere',
  'counted',
  'other',
] as const;

export const StockAdjustment = {
  title: 'StockAdjustment',
  type: 'object',
  required: ['deltaKg', 'reason'],
  properties: {
    deltaKg: {
      ...kilograms,
      minimum: -kilogramsMax,
      maximum: kilogramsMax,
      description: 'Kilograms to add to onHand, or with a minus sign to subtract; not 0',
    },
    reason: { type: 'string', enum: adjustmentReasons },
  },
  examples: [{ deltaKg: 20, reason: 'received' }],
} as const;
export type StockAdjustment = XStatic<typeof StockAdjustment>;

const StockOfCheese = {
  title: 'StockOfCheese',
  type: 'object',
  required: ['cheeseId', 'cheeseName', 'status', ...Stock.required],
  properties: {
    cheeseId: int64,
    cheeseName: { type: 'string' },
    status: { type: 'string', enum: statuses },
    ...levels,
  },
  examples: [{ cheeseId: 12, cheeseName: 'Gruyère', status: 'available', ...Stock.examples[0] }],
} as const;

/** `level`: first those of which nothing is available, then those that are low. */
export const stockSorts = ['cheeseId', 'level'] as const;
export type StockSort = (typeof stockSorts)[number];

export const StockList = {
  title: 'StockList',
  type: 'object',
  required: ['items', 'nextCursor', 'hasMore', 'total'],
  properties: {
    items: { type: 'array', items: StockOfCheese },
    nextCursor: { type: ['string', 'null'] },
    hasMore: { type: 'boolean' },
    total: int64,
  },
  examples: [{ items: StockOfCheese.examples, nextCursor: null, hasMore: false, total: 1 }],
} as const;

/** The largest quantity of a line of an order, in kilograms or pieces. More is not told, so that no stock level is public. */
export const shownKilogramsMax = 100;

export const Availability = {
  title: 'Availability',
  description: 'Whether a cheese can be ordered now, without its stock level',
  type: 'object',
  required: ['cheeseId', 'orderable', 'kilograms'],
  properties: {
    cheeseId: int64,
    orderable: { type: 'boolean', description: 'Whether an order of the smallest weight would be accepted' },
    kilograms: {
      type: ['number', 'null'],
      decimals: 3,
      minimum: 0,
      maximum: shownKilogramsMax,
      description: `Kilograms that can be ordered, at most ${shownKilogramsMax}; null for a cheese whose stock is not tracked. A cheese in portions is ordered in these weights`,
    },
    portions: {
      type: 'array',
      description: 'The pieces in which the cheese is sold. Absent for a cheese that is sold by the kilogram',
      items: {
        type: 'object',
        required: ['grams', 'price', 'quantity'],
        properties: {
          ...Portion.properties,
          price: { type: ['number', 'null'], description: 'Of a piece; null if the cheese has no price' },
          quantity: {
            type: 'integer',
            minimum: 0,
            maximum: shownKilogramsMax,
            description: `How many can be ordered, at most ${shownKilogramsMax}, if no other piece is. All portions share the stock`,
          },
        },
      },
    },
  },
  examples: [
    {
      cheeseId: 12,
      orderable: true,
      kilograms: 6.4,
      portions: [
        { grams: 200, price: 6.5, quantity: 32 },
        { grams: 8000, name: 'Half wheel', price: 260, quantity: 0 },
      ],
    },
  ],
} as const;
export type Availability = XStatic<typeof Availability>;

export const AvailabilityList = {
  title: 'AvailabilityList',
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: Availability } },
  examples: [{ items: Availability.examples }],
} as const;
