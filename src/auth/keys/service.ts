/** API keys: creation, names, rotation and revocation. Accounts are in accounts.ts. */
import type { Scope } from '../../access/access.ts';
import type { GivenLimits, KeyKind, KeyLimits } from '../../access/key-limits.ts';
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import type { NewEvent } from '../../event-log/define.ts';
import { recordEvents } from '../../event-log/record.ts';
import type { Environment } from '../../settings/config.ts';
import { createAccountService } from './accounts.ts';
import { keyEvents } from './event-types.ts';
import { hashKey, type KeyType, makeKey } from './format.ts';
import { kindsOfKeys, requireKind, tooManyKeys } from './kinds.ts';
import { credentialByHash, type KeyRow, keyQueries } from './queries.ts';
import { acceptsKeys, toActor } from './resolver.ts';

/** An API key without its secret, with the limits that it has. */
export interface KeyDetails extends KeyLimits {
  readonly id: number;
  readonly kind: KeyKind;
  /** The principal in events and orders. */
  readonly actor: string;
  readonly name: string | null;
  readonly type: KeyType;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  /** The web page that used the key, although it is secret, and when. */
  readonly webOrigin?: string;
  readonly webOriginAt?: string;
  /** The whole key, if it is publishable. */
  readonly key?: string;
}

/** A new API key. A secret is not stored, so it is shown only once. */
export interface CreatedKey extends KeyDetails {
  readonly key: string;
}

export interface KeyRequest extends GivenLimits {
  readonly kind?: KeyKind | undefined;
  readonly name?: string | null | undefined;
  /** Default: live in production, and test elsewhere. */
  readonly type?: KeyType | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly lifetimeMs?: number | undefined;
  /** The first of the restricted keys that replaced each other. */
  readonly firstId?: number | null | undefined;
  /** A key that is known already, in place of a new one. */
  readonly key?: string | undefined;
}

export type KeyService = ReturnType<typeof createKeyService>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly environment: Environment;
  /** Plan of accounts that are created without one. */
  readonly defaultPlan: string;
}

/** The name of the account of the operator's console. It cannot have API keys. */
export const consoleAccount = 'console';

