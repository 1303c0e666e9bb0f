/** Reads pages of cheeses: cuts the page, finds the total, and remembers both for a version of the catalogue. */
import type { Cursors } from '../cursor.ts';
import { createCache } from '../database/cache.ts';
import type { Database } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { createFacetReader } from './facets.ts';
import {
  type ListQuery,
  type ListRequest,
  parseListQuery,
  toCursorFilters,
  type Unchanged,
} from './list-query.ts';
import { itemSeparator, type PageRow } from './listing-queries.ts';
import { createMatchReader, termWithTotal } from './match-reader.ts';
import type { FacetName } from './navigation-schemas.ts';
import { createPageReads, joinPages } from './page-reads.ts';
import { versionLookup } from './queries.ts';
import { planRead, type ReadPlan } from './read-plan.ts';
import { type Cheese, parseCheese } from './schemas.ts';
import { noValue } from './search-index.ts';
import { positionOf, segmentsAfter } from './sort-segments.ts';

/** A few hundred pages of 20 cheeses. */
const pagesBytesMax = 16 * 1024 * 1024;

export interface CheesePage {
  /** The version of the catalogue, read before the page. */
  readonly version: number;
  /** The cheeses as JSON, separated by commas, without the brackets of an array. */
  readonly items: string;
  readonly nextCursor: string | null;
  /** null when it was not requested. */
  readonly total: number | null;
  /** As JSON, when they were requested. */
  readonly facets?: string;
}

export interface ListOptions {
  readonly withTotal: boolean;
  /** Whether the client has the page at a version of the catalogue. */
  readonly isKnown?: ((version: number) => boolean) | undefined;
  /** Ends the page after the cheese that reaches this size. Only for lists sorted by id. */
  readonly bytesMax?: number | undefined;
  /** What to count besides, under the filters of the list. */
  readonly facets?: readonly FacetName[] | undefined;
}

export interface CheeseReader {
  /** @throws AppError badRequest when a filter or the cursor is not valid, or the cursor belongs to other filters */
  list(request: ListRequest, options: ListOptions): Promise<CheesePage | Unchanged>;
}

interface Dependencies {
  readonly database: Database;
  readonly cursors: Cursors;
}

