/** Events of cheeses. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';
import {
  type CheeseField,
  type CheeseFields,
  cheeseFields,
  type Field,
  isPresent,
  type PresentField,
} from './fields.ts';
import { Cheese, mapFields, type Nullable, nullable } from './schemas.ts';

const text = { type: ['string', 'null'] } as const;
const texts = { type: ['array', 'null'], items: { type: 'string' } } as const;

/** Kinds of fields whose schema in events is not that of a cheese. */
const inEvents = { category: text, tags: texts, urls: texts, portions: cheeseFields.portions.input } as const;
type InEvents = typeof inEvents;

type Changed<F extends CheeseField> = CheeseFields[F]['kind'] extends keyof InEvents
  ? InEvents[CheeseFields[F]['kind']]
  : F extends PresentField
    ? CheeseFields[F]['schema']
    : Nullable<CheeseFields[F]['schema']>;

/** The values of a field before and after; null for a field that the cheese does not have. */
const change = <V extends Schema>(value: V) =>
  ({ type: 'object', required: ['from', 'to'], properties: { from: value, to: value } }) as const;

type Changes = { readonly [F in CheeseField]: ReturnType<typeof change<Changed<F>>> };

function changedOf(field: Field): Schema {
  const { kind, schema } = field;
  return kind in inEvents ? inEvents[kind as keyof InEvents] : isPresent(field) ? schema : nullable(schema);
}

/** The old and new values of a cheese: only the changed fields, because a cheese can have 100 long photoUrls. */
export const CheeseUpdate = {
  type: 'object',
  required: ['id', 'name', 'changes'],
  properties: {
    id: int64,
    name: Cheese.properties.name,
    changes: {
      type: 'object',
      description:
        'The changed fields. The category and tags are names, and null means that the cheese has no such field',
      required: [],
      properties: mapFields<Changes>((field) => change(changedOf(field))),
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
