/** What operators do with customers: roles, the end of sessions, and links for a new password. */

import type { Principal } from '../access/principal.ts';
import type { CustomerDirectory, Role } from '../auth/oauth/customer-directory.ts';
import type { OAuthGrants } from '../auth/oauth/grants.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import { AppError } from '../errors.ts';
import type { NewEvent } from '../event-log/define.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Hooks } from '../hooks/hooks.ts';
import { customerEvents } from './event-types.ts';
import { passwordChanged } from './hook-points.ts';
import type { LoginThrottle } from './login/login-throttle.ts';
import type { NewPasswords } from './login/new-passwords.ts';
import { hashResetToken, makeResetToken, resetLifetimeMs } from './login/reset-token.ts';
import { requireByUsername } from './profile.ts';
import { type CustomerRow, customerQueries } from './queries.ts';

/** A link is shown only once: its token is stored as a hash. */
export interface NewReset {
  readonly token: string;
  readonly expiresAt: string;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly grants: OAuthGrants;
  readonly newPasswords: NewPasswords;
  readonly throttle: LoginThrottle;
  readonly directory: Pick<CustomerDirectory, 'find'>;
  readonly hooks: Hooks;
}

export type CustomerAdministration = ReturnType<typeof createCustomerAdministration>;

export function createCustomerAdministration(dependencies: Dependencies) {
  const { database, clock, sessions, grants, newPasswords, throttle, directory, hooks } = dependencies;
  const now = () => timestamp(clock.now());

  const record = (tx: Sql, context: Context, event: NewEvent): Promise<void> =>
    recordEvents(tx, context.origin, now(), [event]);

  /** @throws AppError notFound */
  async function lock(tx: Sql, id: number): Promise<CustomerRow> {
    const row = await customerQueries(tx).lockForUpdate(id);
    if (row === undefined) {
      throw new AppError('notFound', `There is no customer with the id ${id}.`);
    }
    return row;
  }

  /** The id of the customer whom a valid link is for. */
  async function customerOf(token: string): Promise<number | null> {
    const row = await customerQueries(database).findReset(hashResetToken(token));
    return row !== undefined && Date.parse(row.expires_at) > clock.now() ? row.customer_id : null;
  }

  /** Returns when the link expires. */
  async function upsertReset(tx: Sql, id: number, token: string, createdBy: string): Promise<string> {
    const expiresAt = timestamp(clock.now() + resetLifetimeMs);
    await customerQueries(tx).upsertReset({
      customer_id: id,
      token_hash: hashResetToken(token),
      created_at: now(),
      created_by: createdBy,
      expires_at: expiresAt,
    });
    return expiresAt;
  }

  return {
    /** @throws AppError notFound */
    async idOf(username: string): Promise<number> {
      return (await requireByUsername(database, username)).id;
    },

    /** @param operator null: the command line @throws AppError notFound, conflict for the operator's own role */
    changeRole: (context: Context, id: number, role: Role, operator: Principal | null = null) =>
      context.transaction(async (tx) => {
        await lock(tx, id);
        if (operator?.customerId === id) {
          throw new AppError('conflict', 'An operator cannot change their own role. Ask another operator.');
        }
        if ((await customerQueries(tx).updateRole(id, role)) > 0) {
          await record(tx, context, customerEvents.updated.of(`customer:${id}`, { id, role }));
        }
      }),

    /** Sessions of the API, and of browsers at the login page. Tokens of applications stay. @throws AppError notFound */
    endSessions: (context: Context, id: number) =>
      context.transaction(async (tx) => {
        await lock(tx, id);
        await sessions.endAll(tx, context, id, null);
        await grants.endBrowserSessions(tx, id);
        await record(tx, context, customerEvents.sessionsEnded.of(`customer:${id}`, { id }));
      }),

    /** Valid once, for 30 minutes. An older link ends. @throws AppError notFound */
    createReset: (context: Context, id: number): Promise<NewReset> =>
      context.transaction(async (tx) => {
        await lock(tx, id);
        const token = makeResetToken(clock);
        const expiresAt = await upsertReset(tx, id, token, context.origin.actor);
        await record(tx, context, customerEvents.passwordResetCreated.of(`customer:${id}`, { id }));
        return { token, expiresAt };
      }),

    /**
     * Stores the hash of a link that is about to be mailed, in place of an older link. Valid for 30 minutes.
     * @param isWanted called with the customer locked
     * @returns false if the customer was deleted, or it is not wanted
     */
    storeMailedReset: (id: number, token: string, isWanted: (tx: Sql) => Promise<boolean>) =>
      database.transaction(async (tx) => {
        const customer = await customerQueries(tx).lockForUpdate(id);
        if (customer === undefined || !(await isWanted(tx))) {
          return false;
        }
        await upsertReset(tx, id, token, 'mail');
        return true;
      }),

    /** The username that a link is for; null when the link is unknown, used or expired. */
    async findReset(token: string): Promise<string | null> {
      const id = await customerOf(token);
      return id === null ? null : ((await directory.find(id))?.username ?? null);
    },

    /**
     * Sets the password and uses the link up. Ends all sessions, grants and tokens of the customer.
     * @throws AppError notFound when the link is unknown, used or expired; validation, unavailable
     */
    async redeemReset(token: string, password: string, clientIp: string) {
      const id = await customerOf(token);
      if (id === null) {
        throw linkEnded();
      }
      const context: Context = {
        transaction: database.transaction,
        origin: { actor: `customer:${id}`, requestId: null, traceId: null, effects: null },
      };
      const hash = await newPasswords.hash(context, password);
      await context.transaction(async (tx) => {
        const customer = await customerQueries(tx).lockForUpdate(id);
        await sessions.endAll(tx, context, id, null);
        // Two requests can present one link: the second finds that it was used.
        if (customer === undefined || (await customerQueries(tx).deleteReset(hashResetToken(token))) === 0) {
          throw linkEnded();
        }
        await customerQueries(tx).updatePassword(id, hash);
        await grants.revokeAll(tx, context, id);
        await throttle.clear(tx, customer.username_key, clientIp);
        await hooks.run(passwordChanged, tx, context, { id });
        await record(tx, context, customerEvents.passwordReset.of(`customer:${id}`, { id }));
      });
    },

    /** Deletes expired links. */
    async purge() {
      await purgeInSlices(database, (tx, limit) => customerQueries(tx).deletePastResets(now(), limit));
    },
  };
}

function linkEnded(): AppError {
  return new AppError('notFound', 'This link was used, has expired or was replaced. Ask for a new one.');
}
