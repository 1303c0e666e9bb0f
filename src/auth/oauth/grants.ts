/** Revokes the grants and tokens that applications have of a customer. */
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { oauthQueries, tokenById } from './queries.ts';

export interface OAuthGrants {
  /** False when the access token was revoked. */
  isActiveToken(tx: Sql, tokenHash: string): Promise<boolean>;
  /** Deletes grants, codes, tokens and browser sessions of a customer. */
  revokeAll(tx: Sql, context: Context, customerId: number): Promise<void>;
  /** Deletes the sessions of browsers at the login page. Tokens stay. */
  endBrowserSessions(tx: Sql, customerId: number): Promise<void>;
  /** Deletes the approvals too. */
  deleteCustomer(tx: Sql, context: Context, customerId: number): Promise<void>;
  /** Deletes expired objects. */
  purge(): Promise<void>;
}

export function createGrants(database: Database, clock: Clock): OAuthGrants {
  const grants: OAuthGrants = {
    isActiveToken: async (tx, tokenHash) => (await tx.get(tokenById.one(tokenHash))) !== undefined,

    async revokeAll(tx, { origin }, customerId) {
      const ended = await oauthQueries(tx).deleteObjectsOfCustomer(customerId);
      origin.effects?.addCount('grants.ended', ended);
    },

    async endBrowserSessions(tx, customerId) {
      await oauthQueries(tx).deleteBrowserSessions(customerId);
    },

    async deleteCustomer(tx, context, customerId) {
      // Approvals are locked before tokens, as where an approval is revoked.
      await oauthQueries(tx).deleteApprovalsOfCustomer(customerId);
      await grants.revokeAll(tx, context, customerId);
    },

    async purge() {
      await purgeInSlices(database, (tx, limit) =>
        oauthQueries(tx).deleteExpiredObjects(timestamp(clock.now()), limit),
      );
    },
  };
  return grants;
}
