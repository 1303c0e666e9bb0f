/**
 * Reads pages and counts matches: with one statement where it is short, otherwise in slices of a few milliseconds with
 * other requests in between. One statement over 100,000 cheeses was measured to block the event loop for up to 390 ms on
 * SQLite. On PostgreSQL, long statements run in another process.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { listingQueries, type PageRequest, type PageRow, type Position } from './listing-queries.ts';
import { type Selection, separateTermsMax } from './selection-queries.ts';

/** Cheeses that one statement tests: 2 to 10 ms with the most filters. */
const testedMax = 2000;
/** Cheeses of the first slice of a page. To find its end takes 10 us on SQLite, and it usually fills the page. */
const testedFirst = 500;
/** With at most this many candidates, nothing is read in slices: about 20 ms with the most filters. */
const testedAtOnceMax = 5000;
/** Postings of thousands of terms that one statement returns: about 5 ms. */
const postingsMax = 8000;

export interface PageReads {
  /**
   * @param candidates an upper bound of the entries of the index that are read along the driver
   * @param bytesMax ends the page after the cheese that reaches this size
   */
  findPage(request: PageRequest, candidates: number, bytesMax: number | undefined): Promise<PageRow>;
  count(selection: Selection, candidates: number): Promise<number>;
}

export function createPageReads(database: Database): PageReads {
  const queries = listingQueries(database);
  const isBlocking = database.engine === 'sqlite';

  function findEnd(request: PageRequest): Promise<Position | null> {
    const { driver } = request;
    const branches = driver.by === 'terms' ? driver.ids.length : 1;
    return queries.findEnd(request, Math.ceil(testedMax / branches));
  }

  /** Ids of the first matches, up to the limit, found by testing the cheeses along the driver. */
  async function findIdsAlongDriver(request: PageRequest): Promise<number[]> {
    const ids: number[] = [];
    for (let { after } = request; ; ) {
      const until = await findEnd({ ...request, after });
      const limit = request.limit - ids.length;
      const rows = await queries.findPageIds({ ...request, after, until, limit });
      ids.push(...rows.map(({ id }) => id));
      if (ids.length === request.limit || until === null) {
        return ids;
      }
      after = until;
      await setImmediate();
    }
  }

  /** The same for a request sorted by id whose driver has thousands of terms: by ranges of ids. */
  async function findIdsInRanges(request: PageRequest): Promise<number[]> {
    const ids: number[] = [];
    const last = await queries.lastId();
    let width = request.limit;
    for (let after = request.after?.id ?? 0; after < last && ids.length < request.limit; ) {
      // The terms were found in the same turn, or the range before was read in it.
      await setImmediate();
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

  return {
    async findPage(request, candidates, bytesMax) {
      const { driver, statuses, groups, words, limit } = request;
      const read = (one: PageRequest) =>
        bytesMax === undefined ? queries.findPage(one) : queries.findPart(one, limit - 1, bytesMax);

      async function readFound(findIds: (request: PageRequest) => Promise<number[]>): Promise<PageRow> {
        for (;;) {
          const ids = await findIds(request);
          const page = await read({ ...request, driver: { by: 'ids', ids }, after: null });
          // Fewer when a cheese was changed or deleted in between. Then the page would seem to be the last one.
          if (page.found === ids.length) {
            return page;
          }
        }
      }

      // Only findByTags accepts as many terms. Its list is sorted by id and has no other filter.
      if (driver.by === 'terms' && driver.ids.length > separateTermsMax) {
        return readFound(findIdsInRanges);
      }
      const isTested =
        groups.length + words.length > 0 ||
        (statuses !== null && driver.by === 'terms' && driver.ids.length > 1);
      if (!isBlocking || !isTested || driver.by === 'prefix' || candidates <= testedAtOnceMax) {
        return read(request);
      }
      const until = await queries.findEnd(request, testedFirst);
      const page = await read({ ...request, until });
      return until === null || page.found === limit ? page : readFound(findIdsAlongDriver);
    },

    async count(selection, candidates) {
      if (!isBlocking || selection.driver.by === 'prefix' || candidates <= testedAtOnceMax) {
        return queries.count(selection, { after: 0, to: null });
      }
      const byId = { ...selection, sort: 'createdAt', until: null, limit: 1, countedTerm: null } as const;
      let total = 0;
      for (let after: Position | null = null; ; ) {
        const until: Position | null = await findEnd({ ...byId, statuses: null, after });
        total += await queries.count(selection, { after: after?.id ?? 0, to: until?.id ?? null });
        if (until === null) {
          return total;
        }
        after = until;
        await setImmediate();
      }
    },
  };
}
