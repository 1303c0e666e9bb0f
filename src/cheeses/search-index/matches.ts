/** Finds the slots that match filters, as the intersection of sets. */
import { foldText } from '../../schema/folding.ts';
import type { ParameterValues } from '../../schema/schema.ts';
import { cheeseFields, type FilterParameters, type LabelField, labelFields, rangeFields } from '../fields.ts';
import type { MissingField } from '../schemas.ts';
import { type Bits, clearBit, intersect, newBits, setBit } from './bits.ts';
import type { CatalogueIndex } from './catalogue-index.ts';
import type { Label, Labels } from './labels.ts';
import type { Ordering } from './slot-columns.ts';
import type { SlotSet } from './slot-set.ts';

/** Sets that are added to a union between two pauses. */
const addedAtOnce = 256;

type FieldFilters = ParameterValues<FilterParameters>;

export type Filters = { readonly [N in keyof FieldFilters]?: FieldFilters[N] | undefined } & {
  /** The cheese has none of these fields. */
  readonly missing?: readonly MissingField[] | undefined;
  /** Every word is the beginning of a word of the name. */
  readonly q?: string | undefined;
};

/**
 * The live slots in all ranges: the part of a match that reads the orders, which change. All other filters can be applied
 * later.
 */
export function liveInRanges(index: CatalogueIndex, filters: Filters): Bits {
  const bits = index.live();
  for (const field of rangeFields) {
    const { range } = cheeseFields[field];
    const [min, max] = [filters[range.min], filters[range.max]];
    if (min !== undefined || max !== undefined) {
      keepRange(bits, index.columns.orderings[field], min, max);
    }
  }
  return bits;
}

/** Sets the bits inside of the range, or clears those outside of it: whichever are fewer. */
function keepRange(bits: Bits, { order, comparedWith }: Ordering, min = 0, max?: number): void {
  const below = comparedWith({ id: 0, value: min });
  const beyond = comparedWith(max === undefined ? { id: 0 } : { id: Infinity, value: max });
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

const finders: Readonly<Record<'exact' | 'spelling' | 'folded', (labels: Labels, value: string) => Found>> = {
  exact: (labels, value) => [labels.named(value)],
  spelling: (labels, value) => [labels.spelled(value)],
  folded: (labels, value) => labels.folded(foldText(value)),
};
type Found = readonly (Label | undefined)[];

const slotsOf = (found: Found) => found.flatMap((label) => (label === undefined ? [] : [label.slots]));

/** Returns for each filter the sets of which a match is in at least one. */
function setsOf(index: CatalogueIndex, filters: Filters, words: readonly string[]): SlotSet[][] {
  const { categoryId, tagsAll = [], missing = [] } = filters;
  const { labels } = index;
  const setsOfValue = (field: LabelField, value: unknown) =>
    slotsOf(finders[cheeseFields[field].labels](labels[field], String(value)));
  const sets: SlotSet[][] = [];
  for (const field of labelFields) {
    const value = filters[field];
    if (value !== undefined) {
      sets.push(
        Array.isArray(value)
          ? value.flatMap((member) => setsOfValue(field, member))
          : setsOfValue(field, value),
      );
    }
  }
  return [
    ...sets,
    ...(categoryId === undefined ? [] : [slotsOf([labels.category.withId(categoryId)])]),
    ...tagsAll.map((tag) => setsOfValue('tags', tag)),
    ...missing.map((field) => [field === 'price' ? index.withoutPrice : index.withoutImage]),
    ...words.map((word) => index.words.startingWith(word)),
  ];
}
