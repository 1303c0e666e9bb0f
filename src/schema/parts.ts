/** Schemas of values that several resources contain. */
import type { Schema } from './schema.ts';

export const int64 = { type: 'integer', format: 'int64' } as const;
export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  examples: ['2026-01-15T09:30:00.000Z'],
} as const;

/**
 * An object in a response, which always has all of these members except the optional ones. Schemas of requests and
 * events state `required` themselves, because the types of their values follow from it.
 */
export function objectOf<
  const P extends Readonly<Record<string, Schema>>,
  const O extends keyof P & string = never,
>(properties: P, optional: readonly O[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name as O));
  return { type: 'object', required: required as Exclude<keyof P & string, O>[], properties } as const;
}

/**
 * Calculated texts for `enum` or `required`. Types of values are inferred from tuples only, so the type has one element,
 * which is each of them.
 */
export function literals<T extends string>(texts: readonly T[]): readonly [T] {
  return texts as readonly [T];
}

/** @param maxLength what the longest cursor of the list needs: it contains the filters */
export const cursorParameter = (maxLength: number) =>
  ({ type: 'string', minLength: 1, maxLength, description: '`nextCursor` of the page before' }) as const;

/** How many items a page has. @param description such as `Orders on a page` */
export const limitParameter = (description: string) =>
  ({ type: 'integer', minimum: 1, maximum: 100, default: 20, description }) as const;

/** A list without pages. */
export function listOf<const S extends Schema>(title: string, items: S) {
  return {
    title,
    ...objectOf({ items: { type: 'array', items } }),
    examples: [{ items: items.examples }],
  } as const;
}

/** A page of a list whose matches are not counted. @param order such as `The newest first` */
export function pageOf<const S extends Schema>(title: string, items: S, order: string) {
  return {
    title,
    ...objectOf({
      items: { type: 'array', items, description: order },
      nextCursor: {
        type: ['string', 'null'],
        description: 'Send it as cursor for the next page; null on the last',
      },
      hasMore: { type: 'boolean' },
    }),
    examples: [{ items: items.examples, nextCursor: null, hasMore: false }],
  } as const;
}

/** See `clockState`. */
export const clockSchema = objectOf({
  now: timestampSchema,
  advancedBy: {
    type: 'string',
    description: 'How far it is ahead of the machine, a duration by ISO 8601; days have 24 hours',
    examples: ['P3D'],
  },
});
export const nullableTimestampSchema = { type: ['string', 'null'], format: 'date-time' } as const;
