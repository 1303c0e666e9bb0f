/** The breakdown of an order: how its total comes about. */
import type { XStatic } from 'typebox/schema';
import { deliveryKinds } from '../../delivery/schemas.ts';

const amount = { type: 'number', description: 'In the currency of the shop' } as const;

export const Breakdown = {
  title: 'Breakdown',
  description:
    'How the total comes about: subtotal - discount + delivery, plus the tax where prices do not contain it. As it was when the order was placed',
  type: 'object',
  required: ['currency', 'subtotal'],
  properties: {
    currency: { type: 'string', description: 'ISO 4217' },
    subtotal: { type: 'number', description: 'All lines together, before the discount' },
    discount: {
      type: 'object',
      description: 'Absent without a code',
      required: ['code', 'amount'],
      properties: {
        code: { type: 'string' },
        amount: {
          type: 'number',
          description: 'What the code takes off the goods. 0 where it makes delivery free',
        },
      },
    },
    delivery: {
      type: 'object',
      description: 'Absent without a delivery method',
      required: ['id', 'name', 'kind', 'amount'],
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        kind: { type: 'string', enum: deliveryKinds },
        amount,
      },
    },
    tax: {
      type: 'object',
      description: 'Absent where the shop computes no tax',
      required: ['included', 'amount', 'rates'],
      properties: {
        included: { type: 'boolean', description: 'Whether prices and charges contain the tax' },
        amount,
        rates: {
          type: 'array',
          description: 'The tax of each rate, rounded once',
          items: {
            type: 'object',
            required: ['name', 'percent', 'net', 'amount'],
            properties: {
              name: { type: 'string' },
              percent: { type: 'number' },
              net: { type: 'number', description: 'The sum without the tax' },
              amount,
            },
          },
        },
      },
    },
  },
  examples: [
    {
      currency: 'CHF',
      subtotal: 65,
      discount: { code: 'SPRING', amount: 6.5 },
      delivery: { id: 1, name: 'Cooled parcel', kind: 'parcel', amount: 9.9 },
      tax: { included: true, amount: 1.73, rates: [{ name: 'VAT', percent: 2.6, net: 66.67, amount: 1.73 }] },
    },
  ],
} as const;
export type Breakdown = XStatic<typeof Breakdown>;
