/** Finds the slots that match filters, as the intersection of sets. */
import { foldText } from '../../schema/folding.ts';
import type { Status } from '../fields.ts';
import type { MissingField } from '../schemas.ts';
import { type Bits, clearBit, intersect, newBits, setBit } from './bits.ts';
import type { CatalogueIndex } from './catalogue-index.ts';
import type { Label } from './labels.ts';
import { noValue, type Ordering } from './slot-columns.ts';
import type { SlotSet } from './slot-set.ts';

/** Sets that are added to a union between two pauses. */
const addedAtOnce = 256;

export interface Filters {
  readonly statuses?: readonly Status[] | undefined;
  /** Compared without case and accents, like `origin`. */
  readonly category?: string | undefined;
  readonly categoryId?: number | undefined;
  /** The cheese has one of them. */
  readonly tags?: readonly string[] | undefined;
  /** The cheese has all of them. */
  readonly tagsAll?: readonly string[] | undefined;
  readonly origin?: string | undefined;
  readonly organic?: boolean | undefined;
  readonly minPrice?: number | undefined;
  readonly maxPrice?: number | undefined;
  readonly minAge?: number | undefined;
  readonly maxAge?: number | undefined;
  /** The cheese has none of these fields. */
  readonly missing?: readonly MissingField[] | undefined;
  /** Every word is the beginning of a word of the name. */
  readonly q?: string | undefined;
}

/**
 * The live slots in the ranges of prices and ages: the part of a match that reads the orders, which change. All other
 * filters can be applied later.
 */
export function liveInRanges(index: CatalogueIndex, filters: Filters): Bits {
  const { minPrice, maxPrice, minAge, maxAge } = filters;
  const { orderings } = index.columns;
  const bits = index.live();
  if (minPrice !== undefined || maxPrice !== undefined) {
    keepRange(bits, orderings.price, (value) => ({ id: 0, price: value }), minPrice, maxPrice);
  }
  if (minAge !== undefined || maxAge !== undefined) {
    keepRange(bits, orderings.age, (value) => ({ id: 0, age: value }), minAge, maxAge);
  }
  return bits;
}

/** Sets the bits inside of the range, or clears those outside of it: whichever are fewer. */
function keepRange(
  bits: Bits,
  { order, comparedWith }: Ordering,
  positionOf: (value: number) => Parameters<Ordering['comparedWith']>[0],
  min = 0,
  max?: number,
): void {
  const below = comparedWith(positionOf(min));
  const beyond = comparedWith({ ...positionOf(max ?? noValue), id: max === undefined ? 0 : Infinity });
  const from = order.search((slot) => below(slot) < 0);
  const to = order.search((slot) => beyond(slot) < 0);
  if ((to - from) * 2 < order.length) {
    const inside = newBits(bits.length * 32);
    for (let place = from; place < to; place += 1) {
      setBit(inside, order.at(place));
    }
    intersect(bits, inside);
    return;
  }
  for (let place = 0; place < from; place += 1) {
    clearBit(bits, order.at(place));
  }
  for (let place = to; place < order.length; place += 1) {
    clearBit(bits, order.at(place));
  }
}

/** Keeps the slots that match all filters except ranges, with pauses. @param words of the filter q */
export function* keepMatches(
  index: CatalogueIndex,
  bits: Bits,
  filters: Filters,
  words: readonly string[],
): Generator<void> {
  const sized = setsOf(index, filters, words).map((sets) => ({
    sets,
    size: sets.reduce((sum, { size }) => sum + size, 0),
  }));
  // The smallest first: an empty one ends the search.
  for (const { sets, size } of sized.sort((one, other) => one.size - other.size)) {
    const [only] = sets;
    if (size === 0 || only === undefined) {
      bits.fill(0);
      return;
    }
    if (sets.length === 1) {
      only.intersectInto(bits);
    } else {
      const union = newBits(bits.length * 32);
      for (const [place, set] of sets.entries()) {
        set.addTo(union);
        if (place % addedAtOnce === addedAtOnce - 1) {
          yield;
        }
      }
      intersect(bits, union);
    }
    yield;
  }
}

/** Returns for each filter the sets of which a match is in at least one. */
function setsOf(index: CatalogueIndex, filters: Filters, words: readonly string[]): SlotSet[][] {
  const { statuses, category, categoryId, tags, tagsAll = [], origin, organic, missing = [] } = filters;
  const { labels } = index;
  const slotsOf = (found: readonly (Label | undefined)[]) =>
    found.flatMap((label) => (label === undefined ? [] : [label.slots]));
  const given = <T>(value: T | undefined, find: (value: T) => readonly (Label | undefined)[]) =>
    value === undefined ? [] : [slotsOf(find(value))];
  return [
    ...given(statuses, (all) => all.map((status) => labels.status.named(status))),
    ...given(category, (name) => labels.category.folded(foldText(name))),
    ...given(categoryId, (id) => [labels.category.withId(id)]),
    ...given(tags, (all) => all.map((tag) => labels.tag.spelled(tag))),
    ...tagsAll.map((tag) => slotsOf([labels.tag.spelled(tag)])),
    ...given(origin, (name) => labels.origin.folded(foldText(name))),
    ...given(organic, (isOrganic) => [labels.organic.named(String(isOrganic))]),
    ...missing.map((field) => [field === 'price' ? index.withoutPrice : index.withoutImage]),
    ...words.map((word) => index.words.startingWith(word)),
  ];
}
