/**
 * The parts of a sorted list that are each one range of an index. Cheeses without the value that a list is sorted by
 * come last in both directions, so they are a part of their own.
 */
import type { Position } from './list-query.ts';
import type { Cheese, Sort } from './schemas.ts';
import { noValue } from './search-index.ts';

/** Columns that contain numbers, or `noValue`. */
export type ValueColumn = 'price' | 'age';

/** Values from `min` to `max`, both included. Cheeses without a value are never in a range. */
export interface ValueRange {
  readonly min: number;
  readonly max: number;
}

export type ValueRanges = Readonly<Partial<Record<ValueColumn, ValueRange>>>;

export interface Segment {
  readonly column: 'name' | 'id' | ValueColumn;
  readonly isDescending: boolean;
  /** The cheeses without the value, by id. */
  readonly isMissing: boolean;
}

/** The order of ids, which is also the order of creation. */
export const byId: Segment = { column: 'id', isDescending: false, isMissing: false };

/** The column that a list is sorted by, before the id. Ids are assigned in the order of creation. */
export function columnOf(sort: Sort): Segment['column'] {
  switch (sort) {
    case 'name':
    case '-name':
      return 'name';
    case 'pricePerKg':
    case '-pricePerKg':
      return 'price';
    case 'ageMonths':
    case '-ageMonths':
      return 'age';
    default:
      return 'id';
  }
}

/** The parts of a list that follow a position, in their order. */
export function segmentsAfter(sort: Sort, ranges: ValueRanges, after: Position | null): Segment[] {
  const column = columnOf(sort);
  const first: Segment = { column, isDescending: sort.startsWith('-'), isMissing: false };
  if (column === 'name' || column === 'id') {
    return [first];
  }
  const last: Segment = { column, isDescending: false, isMissing: true };
  return [...(after?.[column] === noValue ? [] : [first]), ...(ranges[column] === undefined ? [last] : [])];
}

/** The position of a cheese in a list. */
export function positionOf(sort: Sort, { id, name, pricePerKg, ageMonths }: Cheese): Position {
  switch (columnOf(sort)) {
    case 'price':
      return { id, price: pricePerKg ?? noValue };
    case 'age':
      return { id, age: ageMonths ?? noValue };
    default:
      return { id, name };
  }
}
