/**
 * The leeway of refresh tokens: for 30 seconds after a refresh token was used, it can be used once more, and returns the
 * same successor. Two workers that refresh at once, or a lost response, would otherwise look like a stolen token. See
 * docs/decisions/0050-leeway-of-refresh-tokens.md.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type Clock, timestamp } from '../../../clock.ts';
import type { Sql } from '../../../database/database.ts';
import { createSealer, type Sealer } from '../../../sealing.ts';
import { type NewObjectRow, oauthQueries } from '../queries.ts';

const leewayMs = 30_000;
const tokenModel = 'RefreshToken';
/** A row by the SHA-256 of a used token, with its encrypted successor. It is deleted when it is read or expires. */
const successorModel = 'RefreshTokenSuccessor';

/** One request to the token endpoint. */
interface Refresh {
  /** The refresh token that it presents, once the library wants to replace it. */
  presented: string | null;
  /** The refresh token that an earlier request got, and that this one gets too. Set when that is committed. */
  successor: string | null;
}

export type Rotations = ReturnType<typeof createRotations>;

/** @param secret CURD_SECRET @param alreadyUsed the error for a token that was used too often */
export function createRotations(clock: Clock, secret: string, alreadyUsed: () => Error) {
  const refreshes = new AsyncLocalStorage<Refresh>();

  /** The key is derived from the used token as well, which is not stored: neither the database nor CURD_SECRET opens it. */
  const sealerOf = (token: string): Sealer =>
    createSealer(clock, JSON.stringify([secret, token]), 'successor of a refresh token');

  /** The successor, if it is stored and was not used. */
  async function findSuccessor(tx: Sql, token: string): Promise<string | null> {
    const queries = oauthQueries(tx);
    const id = hash('sha256', token);
    const row = await queries.findValidObject(successorModel, id, timestamp(clock.now()));
    const opened = row === undefined ? null : sealerOf(token).open(JSON.parse(row.payload).sealed, id);
    const successor = opened?.toString() ?? null;
    const stored =
      successor === null ? undefined : await queries.findObject(tokenModel, hash('sha256', successor));
    return stored?.consumed_at === null ? successor : null;
  }

  return {
    /** The refresh of which this statement is a part; undefined outside of the token endpoint. */
    current: () => refreshes.getStore(),

    /** Whether a used token can be used once more now. */
    isWithinLeeway: async (tx: Sql, token: string) => (await findSuccessor(tx, token)) !== null,

    /**
     * Uses a token, and stores its successor: then the result is null. If the token was used before, it is the successor
     * of that time, which the request gets instead. @throws the error of `alreadyUsed` if there is none
     */
    async replace(tx: Sql, token: string, successor: NewObjectRow, successorToken: string) {
      const queries = oauthQueries(tx);
      const id = hash('sha256', token);
      const now = clock.now();
      if ((await queries.updateConsumed(tokenModel, id, timestamp(now))) === 1) {
        await queries.upsertObject(successor);
        await queries.upsertObject({
          ...successor,
          model: successorModel,
          id,
          payload: JSON.stringify({ sealed: sealerOf(token).seal(successorToken, id) }),
          uid: null,
          expires_at: timestamp(now + leewayMs),
        });
        return null;
      }
      const earlier = await findSuccessor(tx, token);
      // Several requests may delete the row: the one that does gets the successor.
      const isFirst = (await queries.deleteValidObject(successorModel, id, timestamp(now))) === 1;
      if (earlier === null || !isFirst) {
        throw alreadyUsed();
      }
      return earlier;
    },

    /** Middleware: puts the earlier successor into the response. */
    async respond(ctx: KoaContextWithOIDC, next: () => Promise<void>) {
      if (ctx.path !== '/oauth/token') {
        return next();
      }
      const refresh: Refresh = { presented: null, successor: null };
      await refreshes.run(refresh, next);
      const { body } = ctx as { body?: { refresh_token?: string } };
      if (refresh.successor !== null && body?.refresh_token !== undefined) {
        body.refresh_token = refresh.successor;
      }
    },
  };
}