export function createCheeseReader({ database, cursors }: Dependencies): CheeseReader {
  const matches = createMatchReader(database);
  const facetReader = createFacetReader(database, matches);
  const reads = createPageReads(database);
  const pages = createCache<CheesePage>(pagesBytesMax);
  const findVersion = createLookup<{ version: number }>(database, versionLookup);

  /** Reads a page segment by segment, along the driver of the plan. */
  async function readInOrder(
    query: ListQuery,
    { selection, candidates }: Pick<ReadPlan, 'selection' | 'candidates'>,
    options: { limit: number; countedTerm: number | null; bytesMax?: number | undefined; isShort?: boolean },
  ): Promise<PageRow | null> {
    const { countedTerm, ...bounds } = options;
    let page: PageRow | null = null;
    for (const segment of segmentsAfter(query.sort, selection.ranges, query.after)) {
      const isAfter = query.after !== null && segment.isMissing === (query.after[segment.column] === noValue);
      const limit = bounds.limit - (page?.found ?? 0);
      const request = {
        ...selection,
        segment,
        after: isAfter ? query.after : null,
        until: null,
        limit,
        countedTerm,
      };
      const part = await reads.findPage(request, { ...bounds, candidates });
      if (part === null) {
        return null;
      }
      page = page === null ? part : joinPages(page, part, itemSeparator);
      if (page.found >= bounds.limit) {
        break;
      }
    }
    return page ?? { total: null, items: null, found: 0 };
  }

  /** Reads a page of cheeses that are in all lists of the plan; null where it would take long. */
  async function readCommon(
    query: ListQuery,
    { selection, lists }: Pick<ReadPlan, 'selection' | 'lists'>,
    { limit, countedTerm }: { limit: number; countedTerm: number | null },
  ): Promise<PageRow | null> {
    // A list by name or by id has one segment.
    const [segment] = segmentsAfter(query.sort, selection.ranges, query.after);
    return lists === null || segment === undefined
      ? null
      : reads.findCommonPage(
          { ...selection, segment, after: query.after, until: null, limit, countedTerm },
          lists,
        );
  }

  /** Finds all matches and sorts them; null when there are too many of them. */
  async function readMatches(query: ListQuery, plan: ReadPlan, limit: number, version: number) {
    const ids = await matches.list(query.filters, plan.matching, version);
    if (ids === null) {
      return null;
    }
    const { ranges } = plan.selection;
    const found = { driver: { by: 'ids', ids }, statuses: null, ranges, groups: [], words: [] } as const;
    const page = await readInOrder(
      query,
      { selection: found, candidates: ids.length },
      { limit, countedTerm: null },
    );
    return page === null ? null : { ...page, total: ids.length };
  }

  /** `version` was read before: the page is never older than its ETag. */
  async function findPage(
    request: ListRequest,
    { withTotal, bytesMax }: ListOptions,
    version: number,
  ): Promise<CheesePage> {
    const { query, words } = parseListQuery(request, cursors);
    const known = await matches.know(query.filters, words, version);
    if (known.groups.some(({ cheeses }) => cheeses === 0)) {
      return { version, items: '', nextCursor: null, total: 0 };
    }
    const limit = request.limit + 1;
    const plan = planRead(known, query.sort, limit);
    const countedTerm = withTotal ? termWithTotal(known.groups, known.ranges) : null;
    const options = { limit, countedTerm, bytesMax };
    const page =
      (bytesMax === undefined ? await readCommon(query, plan, options) : null) ??
      (plan.isMatchedFirst ? await readMatches(query, plan, limit, version) : null) ??
      (await readInOrder(query, plan, { ...options, isShort: !plan.isMatchedFirst })) ??
      (await readMatches(query, plan, limit, version)) ??
      ((await readInOrder(query, plan, options)) as PageRow);
    const { items, last } = cutPage(page, request.limit);
    return {
      version,
      items,
      nextCursor: last === null ? null : cursorAfter(query, last),
      total: withTotal ? (page.total ?? (await matches.count(query.filters, known, version))) : null,
    };
  }

  function cursorAfter({ sort, filters }: ListQuery, last: Cheese): string {
    return cursors.encode({ sort, filters: toCursorFilters(filters), after: positionOf(sort, last) });
  }

  /** The page, from the cache where it is of this version. */
  async function readPage(request: ListRequest, options: ListOptions, version: number): Promise<CheesePage> {
    const { withTotal, bytesMax } = options;
    const key = JSON.stringify([request, withTotal, bytesMax]);
    const known = pages.get(key);
    if (known?.version === version) {
      return known;
    }
    const page = await findPage(request, options, version);
    // Later parts of a long response are read once, so they are not cached.
    if (bytesMax === undefined || request.cursor === undefined) {
      pages.set(key, page);
    }
    return page;
  }

  return {
    async list(request, options) {
      const version = (await findVersion('catalogue'))?.version ?? 0;
      if (options.isKnown?.(version)) {
        parseListQuery(request, cursors);
        return { unchanged: true, version };
      }
      const page = await readPage(request, options, version);
      if (options.facets === undefined) {
        return page;
      }
      const { query, words } = parseListQuery(request, cursors);
      return { ...page, facets: await facetReader.read(options.facets, query.filters, words, version) };
    },
  };
}

/** Removes the item beyond the limit. It was read to find out whether there is a next page. */
function cutPage(
  { items, found, shown: whole }: PageRow,
  limit: number,
): { items: string; last: Cheese | null } {
  if (items === null || found <= (whole ?? limit)) {
    return { items: items ?? '', last: null };
  }
  const shown = whole === undefined ? items.slice(0, items.lastIndexOf(itemSeparator)) : items;
  return { items: shown, last: parseCheese(shown.slice(shown.lastIndexOf(itemSeparator) + 1)) };
}
