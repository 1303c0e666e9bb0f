/** Definitions of types of events. Each area defines its own; app/event-types.ts lists them all. */
import type { XStatic } from 'typebox/schema';
import type { Schema } from '../schema/schema.ts';

declare const defined: unique symbol;

/** An event to be recorded: `cheese.created` of `cheese:12`. Only the definition of its type makes one. */
export interface NewEvent {
  readonly [defined]: true;
  readonly type: string;
  readonly subject: string;
  /** JSON that matches the schema of the type. */
  readonly data: string;
}

/** A type of events, with the schema of its data. */
export interface EventDefinition<T extends string = string, Data = unknown> {
  readonly type: T;
  /** What happened. */
  readonly description: string;
  /** Schema of the event's data. */
  readonly schema: Schema;
  of(subject: string, data: Data): NewEvent;
}

type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> };

/**
 * Defines a type of events. No schema may have a field for a name, address or free text of a person: a deleted customer
 * must not remain in the log (decision record 13).
 */
export function defineEvent<const T extends string, const S extends Schema>(
  type: T,
  description: string,
  schema: S,
): EventDefinition<T, DeepReadonly<XStatic<S>>> {
  return {
    type,
    description,
    schema,
    of: (subject, data) => ({ type, subject, data: JSON.stringify(data) }) as unknown as NewEvent,
  };
}

/** The data of events of a type. */
export type EventData<D> = D extends EventDefinition<string, infer Data> ? Data : never;

/** Stands in the log for an event that was removed from it. Readers pass its number like any other. */
export const shopEventWithdrawn = defineEvent(
  'shop.event_withdrawn',
  'The event with this number was removed from the log',
  {
    type: 'object',
    required: [],
    properties: {},
    examples: [{}],
  },
);

/** The event that replaces another one. */
export function withdrawnEvent(): NewEvent {
  return shopEventWithdrawn.of('shop', {});
}
