/** Finds customers for operators: by the beginning of a username, an e-mail address or a name, or the newest first. */
import { setImmediate } from 'node:timers/promises';
import type { Role } from '../../auth/oauth/customer-directory.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../../cursor.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { caseFold } from '../../schema/case-fold.ts';
import { toCustomer } from '../profile.ts';
import type { Tier } from '../tiers.ts';
import { foldName } from './search-names.ts';
import { type KeyPosition, type SearchedRow, searchQueries, type TextBeginning } from './search-queries.ts';

/** Customers that a request examines at most: with a rare filter, a page can be shorter than its limit. */
const examinedMax = 1000;
/** Customers of one statement, which takes 1 to 2 ms on SQLite. */
const sliceMax = 500;

export interface CustomerFilters {
  /** The beginning of a username, an e-mail address, a last name, or of first and last name. */
  readonly q?: string | undefined;
  readonly status?: Tier | undefined;
  readonly role?: Role | undefined;
}

export interface CustomerSearchRequest extends CustomerFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface CustomerPage {
  /** JSON of the customers. */
  readonly items: readonly string[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

/** The place where a walk continues: in one of the columns, after a customer. */
interface Place {
  readonly walk: number;
  readonly after: KeyPosition | null;
}

/** Customers whose text begins with a prefix; null: all customers, newest first. */
type Walk = TextBeginning | null;

export type CustomerSearch = ReturnType<typeof createCustomerSearch>;

export function createCustomerSearch(database: Database, cursors: Cursors, cheeses: CheeseService) {
  const queries = searchQueries(database);

  /** Finds matches up to `limit`, each with its place, and the place after all that was examined; null at the end. */
  async function collect(walks: readonly Walk[], start: Place, filters: CustomerFilters, limit: number) {
    const found: { id: number; place: Place }[] = [];
    let place: Place | null = walks.length === 0 ? null : start;
    let examined = 0;
    let size = Math.min(limit, sliceMax);
    while (place !== null && found.length < limit && examined < examinedMax) {
      const { walk, after }: Place = place;
      const along = walks[walk] ?? null;
      const without = walks.slice(0, walk).filter((earlier) => earlier !== null);
      const conditions = { role: filters.role, tier: filters.status, without };
      const rows =
        along === null
          ? await queries.listNewest(conditions, after?.[1] ?? null, size)
          : await queries.listByText(along, conditions, after, size);
      for (const { id, key, is_match } of rows) {
        place = { walk, after: [key, id] };
        if (found.length < limit && is_match === 1) {
          found.push({ id, place });
        }
      }
      if (rows.at(-1)?.place !== size) {
        place = walk + 1 < walks.length ? { walk: walk + 1, after: null } : null;
      }
      examined += (rows.at(-1)?.place ?? 0) + 1;
      size = Math.min(size * 4, sliceMax);
      if (examined > sliceMax) {
        await setImmediate();
      }
    }
    return { found, place };
  }

  /** The customers with these ids, in their order, without those that were deleted meanwhile. */
  async function listItems(ids: readonly number[]): Promise<string[]> {
    const rows = new Map((await queries.listSearched(ids)).map((row) => [row.id, row]));
    return Promise.all(ids.flatMap((id) => rows.get(id) ?? []).map(toItem));
  }

  async function toItem(row: SearchedRow): Promise<string> {
    const favourite = row.favourite_id === null ? undefined : await cheeses.findIfThere(row.favourite_id);
    const { body } = toCustomer(row, favourite);
    return `{"customer":${body},"role":"${row.role}","deliveredTotal":${row.delivered_cents / 100}}`;
  }

  return {
    /** @throws AppError badRequest when the cursor belongs to another query */
    async list({ cursor, limit, ...requested }: CustomerSearchRequest): Promise<CustomerPage> {
      const given = canonicalFilters<CustomerFilters>(requested);
      const position =
        cursor === undefined
          ? { filters: given, place: { walk: 0, after: null } }
          : (cursors.decode(cursor) as { filters: CustomerFilters; place: Place });
      const { filters } = position;
      requireSameQuery(filters, given, {});
      const { found, place } = await collect(walksOf(filters), position.place, filters, limit + 1);
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.place ?? null) : place;
      return {
        items: await listItems(page.map(({ id }) => id)),
        nextCursor: next === null ? null : cursors.encode({ filters, place: next }),
        hasMore: next !== null,
      };
    },

    /** One customer as JSON. @throws AppError notFound */
    async find(id: number): Promise<string> {
      const row = await queries.findSearched(id);
      if (row === undefined) {
        throw new AppError('notFound', `There is no customer with the id ${id}.`);
      }
      return toItem(row);
    },
  };
}

function walksOf({ q }: CustomerFilters): Walk[] {
  if (q === undefined) {
    return [null];
  }
  const key = caseFold(q);
  const name = foldName(q);
  const walks: readonly TextBeginning[] = [
    { column: 'username_key', prefix: key },
    { column: 'email_key', prefix: key },
    { column: 'last_first', prefix: name },
    { column: 'first_last', prefix: name },
  ];
  return walks.filter(({ prefix }) => prefix !== '');
}
