/** Lists the names of categories and of tags, with their numbers of cheeses. */
import { setImmediate } from 'node:timers/promises';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import { createCache } from '../database/cache.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Unchanged } from './list-query.ts';
import {
  type NamePosition,
  type NameRequest,
  type NameRow,
  navigationQueries,
} from './navigation-queries.ts';
import { cheeseQueries } from './queries.ts';
import type { Status } from './schemas.ts';
import { foldText } from './search-terms.ts';

/** Names that one statement reads: 3 ms. */
const namesAtOnce = 1000;
const totalsBytesMax = 256 * 1024;

export type NamedKind = 'category' | 'tag';

interface NameFilters {
  /** The beginning of the name. */
  readonly q?: string | undefined;
  readonly statuses?: readonly Status[] | undefined;
  /** Whether to list names without cheeses in these statuses. */
  readonly empty?: boolean | undefined;
}

export interface NameListRequest extends NameFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface NamePage {
  /** The version of the catalogue, read before the page. */
  readonly version: number;
  readonly items: readonly Pick<NameRow, 'id' | 'name' | 'cheeses'>[];
  readonly nextCursor: string | null;
  readonly total: number;
}

export interface NameReader {
  /** @throws AppError badRequest when the cursor is not valid or belongs to other filters */
  list(
    kind: NamedKind,
    request: NameListRequest,
    isKnown?: (version: number) => boolean,
  ): Promise<NamePage | Unchanged>;
}

/** @param cursorsOf the cursors of each list */
export function createNameReader(database: Database, cursorsOf: Record<NamedKind, Cursors>): NameReader {
  const totals = createCache<number>(totalsBytesMax);

  function parse(kind: NamedKind, { cursor, limit: _, ...given }: NameListRequest) {
    const filters = canonicalFilters<NameFilters>(given);
    if (cursor === undefined) {
      return { filters, after: null };
    }
    const stored = cursorsOf[kind].decode(cursor) as { filters: NameFilters; after: NamePosition };
    requireSameQuery(stored.filters, filters, { statuses: 'status' });
    return stored;
  }

  return {
    async list(kind, request, isKnown) {
      const { filters, after } = parse(kind, request);
      const version = await cheeseQueries(database).findVersion();
      if (isKnown?.(version)) {
        return { unchanged: true, version };
      }
      const { q = '', statuses = null, empty = false } = filters;
      const wanted = { kind, prefix: foldText(q), statuses };
      const isListed = ({ cheeses }: NameRow) => empty || cheeses > 0;
      const found: NameRow[] = [];
      for await (const names of namesAfter(database, wanted, after, request.limit + 1)) {
        found.push(...names.filter(isListed));
        if (found.length > request.limit) {
          break;
        }
      }
      const key = `${version} ${kind} ${JSON.stringify(filters)}`;
      let total = totals.get(key);
      if (total === undefined) {
        total = 0;
        for await (const names of namesAfter(database, wanted, null, namesAtOnce)) {
          total += names.filter(isListed).length;
        }
        totals.set(key, total);
      }
      const items = found.slice(0, request.limit);
      const last = found.length > request.limit ? items.at(-1) : undefined;
      return {
        version,
        items: items.map(({ id, name, cheeses }) => ({ id, name, cheeses })),
        nextCursor:
          last === undefined
            ? null
            : cursorsOf[kind].encode({ filters, after: { folded: last.folded, id: last.id } }),
        total,
      };
    },
  };
}

/** All names after a position, each part in a separate turn of the event loop. */
export async function* namesAfter(
  database: Sql,
  wanted: Pick<NameRequest, 'kind' | 'prefix' | 'statuses'>,
  position: NamePosition | null,
  firstLimit: number,
): AsyncGenerator<NameRow[]> {
  const queries = navigationQueries(database);
  let limit = firstLimit;
  for (let after = position; ; ) {
    const names = await queries.listNames({ ...wanted, after, limit });
    yield names;
    const last = names.at(-1);
    if (last === undefined || names.length < limit) {
      return;
    }
    after = { folded: last.folded, id: last.id };
    limit = namesAtOnce;
    await setImmediate();
  }
}
