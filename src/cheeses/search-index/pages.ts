/**
 * Finds the slots of a page among the matches. Many matches are met soon along the order of the list. A few are
 * compared with each other instead, because the order would be read to its end.
 */

import { type Bits, forEachBit, hasBit } from './bits.ts';
import { noValue, type Ordering, type Position } from './slot-columns.ts';
import { searchPlace } from './slot-order.ts';

export interface PageRequest {
  readonly ordering: Ordering;
  readonly isDescending: boolean;
  /** The last cheese of the page before. */
  readonly after: Position | null;
  readonly limit: number;
}

/** The first slots after a position, up to the limit. @param size number of matches */
export function findPage(matches: Bits, size: number, request: PageRequest): number[] {
  const isSparse = size * size < request.limit * request.ordering.order.length;
  return isSparse ? select(matches, request) : walk(matches, request);
}

/** Reads the order from the position on. Expected: limit * size of the catalogue / number of matches. */
function walk(matches: Bits, { ordering, isDescending, after, limit }: PageRequest): number[] {
  const { order } = ordering;
  const found: number[] = [];
  const read = (from: number, to: number, step: 1 | -1) => {
    for (let place = from; place !== to && found.length < limit; place += step) {
      const slot = order.at(place);
      if (hasBit(matches, slot)) {
        found.push(slot);
      }
    }
  };
  const compared = after === null ? () => 1 : ordering.comparedWith(after);
  const behind = order.search((slot) => compared(slot) <= 0);
  if (!isDescending) {
    read(behind, order.length, 1);
    return found;
  }
  // Cheeses without the value come last in both directions, by id.
  const withValue = order.search(ordering.hasValue);
  if (after !== null && isWithoutValue(after)) {
    read(behind, order.length, 1);
    return found;
  }
  const before = after === null ? withValue : order.search((slot) => compared(slot) < 0);
  read(before - 1, -1, -1);
  read(withValue, order.length, 1);
  return found;
}

/** Compares all matches with each other and with the position, and keeps the first ones in a sorted list. */
function select(matches: Bits, { ordering, isDescending, after, limit }: PageRequest): number[] {
  const { order, hasValue } = ordering;
  const compare = (one: number, other: number) => {
    const difference = order.compare(one, other);
    return isDescending && hasValue(one) && hasValue(other) ? -difference : difference;
  };
  const compared = after === null ? () => 1 : ordering.comparedWith(after);
  const isReversed = isDescending && !(after !== null && isWithoutValue(after));
  const isBehind = (slot: number) =>
    after === null || (isReversed && hasValue(slot) ? compared(slot) < 0 : compared(slot) > 0);
  const found: number[] = [];
  forEachBit(matches, (slot) => {
    const isCandidate = found.length < limit || compare(slot, found.at(-1) as number) < 0;
    if (isCandidate && isBehind(slot)) {
      const place = searchPlace(found.length, (at) => compare(found[at] as number, slot) < 0);
      found.splice(place, 0, slot);
      found.length = Math.min(found.length, limit);
    }
  });
  return found;
}

function isWithoutValue({ value }: Position): boolean {
  return value === noValue;
}
