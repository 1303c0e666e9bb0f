/** Schemas of shipments. */
import type { XStatic } from 'typebox/schema';
import { nullableTimestampSchema } from '../../schema/parts.ts';
import type { TextRule } from '../../schema/schema.ts';
import { lineRule } from '../../schema/text-rules.ts';

/** Customers open the URL from a mail or a page of the shop. */
const trackingUrlRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && /^https:\/\/[^\s/@]+(?:\/|\?|$)/i.test(text) && URL.canParse(text),
  message: 'must be an https URL such as https://carrier.example/track/CH42',
};

const carrier = 'Who carries the parcel';
const trackingNumber = 'The number of the parcel at the carrier';
const trackingUrl = 'The page on which the customer follows the parcel';

export const ShipmentInput = {
  title: 'ShipmentInput',
  type: 'object',
  properties: {
    carrier: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 80,
      rule: lineRule,
      description: carrier,
      examples: ['Swiss Post'],
    },
    trackingNumber: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 80,
      rule: lineRule,
      description: trackingNumber,
      examples: ['99.00.123456.12345678'],
    },
    trackingUrl: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 500,
      rule: trackingUrlRule,
      description: `${trackingUrl}: https`,
      examples: ['https://carrier.example/track/990012345612345678'],
    },
    shippedAt: { ...nullableTimestampSchema, readOnly: true },
  },
  examples: [
    {
      carrier: 'Swiss Post',
      trackingNumber: '99.00.123456.12345678',
      trackingUrl: 'https://carrier.example/track/990012345612345678',
    },
  ],
} as const;
export type ShipmentInput = XStatic<typeof ShipmentInput>;

const nullableText = { type: ['string', 'null'] } as const;

/** Members of responses. */
export const tracking = {
  carrier: { ...nullableText, description: carrier },
  trackingNumber: { ...nullableText, description: trackingNumber },
  trackingUrl: { ...nullableText, description: trackingUrl },
} as const;

export const Shipment = {
  title: 'Shipment',
  description: 'How an order is shipped; null where nothing was stated',
  type: 'object',
  required: ['shippedAt', 'carrier', 'trackingNumber', 'trackingUrl'],
  properties: {
    shippedAt: { ...nullableTimestampSchema, description: 'null while the order has not shipped' },
    ...tracking,
  },
  examples: [{ shippedAt: '2026-01-16T08:00:12.007Z', ...ShipmentInput.examples[0] }],
} as const;
export type Shipment = XStatic<typeof Shipment>;
