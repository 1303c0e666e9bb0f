/**
 * Facets: the values of categories, tags, origins, organic and status, and how many cheeses have each. Every facet is
 * counted under all filters but its own.
 */
import { cheeseFields, type LabelField } from '../fields.ts';
import type { Bits } from '../search-index/bits.ts';
import type { CatalogueIndex } from '../search-index/catalogue-index.ts';
import type { IndexCache } from '../search-index/index-cache.ts';
import { countLabels, type Label } from '../search-index/labels.ts';
import { type Filters, keepMatches, liveInRanges } from '../search-index/matches.ts';
import { inSlices } from '../search-index/slices.ts';

const valuesMax = 100;
/** So many values are collected before the less frequent ones are dropped. */
const collectedMax = 1000;
/** Values that are merged between two pauses. */
const mergedAtOnce = 256;

/** A value and its most frequent spelling. */
interface Counted {
  readonly name: string;
  readonly count: number;
  /** Cheeses with this spelling. */
  readonly ofSpelling: number;
}

/** The facets of a list as JSON, of the version that the index has now. */
export async function readFacets(
  cache: IndexCache<string>,
  index: CatalogueIndex,
  names: readonly LabelField[],
  filters: Filters,
  words: readonly string[],
): Promise<string> {
  // Copied now, because later slices may run after a change. No facet has filters that are ranges.
  const live = liveInRanges(index, filters);
  const { revision } = index;
  const members: string[] = [];
  for (const name of names) {
    const others = withoutOwn(name, filters);
    const steps = cache.find(index, revision, `${name} ${JSON.stringify(others)}`, () =>
      count(index, name, live.slice(), others, words),
    );
    members.push(`${JSON.stringify(name)}:${await inSlices(steps)}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * All filters but those of the facet, so that a shopper sees what another value would give. Another tag of `tagsAll` is
 * required besides the first ones.
 */
function withoutOwn(name: LabelField, filters: Filters): Filters {
  return Object.fromEntries(
    Object.entries(filters).filter(
      ([filter]) => filter === 'tagsAll' || !(filter in cheeseFields[name].filters),
    ),
  );
}

/** The JSON of a facet: its values, the most frequent first, and how many follow. */
function* count(
  index: CatalogueIndex,
  name: LabelField,
  bits: Bits,
  filters: Filters,
  words: readonly string[],
): Generator<void, string> {
  yield* keepMatches(index, bits, filters, words);
  const labels = index.labels[name].startingWith('');
  const counts = yield* countLabels(labels, bits);
  // Spellings of a value that differ in case and accents follow each other.
  const isFolded = cheeseFields[name].labels === 'folded';
  const keyOf = (label: Label) => (isFolded ? label.folded : label.name);
  let counted: Counted[] = [];
  let more = 0;
  /** The last value that is listed so far. */
  let bound: Counted | undefined;
  for (let place = 0; place < labels.length; ) {
    const start = place;
    const key = keyOf(labels[place] as Label);
    while (place < labels.length && keyOf(labels[place] as Label) === key) {
      place += 1;
    }
    const value = merge(labels.slice(start, place), counts.subarray(start, place));
    if (value.count > 0 && bound !== undefined && compareCounted(value, bound) > 0) {
      more += 1;
    } else if (value.count > 0) {
      counted.push(value);
    }
    if (counted.length === collectedMax) {
      more += counted.length - valuesMax;
      counted = mostFrequent(counted);
      bound = counted.at(-1);
    }
    if (place % mergedAtOnce === 0) {
      yield;
    }
  }
  const values = mostFrequent(counted).map(({ name: value, count }) => ({ value, count }));
  return JSON.stringify({ values, more: more + counted.length - values.length });
}

/** Adds up the spellings of a value. Its name is the most frequent spelling, or the first by code point. */
function merge(labels: readonly Label[], counts: Uint32Array): Counted {
  let merged: Counted = { name: '', count: 0, ofSpelling: 0 };
  for (const [place, { name }] of labels.entries()) {
    const ofSpelling = counts[place] as number;
    const isFirst =
      ofSpelling > merged.ofSpelling ||
      (ofSpelling === merged.ofSpelling && compareText(name, merged.name) < 0);
    const count = merged.count + ofSpelling;
    merged = isFirst ? { name, count, ofSpelling } : { ...merged, count };
  }
  return merged;
}

function mostFrequent(counted: readonly Counted[]): Counted[] {
  return counted.toSorted(compareCounted).slice(0, valuesMax);
}

function compareCounted(one: Counted, other: Counted): number {
  return other.count - one.count || compareText(one.name, other.name);
}

/** Compares code points. Code units have another order if one of them is a surrogate. */
function compareText(one: string, other: string): number {
  for (let index = 0; index < one.length && index < other.length; index += 1) {
    if (one[index] !== other[index]) {
      return (one.codePointAt(index) as number) - (other.codePointAt(index) as number);
    }
  }
  return one.length - other.length;
}
