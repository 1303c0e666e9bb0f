/**
 * Reads pages and counts matches: with one statement where it is short, otherwise in slices of a few milliseconds with
 * other requests in between. One statement over 100,000 cheeses was measured to block the event loop for up to 390 ms on
 * SQLite. On PostgreSQL, long statements run in another process.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { findCommon, type PostingList } from './common-posting-queries.ts';
import type { Position } from './list-query.ts';
import { listingQueries, type PageRequest, type PageRow, type Walk } from './listing-queries.ts';
import type { Matching } from './read-plan.ts';
import { type IdRange, type Selection, type SetSelection, separateTermsMax } from './selection-queries.ts';

/** Cheeses that one statement tests: 2 to 10 ms with the most filters. */
const testedMax = 2000;
/** Entries of an index that one statement reads without looking at anything else: 2 to 5 ms. */
const scannedMax = 20_000;
/** A slice looks up each word of a prefix, 1.3 us, so slices are wider where there are many: up to 20 ms. */
const idsPerWord = 100;
const widthMax = 100_000;
/** The first slice of a page is this part of the others. To find its end takes 10 us, and it usually fills the page. */
const firstPart = 4;
/** After this many slices, a page is expected to cost less if all matches are found first. */
const slicesMax = 5;
/** With at most this many candidates, nothing is read in slices: about 20 ms with the most filters. */
const testedAtOnceMax = 5000;
/** Postings of thousands of terms that one statement returns: about 5 ms. */
const postingsMax = 8000;

export interface PageReads {
  /**
   * @param candidates an upper bound of the entries of the index that are read along the driver
   * @param bytesMax ends the page after the cheese that reaches this size
   * @param isShort returns null where it would take long to fill the page
   */
  findPage(
    request: PageRequest,
    options: { candidates: number; bytesMax?: number | undefined; isShort?: boolean },
  ): Promise<PageRow | null>;
  /** A page of cheeses that are in all lists; null where it would take long to find them. */
  findCommonPage(request: PageRequest, lists: readonly PostingList[]): Promise<PageRow | null>;
  /** Ids of all matches; null when there are more than `max`. */
  listMatches(matching: Matching, max: number): Promise<number[] | null>;
  count(matching: Matching): Promise<number>;
  /** Counts along the catalogue in the order of a segment, where an index contains all conditions. */
  countAlong(walk: Omit<Walk, 'after' | 'until'>): Promise<number>;
}

