/**
 * The storage adapter of oidc-provider. Codes and tokens are not stored: a row is found by the SHA-256 of its id, and
 * `jti`, which is the id itself, is added when a row is read.
 */
import { hash } from 'node:crypto';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { type Clock, timestamp } from '../../../clock.ts';
import type { Database } from '../../../database/database.ts';
import { consoleClientId, isClientId } from '../clients.ts';
import type { ConsoleClient } from '../console-client.ts';
import { type ClientRow, type ObjectRow, oauthQueries } from '../queries.ts';
import { shiftTimes } from './object-times.ts';
import type { Rotations } from './rotation.ts';

/** A used code is stored for a day, so that a second use is detected and revokes its tokens (RFC 6749, 4.1.2). */
const usedCodeMs = 24 * 60 * 60 * 1000;
/** Lifetime of objects that have none. */
const defaultLifetimeSeconds = 31 * 24 * 60 * 60;

const tokens = ['AccessToken', 'RefreshToken'];

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** The error when a code or refresh token was used already, or its grant was revoked. */
  readonly alreadyUsed: () => Error;
  readonly rotations: Rotations;
  /** null if this server has no console. */
  readonly consoleClient: ConsoleClient | null;
  readonly issuer: string;
}

/** An adapter for each model of oidc-provider. */
export function createAdapters({
  database,
  clock,
  alreadyUsed,
  rotations,
  consoleClient,
  issuer,
}: Dependencies): (model: string) => Adapter {
  const queries = oauthQueries(database);

  function toPayload(row: ObjectRow | undefined, id?: string): AdapterPayload | undefined {
    if (row === undefined) {
      return undefined;
    }
    const stored: AdapterPayload = {
      ...JSON.parse(row.payload),
      ...(row.consumed_at === null ? {} : { consumed: Math.floor(Date.parse(row.consumed_at) / 1000) }),
    };
    const payload = shiftTimes(stored, -clock.advancedMs());
    return id === undefined ? payload : { ...payload, jti: id };
  }

  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const { jti: _, consumed: _consumed, ...stored } = payload;
      const { session } = stored as { session?: { cookie?: string } };
      const sessionWithoutCookie =
        session === undefined ? {} : { session: { ...session, cookie: undefined } };
      const customer =
        payload.accountId ??
        (session as { accountId?: string } | undefined)?.accountId ??
        (payload.result as { login?: { accountId?: string } } | undefined)?.login?.accountId;
      const lifetimeMs =
        (expiresIn || defaultLifetimeSeconds) * 1000 + (model === 'AuthorizationCode' ? usedCodeMs : 0);
      const object = {
        model,
        id: hash('sha256', id),
        payload: JSON.stringify(shiftTimes({ ...stored, ...sessionWithoutCookie }, clock.advancedMs())),
        grant_id: payload.grantId ?? null,
        uid: payload.uid ?? null,
        customer_id: customer === undefined ? null : Number(customer),
        client_id: payload.clientId ?? null,
        scope: payload.scope ?? null,
        audience: (payload.aud as string | undefined) ?? null,
        expires_at: timestamp(clock.now() + lifetimeMs),
      };
      const { grantId } = payload;
      if (grantId === undefined || !tokens.includes(model)) {
        await queries.upsertObject(object);
        return;
      }
      const refresh = model === 'RefreshToken' ? rotations.current() : undefined;
      const presented = refresh?.presented ?? null;
      // The grant may be deleted while a token is issued, when its code is used twice or the password changes.
      const earlier = await database.transaction(async (tx) => {
        if ((await oauthQueries(tx).lockGrantForShare(hash('sha256', grantId))) === undefined) {
          throw alreadyUsed();
        }
        if (presented !== null) {
          return rotations.replace(tx, presented, object, id);
        }
        await oauthQueries(tx).upsertObject(object);
        return null;
      });
      if (refresh !== undefined) {
        refresh.successor = earlier;
      }
    },

    async find(id) {
      if (model === 'Client') {
        if (id === consoleClientId) {
          return consoleClient === null
            ? undefined
            : metadataOf({
                ...(await consoleClient.findOrCreate()),
                redirect_uris: JSON.stringify([`${issuer}/console/`]),
              });
        }
        const client = isClientId(id) ? await queries.findClient(id) : undefined;
        return client === undefined ? undefined : metadataOf(client);
      }
      const row = await queries.findObject(model, hash('sha256', id));
      const isRefresh = model === 'RefreshToken' && rotations.current() !== undefined;
      if (isRefresh && row?.consumed_at && (await rotations.isWithinLeeway(database, id))) {
        return toPayload({ ...row, consumed_at: null }, id);
      }
      return toPayload(row, id);
    },

    findByUid: async (uid) => toPayload(await queries.findObjectByUid(model, uid)),

    // The device flow is not offered.
    findByUserCode: async () => undefined,

    async consume(id) {
      const refresh = model === 'RefreshToken' ? rotations.current() : undefined;
      if (refresh !== undefined) {
        // Marked in the transaction that stores its successor, which the library saves next.
        refresh.presented = id;
        return;
      }
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
        // Deleted after the grant, so that no token can be added to it.
        await oauthQueries(tx).deleteAllOfGrant(id);
      });
    },

    async revokeByGrantId(grantId) {
      await queries.deleteObjectsOfGrant(model, grantId);
    },
  });
}

/** A client for oidc-provider. Its secret is the hash, because provider.ts compares hashes. */
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
    // The implicit flow is translated to a code flow: see authorize-request.ts.
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
