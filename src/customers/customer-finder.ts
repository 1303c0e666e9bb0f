/** Finds customers for other areas. */
import type { Principal } from '../access/principal.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { caseFold } from '../schema/case-fold.ts';
import type { Versioned } from '../versioned.ts';
import { mayRead } from './access.ts';
import { findByUsername, requireByUsername, toCustomer } from './profile.ts';
import { customerQueries } from './queries.ts';

/** What a mail to a customer needs. */
export interface CustomerContact {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
}

export type CustomerFinder = ReturnType<typeof createCustomerFinder>;

export function createCustomerFinder(database: Database, cheeses: CheeseService) {
  return {
    /**
     * The id of a customer whose orders the principal may reach.
     * @throws AppError notFound, forbidden
     */
    async idOf(username: string, principal: Principal): Promise<number> {
      const row = await requireByUsername(database, username);
      if (!mayRead(principal, row.id)) {
        throw new AppError(
          'forbidden',
          'These are the orders of another customer. An API key alone reaches the orders of every customer.',
        );
      }
      return row.id;
    },

    /** Those of these customers who exist, by their ids. */
    async listContacts(sql: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, CustomerContact>> {
      const rows = ids.length === 0 ? [] : await customerQueries(sql).listContacts(ids);
      return new Map(
        rows.map(({ id, username, email, first_name, last_name }) => [
          id,
          { id, username, email, firstName: first_name, lastName: last_name },
        ]),
      );
    },

    /** The id of the customer with this username or e-mail address; undefined if there is none. */
    async idOfLogin(sql: Sql, { username, email }: { readonly username?: string; readonly email?: string }) {
      const byEmail =
        email === undefined ? undefined : await customerQueries(sql).findByEmail(caseFold(email));
      return (byEmail ?? (username === undefined ? undefined : await findByUsername(sql, username)))?.id;
    },

    listUsernames: (ids: readonly number[]) => customerQueries(database).listUsernames(ids),

    /** Undefined when the customer was deleted. */
    async findById(id: number): Promise<Versioned | undefined> {
      const row = await customerQueries(database).find(id);
      if (row === undefined) {
        return undefined;
      }
      const favourite = row.favourite_id === null ? undefined : await cheeses.findIfThere(row.favourite_id);
      return toCustomer(row, favourite);
    },
  };
}
