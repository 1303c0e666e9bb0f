/**
 * Sessions of customers. The token is a JWT (RFC 7519) that clients may read. The server does not verify it: it looks up
 * its SHA-256, which no forged or altered token has. Logout deletes the row, so the session ends on every instance; so
 * does the end of the session lifetime.
 */
import { hash, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { createLookup } from '../../database/lookup.ts';
import { purgeInSlices } from '../../database/purge.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import type { Config } from '../../settings/config.ts';
import type { Credential, Resolution } from '../guard.ts';
import { type SessionRow, sessionByHash, sessionQueries } from './queries.ts';

const lifetimeSeconds = 24 * 60 * 60;
export const sessionsMax = 20;
const tokenLengthMax = 2048;
const noScopes: ReadonlySet<string> = new Set();

/** A session that is not stored yet. Only `token` is not stored. */
export interface NewSession extends SessionRow {
  readonly token: string;
}

export type Sessions = ReturnType<typeof createSessions>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly config: Config;
}

export function createSessions({ database, clock, config }: Dependencies) {
  const find = createLookup<SessionRow>(database, sessionByHash);
  const plan = config.sessionPlan;
  const key = new Uint8Array(hkdfSync('sha256', config.secret, '', 'session tokens', 32));
  const kid = hash('sha256', key).slice(0, 16);

  function toPrincipal(row: SessionRow | undefined): Resolution {
    if (row === undefined) {
      return { rejected: 'The session is not known, or has ended.' };
    }
    if (Date.parse(row.expires_at) <= clock.now()) {
      return { rejected: 'The session has expired.' };
    }
    return {
      kind: 'session',
      id: `customer:${row.customer_id}`,
      accountId: null,
      plan,
      scopes: noScopes,
      audience: 'api',
      limits: null,
      customerId: row.customer_id,
      expiresAt: row.expires_at,
      sessionHash: row.token_hash,
      confinedTo: null,
      tokenHash: null,
    };
  }

  return {
    resolve({ place, text }: Credential): MaybePromise<Resolution> {
      if (place !== 'authorization' || !/^eyJ[^.]*\.[^.]*\.[^.]*$/.test(text)) {
        return 'skip';
      }
      return text.length > tokenLengthMax
        ? toPrincipal(undefined)
        : chain(find(hash('sha256', text)), toPrincipal);
    },

    /** Creates a session that expires in 24 hours. It is valid after `open` stored it. */
    async issue(customerId: number) {
      const { SignJWT } = await import('jose');
      const issuedAt = Math.floor(clock.now() / 1000);
      const expiresAt = issuedAt + lifetimeSeconds;
      const token = await new SignJWT({ jti: clock.uuid() })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
        .setIssuer(config.publicUrl ?? 'curd')
        .setAudience('customer')
        .setSubject(String(customerId))
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return {
        token,
        token_hash: hash('sha256', token),
        customer_id: customerId,
        created_at: timestamp(clock.now()),
        expires_at: timestamp(expiresAt * 1000),
      };
    },

    /** Stores a session, and deletes the oldest one when the customer has more than 20. */
    async open(tx: Sql, session: NewSession) {
      await Promise.all([
        sessionQueries(tx).insert(session),
        sessionQueries(tx).deleteOldest(session.customer_id, session.token_hash, sessionsMax - 1),
      ]);
    },

    /** Shared lock until the transaction ends. False when the session has ended. */
    lockForShare: async (tx: Sql, tokenHash: string) =>
      (await sessionQueries(tx).lockForShare(tokenHash)) !== undefined,

    /** False when the session had ended already. */
    end: async (tx: Sql, tokenHash: string) => (await sessionQueries(tx).delete(tokenHash)) > 0,

    /** @param except hash of a session to keep */
    async endAll(tx: Sql, { origin }: Context, customerId: number, except: string | null) {
      const ended = await sessionQueries(tx).deleteOfCustomer(customerId, except);
      origin.effects?.addCount('sessions.ended', ended);
    },

    /** Deletes expired sessions. */
    async purge() {
      await purgeInSlices(database, (tx, limit) =>
        sessionQueries(tx).deleteExpired(timestamp(clock.now()), limit),
      );
    },
  };
}
