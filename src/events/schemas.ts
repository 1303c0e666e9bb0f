/**
 * The closed list of events, each type with the schema of its data. No event has a name, address or free text of a
 * person: a deleted customer must not remain in the log (decision record 15).
 */
import { int64, nullableTimestampSchema, timestampSchema } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const texts = { type: 'array', items: text } as const;

/** An object whose fields are all required, except those listed. */
const object = (properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []) => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

/** The values of a field before and after; null for a field that the cheese does not have. */
const change = (type: string, items?: Schema) => {
  const value = { type: [type, 'null'], ...(items === undefined ? {} : { items }) };
  return object({ from: value, to: value });
};

const term = object({ id: int64, name: text });
const cheese = object(
  {
    id: int64,
    name: text,
    category: term,
    photoUrls: texts,
    tags: { type: 'array', items: term },
    status: text,
    origin: { type: ['string', 'null'] },
    pricePerKg: { type: 'number' },
    ageMonths: { type: 'integer' },
    organic: flag,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  },
  ['category', 'pricePerKg', 'ageMonths'],
);
const changes = {
  name: change('string'),
  category: change('string'),
  photoUrls: change('array', text),
  tags: change('array', text),
  status: change('string'),
  origin: change('string'),
  pricePerKg: change('number'),
  ageMonths: change('integer'),
  organic: change('boolean'),
};
const order = object({
  id: int64,
  status: text,
  total: { type: 'number' },
  reason: { type: ['string', 'null'] },
});
const apiKey = object({
  id: int64,
  type: text,
  last4: text,
  scopes: texts,
  createdAt: timestampSchema,
  expiresAt: nullableTimestampSchema,
  lastUsedAt: nullableTimestampSchema,
});
const onlyId = object({ id: int64 });

export const eventSchemas = {
  'cheese.created': cheese,
  'cheese.updated': object({ id: int64, name: text, changes: object(changes, Object.keys(changes)) }),
  'cheese.deleted': cheese,
  'cheese.image_uploaded': object({ imageUrl: text, thumbnailUrl: text, size: { type: 'integer' } }),
  'order.placed': order,
  'order.approved': order,
  'order.shipped': order,
  'order.delivered': order,
  'order.cancelled': order,
  'customer.created': onlyId,
  'customer.updated': object({ id: int64, role: text }, ['role']),
  'customer.deleted': onlyId,
  'customer.tier_changed': object({ id: int64, customerStatus: text, before: text }),
  'api_key.created': apiKey,
  'api_key.rotated': object({ replacedBy: apiKey }),
  'api_key.revoked': onlyId,
  'shop.reset': object({}),
} as const satisfies Readonly<Record<string, Schema>>;

export type EventType = keyof typeof eventSchemas;

/** An event to be recorded: `cheese.created` of `cheese:12`. */
export interface NewEvent {
  readonly type: EventType;
  readonly subject: string;
  /** JSON that matches the schema of the type. */
  readonly data: string;
}
