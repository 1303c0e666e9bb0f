/**
 * Decides how a list is read: in its order along one index, testing the other filters, or by finding all matches and
 * sorting them. The cheaper one is expected from counters, as if filters were independent of each other.
 */
import type { PostingList } from './common-posting-queries.ts';
import { type Group, isTruncated } from './filter-groups.ts';
import type { Sort, Status } from './schemas.ts';
import { truncateTerm } from './search-terms.ts';
import { type Selection, type SetSelection, separateTermsMax, type TermSet } from './selection-queries.ts';
import { byId, columnOf, type Segment, type ValueColumn, type ValueRanges } from './sort-segments.ts';

/** Measured at 1,000,000 cheeses on SQLite: a row that its index tests, and a row that is fetched or looked up. */
const indexedUs = 0.2;
const fetchedUs = 5;
/** A row that is fetched beside the one before it, or a range that is tested in an index of the cheeses. */
const scannedUs = 1.5;
/** So many postings of a word are tested in the time in which lists of postings are searched. */
const testedPostings = 300;
/** Each list is a table of a statement. */
const listsMax = 6;
/** Postings of a range of words are read by one statement: 10 ms. Those of other statuses are read too. */
const rangePostingsMax = 10_000;

/** What is known of a list before it is read. */
export interface Known {
  readonly groups: readonly Group[];
  readonly statuses: readonly Status[] | null;
  readonly ranges: ValueRanges;
  /** Cheeses of the catalogue in all statuses; 0 where one index and counters are all that is needed. */
  readonly all: number;
  /** Cheeses in the statuses of the filter. */
  readonly inStatuses: number;
  /** Cheeses of those statuses in each of the ranges. */
  readonly inRanges: readonly { readonly atMost: number; readonly expected: number }[];
}

/** How all matches of filters are found, in no order. */
export interface Matching {
  readonly selection: Selection;
  /** The part of the order that the matches are in: all cheeses by id, or a range of values. */
  readonly segment: Segment;
  /** An upper bound of the entries of the index that are read along the driver. */
  readonly candidates: number;
  /** The same as sets, where their intersection costs less. */
  readonly sets: SetSelection | null;
}

export interface ReadPlan {
  /** How the list is read in its order. */
  readonly selection: Selection;
  /** An upper bound of the entries of the index that are read along the driver. */
  readonly candidates: number;
  readonly matching: Matching;
  /** Lists of postings in which the matches are searched first, where that is expected to cost less; null otherwise. */
  readonly lists: readonly PostingList[] | null;
  /** Whether to find and sort all matches is expected to cost less than to read in order. */
  readonly isMatchedFirst: boolean;
}

/** The plan for a page of up to `limit` cheeses. */
export function planRead(known: Known, sort: Sort, limit: number): ReadPlan {
  const { groups, statuses, ranges, all } = known;
  const column = columnOf(sort);
  const hasRange = Object.keys(ranges).length > 0;
  const isByValue = column === 'price' || column === 'age';
  // Postings of words have no order by price or age.
  const ordered = groups.filter(
    ({ ids, word }) => ids !== null && ids.length <= separateTermsMax && !(isByValue && word !== undefined),
  );
  // Thousands of terms can be read along by ranges of ids.
  const isByIdAlone = sort === 'createdAt' && groups.length === 1 && statuses === null && !hasRange;
  const isNotWord = groups[0]?.word === undefined;
  const lead = least(isByIdAlone && isNotWord ? groups : ordered, ({ cheeses }) => cheeses);
  const selection = selectionOf(known, lead);
  const { matching, costUs } = planMatching(known);

  const inRanges = known.inRanges.map(({ expected }) => expected);
  const share = (part: number) => (all === 0 ? 0 : part / all);
  const matches = Math.min(
    ...groups.map(({ cheeses }) => cheeses),
    ...inRanges,
    known.inStatuses,
    [...groups.map(({ postings }) => postings), ...inRanges].reduce(
      (expected, part) => expected * share(part),
      known.inStatuses,
    ),
  );
  const bounded = isByValue && ranges[column] !== undefined ? share(Math.min(...inRanges)) : 1;
  const walked = (lead === undefined ? known.inStatuses : lead.postings) * bounded;
  const tested = Math.min(walked, (walked * limit) / Math.max(matches, 1));
  const orderedUs = tested * testUs(selection);
  return {
    selection,
    candidates: lead === undefined ? Number.POSITIVE_INFINITY : lead.postings,
    matching,
    lists: isByValue || hasRange ? null : commonLists(groups),
    isMatchedFirst: all > 0 && costUs + matches * fetchedUs < orderedUs,
  };
}

