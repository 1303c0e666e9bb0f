/** Decides which cheeses a page contains, before any of them is read. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Sort } from '../schemas.ts';
import { type Bits, countBits } from '../search-index/bits.ts';
import type { CatalogueIndex } from '../search-index/catalogue-index.ts';
import type { IndexCache } from '../search-index/index-cache.ts';
import { type Filters, keepMatches, liveInRanges } from '../search-index/matches.ts';
import { findPage } from '../search-index/pages.ts';
import { atOnce, inSlices } from '../search-index/slices.ts';
import type { Ordering, SortColumn } from '../search-index/slot-columns.ts';
import type { ListQuery } from './list-query.ts';

export interface Match {
  readonly slots: Bits;
  /** Number of slots: the total of the list. */
  readonly size: number;
}

interface PlanRequest {
  readonly query: ListQuery;
  /** The words of the filter q. */
  readonly words: readonly string[];
  readonly limit: number;
  /** Ends the page after the cheese that reaches this size. */
  readonly bytesMax?: number | undefined;
  /** How many cheeses behind the page are read too, because one of it may be gone when they are read. */
  readonly spare: number;
}

/** A page at a revision of the index. */
export interface PagePlan {
  readonly index: CatalogueIndex;
  readonly ordering: Ordering;
  readonly revision: number;
  /** The number of matches on all pages. */
  readonly total: number;
  /** Sorted like the list, and at least one more if there is a next page. */
  readonly slots: readonly number[];
  /** How many of the slots are on the page. */
  readonly size: number;
  /** The ids of the cheeses to read. */
  readonly ids: readonly number[];
}

/** How often a search may pause. After that it runs at once, because the index has changed in each pause. */
const pausedMax = 2;

/** The plan of a page, without a promise if it takes a slice. */
export function planPage(
  matches: IndexCache<Match>,
  index: CatalogueIndex,
  request: PlanRequest,
  attempt = 0,
): MaybePromise<PagePlan> {
  const steps = plan(matches, index, request);
  if (attempt >= pausedMax) {
    return atOnce(steps) as PagePlan;
  }
  const planned = inSlices(steps);
  return planned instanceof Promise
    ? planned.then((page) => page ?? planPage(matches, index, request, attempt + 1))
    : (planned as PagePlan);
}

function* plan(
  matches: IndexCache<Match>,
  index: CatalogueIndex,
  { query, words, limit, bytesMax, spare }: PlanRequest,
): Generator<void, PagePlan | null> {
  const { columns, revision } = index;
  const filters = JSON.stringify(query.filters);
  const match = yield* matches.find(index, revision, filters, () => findMatch(index, query.filters, words));
  // The orders have changed too during a pause.
  if (index.revision !== revision) {
    return null;
  }
  const ordering = columns.orderings[columnOf(query.sort)];
  const slots = findPage(match.slots, match.size, {
    ordering,
    isDescending: query.sort.startsWith('-'),
    after: query.after,
    limit: limit + spare + 1,
  });
  const size = Math.min(limit, sizeWithin(index, slots, bytesMax));
  const ids = slots.slice(0, size + spare).map((slot) => columns.id(slot));
  return { index, ordering, revision, total: match.size, slots, size, ids };
}

function* findMatch(
  index: CatalogueIndex,
  filters: Filters,
  words: readonly string[],
): Generator<void, Match> {
  const slots = liveInRanges(index, filters);
  yield* keepMatches(index, slots, filters, words);
  return { slots, size: countBits(slots) };
}

function sizeWithin(index: CatalogueIndex, slots: readonly number[], bytesMax = Number.POSITIVE_INFINITY) {
  let bytes = 0;
  const last = slots.findIndex((slot) => {
    bytes += index.columns.size(slot);
    return bytes >= bytesMax;
  });
  return last === -1 ? slots.length : last + 1;
}

/** The column that a list is sorted by, before the id. Ids are assigned in the order of creation. */
function columnOf(sort: Sort): SortColumn {
  const field = sort.replace('-', '') as Exclude<Sort, `-${string}`>;
  return field === 'createdAt' ? 'id' : field;
}
