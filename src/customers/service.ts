/** Customers: registration, profiles, tiers and deletion. Logins are in login.ts, operators' verbs in administration.ts. */

import type { Principal } from '../access/principal.ts';
import type { OAuthGrants } from '../auth/oauth/grants.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import type { Cheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import { ConstraintError, type Database, type Sql } from '../database/database.ts';
import { AppError, type FieldError, invalidCredential, joinErrors, validationError } from '../errors.ts';
import type { NewEvent } from '../event-log/define.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { TierThresholds } from '../settings/config.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { mayManage, mayRead } from './access.ts';
import { customerEvents } from './event-types.ts';
import { currentFavourite, type Favourites, findFavourite, lockFavourites } from './favourites.ts';
import { customerDeleted, emailChanged, passwordChanged } from './hook-points.ts';
import type { NewPasswords } from './login/new-passwords.ts';
import {
  customerNotFound,
  isUnchanged,
  profileToStore,
  requireByUsername,
  takenFields,
  toCustomer,
} from './profile.ts';
import { type CustomerRow, customerQueries } from './queries.ts';
import type { CustomerInput } from './schemas.ts';
import { chooseTier } from './tiers.ts';

export interface BatchResult {
  readonly created: readonly Versioned[];
  readonly errors: readonly { readonly index: number; readonly message: string }[];
}

export interface CustomerDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cheeses: CheeseService;
  readonly newPasswords: NewPasswords;
  readonly sessions: Sessions;
  /** Grants and tokens that applications have of customers. */
  readonly grants: OAuthGrants;
  readonly tiers: TierThresholds;
  readonly hooks: Hooks;
}

export type CustomerService = ReturnType<typeof createCustomerService>;

