/** A body with several entries of one schema, each of which is accepted or refused by itself. */
import type { FieldError } from '../errors.ts';
import type { Schema } from './schema.ts';

/** One entry of a batch: its clean copy, or every error in it. */
export type BatchEntry<T> = { readonly value: T } | { readonly errors: readonly FieldError[] };

/** The schema of a batch. The handler of the route gets one `BatchEntry` for each entry. */
export function batchOf<const S extends Schema>(
  items: S,
  options: { readonly maxItems: number; readonly examples?: readonly unknown[] },
) {
  return { type: 'array', items, isBatch: true, ...options } as const;
}
