/** The query that a request for a list asks for: its filters and sort, or those that its cursor continues. */
import { hash } from 'node:crypto';
import { type Cursors, canonicalFilters, requireSameQuery } from '../../cursor.ts';
import { parameterError } from '../../errors.ts';
import { splitWords } from '../../schema/folding.ts';
import { type CheeseFields, cheeseFields, type RangeField, rangeFields } from '../fields.ts';
import type { Sort } from '../schemas.ts';
import type { Filters } from '../search-index/matches.ts';
import type { Position } from '../search-index/slot-columns.ts';

export interface ListRequest extends Filters {
  readonly sort?: Sort | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** What a page is read by. `after` is the last cheese of the page before. */
export interface ListQuery {
  readonly sort: Sort;
  readonly filters: Filters;
  readonly after: Position | null;
}

/** Returned instead of a page that the client has already. */
export interface Unchanged {
  readonly unchanged: true;
  readonly version: number;
}

/** A cursor with more tags would not fit into the request line together with the parameter tags. */
const cursorTagsMax = 20;

type CursorFilters = Filters & { readonly tagsDigest?: string };
type CursorQuery = Omit<ListQuery, 'filters'> & { readonly filters: CursorFilters };

/**
 * The query of a request, and the words that it searches for.
 * @throws AppError badRequest
 */
export function parseListQuery(
  request: ListRequest,
  cursors: Cursors,
): { query: ListQuery; words: string[] } {
  const query = resolveCursor(request, cursors);
  for (const field of rangeFields) {
    requireRange(query.filters, cheeseFields[field].range);
  }
  return { query, words: searchedWords(query.filters.q) };
}

/**
 * A word that is the beginning of another one is left out, because every match of the longer word matches it.
 * @throws AppError badRequest
 */
function searchedWords(q: string | undefined): string[] {
  const words = q === undefined ? [] : splitWords(q);
  if (q !== undefined && words.length === 0) {
    throw parameterError('q', 'must contain at least one letter or digit');
  }
  const isImplied = (word: string) => words.some((other) => other !== word && other.startsWith(word));
  return words.filter((word) => !isImplied(word));
}

function requireRange(filters: Filters, { min, max }: CheeseFields[RangeField]['range']): void {
  const [from = 0, to = Number.POSITIVE_INFINITY] = [filters[min], filters[max]];
  if (from > to) {
    throw parameterError(min, `must be at most ${max}, which is ${to}`);
  }
}

/** A cursor contains sort and filters. The request may repeat them and must not change them. */
function resolveCursor(request: ListRequest, cursors: Cursors): ListQuery {
  const { cursor, limit: _, sort, ...given } = request;
  const filters = canonicalFilters(given);
  if (cursor === undefined) {
    return { sort: sort ?? 'name', filters, after: null };
  }
  const { filters: stored, ...position } = cursors.decode(cursor) as CursorQuery;
  const repeated = toCursorFilters(filters);
  requireSameQuery(
    { ...stored, sort: position.sort },
    { ...repeated, ...(sort === undefined ? {} : { sort }) },
    { tagsDigest: 'tags' },
  );
  const { tagsDigest, ...rest } = stored;
  if (tagsDigest === undefined) {
    return { ...position, filters: canonicalFilters(rest) };
  }
  if (repeated.tagsDigest === undefined) {
    throw parameterError('cursor', 'it belongs to a query with many tags. Repeat the parameter tags.');
  }
  return { ...position, filters: canonicalFilters({ ...rest, tags: filters.tags }) };
}

/** The filters that a cursor contains. */
export function toCursorFilters({ tags, ...rest }: Filters): CursorFilters {
  return tags === undefined
    ? rest
    : tags.length <= cursorTagsMax
      ? { ...rest, tags }
      : { ...rest, tagsDigest: hash('sha256', JSON.stringify(tags), 'base64url') };
}
