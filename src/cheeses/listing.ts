/** Lists of cheeses: which index to walk, where a page ends, and how many match in all. */
import type { Cursors } from '../cursor.ts';
import { createCache } from '../database/cache.ts';
import type { Database } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { type Filters, type ListRequest, parseListQuery, toCursorFilters } from './list-query.ts';
import {
  type Driver,
  itemSeparator,
  listingQueries,
  type PageRow,
  type Position,
  type Selection,
  type TermCountRow,
} from './listing-queries.ts';
import { cheeseQueries, versionLookup } from './queries.ts';
import { parseCheese } from './schemas.ts';
import { type Term, truncateTerm, wordLengthMax } from './search-terms.ts';

/** Above this many words with one prefix, their postings are not merged but passed over or through. */
const mergedWordsMax = 20;
const totalsBytesMax = 2 * 1024 * 1024;
/** A few hundred pages of 20 cheeses. */
const pagesBytesMax = 16 * 1024 * 1024;

export interface CheesePage {
  /** Version of the catalogue that the page shows. */
  readonly version: number;
  /** The cheeses as JSON, separated by commas: the inside of an array. */
  readonly items: string;
  readonly nextCursor: string | null;
  /** Null where it was not asked for. */
  readonly total: number | null;
}

/** In place of a page that the client has already. */
export interface Unchanged {
  readonly unchanged: true;
  readonly version: number;
}

export interface ListOptions {
  readonly withTotal: boolean;
  /** Says of a version of the catalogue whether the client has its page. */
  readonly isKnown?: ((version: number) => boolean) | undefined;
  /** Ends the page early when it has so many bytes, but not before its first cheese. In the order of ids only. */
  readonly bytesMax?: number | undefined;
}

export interface CheeseListing {
  /** @throws AppError badRequest where the cursor is not ours, or belongs to other filters */
  list(request: ListRequest, options: ListOptions): Promise<CheesePage | Unchanged>;
}

interface Dependencies {
  readonly database: Database;
  readonly cursors: Cursors;
}

/** A filter as terms: any one of them must be the cheese's. */
interface Group {
  /** The most frequent first. */
  readonly ids: readonly number[];
  /** Matching cheeses by the counters; an upper bound where there are several terms. */
  readonly cheeses: number;
  /** The word of a search that the group stands for. */
  readonly word?: string;
}

export function createCheeseListing({ database, cursors }: Dependencies): CheeseListing {
  const queries = listingQueries(database);
  const totals = createCache<number>(totalsBytesMax);
  const pages = createCache<CheesePage>(pagesBytesMax);
  const findVersion = createLookup<{ version: number }>(database, versionLookup);

  async function totalOf(selection: Selection, filters: Filters, version: number): Promise<number> {
    const key = `${version} ${JSON.stringify(filters)}`;
    const known = totals.get(key);
    if (known !== undefined) {
      return known;
    }
    const total = await queries.count(selection);
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
    // Beyond 2^53, a number would be rounded onto another; no category has such an id.
    const ids = categoryId === undefined ? [] : [Number.isSafeInteger(categoryId) ? categoryId : -1];
    if (named.length + prefixes.length + ids.length === 0) {
      return [];
    }
    const rows = await queries.findCountedTerms([...named.flat(), ...prefixes], ids);
    const groupOf = (isMine: (row: TermCountRow) => boolean): Group => {
      const counts = new Map<number, number>();
      for (const { id, status, cheeses } of rows.filter(isMine)) {
        const isCounted = status !== null && (statuses?.includes(status) ?? true);
        counts.set(id, (counts.get(id) ?? 0) + (isCounted ? (cheeses ?? 0) : 0));
      }
      const byCount = [...counts].sort(([, one], [, other]) => other - one);
      return { ids: byCount.map(([id]) => id), cheeses: byCount.reduce((sum, [, count]) => sum + count, 0) };
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

  /** The group with the fewest cheeses leads; the others become conditions. */
  async function select(filters: Filters, groups: readonly Group[], limit: number): Promise<Selection> {
    const lead = groups.toSorted((a, b) => a.cheeses - b.cheeses)[0];
    const driver = lead === undefined ? ({ by: 'catalogue' } as const) : await driverFor(lead, limit);
    const rest = groups.filter((group) => group !== lead);
    const words = rest.flatMap(({ word }) => (word === undefined ? [] : [word]));
    // The leading word is a condition still, where its postings do not imply it.
    const isImplied = driver.by !== 'catalogue' && [...(lead?.word ?? '')].length <= wordLengthMax;
    return {
      driver,
      statuses: filters.statuses ?? null,
      groups: rest.flatMap(({ ids, word }) => (word === undefined ? [ids] : [])),
      words: lead?.word === undefined || isImplied ? words : [lead.word, ...words],
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
    // Many words share the prefix. Passing through the catalogue tests about limit / share cheeses until a page is
    // full; passing through all postings of the words reads as many as match. The cheaper of the two, which at
    // worst is the root of limit times the size of the catalogue.
    const all = (await cheeseQueries(database).countByStatus()).reduce(
      (sum, { cheeses }) => sum + cheeses,
      0,
    );
    return lead.cheeses * lead.cheeses <= limit * all ? { by: 'prefix', prefix } : { by: 'catalogue' };
  }

  /** `version` was read first: what is shown is never older than what the page's tag will say. */
  async function findPage(
    request: ListRequest,
    { withTotal, bytesMax }: ListOptions,
    version: number,
  ): Promise<CheesePage> {
    const { query, words } = parseListQuery(request, cursors);
    const groups = await findGroups(query.filters, words);
    if (groups.some(({ cheeses }) => cheeses === 0)) {
      return { version, items: '', nextCursor: null, total: 0 };
    }
    const selection = await select(query.filters, groups, request.limit);
    const countedTerm = withTotal ? termThatCounts(groups) : null;
    const wanted = { ...selection, ...query, limit: request.limit + 1, countedTerm };
    const page = await (bytesMax === undefined
      ? queries.findPage(wanted)
      : queries.findPart(wanted, request.limit, bytesMax));
    const { items, last } = cut(page, request.limit);
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
      // The following parts of a long response are read once.
      if (bytesMax === undefined || request.cursor === undefined) {
        pages.set(key, page);
      }
      return page;
    },
  };
}

/** One counter holds the exact total where at most one term filters: that of the term, or of the catalogue. */
function termThatCounts(groups: readonly Group[]): number | null {
  const [only] = groups;
  if (only === undefined) {
    return 0;
  }
  const isExact =
    groups.length === 1 && only.ids.length === 1 && [...(only.word ?? '')].length <= wordLengthMax;
  return isExact ? (only.ids[0] ?? null) : null;
}

/** Drops the one item beyond the limit, whose presence says that there is a next page. */
function cut(
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
