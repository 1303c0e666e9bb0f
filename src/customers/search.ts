/** Finds customers for operators: by the beginning of a username, an e-mail address or a name, or the newest first. */
import { setImmediate } from 'node:timers/promises';
import type { Role } from '../auth/oauth/customer-directory.ts';
import type { Principal } from '../auth/principal.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { mayRead } from './access.ts';
import { caseFold } from './case-fold.ts';
import { toCustomer } from './profile.ts';
import { customerQueries, type KeyPosition, type SearchColumn, type SearchedRow } from './queries.ts';
import { foldName, searchNames } from './search-names.ts';
import type { Tier } from './tiers.ts';

/** Customers that a request examines at most: with a rare filter, a page can be shorter than its limit. */
const examinedMax = 1000;
/** Customers of one statement, which takes about 2 ms on SQLite. */
const sliceMax = 500;
/** Customers of one transaction that stores folded names. */
const filledAtOnce = 1000;

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

export interface CustomerSearch {
  /** @throws AppError badRequest when the cursor belongs to another query */
  list(request: CustomerSearchRequest): Promise<CustomerPage>;
  /** One customer as JSON. @throws AppError notFound, forbidden */
  find(id: number, principal: Principal | null): Promise<string>;
}

/** The place where a walk continues: in one of the columns, after a customer. */
interface Place {
  readonly walk: number;
  readonly after: KeyPosition | null;
}

interface Walk {
  /** null: all customers, newest first. */
  readonly column: SearchColumn | null;
  /** The beginning of the column's text. */
  readonly prefix: string;
}

export function createCustomerSearch(
  database: Database,
  cursors: Cursors,
  cheeses: CheeseService,
): CustomerSearch {
  const queries = customerQueries(database);

  function read({ column, prefix }: Walk, { after }: Place, filters: CustomerFilters, limit: number) {
    return column === null
      ? queries.listNewest(
          { isStaff: filters.role === 'staff', tier: filters.status },
          after?.[1] ?? null,
          limit,
        )
      : // The largest code point: every text with this beginning comes before it.
        queries.listByText(column, prefix, `${prefix}\u{10ffff}`, after, limit);
  }

  /** Reads matches up to `limit`, each with its place, and the place after all that was examined; null at the end. */
  async function collect(walks: readonly Walk[], start: Place, filters: CustomerFilters, limit: number) {
    const found: { row: SearchedRow; place: Place }[] = [];
    let place: Place | null = walks.length === 0 ? null : start;
    let examined = 0;
    let size = Math.min(limit, sliceMax);
    while (place !== null && found.length < limit && examined < examinedMax) {
      const at: Place = place;
      const walk = walks[at.walk] as Walk;
      const rows = await read(walk, at, filters, size);
      for (const row of rows) {
        place = { walk: at.walk, after: [walk.column === null ? '' : row[walk.column], row.id] };
        if (found.length < limit && matches(row, walks.slice(0, at.walk), filters)) {
          found.push({ row, place });
        }
      }
      if (rows.length < size) {
        place = at.walk + 1 < walks.length ? { walk: at.walk + 1, after: null } : null;
      }
      examined += rows.length + 1;
      size = Math.min(size * 4, sliceMax);
      if (examined > sliceMax) {
        await setImmediate();
      }
    }
    return { found, place };
  }

  async function toItem(row: SearchedRow): Promise<string> {
    const favourite = row.favourite_id === null ? undefined : await cheeses.findIfThere(row.favourite_id);
    const { body } = toCustomer(row, favourite);
    return `{"customer":${body},"role":"${row.role}","deliveredTotal":${row.delivered_cents / 100}}`;
  }

  return {
    async list({ cursor, limit, ...requested }) {
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
        items: await Promise.all(page.map(({ row }) => toItem(row))),
        nextCursor: next === null ? null : cursors.encode({ filters, place: next }),
        hasMore: next !== null,
      };
    },

    async find(id, principal) {
      const row = await queries.findSearched(id);
      if (row === undefined) {
        throw new AppError('notFound', `There is no customer with the id ${id}.`);
      }
      if (principal !== null && !mayRead(principal, id)) {
        throw new AppError('forbidden', 'This is another customer. An API key alone reads every customer.');
      }
      return toItem(row);
    },
  };
}

function walksOf({ q }: CustomerFilters): Walk[] {
  if (q === undefined) {
    return [{ column: null, prefix: '' }];
  }
  const key = caseFold(q.trimStart());
  const name = foldName(q);
  const walks: readonly Walk[] = [
    { column: 'username_key', prefix: key },
    { column: 'email_key', prefix: key },
    { column: 'last_first', prefix: name },
    { column: 'first_last', prefix: name },
  ];
  return walks.filter(({ prefix }) => prefix !== '');
}

/** Whether the customer passes the filters, and was not found in an earlier walk. */
function matches(row: SearchedRow, earlier: readonly Walk[], { status, role }: CustomerFilters): boolean {
  return (
    (status === undefined || row.tier === status) &&
    (role === undefined || row.role === role) &&
    !earlier.some(({ column, prefix }) => column !== null && row[column].startsWith(prefix))
  );
}

/** Stores the folded names of customers from before the columns existed. Run it before the shop is used. */
export async function fillSearchNames(database: Database): Promise<void> {
  let filled: number;
  do {
    filled = await database.transaction(async (tx) => {
      const rows = await customerQueries(tx).lockWithoutNames(filledAtOnce);
      const names = rows.map((row) => {
        const { lastFirst, firstLast } = searchNames(row);
        return [row.id, lastFirst, firstLast] as const;
      });
      return rows.length === 0 ? 0 : customerQueries(tx).updateNames(names);
    });
  } while (filled > 0);
}