export function createCustomerService(dependencies: CustomerDependencies) {
  const { database, clock, cheeses, newPasswords, sessions, grants, tiers, hooks } = dependencies;
  const now = () => timestamp(clock.now());

  const record = (tx: Sql, context: Context, event: NewEvent): Promise<void> =>
    recordEvents(tx, context.origin, now(), [event]);

  /** @throws AppError conflict, validation */
  async function insert(
    tx: Sql,
    context: Context,
    input: CustomerInput,
    password: string,
    favourites: Favourites,
  ) {
    const favourite = findFavourite(input, favourites);
    const profile = profileToStore(input, password);
    const row = await customerQueries(tx).insert(profile, chooseTier(0, tiers), now());
    if (row === undefined) {
      const fields = await takenFields(tx, profile, null);
      const message = fields.map(({ field }) => `The ${field} belongs to another customer.`).join(' ');
      throw new AppError('conflict', message, { errors: fields });
    }
    await record(tx, context, customerEvents.created.of(`customer:${row.id}`, { id: row.id }));
    return toCustomer(row, favourite);
  }

  /** @throws AppError notFound, forbidden */
  async function findPermitted(
    username: string,
    isPermitted: (customerId: number) => boolean,
  ): Promise<CustomerRow> {
    const row = await requireByUsername(database, username);
    if (!isPermitted(row.id)) {
      throw new AppError(
        'forbidden',
        'This is the profile of another customer. A session or token reaches only the profile of its customer. An API key alone reads every profile.',
      );
    }
    return row;
  }

  /**
   * Locks the customer for a change if the credential is still valid. Passwords are checked and hashed before the
   * transaction. A session that ended meanwhile, for example because of a new password, must not change the profile.
   * @throws AppError notFound, unauthorized
   */
  async function lockProfile(tx: Sql, id: number, principal: Principal): Promise<CustomerRow> {
    const { sessionHash, tokenHash } = principal;
    const row = await customerQueries(tx).lockForUpdate(id);
    if (row === undefined) {
      throw customerNotFound();
    }
    if (sessionHash !== null && !(await sessions.lockForShare(tx, sessionHash))) {
      throw invalidCredential('The session has ended. Log in again.');
    }
    if (tokenHash !== null && !(await grants.isActiveToken(tx, tokenHash))) {
      throw invalidCredential('The access token was revoked. Request a new one.');
    }
    return row;
  }

  return {
    /** @throws AppError conflict when username or e-mail address are taken, validation, unavailable */
    async register(context: Context, input: CustomerInput): Promise<Versioned> {
      const password = await newPasswords.hash(context, input.password);
      return context.transaction(async (tx) =>
        insert(tx, context, input, password, await lockFavourites(tx, cheeses, [input])),
      );
    },

    /**
     * Registers the entries one by one, in order. An entry that failed validation is passed as its errors.
     * @throws AppError unavailable
     */
    async registerAll(context: Context, entries: readonly (CustomerInput | readonly FieldError[])[]) {
      const checked = await Promise.all(
        entries.map(async (entry) => {
          const errors = 'username' in entry ? await newPasswords.errorsOf(entry.password) : [];
          return errors.length > 0 ? errors : entry;
        }),
      );
      const valid = checked.flatMap((entry, index) => ('username' in entry ? [{ index, input: entry }] : []));
      const passwords = valid.map(({ input }) => input.password);
      const hashes = await newPasswords.hashAll(context, passwords);
      const prepared = new Map(
        valid.map(({ index, input }, position) => [index, { input, password: hashes[position] ?? '' }]),
      );
      return context.transaction(async (tx) => {
        // The lock prevents a deadlock of two batches with the same names in different order.
        await customerQueries(tx).lockNames();
        const inputs = valid.map(({ input }) => input);
        const favourites = await lockFavourites(tx, cheeses, inputs);
        const created: Versioned[] = [];
        const errors: { index: number; message: string }[] = [];
        for (const [index, entry] of checked.entries()) {
          const customer = prepared.get(index);
          if (customer === undefined) {
            errors.push({ index, message: joinErrors(entry as readonly FieldError[]) });
            continue;
          }
          try {
            created.push(await insert(tx, context, customer.input, customer.password, favourites));
          } catch (error) {
            errors.push({ index, message: entryError(error) });
          }
        }
        return { created, errors };
      });
    },

    /** @throws AppError notFound, forbidden */
    async find(username: string, principal: Principal): Promise<Versioned> {
      const row = await findPermitted(username, (id) => mayRead(principal, id));
      const favourite = row.favourite_id === null ? undefined : await cheeses.findIfThere(row.favourite_id);
      return toCustomer(row, favourite);
    },

    /** @throws AppError notFound, forbidden, preconditionFailed, validation, unavailable */
    async replace(
      context: Context,
      username: string,
      input: CustomerInput,
      principal: Principal,
      precondition?: Precondition,
    ) {
      const found = await findPermitted(username, (id) => mayManage(principal, id));
      const password = await newPasswords.reuseOrHash(context, found.password, input.password);
      const profile = profileToStore(input, password);
      try {
        return await context.transaction(async (tx) => {
          // Two customers who take each other's names would deadlock at the unique indexes.
          if (profile.username_key !== found.username_key || profile.email_key !== found.email_key) {
            await customerQueries(tx).lockNames();
          }
          const favourites = await lockFavourites(tx, cheeses, [input]);
          const row = await lockProfile(tx, found.id, principal);
          const favourite = findFavourite(input, favourites);
          const stored = await currentFavourite(tx, cheeses, row);
          precondition?.(toCustomer(row, stored).version);
          if (isUnchanged(row, profile)) {
            return toCustomer(row, stored);
          }
          const changed = (await customerQueries(tx).update(row.id, profile)) as CustomerRow;
          if (row.password !== password) {
            await sessions.endAll(tx, context, row.id, principal.sessionHash);
            await customerQueries(tx).deleteResetOf(row.id);
            await grants.revokeAll(tx, context, row.id);
            await hooks.run(passwordChanged, tx, context, { id: row.id });
          }
          if (row.email_key !== profile.email_key) {
            await hooks.run(emailChanged, tx, context, { id: row.id, oldEmail: row.email });
          }
          await record(tx, context, customerEvents.updated.of(`customer:${row.id}`, { id: row.id }));
          return toCustomer(changed, favourite);
        });
      } catch (error) {
        throw error instanceof ConstraintError
          ? validationError(await takenFields(database, profile, found.id))
          : error;
      }
    },

    /**
     * Deletes the customer. Hooks delete sessions, grants and what other areas have, such as personal data in orders.
     * @throws AppError notFound, forbidden, preconditionFailed
     */
    async delete(context: Context, username: string, principal: Principal, precondition?: Precondition) {
      const found = await findPermitted(username, (id) => mayManage(principal, id));
      await context.transaction(async (tx) => {
        const row = await lockProfile(tx, found.id, principal);
        precondition?.(toCustomer(row, await currentFavourite(tx, cheeses, row)).version);
        await hooks.run(customerDeleted, tx, context, { id: found.id });
        await customerQueries(tx).delete(found.id);
        await record(tx, context, customerEvents.deleted.of(`customer:${row.id}`, { id: row.id }));
      });
      hooks.committed(customerDeleted, context, { id: found.id });
    },

    /** Exclusive lock until the transaction ends. False when there is no such customer. */
    lockForUpdate: async (tx: Sql, id: number): Promise<boolean> =>
      (await customerQueries(tx).lockForUpdate(id)) !== undefined,

    /** Shared lock until the transaction ends. False when there is no such customer. */
    lockForShare: async (tx: Sql, id: number): Promise<boolean> =>
      (await customerQueries(tx).lockForShare(id)) !== undefined,

    /** Adds a delivered order to the total of a customer, whose tier may rise. */
    async credit(tx: Sql, context: Context, id: number, cents: number) {
      const row = await customerQueries(tx).updateDelivered(id, cents);
      if (row === undefined) {
        return;
      }
      const tier = chooseTier(row.delivered_cents, tiers);
      if (tier !== row.tier) {
        await customerQueries(tx).updateTier(id, tier);
        const data = { id, customerStatus: tier, before: row.tier };
        await record(tx, context, customerEvents.tierChanged.of(`customer:${id}`, data));
      }
    },

    /** Customers keep the name of their favourite cheese when it is deleted. */
    async onCheeseDelete(tx: Sql, { origin }: Context, { id, name }: Pick<Cheese, 'id' | 'name'>) {
      const detached = await customerQueries(tx).updateFavourite(id, name);
      origin.effects?.addCount('favourites.detached', detached);
    },
  };
}

/** The text for an entry of a batch that was refused. Throws errors that fail the whole batch. */
function entryError(error: unknown): string {
  if (error instanceof AppError && error.code === 'validation') {
    return joinErrors(error.errors);
  }
  if (error instanceof AppError && error.code === 'conflict') {
    return error.message;
  }
  throw error;
}
