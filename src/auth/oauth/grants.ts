/** Revokes the grants and tokens that applications have of a customer. */
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { oauthQueries, tokenById } from './queries.ts';

export type OAuthGrants = ReturnType<typeof createGrants>;

export function createGrants(database: Database, clock: Clock) {
  /** Deletes grants, codes, tokens and browser sessions of a customer. */
  async function revokeAll(tx: Sql, { origin }: Context, customerId: number): Promise<void> {
    const ended = await oauthQueries(tx).deleteObjectsOfCustomer(customerId);
    origin.effects?.addCount('grants.ended', ended);
  }

  return {
    /** False when the access token was revoked. */
    isActiveToken: async (tx: Sql, tokenHash: string) =>
      (await tx.get(tokenById.one(tokenHash))) !== undefined,

    revokeAll,

    /** Deletes the sessions of browsers at the login page. Tokens stay. */
    async endBrowserSessions(tx: Sql, customerId: number) {
      await oauthQueries(tx).deleteBrowserSessions(customerId);
    },

    /** Deletes the approvals too. */
    async deleteCustomer(tx: Sql, context: Context, customerId: number) {
      // Approvals are locked before tokens, in the same order as when one approval is revoked.
      await oauthQueries(tx).deleteApprovalsOfCustomer(customerId);
      await revokeAll(tx, context, customerId);
    },

    /** Deletes expired objects. */
    async purge() {
      await purgeInSlices(database, (tx, limit) =>
        oauthQueries(tx).deleteExpiredObjects(timestamp(clock.now()), limit),
      );
    },
  };
}