/** The lists of several words and of the other filters, where each has few terms and many cheeses. */
function commonLists(groups: readonly Group[]): readonly PostingList[] | null {
  const lists = groups.flatMap(({ ids, word }) =>
    ids === null || ids.length > separateTermsMax || (word !== undefined && isTruncated(word)) ? [] : [ids],
  );
  const words = groups.filter(({ word }) => word !== undefined);
  const isLong = groups.every(({ postings }) => postings > testedPostings);
  return words.length > 1 && lists.length === groups.length && lists.length <= listsMax && isLong
    ? lists
    : null;
}

/** The cheapest way to find all matches, and its expected cost. */
export function planMatching(known: Known): { matching: Matching; costUs: number } {
  const { groups, statuses, ranges, all } = known;
  const lead = least(
    groups.filter(({ ids, postings }) =>
      ids === null ? postings <= rangePostingsMax : ids.length <= separateTermsMax,
    ),
    ({ postings }) => postings,
  );
  const narrowest = least(
    Object.keys(ranges).map((column, index) => ({ column, cheeses: known.inRanges[index]?.atMost ?? 0 })),
    ({ cheeses }) => cheeses,
  );
  const isByRange =
    narrowest !== undefined && narrowest.cheeses < (lead?.postings ?? Number.POSITIVE_INFINITY);
  const segment: Segment = isByRange
    ? { column: narrowest.column as ValueColumn, isDescending: false, isMissing: false }
    : byId;
  const selection = selectionOf(known, isByRange ? undefined : lead);
  const candidates = isByRange ? narrowest.cheeses : (lead?.postings ?? known.inStatuses);
  const testingUs = candidates * testUs(selection);

  const sets = groups.flatMap((group) => setOf(group) ?? []);
  const tested = groups.flatMap((group) =>
    group.word !== undefined && (setOf(group) === null || isTruncated(group.word)) ? [group.word] : [],
  );
  const isScanned = tested.length > 0 || sets.every(({ areWords }) => areWords);
  const postings = groups.reduce((sum, group) => sum + (setOf(group) === null ? 0 : group.postings), 0);
  const scannedRowUs = tested.length > 0 ? scannedUs : isScanned ? indexedUs : 0;
  const setsUs = postings * indexedUs + all * scannedRowUs;
  const hasIndex = lead !== undefined || isByRange;
  const isBySets = groups.length > 0 && (!hasIndex || setsUs < testingUs);
  return {
    matching: {
      selection,
      segment,
      candidates,
      sets: isBySets ? { statuses, ranges, sets, words: tested } : null,
    },
    costUs: Math.min(setsUs, testingUs),
  };
}

/** The postings of a group; null for those of more words than are looked up in each slice. */
function setOf({ ids, word, words = null }: Group): TermSet | null {
  if (ids !== null) {
    return { ids, areWords: word !== undefined };
  }
  return word === undefined || words === null ? null : { prefix: truncateTerm(word), areWords: true, words };
}

/** Reads along a group, or along the catalogue. The other groups become conditions. */
function selectionOf({ groups, statuses, ranges }: Known, lead: Group | undefined): Selection {
  const rest = groups.filter((group) => group !== lead);
  const words = rest.flatMap(({ word }) => (word === undefined ? [] : [word]));
  // The word of the leading group stays a condition when its postings do not imply it.
  const isTested = lead?.word !== undefined && isTruncated(lead.word);
  return {
    driver:
      lead === undefined
        ? { by: 'catalogue' }
        : lead.ids === null
          ? { by: 'prefix', prefix: lead.word ?? '' }
          : { by: 'terms', ids: lead.ids, areWords: lead.word !== undefined },
    statuses,
    ranges,
    groups: rest.flatMap(({ ids, word }) => (word === undefined && ids !== null ? [ids] : [])),
    words: isTested ? [lead.word ?? '', ...words] : words,
  };
}

/** The expected cost of an entry that is read along the driver. */
function testUs({ driver, ranges, groups, words }: Selection): number {
  const isFetched = driver.by === 'terms' && driver.areWords && Object.keys(ranges).length > 0;
  return indexedUs + fetchedUs * (groups.length + words.length) + (isFetched ? scannedUs : 0);
}

function least<T>(items: readonly T[], sizeOf: (item: T) => number): T | undefined {
  return items.toSorted((one, other) => sizeOf(one) - sizeOf(other))[0];
}
