/**
 * Where the authorization server keeps its objects: the adapter that oidc-provider asks for, over our database. A
 * code or token is never stored: a row is found by its SHA-256, and `jti` is put back when it is read.
 */
import { hash } from 'node:crypto';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { type Clock, timestamp } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { type ClientRow, type ObjectRow, oauthQueries } from './queries.ts';

/** A used code is kept for a day, so that using it again is noticed and ends what came of it (RFC 6749, 4.1.2). */
const usedCodeMs = 24 * 60 * 60 * 1000;
/** For what oidc-provider gives no lifetime to. */
const longestSeconds = 31 * 24 * 60 * 60;

const tokens = ['AccessToken', 'RefreshToken'];

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** Thrown where a code or refresh token has been used already, or what was granted has been taken back. */
  readonly alreadyUsed: () => Error;
}

/** An adapter for each model of oidc-provider. */
export function createAdapters({ database, clock, alreadyUsed }: Dependencies): (model: string) => Adapter {
  const queries = oauthQueries(database);

  function found(row: ObjectRow | undefined, id?: string): AdapterPayload | undefined {
    if (row === undefined) {
      return undefined;
    }
    return {
      ...JSON.parse(row.payload),
      ...(id === undefined ? {} : { jti: id }),
      ...(row.consumed_at === null ? {} : { consumed: Math.floor(Date.parse(row.consumed_at) / 1000) }),
    };
  }

  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const { jti: _, consumed: _consumed, ...kept } = payload;
      const { session } = kept as { session?: { cookie?: string } };
      const sessionWithoutCookie =
        session === undefined ? {} : { session: { ...session, cookie: undefined } };
      const customer =
        payload.accountId ??
        (session as { accountId?: string } | undefined)?.accountId ??
        (payload.result as { login?: { accountId?: string } } | undefined)?.login?.accountId;
      const lifetimeMs =
        (expiresIn || longestSeconds) * 1000 + (model === 'AuthorizationCode' ? usedCodeMs : 0);
      const object = {
        model,
        id: hash('sha256', id),
        payload: JSON.stringify({ ...kept, ...sessionWithoutCookie }),
        grant_id: payload.grantId ?? null,
        uid: payload.uid ?? null,
        customer_id: customer === undefined ? null : Number(customer),
        client_id: payload.clientId ?? null,
        scope: payload.scope ?? null,
        expires_at: timestamp(clock.now() + lifetimeMs),
      };
      const { grantId } = payload;
      if (grantId === undefined || !tokens.includes(model)) {
        await queries.upsertObject(object);
        return;
      }
      // A grant may end while a token of it is on its way: because its code was used twice, or a password changed.
      await database.transaction(async (tx) => {
        if ((await oauthQueries(tx).lockGrantForShare(hash('sha256', grantId))) === undefined) {
          throw alreadyUsed();
        }
        await oauthQueries(tx).upsertObject(object);
      });
    },

    async find(id) {
      if (model === 'Client') {
        const client = isClientId(id) ? await queries.findClient(id) : undefined;
        return client === undefined ? undefined : metadataOf(client);
      }
      return found(await queries.findObject(model, hash('sha256', id)), id);
    },

    findByUid: async (uid) => found(await queries.findObjectByUid(model, uid)),

    // Codes that people type on another device are not offered.
    findByUserCode: async () => undefined,

    async consume(id) {
      if ((await queries.updateConsumed(model, hash('sha256', id), timestamp(clock.now()))) === 0) {
        throw alreadyUsed();
      }
    },

    async destroy(id) {
      if (model !== 'Grant') {
        await queries.deleteObject(model, hash('sha256', id));
        return;
      }
      await database.transaction(async (tx) => {
        await oauthQueries(tx).deleteObject(model, hash('sha256', id));
        // After the grant itself: then no token of it can come any more.
        await oauthQueries(tx).deleteAllOfGrant(id);
      });
    },

    async revokeByGrantId(grantId) {
      await queries.deleteObjectsOfGrant(model, grantId);
    },
  });
}

/** Whatever cannot be an id is nobody's, and is not asked for. */
export const isClientId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);

/** An application as oidc-provider knows it. It compares hashes of secrets, so the hash stands for the secret. */
function metadataOf(client: ClientRow): AdapterPayload {
  const grants = client.grants.split(' ');
  const redirectUris = JSON.parse(client.redirect_uris) as string[];
  const isBrowserFlow = redirectUris.length > 0;
  return {
    client_id: client.id,
    client_name: client.name,
    ...(client.secret_hash === null ? {} : { client_secret: client.secret_hash }),
    token_endpoint_auth_method: client.secret_hash === null ? 'none' : 'client_secret_basic',
    application_type: client.is_native === 1 ? 'native' : 'web',
    redirect_uris: redirectUris,
    response_types: isBrowserFlow ? ['code'] : [],
    // The implicit flow is a code flow whose code never leaves this process.
    grant_types: [
      ...new Set([
        ...(isBrowserFlow ? ['authorization_code'] : []),
        ...grants.filter((grant) => grant !== 'implicit'),
      ]),
    ],
    scope: client.scopes,
    own_grants: grants,
  };
}
