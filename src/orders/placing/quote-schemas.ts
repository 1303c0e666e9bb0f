/** Schemas of quotes: what an order would cost, before anybody logs in. */
import type { XStatic } from 'typebox/schema';
import { deliveryKinds } from '../../delivery/schemas.ts';
import { int64, objectOf } from '../../schema/parts.ts';
import { Breakdown } from '../pricing/schemas.ts';
import { OrderItem } from '../schemas.ts';
import { OrderInput } from './schemas.ts';

const { shippingAddress, ...members } = OrderInput.properties;

export const QuoteInput = {
  title: 'QuoteInput',
  type: 'object',
  required: ['items'],
  properties: {
    ...members,
    shippingAddress: {
      ...shippingAddress,
      title: 'QuoteAddress',
      required: [],
      description:
        'Country, state and ZIP code suffice. Without it, all methods are listed by the weight alone',
    },
  },
  examples: [
    {
      items: [{ cheeseId: 1, quantity: 2 }],
      shippingAddress: { country: 'CH', zipCode: '3011' },
    },
  ],
} as const;
export type QuoteInput = XStatic<typeof QuoteInput>;

const day = { type: ['string', 'null'], format: 'date' } as const;

const QuoteItem = {
  title: 'QuoteItem',
  type: 'object',
  required: [...OrderItem.required, 'orderable'],
  properties: {
    ...OrderItem.properties,
    amount: { type: 'number', description: 'What the line costs' },
    orderable: {
      type: 'boolean',
      description: 'Whether the line can be ordered now. The total has only those',
    },
  },
  examples: [{ ...OrderItem.examples[0], amount: 65, orderable: true }],
} as const;

const DeliveryOption = {
  title: 'DeliveryOption',
  ...objectOf({
    id: int64,
    name: { type: 'string' },
    kind: { type: 'string', enum: deliveryKinds },
    amount: { type: 'number', description: 'The charge for this order' },
    freeFrom: { type: ['number', 'null'], description: 'Goods of this sum are delivered without a charge' },
    shipsOn: { ...day, description: 'The day on which the goods leave the shop' },
    arrivesOn: { ...day, description: 'The day on which they arrive; null if it is not known' },
    text: { type: ['string', 'null'] },
  }),
} as const;
export type DeliveryOption = XStatic<typeof DeliveryOption>;

export const Quote = {
  title: 'Quote',
  ...objectOf({
    items: { type: 'array', items: QuoteItem },
    breakdown: Breakdown,
    total: { type: 'number' },
    deliveryOptions: {
      type: 'array',
      items: DeliveryOption,
      description: 'The methods that serve the order, by their positions',
    },
    problems: {
      type: 'array',
      description:
        'Why the shop would not accept the order like this. Limits of the credential, such as its budget, are not among them',
      items: objectOf({ field: { type: 'string' }, message: { type: 'string' } }),
    },
  }),
  examples: [
    {
      items: QuoteItem.examples,
      breakdown: {
        currency: 'CHF',
        subtotal: 65,
        delivery: { id: 1, name: 'Cooled parcel', kind: 'parcel', amount: 9.9 },
      },
      total: 74.9,
      deliveryOptions: [
        {
          id: 1,
          name: 'Cooled parcel',
          kind: 'parcel',
          amount: 9.9,
          freeFrom: 150,
          shipsOn: '2026-01-19',
          arrivesOn: '2026-01-20',
          text: null,
        },
      ],
      problems: [],
    },
  ],
} as const;
export type Quote = XStatic<typeof Quote>;
