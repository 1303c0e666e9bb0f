/** Schemas of the request that places an order. */
import type { IncomingHttpHeaders } from 'node:http';
import type { XStatic } from 'typebox/schema';
import { Portion } from '../../cheeses/portions.ts';
import { wholeCents } from '../../decimal.ts';
import { addDays } from '../../delivery/ship-days.ts';
import { codeSchema } from '../../discounts/schemas.ts';
import { countryRule } from '../../schema/countries.ts';
import { int64 } from '../../schema/parts.ts';
import type { Parameters, TextRule } from '../../schema/schema.ts';
import { lineRule, multilineRule, optionalLineRule, withoutUrl } from '../../schema/text-rules.ts';
import { quantity } from '../schemas.ts';

const addressLine = withoutUrl(lineRule);
const optionalAddressLine = withoutUrl(optionalLineRule);
const optionalText = <const Max extends number>(maxLength: Max) =>
  ({ type: 'string', maxLength, rule: optionalAddressLine }) as const;

const dayRule: TextRule = {
  // Date.parse reads 2026-06-31 as the first of July.
  test: (text) =>
    /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text,
  message: 'must be a day such as 2026-03-31',
};

const GiftInput = {
  title: 'GiftInput',
  type: ['object', 'null'],
  description: 'The order is a gift',
  properties: {
    message: {
      type: ['string', 'null'],
      maxLength: 500,
      rule: multilineRule,
      description: 'Printed on the slip',
    },
    hidePrices: { type: 'boolean', description: 'Whether the slip has no prices' },
  },
} as const;

export const OrderInput = {
  title: 'OrderInput',
  type: 'object',
  required: ['items', 'shippingAddress'],
  properties: {
    items: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        type: 'object',
        required: ['cheeseId', 'quantity'],
        properties: {
          cheeseId: { ...int64, description: 'A cheese that is available' },
          quantity,
          grams: {
            ...Portion.properties.grams,
            description:
              'One of the portions of the cheese. Without it, the line is in kilograms, which needs a cheese without portions, or with one of 1000 grams',
          },
        },
      },
    },
    shippingAddress: {
      title: 'AddressInput',
      type: 'object',
      required: ['street', 'city', 'country'],
      properties: {
        street: {
          type: 'string',
          minLength: 1,
          maxLength: 200,
          rule: addressLine,
          examples: ['Gerechtigkeitsgasse 1'],
        },
        name: {
          ...optionalText(100),
          description: 'The recipient, if it is not the customer',
          examples: ['Ada Keller'],
        },
        company: optionalText(100),
        street2: { ...optionalText(200), description: 'A second line, such as the floor' },
        phone: { ...optionalText(30), description: 'For the carrier' },
        city: { type: 'string', minLength: 1, maxLength: 100, rule: addressLine, examples: ['Bern'] },
        state: { type: ['string', 'null'], maxLength: 100, rule: optionalAddressLine, examples: ['BE'] },
        zipCode: { type: 'string', maxLength: 32, rule: optionalAddressLine, examples: ['3011'] },
        country: {
          type: 'string',
          rule: countryRule,
          description: 'ISO 3166-1 alpha-2, in either case',
          examples: ['CH'],
        },
      },
    },
    deliveryMethodId: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'One of the delivery methods of the shop. Without it, the shop chooses the cheapest one if it requires one',
    },
    requestedDate: {
      type: 'string',
      maxLength: 10,
      rule: dayRule,
      description:
        'The day on which the goods leave the shop: a ship day of the delivery method, at most 60 days ahead',
    },
    discountCode: codeSchema,
    gift: GiftInput,
    notes: {
      type: ['string', 'null'],
      maxLength: 1000,
      rule: multilineRule,
      description: 'Special wishes, stored unchanged',
      examples: ['Please ring twice'],
    },
  },
  examples: [
    {
      items: [{ cheeseId: 1, quantity: 2 }],
      shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', zipCode: '3011', country: 'CH' },
      notes: 'Please ring twice',
    },
  ],
} as const;
export type OrderInput = XStatic<typeof OrderInput>;

export const orderPlacementQuery = {
  customerId: {
    ...int64,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The customer who ordered, for example by telephone. Needs the scope `admin`',
  },
} as const satisfies Parameters;

/** The name of `maxTotalHeader` in the headers of a request. */
export const maxTotalField = 'curd-max-total';
/** A header, because an idempotency key is bound to the body, and a replay must not depend on the maximum. */
export const maxTotalHeader = {
  'Curd-Max-Total': {
    type: 'number',
    minimum: 0,
    maximum: 1_000_000_000_000,
    description:
      'In the currency of the shop. If the total is above it at the moment of the order, or a cheese has no price, nothing is ordered: 409',
  },
} as const satisfies Parameters;

/** Cents of the header, which is valid; undefined without it. */
export function parseMaxCents({ [maxTotalField]: maxTotal }: IncomingHttpHeaders): number | undefined {
  return maxTotal === undefined ? undefined : wholeCents(Number(maxTotal));
}
