/** Customers: who may be one, what they may change, and what goes with them. login.ts lets them in. */
import type { Role } from '../auth/oauth/customer-directory.ts';
import type { OAuthGrants } from '../auth/oauth/grants.ts';
import type { Principal } from '../auth/principal.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import { ConstraintError, type Database, type Sql } from '../database/database.ts';
import { AppError, type FieldError, invalidCredential, joinErrors, validationError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { EventType } from '../events/schemas.ts';
import type { TierThresholds } from '../settings/config.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { mayManage, mayRead } from './access.ts';
import { entryError, notFound } from './batch-errors.ts';
import type { NewPasswords } from './new-passwords.ts';
import { findByUsername, isUnchanged, profileOf, takenFields, toCustomer } from './profile.ts';
import { type CustomerRow, customerQueries } from './queries.ts';
import type { CustomerInput } from './schemas.ts';
import { tierOf } from './tiers.ts';

export interface BatchResult {
  readonly created: readonly Versioned[];
  readonly errors: readonly { readonly index: number; readonly message: string }[];
}

export interface CustomerService {
  /** @throws AppError conflict where username or e-mail address are taken, validation, unavailable */
  register(context: Context, input: CustomerInput): Promise<Versioned>;
  /** Each on its own, in order; an entry that failed already comes as its faults. @throws AppError unavailable */
  registerAll(
    context: Context,
    entries: readonly (CustomerInput | readonly FieldError[])[],
  ): Promise<BatchResult>;
  /** @throws AppError notFound, forbidden */
  find(username: string, principal: Principal): Promise<Versioned>;
  /** @throws AppError notFound, forbidden, preconditionFailed, validation, unavailable */
  replace(
    context: Context,
    username: string,
    input: CustomerInput,
    principal: Principal,
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** With everything that is theirs. @throws AppError notFound, forbidden, preconditionFailed */
  delete(
    context: Context,
    username: string,
    principal: Principal,
    precondition?: Precondition,
  ): Promise<void>;
  /** @throws AppError notFound */
  setRole(context: Context, username: string, role: Role): Promise<void>;
  /** Keeps a customer to the end of the transaction; false where there is none. */
  lockForShare(tx: Sql, id: number): Promise<boolean>;
  /** The same, to change it. */
  lockForUpdate(tx: Sql, id: number): Promise<boolean>;
  /** Goods were delivered to a customer, whose tier may rise. */
  credit(tx: Sql, context: Context, id: number, cents: number): Promise<void>;
  /** A cheese goes: whose favourite it was keep its name. */
  onCheeseDelete(tx: Sql, cheese: { readonly id: number; readonly name: string }): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cheeses: CheeseService;
  readonly newPasswords: NewPasswords;
  readonly sessions: Sessions;
  /** What applications may do in a customer's name. */
  readonly grants: OAuthGrants;
  readonly tiers: TierThresholds;
  /** What else goes with a customer, in the same transaction. */
  readonly beforeDelete: (tx: Sql, context: Context, customerId: number) => Promise<void>;
}

export function createCustomerService(dependencies: Dependencies): CustomerService {
  const { database, clock, cheeses, newPasswords, sessions, grants, tiers, beforeDelete } = dependencies;
  const now = () => timestamp(clock.now());

  function record(tx: Sql, context: Context, type: EventType, id: number, data: object = {}): Promise<void> {
    // Ids and codes alone: what is personal must be gone when the customer is.
    const event = {
      type,
      subject: `customer:${id}`,
      data: JSON.stringify({ id, ...data }),
    };
    return recordEvents(tx, context.origin, now(), [event]);
  }

  /** @throws AppError validation */
  async function favouriteOf(tx: Sql, { favouriteCheese }: CustomerInput): Promise<Versioned | undefined> {
    const { id, name } = favouriteCheese ?? {};
    if (id === undefined) {
      return undefined;
    }
    if (name !== undefined) {
      throw validationError([{ field: 'favouriteCheese', message: 'takes an id or a name, not both' }]);
    }
    const cheese = Number.isSafeInteger(id) ? (await cheeses.lockForShare(tx, [id])).get(id) : undefined;
    if (cheese === undefined) {
      throw validationError([{ field: 'favouriteCheese.id', message: 'there is no cheese with this id' }]);
    }
    return cheese;
  }

  /** Cheeses before customers, as everywhere: a favourite may be deleted at the same time. */
  async function lockFavourites(tx: Sql, ...ids: readonly (number | null | undefined)[]): Promise<void> {
    const known = ids.flatMap((id) => (Number.isSafeInteger(id) ? [id as number] : []));
    await cheeses.lockForShare(tx, known);
  }

  async function favouriteNow(tx: Sql, row: CustomerRow): Promise<Versioned | undefined> {
    return row.favourite_id === null
      ? undefined
      : (await cheeses.lockForShare(tx, [row.favourite_id])).get(row.favourite_id);
  }

  /** @throws AppError conflict, validation */
  async function insert(tx: Sql, context: Context, input: CustomerInput, password: string) {
    const favourite = await favouriteOf(tx, input);
    const profile = profileOf(input, password);
    const row = await customerQueries(tx).insert(profile, tierOf(0, tiers), now());
    if (row === undefined) {
      const faults = await takenFields(tx, profile, null);
      throw new AppError(
        'conflict',
        faults.map(({ field }) => `The ${field} belongs to another customer.`).join(' '),
        {
          cause: faults,
        },
      );
    }
    await record(tx, context, 'customer.created', row.id);
    return toCustomer(row, favourite);
  }

  /** @throws AppError notFound, forbidden */
  async function findMine(username: string, may: (customerId: number) => boolean): Promise<CustomerRow> {
    const row = await findByUsername(database, username);
    if (row === undefined) {
      throw notFound();
    }
    if (!may(row.id)) {
      throw new AppError(
        'forbidden',
        'This is the profile of another customer. A session or token reaches only the profile of its customer. An API key alone reads every profile.',
      );
    }
    return row;
  }

  /**
   * Takes the customer for a change, if the credential is still good. Passwords are checked and hashed before the
   * transaction; a session that ended meanwhile, for example with a new password, must not change the profile.
   * @throws AppError notFound, unauthorized
   */
  async function claimMine(tx: Sql, id: number, principal: Principal): Promise<CustomerRow> {
    const { sessionHash, tokenHash } = principal;
    const row = await customerQueries(tx).lockForUpdate(id);
    if (row === undefined) {
      throw notFound();
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
    async register(context, input) {
      const password = await newPasswords.hash(input.password);
      return context.transaction((tx) => insert(tx, context, input, password));
    },

    async registerAll(context, received) {
      const entries = await Promise.all(
        received.map(async (entry) => {
          const errors = 'username' in entry ? await newPasswords.errorsOf(entry.password) : [];
          return errors.length > 0 ? errors : entry;
        }),
      );
      const valid = entries.flatMap((entry, index) => ('username' in entry ? [{ index, input: entry }] : []));
      const hashes = await newPasswords.hashAll(valid.map(({ input }) => input.password));
      const prepared = new Map(
        valid.map(({ index, input }, place) => [index, { input, password: hashes[place] ?? '' }]),
      );
      return context.transaction(async (tx) => {
        // Two batches with the same names in another order would wait for each other.
        await customerQueries(tx).lockBatches();
        await lockFavourites(tx, ...valid.map(({ input }) => input.favouriteCheese?.id));
        const created: Versioned[] = [];
        const errors: { index: number; message: string }[] = [];
        for (const [index, entry] of entries.entries()) {
          const ready = prepared.get(index);
          if (ready === undefined) {
            errors.push({ index, message: joinErrors(entry as readonly FieldError[]) });
            continue;
          }
          try {
            created.push(await insert(tx, context, ready.input, ready.password));
          } catch (error) {
            errors.push({ index, message: entryError(error) });
          }
        }
        return { created, errors };
      });
    },

    async find(username, principal) {
      const row = await findMine(username, (id) => mayRead(principal, id));
      const favourite = row.favourite_id === null ? undefined : await cheeses.findIfThere(row.favourite_id);
      return toCustomer(row, favourite);
    },

    async replace(context, username, input, principal, precondition) {
      const known = await findMine(username, (id) => mayManage(principal, id));
      const password = await newPasswords.keepOrHash(known.password, input.password);
      const profile = profileOf(input, password);
      try {
        return await context.transaction(async (tx) => {
          await lockFavourites(tx, known.favourite_id, input.favouriteCheese?.id);
          const row = await claimMine(tx, known.id, principal);
          const favourite = await favouriteOf(tx, input);
          const stored = await favouriteNow(tx, row);
          precondition?.(toCustomer(row, stored).version);
          if (isUnchanged(row, profile)) {
            return toCustomer(row, stored);
          }
          const changed = (await customerQueries(tx).update(row.id, profile)) as CustomerRow;
          if (row.password !== password) {
            await sessions.endAll(tx, row.id, principal.sessionHash);
            await grants.revokeAll(tx, row.id);
          }
          await record(tx, context, 'customer.updated', row.id);
          return toCustomer(changed, favourite);
        });
      } catch (error) {
        throw error instanceof ConstraintError
          ? validationError(await takenFields(database, profile, known.id))
          : error;
      }
    },

    async delete(context, username, principal, precondition) {
      const known = await findMine(username, (id) => mayManage(principal, id));
      await context.transaction(async (tx) => {
        await lockFavourites(tx, known.favourite_id);
        const row = await claimMine(tx, known.id, principal);
        precondition?.(toCustomer(row, await favouriteNow(tx, row)).version);
        await beforeDelete(tx, context, known.id);
        await sessions.endAll(tx, known.id, null);
        await grants.deleteCustomer(tx, known.id);
        await customerQueries(tx).deleteNetworks(known.id);
        await customerQueries(tx).delete(known.id);
        await record(tx, context, 'customer.deleted', known.id);
      });
    },

    async setRole(context, username, role) {
      const { id } = await findMine(username, () => true);
      await context.transaction(async (tx) => {
        if ((await customerQueries(tx).updateRole(id, role)) > 0) {
          await record(tx, context, 'customer.updated', id, { role });
        }
      });
    },

    lockForUpdate: async (tx, id) => (await customerQueries(tx).lockForUpdate(id)) !== undefined,

    lockForShare: async (tx, id) => (await customerQueries(tx).lockForShare(id)) !== undefined,

    async credit(tx, context, id, cents) {
      const row = await customerQueries(tx).updateDelivered(id, cents);
      if (row === undefined) {
        return;
      }
      const tier = tierOf(row.delivered_cents, tiers);
      if (tier !== row.tier) {
        await customerQueries(tx).updateTier(id, tier);
        await record(tx, context, 'customer.tier_changed', id, { customerStatus: tier, before: row.tier });
      }
    },

    async onCheeseDelete(tx, { id, name }) {
      await customerQueries(tx).updateFavourite(id, name);
    },
  };
}
