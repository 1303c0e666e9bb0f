/** Reads pages of cheeses: chooses the index to read along, cuts the page, and finds the total. */
import type { Cursors } from '../cursor.ts';
import { createCache } from '../database/cache.ts';
import type { Database } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { type Filters, type ListRequest, parseListQuery, toCursorFilters } from './list-query.ts';
import {
  itemSeparator,
  listingQueries,
  type PageRow,
  type Position,
  type TermCountRow,
} from './listing-queries.ts';
import { createPageReads } from './page-reads.ts';
import { cheeseQueries, versionLookup } from './queries.ts';
import { parseCheese } from './schemas.ts';
import { type Term, termLengthMax, truncateTerm } from './search-terms.ts';
import { type Driver, type Selection, separateTermsMax } from './selection-queries.ts';

/** With more words of one prefix, their postings are read as one range, or the catalogue is read instead. */
const mergedWordsMax = 20;
/** Postings of a range of words are read by one statement: 10 ms. Those of other statuses are read too. */
const rangePostingsMax = 10_000;
const totalsBytesMax = 2 * 1024 * 1024;
const groupsBytesMax = 2 * 1024 * 1024;
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
}

/** Returned instead of a page that the client has already. */
export interface Unchanged {
  readonly unchanged: true;
  readonly version: number;
}

export interface ListOptions {
  readonly withTotal: boolean;
  /** Whether the client has the page at a version of the catalogue. */
  readonly isKnown?: ((version: number) => boolean) | undefined;
  /** Ends the page after the cheese that reaches this size. Only for lists sorted by id. */
  readonly bytesMax?: number | undefined;
}

export interface CheeseReader {
  /** @throws AppError badRequest when the cursor is not valid or belongs to other filters */
  list(request: ListRequest, options: ListOptions): Promise<CheesePage | Unchanged>;
}

interface Dependencies {
  readonly database: Database;
  readonly cursors: Cursors;
}

/** A filter as ids of terms. A cheese matches with any one of them. */
interface Group {
  /** The most frequent term first. */
  readonly ids: readonly number[];
  /** Sum of the counters of the terms: the number of matches, or with several terms an upper bound. */
  readonly cheeses: number;
  /** The same sum for all statuses: the number of postings that are read. */
  readonly postings: number;
  /** The searched word, for a group that comes from the parameter q. */
  readonly word?: string;
}

interface SelectedBy extends Selection {
  /** An upper bound of the entries of the index that are read along the driver. */
  readonly candidates: number;
}

