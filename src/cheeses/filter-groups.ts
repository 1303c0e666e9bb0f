/** Finds the terms of the search index that filters name, with their counters. */
import { createCache } from '../database/cache.ts';
import type { Database } from '../database/database.ts';
import type { Filters } from './list-query.ts';
import { listingQueries, type TermCountRow } from './listing-queries.ts';
import { foldText, type Term, type TermKind, termLengthMax, truncateTerm } from './search-terms.ts';
import { separateTermsMax } from './selection-queries.ts';

/** With more words of one prefix, their postings are read as one range, or the catalogue is read instead. */
const mergedWordsMax = 20;
/** To count more words would take longer than half a millisecond, for each page. */
const countedWordsMax = 4000;
const groupsBytesMax = 2 * 1024 * 1024;

/** A filter as ids of terms. A cheese matches with any one of them. */
export interface Group {
  /** The most frequent term first; null for a prefix with more words than are read one by one. */
  readonly ids: readonly number[] | null;
  /** Sum of the counters of the terms: the number of matches, or with several terms an upper bound. */
  readonly cheeses: number;
  /** The same sum for all statuses: the number of postings that are read. */
  readonly postings: number;
  /** The term whose counter is the number of matches, if there is one. */
  readonly countedTerm: number | null;
  /** The searched word, for a group that comes from the parameter q. */
  readonly word?: string;
  /** How many words have this prefix, if `ids` is null; null for more than are counted. */
  readonly words?: number | null;
}

/** Returns a function from filters and the words of q to groups. */
export function createGroupFinder(database: Database) {
  const queries = listingQueries(database);
  /** Groups as JSON, because the cache counts bytes of texts. */
  const groupsOfManyTags = createCache<string>(groupsBytesMax);

  async function find(filters: Filters, words: readonly string[]): Promise<Group[]> {
    const { categoryId, category, origin, organic, tags, tagsAll = [], missing = [] } = filters;
    const named: (readonly Term[])[] = [
      ...(tags === undefined ? [] : [tags.map((tag) => ['tag', tag] as const)]),
      ...tagsAll.map((tag) => [['tag', tag] as const]),
      ...(organic === undefined ? [] : [[['organic', String(organic)] as const]]),
      ...missing.map((field) => [['missing', field] as const]),
    ];
    const folded: Term[] = [
      ...(category === undefined ? [] : [['category', foldText(category)] as const]),
      ...(origin === undefined ? [] : [['origin', foldText(origin)] as const]),
    ];
    const prefixes = words.map((word): Term => ['prefix', truncateTerm(word)]);
    // A number beyond 2^53 was rounded and could equal another id. No category has an id that large.
    const ids = categoryId === undefined ? [] : [Number.isSafeInteger(categoryId) ? categoryId : -1];
    if (named.length + folded.length + prefixes.length + ids.length === 0) {
      return [];
    }
    const found = await queries.findCountedTerms([...named.flat(), ...prefixes], folded, ids);
    // One category can be found by its name and by its id.
    const rows = [...new Map(found.map((row) => [`${row.id} ${row.status}`, row])).values()];
    const group = (isInGroup: (row: TermCountRow) => boolean) => groupOf(rows.filter(isInGroup), filters);
    const isNamed = (terms: readonly Term[]) => {
      const keys = new Set(terms.map(([kind, name]) => `${kind} ${name}`));
      return ({ kind, name }: TermCountRow) => keys.has(`${kind} ${name}`);
    };
    const groups = [
      ...named.map((terms) => group(isNamed(terms))),
      ...folded.map(([kind, name]) => group((row) => row.kind === kind && row.folded === name)),
      ...ids.map((id) => group((row) => row.id === id && isCategory(row.kind))),
    ];
    for (const word of words) {
      groups.push(await withWords(word, group(isNamed([['prefix', truncateTerm(word)]]))));
    }
    return groups;
  }

  /** The group of a prefix, with the words that have it. */
  async function withWords(word: string, prefix: Group): Promise<Group> {
    const terms = prefix.cheeses === 0 ? [] : await queries.listWords(truncateTerm(word), mergedWordsMax + 1);
    const isRange = terms.length > mergedWordsMax;
    const counted = isRange ? await queries.countWords(truncateTerm(word), countedWordsMax + 1) : 0;
    return {
      ...prefix,
      ids: isRange ? null : terms.map(({ id }) => id),
      words: counted > countedWordsMax ? null : counted,
      countedTerm: isTruncated(word) ? null : prefix.countedTerm,
      word,
    };
  }

  /** To find thousands of tags takes 10 ms: too long for every part of a response. */
  return async (filters: Filters, words: readonly string[], version: number): Promise<Group[]> => {
    if ((filters.tags?.length ?? 0) <= separateTermsMax) {
      return find(filters, words);
    }
    const key = `${version} ${JSON.stringify(filters)}`;
    const known = groupsOfManyTags.get(key);
    if (known !== undefined) {
      return JSON.parse(known);
    }
    const groups = await find(filters, words);
    groupsOfManyTags.set(key, JSON.stringify(groups));
    return groups;
  };
}

const isCategory = (kind: TermKind) => kind === 'category';

/** Whether the term of a word contains only its beginning, so that names must be tested for the rest. */
export function isTruncated(word: string): boolean {
  return [...word].length > termLengthMax;
}

function groupOf(rows: readonly TermCountRow[], { statuses }: Filters): Group {
  const counts = new Map<number, number>();
  let postings = 0;
  for (const { id, status, cheeses } of rows) {
    const isCounted = status !== null && (statuses?.includes(status) ?? true);
    counts.set(id, (counts.get(id) ?? 0) + (isCounted ? (cheeses ?? 0) : 0));
    postings += cheeses ?? 0;
  }
  const byCount = [...counts].sort(([, one], [, other]) => other - one);
  const ids = byCount.map(([id]) => id);
  return {
    ids,
    cheeses: byCount.reduce((sum, [, count]) => sum + count, 0),
    postings,
    countedTerm: ids.length === 1 ? (ids[0] ?? null) : null,
  };
}
