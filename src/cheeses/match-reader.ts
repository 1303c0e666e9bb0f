/** Finds and counts all matches of filters, once for each version of the catalogue. */
import { createCache } from '../database/cache.ts';
import type { Database } from '../database/database.ts';
import { createGroupFinder, type Group } from './filter-groups.ts';
import type { Filters } from './list-query.ts';
import { createPageReads } from './page-reads.ts';
import { cheeseQueries } from './queries.ts';
import { type Known, type Matching, planMatching } from './read-plan.ts';
import { statuses as allStatuses } from './schemas.ts';
import { separateTermsMax } from './selection-queries.ts';
import type { ValueColumn, ValueRange, ValueRanges } from './sort-segments.ts';
import { createValueCounts, type RangeCount, rangesOf } from './value-counts.ts';

/** More matches are not sorted: then few of them are tested in order until a page is full. */
const matchesMax = 5000;
const totalsBytesMax = 2 * 1024 * 1024;
const matchesBytesMax = 8 * 1024 * 1024;

export interface MatchReader {
  /** What the counters say of filters and of the words of q. */
  know(filters: Filters, words: readonly string[], version: number): Promise<Known>;
  /** Ids of all matches; null when there are more than `max`, by default 5,000. */
  list(
    filters: Filters,
    matching: Matching,
    version: number,
    max?: number,
  ): Promise<readonly number[] | null>;
  /** The exact number of matches. */
  count(filters: Filters, known: Known, version: number): Promise<number>;
}

export function createMatchReader(database: Database): MatchReader {
  const reads = createPageReads(database);
  const findGroups = createGroupFinder(database);
  const countValues = createValueCounts(database);
  const totals = createCache<number>(totalsBytesMax);
  /** After a change, many requests need the same total at once. */
  const counting = new Map<string, Promise<number>>();
  /** Ids as JSON, because the cache counts bytes of texts. */
  const matches = createCache<string>(matchesBytesMax);
  const keyOf = (filters: Filters, version: number) => `${version} ${JSON.stringify(filters)}`;

  /** The number of cheeses in a range: counters, and the cheeses in the bands at its ends. */
  async function countRange(known: Known, version: number): Promise<number> {
    const [[column, range]] = Object.entries(known.ranges) as [[ValueColumn, ValueRange]];
    const { inside, edges } = await countValues(column, range, known.statuses ?? allStatuses, version);
    let total = inside;
    for (const edge of edges) {
      const segment = { column, isDescending: false, isMissing: false };
      const driver = { by: 'catalogue' } as const;
      total += await reads.countAlong({
        driver,
        segment,
        statuses: known.statuses,
        ranges: { [column]: edge },
        groups: [],
        words: [],
      });
    }
    return total;
  }

  async function countExactly(known: Known, version: number): Promise<number> {
    const isRangeAlone = known.groups.length === 0 && Object.keys(known.ranges).length === 1;
    return isRangeAlone ? countRange(known, version) : reads.count(planMatching(known).matching);
  }

  return {
    async know(filters, words, version) {
      const { statuses = allStatuses } = filters;
      const groups = await findGroups(filters, words, version);
      const ranges = rangesOf(filters);
      const known = { groups, statuses: filters.statuses ?? null, ranges };
      if (isSimple(groups, ranges)) {
        return { ...known, all: 0, inStatuses: 0, inRanges: [] };
      }
      const counts = await cheeseQueries(database).countByStatus();
      const sum = (rows: typeof counts) => rows.reduce((total, { cheeses }) => total + cheeses, 0);
      const inRanges: RangeCount[] = [];
      for (const [column, range] of Object.entries(ranges) as [ValueColumn, ValueRange][]) {
        inRanges.push(await countValues(column, range, statuses, version));
      }
      const inStatuses = sum(counts.filter(({ status }) => statuses.includes(status)));
      return { ...known, all: sum(counts), inStatuses, inRanges };
    },

    async list(filters, matching, version, max = matchesMax) {
      const key = `${max} ${keyOf(filters, version)}`;
      const known = matches.get(key);
      if (known !== undefined) {
        return JSON.parse(known);
      }
      const ids = await reads.listMatches(matching, max);
      matches.set(key, JSON.stringify(ids));
      return ids;
    },

    async count(filters, known, version) {
      const key = keyOf(filters, version);
      const total = totals.get(key);
      if (total !== undefined) {
        return total;
      }
      const running = counting.get(key) ?? countExactly(known, version).finally(() => counting.delete(key));
      counting.set(key, running);
      const counted = await running;
      totals.set(key, counted);
      return counted;
    },
  };
}

/** Whether counters and one index are all that a list needs, in every order. */
function isSimple([group, ...others]: readonly Group[], ranges: ValueRanges): boolean {
  const isOneTerm = group === undefined || (group.countedTerm !== null && group.word === undefined);
  const isOfManyTerms = (group?.ids?.length ?? 0) > separateTermsMax;
  return Object.keys(ranges).length === 0 && others.length === 0 && (isOneTerm || isOfManyTerms);
}

/** The term whose counter is the exact total: with at most one filtering term, that term or the whole catalogue. */
export function termWithTotal(groups: readonly Group[], ranges: ValueRanges): number | null {
  if (Object.keys(ranges).length > 0 || groups.length > 1) {
    return null;
  }
  return groups[0] === undefined ? 0 : groups[0].countedTerm;
}