export function createPageReads(database: Database): PageReads {
  const queries = listingQueries(database);
  const isBlocking = database.engine === 'sqlite';

  /** One slice of all lists runs in a turn of the event loop: with several, other requests would wait for each of them. */
  let turns: Promise<unknown> = Promise.resolve();
  function nextTurn(): Promise<unknown> {
    turns = turns.then(() => setImmediate());
    return turns;
  }

  /** The slices of a walk, each in a separate turn of the event loop. */
  async function* slicesOf<W extends Walk>(walk: W, size: number): AsyncGenerator<W> {
    const branches = walk.driver.by === 'terms' ? walk.driver.ids.length : 1;
    for (let { after } = walk; ; ) {
      const until: Position | null = await queries.findEnd({ ...walk, after }, Math.ceil(size / branches));
      yield { ...walk, after, until };
      if (until === null) {
        return;
      }
      after = until;
      await nextTurn();
    }
  }

  /** Ranges of ids in which all sets together have a bounded number of entries, each in a separate turn. */
  async function* rangesOf({ sets, words }: SetSelection): AsyncGenerator<IdRange> {
    // A cheese has one category and one origin, however many spellings a filter matches.
    const terms = sets.reduce(
      (sum, set) => sum + ('ids' in set ? Math.min(set.ids.length, separateTermsMax) : 1),
      1,
    );
    const prefixes = sets.reduce((sum, set) => sum + ('ids' in set ? 0 : set.words), 0);
    // The names of cheeses are in their rows, which are longer than the entries of an index.
    const width =
      words.length > 0
        ? testedMax
        : Math.max(Math.ceil(scannedMax / terms), Math.min(prefixes * idsPerWord, widthMax));
    const last = await queries.lastId();
    for (let after = 0; after < last; after += width) {
      await nextTurn();
      yield { after, to: after + width };
    }
  }

  /** The parts in which all matches are found, and what reads one. */
  async function* partsOf<T>(
    { selection, segment, candidates, sets }: Matching,
    alongDriver: (walk: Walk) => Promise<T>,
    inRange: (sets: SetSelection, range: IdRange) => Promise<T>,
  ): AsyncGenerator<T> {
    const whole: Walk = { ...selection, segment, after: null, until: null };
    if (!isBlocking && sets !== null && !isScannedFaster(sets)) {
      yield await inRange(sets, { after: 0, to: null });
    } else if (isBlocking && sets !== null) {
      for await (const range of rangesOf(sets)) {
        yield await inRange(sets, range);
      }
    } else if (!isBlocking || selection.driver.by === 'prefix' || candidates <= testedAtOnceMax) {
      yield await alongDriver(whole);
    } else {
      for await (const slice of slicesOf(whole, sliceSize(selection))) {
        yield await alongDriver(slice);
      }
    }
  }

  /** Ids of the first matches, up to the limit, found by testing the cheeses along the driver. */
  async function findIdsAlongDriver(request: PageRequest, isShort: boolean): Promise<number[] | null> {
    const ids: number[] = [];
    let slices = 0;
    for await (const slice of slicesOf(request, sliceSize(request))) {
      if (isShort && slices === slicesMax) {
        return null;
      }
      slices += 1;
      const rows = await queries.findPageIds({ ...slice, limit: request.limit - ids.length });
      ids.push(...rows.map(({ id }) => id));
      if (ids.length === request.limit) {
        break;
      }
    }
    return ids;
  }

  /** The same for a request sorted by id whose driver has thousands of terms: by ranges of ids. */
  async function findIdsInRanges(request: PageRequest): Promise<number[]> {
    const ids: number[] = [];
    const last = await queries.lastId();
    let width = request.limit;
    for (let after = request.after?.id ?? 0; after < last && ids.length < request.limit; ) {
      // The terms were found in the same turn, or the range before was read in it.
      await nextTurn();
      const to = after + width;
      const rows = await queries.findIds(request, { after, to }, postingsMax + 1);
      if (rows.length > postingsMax && width > 1) {
        width = Math.ceil(width / 4);
      } else {
        ids.push(...[...new Set(rows.map(({ id }) => id))].sort((one, other) => one - other));
        after = to;
        width = rows.length < postingsMax / 4 ? width * 2 : width;
      }
    }
    return ids.slice(0, request.limit);
  }

  /** Reads the cheeses whose ids were found; null when `find` returns null. */
  async function readFound(
    request: PageRequest,
    find: () => Promise<number[] | null>,
    read: (request: PageRequest) => Promise<PageRow> = queries.findPage,
  ): Promise<PageRow | null> {
    for (;;) {
      const ids = await find();
      if (ids === null) {
        return null;
      }
      const page = await read({ ...request, driver: { by: 'ids', ids }, after: null });
      // Fewer when a cheese was changed or deleted in between. Then the page would seem to be the last one.
      if (page.found === ids.length) {
        return page;
      }
    }
  }

  return {
    findCommonPage: (request, lists) => readFound(request, () => findCommon(database, lists, request)),

    async findPage(request, { candidates, bytesMax, isShort = false }) {
      const { driver, statuses, ranges, groups, words, limit } = request;
      const read = (one: PageRequest) =>
        bytesMax === undefined ? queries.findPage(one) : queries.findPart(one, limit - 1, bytesMax);

      // Only a list that is sorted by id and has no other filter is read along as many terms.
      if (driver.by === 'terms' && driver.ids.length > separateTermsMax) {
        return readFound(request, () => findIdsInRanges(request), read);
      }
      const isTested =
        groups.length + words.length > 0 ||
        Object.keys(ranges).some((column) => column !== request.segment.column) ||
        (statuses !== null && driver.by === 'terms' && driver.ids.length > 1);
      if (!isBlocking || !isTested || driver.by === 'ids' || candidates <= testedAtOnceMax) {
        return read(request);
      }
      const until = await queries.findEnd(request, sliceSize(request) / firstPart);
      const page = await read({ ...request, until });
      return until === null || page.found === limit
        ? page
        : readFound(request, () => findIdsAlongDriver(request, isShort), read);
    },

    async listMatches(matching, max) {
      const ids = new Set<number>();
      const parts = partsOf(matching, queries.listMatches, queries.listIntersection);
      for await (const rows of parts) {
        for (const { id } of rows) {
          ids.add(id);
        }
        if (ids.size > max) {
          return null;
        }
      }
      return [...ids];
    },

    async count(matching) {
      let total = 0;
      for await (const part of partsOf(matching, queries.countMatches, queries.countIntersection)) {
        total += part;
      }
      return total;
    },

    async countAlong(walk) {
      let total = 0;
      for await (const slice of slicesOf({ ...walk, after: null, until: null }, scannedMax)) {
        total += await queries.countMatches(slice);
      }
      return total;
    },
  };
}

/** PostgreSQL tests all names with several processes, in half the time of an intersection with all cheeses in a range. */
function isScannedFaster({ sets, ranges }: SetSelection): boolean {
  return Object.keys(ranges).length > 0 && sets.some((set) => 'prefix' in set);
}

/** Where the index contains all conditions, more of its entries are read at once. */
function sliceSize({ driver, ranges, groups, words }: Selection): number {
  const isFetched = driver.by === 'terms' && driver.areWords && Object.keys(ranges).length > 0;
  return isFetched || groups.length + words.length > 0 ? testedMax : scannedMax;
}

/** The rest of a page after a part of it. */
export function joinPages(first: PageRow, rest: PageRow, separator: string): PageRow {
  const items = [first.items, rest.items].filter((text) => text !== null && text !== '');
  return {
    total: first.total,
    items: items.length === 0 ? null : items.join(separator),
    found: first.found + rest.found,
  };
}