export function createCheeseReader({ database, cursors }: Dependencies): CheeseReader {
  const queries = listingQueries(database);
  const reads = createPageReads(database);
  const totals = createCache<number>(totalsBytesMax);
  /** Groups as JSON, because the cache counts bytes of texts. */
  const groupsOfManyTags = createCache<string>(groupsBytesMax);
  const pages = createCache<CheesePage>(pagesBytesMax);
  const findVersion = createLookup<{ version: number }>(database, versionLookup);

  async function totalOf(selection: SelectedBy, filters: Filters, version: number): Promise<number> {
    const key = `${version} ${JSON.stringify(filters)}`;
    const known = totals.get(key);
    if (known !== undefined) {
      return known;
    }
    const total = await reads.count(selection, selection.candidates);
    totals.set(key, total);
    return total;
  }

  async function findGroups(filters: Filters, words: readonly string[]): Promise<Group[]> {
    const { statuses, category, categoryId, tags, tagsAll = [] } = filters;
    const named: Term[][] = [
      ...(category === undefined ? [] : [[['category', category] as const]]),
      ...(tags === undefined ? [] : [tags.map((tag) => ['tag', tag] as const)]),
      ...tagsAll.map((tag) => [['tag', tag] as const]),
    ];
    const prefixes = words.map((word): Term => ['prefix', truncateTerm(word)]);
    // A number beyond 2^53 was rounded and could equal another id. No category has an id that large.
    const ids = categoryId === undefined ? [] : [Number.isSafeInteger(categoryId) ? categoryId : -1];
    if (named.length + prefixes.length + ids.length === 0) {
      return [];
    }
    const rows = await queries.findCountedTerms([...named.flat(), ...prefixes], ids);
    const groupOf = (isInGroup: (row: TermCountRow) => boolean): Group => {
      const counts = new Map<number, number>();
      let postings = 0;
      for (const { id, status, cheeses } of rows.filter(isInGroup)) {
        const isCounted = status !== null && (statuses?.includes(status) ?? true);
        counts.set(id, (counts.get(id) ?? 0) + (isCounted ? (cheeses ?? 0) : 0));
        postings += cheeses ?? 0;
      }
      const byCount = [...counts].sort(([, one], [, other]) => other - one);
      const cheeses = byCount.reduce((sum, [, count]) => sum + count, 0);
      return { ids: byCount.map(([id]) => id), cheeses, postings };
    };
    const matching = (terms: readonly Term[]) => {
      const keys = new Set(terms.map(([kind, name]) => `${kind} ${name}`));
      return ({ kind, name }: TermCountRow) => keys.has(`${kind} ${name}`);
    };
    return [
      ...named.map((terms) => groupOf(matching(terms))),
      ...ids.map((id) => groupOf((row) => row.id === id && row.kind === 'category')),
      ...words.map((word) => ({ ...groupOf(matching([['prefix', truncateTerm(word)]])), word })),
    ];
  }

  /** To find thousands of tags takes 10 ms: too long for every part of a response. */
  async function groupsOf(filters: Filters, words: readonly string[], version: number): Promise<Group[]> {
    if ((filters.tags?.length ?? 0) <= separateTermsMax) {
      return findGroups(filters, words);
    }
    const key = `${version} ${JSON.stringify(filters)}`;
    const known = groupsOfManyTags.get(key);
    if (known !== undefined) {
      return JSON.parse(known);
    }
    const groups = await findGroups(filters, words);
    groupsOfManyTags.set(key, JSON.stringify(groups));
    return groups;
  }

  /** Reads along the group with the fewest cheeses. The others become conditions. */
  async function select(filters: Filters, groups: readonly Group[], limit: number): Promise<SelectedBy> {
    const lead = groups.toSorted((a, b) => a.cheeses - b.cheeses)[0];
    const driver = lead === undefined ? ({ by: 'catalogue' } as const) : await driverFor(lead, limit);
    const rest = groups.filter((group) => group !== lead);
    const words = rest.flatMap(({ word }) => (word === undefined ? [] : [word]));
    // The word of the leading group stays a condition when its postings do not imply it.
    const isImplied = driver.by !== 'catalogue' && [...(lead?.word ?? '')].length <= termLengthMax;
    return {
      driver,
      statuses: filters.statuses ?? null,
      groups: rest.flatMap(({ ids, word }) => (word === undefined ? [ids] : [])),
      words: lead?.word === undefined || isImplied ? words : [lead.word, ...words],
      candidates: driver.by === 'catalogue' ? Number.POSITIVE_INFINITY : (lead?.postings ?? 0),
    };
  }

  async function driverFor(lead: Group, limit: number): Promise<Driver> {
    if (lead.word === undefined) {
      return { by: 'terms', ids: lead.ids };
    }
    const prefix = truncateTerm(lead.word);
    const words = await queries.listWords(prefix, mergedWordsMax + 1);
    if (words.length <= mergedWordsMax) {
      return { by: 'terms', ids: words.map(({ id }) => id) };
    }
    // Many words have the prefix. Reading along the catalogue tests about limit * all / matches cheeses until a page is
    // full. Reading all postings of the words reads as many as match. The cheaper of the two costs at most
    // the square root of limit * all.
    const all = (await cheeseQueries(database).countByStatus()).reduce(
      (sum, { cheeses }) => sum + cheeses,
      0,
    );
    const isCheaper = lead.cheeses * lead.cheeses <= limit * all;
    return isCheaper && lead.postings <= rangePostingsMax ? { by: 'prefix', prefix } : { by: 'catalogue' };
  }

  /** `version` was read before: the page is never older than its ETag. */
  async function findPage(
    request: ListRequest,
    { withTotal, bytesMax }: ListOptions,
    version: number,
  ): Promise<CheesePage> {
    const { query, words } = parseListQuery(request, cursors);
    const groups = await groupsOf(query.filters, words, version);
    if (groups.some(({ cheeses }) => cheeses === 0)) {
      return { version, items: '', nextCursor: null, total: 0 };
    }
    const selection = await select(query.filters, groups, request.limit);
    const countedTerm = withTotal ? termWithTotal(groups) : null;
    const pageRequest = { ...selection, ...query, until: null, limit: request.limit + 1, countedTerm };
    const page = await reads.findPage(pageRequest, selection.candidates, bytesMax);
    const { items, last } = cutPage(page, request.limit);
    return {
      version,
      items,
      nextCursor:
        last === null
          ? null
          : cursors.encode({ sort: query.sort, filters: toCursorFilters(query.filters), after: last }),
      total: withTotal ? (page.total ?? (await totalOf(selection, query.filters, version))) : null,
    };
  }

  return {
    async list(request, { withTotal, isKnown, bytesMax }) {
      const key = JSON.stringify([request, withTotal, bytesMax]);
      const version = (await findVersion('catalogue'))?.version ?? 0;
      if (isKnown?.(version)) {
        parseListQuery(request, cursors);
        return { unchanged: true, version };
      }
      const known = pages.get(key);
      if (known?.version === version) {
        return known;
      }
      const page = await findPage(request, { withTotal, bytesMax }, version);
      // Later parts of a long response are read once, so they are not cached.
      if (bytesMax === undefined || request.cursor === undefined) {
        pages.set(key, page);
      }
      return page;
    },
  };
}

/** The term whose counter is the exact total: with at most one filtering term, that term or the whole catalogue. */
function termWithTotal(groups: readonly Group[]): number | null {
  const [only] = groups;
  if (only === undefined) {
    return 0;
  }
  const isExact =
    groups.length === 1 && only.ids.length === 1 && [...(only.word ?? '')].length <= termLengthMax;
  return isExact ? (only.ids[0] ?? null) : null;
}

/** Removes the item beyond the limit. It was read to find out whether there is a next page. */
function cutPage(
  { items, found, shown: whole }: PageRow,
  limit: number,
): { items: string; last: Position | null } {
  if (items === null || found <= (whole ?? limit)) {
    return { items: items ?? '', last: null };
  }
  const shown = whole === undefined ? items.slice(0, items.lastIndexOf(itemSeparator)) : items;
  const last = parseCheese(shown.slice(shown.lastIndexOf(itemSeparator) + 1));
  return { items: shown, last: { id: last.id, name: last.name } };
}