export function createKeyService(dependencies: Dependencies) {
  const { database, clock, environment } = dependencies;

  async function insert(tx: Sql, accountId: number, request: KeyRequest): Promise<CreatedKey> {
    const type = request.type ?? (environment === 'production' ? 'live' : 'test');
    if (!acceptsKeys(environment, type)) {
      throw new AppError('conflict', `A ${type} key cannot be created: ${environment} does not accept it.`);
    }
    const now = clock.now();
    const queries = keyQueries(tx);
    const { kind = 'secret', name = null, scopes = [] } = request;
    const limits = requireKind(kind, request);
    const lifetimeMs = request.lifetimeMs ?? kindsOfKeys[kind].lifetimeMs;
    if ((await queries.countActive(accountId, kind, timestamp(now))) >= kindsOfKeys[kind].activeMax) {
      throw tooManyKeys(kind);
    }
    const key = request.key ?? makeKey(type, clock, kind);
    const row = await queries.insert({
      account_id: accountId,
      kind,
      name,
      type,
      limits: JSON.stringify(limits),
      shown_key: kind === 'publishable' ? key : null,
      hash: hashKey(key),
      last4: key.slice(-4),
      scopes: [...new Set(scopes)].join(' '),
      created_at: timestamp(now),
      expires_at: lifetimeMs === undefined ? null : timestamp(now + lifetimeMs),
      first_id: request.firstId ?? null,
    });
    return { ...toApiKey(row as KeyRow), key };
  }

  const record = (tx: Sql, context: Context, event: NewEvent): Promise<void> =>
    recordEvents(tx, context.origin, timestamp(clock.now()), [event]);

  /** Locks the account of a key. The key may have ended. */
  async function lockKey(tx: Sql, keyId: number): Promise<KeyRow> {
    const queries = keyQueries(tx);
    const known = await queries.find(keyId);
    if (known === undefined) {
      throw new AppError('notFound', 'There is no such API key.');
    }
    await queries.lockAccount(known.account_id);
    return known;
  }

  return {
    ...createAccountService(dependencies),

    /** Creates a known key unless it exists. @throws AppError conflict when three keys are active already */
    async ensure(context: Context, accountId: number, key: string, scopes: readonly string[]) {
      await context.transaction(async (tx) => {
        await keyQueries(tx).lockAccount(accountId);
        if ((await tx.get(credentialByHash.one(hashKey(key)))) === undefined) {
          const created = await insert(tx, accountId, { key, scopes, type: 'test' });
          await record(tx, context, keyEvents.created.of(`api_key:${created.id}`, withoutSecret(created)));
        }
      });
    },

    /** The number of active live keys of all accounts. */
    countLive: () => keyQueries(database).countLive(timestamp(clock.now())),

    /** @throws AppError conflict when as many keys of the kind are active as there can be, validation */
    create: (context: Context, accountId: number, request: KeyRequest) =>
      context.transaction(async (tx) => {
        const account = await keyQueries(tx).lockAccount(accountId);
        if (account?.name === consoleAccount) {
          throw new AppError(
            'conflict',
            'The account of the console cannot have API keys. Use another account, or create one.',
          );
        }
        const created = await insert(tx, accountId, request);
        await record(tx, context, keyEvents.created.of(`api_key:${created.id}`, withoutSecret(created)));
        return created;
      }),

    /** The key may have ended. @throws AppError notFound */
    async find(keyId: number) {
      const row = await keyQueries(database).find(keyId);
      if (row === undefined) {
        throw new AppError('notFound', 'There is no such API key.');
      }
      return toApiKey(row);
    },

    /** Includes revoked keys. A key without a name is named by its account and its last characters. */
    listNames: (ids: readonly number[]) => keyQueries(database).listNames(ids),

    async list(accountId: number) {
      const rows = await keyQueries(database).listActive(accountId, timestamp(clock.now()));
      return rows.map(toApiKey);
    },

    /** null: without a name. @throws AppError notFound, conflict when the key has ended */
    rename: (context: Context, keyId: number, name: string | null) =>
      context.transaction(async (tx) => {
        const { id } = await lockKey(tx, keyId);
        const known = await keyQueries(tx).findActive(id, timestamp(clock.now()));
        if (known === undefined) {
          throw new AppError('conflict', 'This API key has ended already.');
        }
        if (known.name === name) {
          return toApiKey(known);
        }
        const renamed = toApiKey((await keyQueries(tx).updateName(id, name)) as KeyRow);
        await record(tx, context, keyEvents.renamed.of(`api_key:${id}`, { id, name }));
        return renamed;
      }),

    /** Creates a key with the same scopes. The old one ends after `overlapMs`. @throws AppError notFound, conflict */
    rotate: (context: Context, keyId: number, overlapMs: number, may: { readonly makeAdmin: boolean }) =>
      context.transaction(async (tx) => {
        const known = await lockKey(tx, keyId);
        const now = timestamp(clock.now());
        const old = await keyQueries(tx).findActive(known.id, now);
        if (old === undefined) {
          throw new AppError('conflict', 'This API key has ended already. Create a new one.');
        }
        if (old.replaced_by !== null) {
          throw new AppError(
            'conflict',
            `Key ${old.replaced_by} has replaced this key already. Rotate that key instead.`,
          );
        }
        if (!may.makeAdmin && toApiKey(old).scopes.includes('admin')) {
          throw new AppError(
            'conflict',
            `Only the command line rotates a key with the scope admin: "${commandName} keys rotate <id>".`,
          );
        }
        // The old key ends first, so that without an overlap no more keys are active than before.
        await (overlapMs === 0
          ? keyQueries(tx).updateRevoked(old.id, now)
          : keyQueries(tx).updateExpiry(old.id, timestamp(clock.now() + overlapMs)));
        const created = await insert(tx, old.account_id, {
          ...(JSON.parse(old.limits) as KeyLimits),
          kind: old.kind,
          firstId: old.kind === 'restricted' ? (old.first_id ?? old.id) : null,
          name: old.name,
          type: old.type,
          scopes: toApiKey(old).scopes,
          lifetimeMs:
            old.expires_at === null ? undefined : Date.parse(old.expires_at) - Date.parse(old.created_at),
        });
        await keyQueries(tx).updateReplacedBy(old.id, created.id);
        const data = { replacedBy: withoutSecret(created) };
        await record(tx, context, keyEvents.rotated.of(`api_key:${old.id}`, data));
        return created;
      }),

    /** @throws AppError notFound */
    revoke: (context: Context, keyId: number) =>
      context.transaction(async (tx) => {
        const { id } = await lockKey(tx, keyId);
        const changed = await keyQueries(tx).updateRevoked(id, timestamp(clock.now()));
        if (changed > 0) {
          await record(tx, context, keyEvents.revoked.of(`api_key:${id}`, { id }));
        }
      }),
  };
}

function toApiKey(row: KeyRow): KeyDetails {
  return {
    id: row.id,
    kind: row.kind,
    actor: toActor(row),
    name: row.name,
    type: row.type,
    last4: row.last4,
    scopes: row.scopes === '' ? [] : (row.scopes.split(' ') as Scope[]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    ...(JSON.parse(row.limits) as KeyLimits),
    ...(row.web_origin === null || row.web_origin_at === null
      ? {}
      : { webOrigin: row.web_origin, webOriginAt: row.web_origin_at }),
    ...(row.shown_key === null ? {} : { key: row.shown_key }),
  };
}

/** Events contain no key, publishable or not. */
function withoutSecret({ key: _, ...shown }: CreatedKey): KeyDetails {
  return shown;
}
