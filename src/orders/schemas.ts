/** Schemas of the store. */

import type { XStatic } from 'typebox/schema';
import { int64, nullableTimestampSchema, timestampSchema } from '../schema/parts.ts';
import { Breakdown } from './pricing/schemas.ts';
import { tracking } from './shipments/schemas.ts';
import { orderStatuses } from './transitions/order-status.ts';

const count = { type: 'integer', minimum: 0 } as const;
export const quantity = {
  type: 'integer',
  minimum: 1,
  maximum: 100,
  description: 'Pieces where the line states grams, and otherwise whole kilograms',
  examples: [2],
} as const;
const statusText = { type: 'string', enum: orderStatuses } as const;

export const Inventory = {
  title: 'Inventory',
  description: 'Cheeses in the catalogue by status; all three are always there',
  type: 'object',
  required: ['available', 'pending', 'sold'],
  properties: { available: count, pending: count, sold: count },
  examples: [{ available: 48, pending: 6, sold: 3 }],
} as const;

export const OrderItem = {
  title: 'OrderItem',
  description: 'A line of an order, with the name and price that the cheese had when the order was placed',
  type: 'object',
  required: ['cheeseId', 'cheeseName', 'quantity', 'pricePerKg'],
  properties: {
    cheeseId: int64,
    cheeseName: { type: 'string' },
    quantity,
    pricePerKg: { type: 'number', description: '0 if the cheese had no price' },
    grams: { type: 'integer', description: 'The weight of a piece. Absent for a line in kilograms' },
    portionName: { type: 'string', description: 'The name that the portion had' },
    unitPrice: {
      type: 'number',
      description: 'What a piece costs: the price of its weight, rounded to cents',
    },
    amount: { type: 'number', description: 'What the pieces of the line cost' },
  },
  examples: [{ cheeseId: 42, cheeseName: 'Gruyère', quantity: 2, pricePerKg: 32.5 }],
} as const;
export type OrderItem = XStatic<typeof OrderItem>;

/** The shipping address in responses. All fields but the country are empty after the customer was deleted. */
export const ShippingAddress = {
  title: 'Address',
  type: 'object',
  required: ['street', 'city', 'state', 'country'],
  properties: {
    name: {
      type: 'string',
      description: 'The recipient. Absent, like the next three, where it was not given',
    },
    company: { type: 'string' },
    street2: { type: 'string' },
    phone: { type: 'string' },
    street: { type: 'string' },
    city: { type: 'string' },
    state: { type: ['string', 'null'] },
    zipCode: { type: 'string' },
    country: { type: 'string', description: 'ISO 3166-1 alpha-2, in upper case' },
  },
  examples: [{ street: 'Gerechtigkeitsgasse 1', city: 'Bern', state: 'BE', zipCode: '3011', country: 'CH' }],
} as const;
export type ShippingAddress = XStatic<typeof ShippingAddress>;

/** What makes an order a gift. Personal data, like its notes. */
export const Gift = {
  title: 'Gift',
  type: 'object',
  description: 'Absent where the order is no gift',
  required: ['message', 'hidePrices'],
  properties: {
    message: { type: ['string', 'null'], description: 'Printed on the slip' },
    hidePrices: { type: 'boolean', description: 'Whether the slip has no prices' },
  },
  examples: [{ message: 'Happy birthday!', hidePrices: true }],
} as const;
export type Gift = XStatic<typeof Gift>;

export const Order = {
  title: 'Order',
  type: 'object',
  required: [
    'id',
    'items',
    'shippingAddress',
    'status',
    'notes',
    'total',
    'shipDate',
    'createdAt',
    'updatedAt',
  ],
  properties: {
    id: int64,
    items: { type: 'array', items: OrderItem },
    shippingAddress: ShippingAddress,
    status: statusText,
    notes: { type: ['string', 'null'] },
    total: {
      type: 'number',
      description:
        'The lines in kilograms, rounded to cents once, and the amounts of those in pieces. With a discount, delivery or tax, the sum of the breakdown',
    },
    breakdown: Breakdown,
    requestedDate: {
      type: 'string',
      format: 'date',
      description: 'The day on which the customer wants the goods to leave. Absent without one',
    },
    gift: Gift,
    shipDate: {
      ...nullableTimestampSchema,
      description:
        'Estimated from the approval on, exact once the order has shipped; null before and without',
    },
    arrivesOn: {
      type: 'string',
      format: 'date',
      description:
        'The day on which the goods arrive. Absent where the delivery method does not say, and before the approval',
    },
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  },
  examples: [
    {
      id: 1042,
      items: OrderItem.examples,
      shippingAddress: ShippingAddress.examples[0],
      status: 'placed',
      notes: 'Please ring twice',
      total: 65,
      shipDate: null,
      createdAt: '2026-01-15T09:30:00.000Z',
      updatedAt: '2026-01-15T09:30:00.000Z',
    },
  ],
} as const;
export type Order = XStatic<typeof Order>;

export const OrderList = {
  title: 'OrderList',
  type: 'object',
  required: ['items', 'nextCursor', 'hasMore', 'total'],
  properties: {
    items: { type: 'array', items: Order, description: 'The newest first' },
    nextCursor: {
      type: ['string', 'null'],
      description: 'Send it as cursor for the next page; null on the last',
    },
    hasMore: { type: 'boolean' },
    total: { type: 'integer', description: 'Matching orders on all pages together' },
  },
  examples: [{ items: Order.examples, nextCursor: null, hasMore: false, total: 1 }],
} as const;

export const Timeline = {
  title: 'Timeline',
  type: 'object',
  required: ['items'],
  properties: {
    items: {
      type: 'array',
      description: 'The transitions of the order, oldest first',
      items: {
        type: 'object',
        required: ['status', 'at', 'by', 'reason', 'shipment'],
        properties: {
          status: { ...statusText, description: 'The new status' },
          at: timestampSchema,
          by: {
            type: 'string',
            description:
              'The credential (key:3, customer:7), cli for a command, system for the server itself',
          },
          reason: { type: ['string', 'null'] },
          shipment: {
            type: ['object', 'null'],
            description: 'Of `shipped`: carrier and tracking as they are now; null where nothing was stated',
            required: ['carrier', 'trackingNumber', 'trackingUrl'],
            properties: tracking,
          },
        },
      },
    },
  },
  examples: [
    {
      items: [
        { status: 'placed', at: '2026-01-15T09:30:00.000Z', by: 'customer:7', reason: null, shipment: null },
        { status: 'approved', at: '2026-01-15T09:30:05.212Z', by: 'system', reason: null, shipment: null },
      ],
    },
  ],
} as const;
