/** The query that a request for a list asks for: its filters and sort, or those that its cursor continues. */
import { hash } from 'node:crypto';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import { AppError } from '../errors.ts';
import type { MissingField, Sort, Status } from './schemas.ts';
import { splitWords } from './search-terms.ts';

export interface Filters {
  readonly statuses?: readonly Status[] | undefined;
  /** Compared without case and accents, like `origin`. */
  readonly category?: string | undefined;
  readonly categoryId?: number | undefined;
  /** The cheese has one of them. */
  readonly tags?: readonly string[] | undefined;
  /** The cheese has all of them. */
  readonly tagsAll?: readonly string[] | undefined;
  readonly origin?: string | undefined;
  readonly organic?: boolean | undefined;
  readonly minPrice?: number | undefined;
  readonly maxPrice?: number | undefined;
  readonly minAge?: number | undefined;
  readonly maxAge?: number | undefined;
  /** The cheese has none of these fields. */
  readonly missing?: readonly MissingField[] | undefined;
  /** Every word is the beginning of a word of the name. */
  readonly q?: string | undefined;
}

export interface ListRequest extends Filters {
  readonly sort?: Sort | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A place in a list: the id of a cheese, and the value that the list is sorted by. */
export interface Position {
  readonly id: number;
  readonly name?: string;
  /** -1 without a price. */
  readonly price?: number;
  /** -1 without an age. */
  readonly age?: number;
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
  const { minPrice, maxPrice, minAge, maxAge } = query.filters;
  requireRange('Price', minPrice, maxPrice);
  requireRange('Age', minAge, maxAge);
  return { query, words: searchedWords(query.filters.q) };
}

/**
 * A word that is the beginning of another one is left out, because every match of the longer word matches it.
 * @throws AppError badRequest
 */
function searchedWords(q: string | undefined): string[] {
  const words = q === undefined ? [] : splitWords(q);
  if (q !== undefined && words.length === 0) {
    throw new AppError('badRequest', 'q: must contain at least one letter or digit');
  }
  const isImplied = (word: string) => words.some((other) => other !== word && other.startsWith(word));
  return words.filter((word) => !isImplied(word));
}

function requireRange(name: string, min = 0, max = Number.POSITIVE_INFINITY): void {
  if (min > max) {
    throw new AppError('badRequest', `min${name}: must be at most max${name}, which is ${max}`);
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
    { statuses: 'status', tagsDigest: 'tags' },
  );
  const { tagsDigest, ...rest } = stored;
  if (tagsDigest === undefined) {
    return { ...position, filters: canonicalFilters(rest) };
  }
  if (repeated.tagsDigest === undefined) {
    throw new AppError(
      'badRequest',
      'cursor: it belongs to a query with many tags. Repeat the parameter tags.',
    );
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
