/** Events of cheeses. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';
import { portionsSchema } from './portions.ts';
import { Cheese, type CheeseField } from './schemas.ts';

const { name, status, origin, pricePerKg, ageMonths, organic } = Cheese.properties;
const text = { type: ['string', 'null'] } as const;
const texts = { type: ['array', 'null'], items: { type: 'string' } } as const;

/** The values of a field before and after; null for a field that the cheese does not have. */
const change = <const V>(value: V) =>
  ({ type: 'object', required: ['from', 'to'], properties: { from: value, to: value } }) as const;

const changes = {
  name: change(name),
  category: change(text),
  photoUrls: change(texts),
  tags: change(texts),
  status: change(status),
  origin: change(origin),
  pricePerKg: change({ ...pricePerKg, type: ['number', 'null'] }),
  ageMonths: change({ ...ageMonths, type: ['integer', 'null'] }),
  organic: change(organic),
  portions: change({ ...portionsSchema, type: ['array', 'null'] }),
} as const satisfies Readonly<Record<CheeseField, Schema>>;

/** The old and new values of a cheese: only the changed fields, because a cheese can have 100 long photoUrls. */
export const CheeseUpdate = {
  type: 'object',
  required: ['id', 'name', 'changes'],
  properties: {
    id: int64,
    name,
    changes: {
      type: 'object',
      description:
        'The changed fields. The category and tags are names, and null means that the cheese has no such field',
      required: [],
      properties: changes,
    },
  },
  examples: [{ id: 12, name: 'Gruyère', changes: { pricePerKg: { from: 32.5, to: 34 } } }],
} as const;

/** Events of the subject `cheese:12`. */
export const cheeseEvents = {
  created: defineEvent('cheese.created', 'A cheese was created', Cheese),
  updated: defineEvent('cheese.updated', 'A cheese was changed', CheeseUpdate),
  deleted: defineEvent('cheese.deleted', 'A cheese was deleted', Cheese),
};
