/** Resolves API keys to principals, and records when each key was last used. */
import type { KeyLimits } from '../../access/key-limits.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { createLookup } from '../../database/lookup.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import type { Environment } from '../../settings/config.ts';
import type { Credential, Resolution } from '../guard.ts';
import { hashKey, hasKeyForm, type KeyType, typeOfKey } from './format.ts';
import { type CredentialRow, credentialByHash, type KeyRow, keyQueries } from './queries.ts';
import type { WebOrigins } from './web-origins.ts';

/** What is known of a well-formed key without the database. */
interface ParsedKey {
  readonly type: KeyType;
  readonly hash: string;
}

const parsedKeysMax = 1000;
const limitSetsMax = 1000;
const malformedKey =
  'The API key is malformed: 36 letters and digits must follow its beginning, such as sk_live_. Copy the whole key again.';
const damagedKey =
  'The checksum of the API key is wrong, so at least one of its characters is. Copy the whole key again.';
const notAKey =
  'X-API-Key must contain an API key, which starts with sk_, pk_ or rk_ and live_ or test_. Send a token or session as Authorization: Bearer <token>.';

const isKeyLike = (text: string) => /^[spr]k_(live|test)_/.test(text);

/** Why a text is no key. */
function reasonOf(text: string): string {
  if (!isKeyLike(text)) {
    return notAKey;
  }
  return hasKeyForm(text) ? damagedKey : malformedKey;
}

const principalKinds = { secret: 'apiKey', publishable: 'publishable', restricted: 'restricted' } as const;

/** Production accepts only live keys, a sandbox only test keys, and local accepts both. */
export function acceptsKeys(environment: Environment, type: KeyType): boolean {
  return environment === 'local' || (environment === 'production') === (type === 'live');
}

/** The principal as which a key acts: rotation changes neither the orders nor the budget of a restricted key. */
export const toActor = ({ id, first_id }: Pick<KeyRow, 'id' | 'first_id'>) => `key:${first_id ?? id}`;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly webOrigins: Pick<WebOrigins, 'note'>;
}

export function createKeyResolver({ database, clock, environment, webOrigins }: Dependencies) {
  const findByHash = createLookup<CredentialRow>(database, credentialByHash);
  const scopeSets = new Map<string, ReadonlySet<string>>();
  const limitSets = new Map<string, KeyLimits>();
  const parsedKeys = new Map<string, ParsedKey>();
  let lastUsed = new Map<number, number>();

  /** One set for each stored text: there are few, and they never change. */
  function scopesOf(text: string): ReadonlySet<string> {
    let set = scopeSets.get(text);
    if (set === undefined) {
      set = new Set(text === '' ? [] : text.split(' '));
      scopeSets.set(text, set);
    }
    return set;
  }

  /** null for limits that limit nothing. Cached, because few keys have any and each request needs them. */
  function limitsOf(text: string): KeyLimits | null {
    if (text === '{}') {
      return null;
    }
    let limits = limitSets.get(text);
    if (limits === undefined) {
      limits = JSON.parse(text) as KeyLimits;
      if (limitSets.size >= limitSetsMax) {
        limitSets.clear();
      }
      limitSets.set(text, limits);
    }
    return limits;
  }

  /** Caches checksum and digest, which take 10 us of the 40 us of a request. */
  function parse(text: string): ParsedKey | null {
    const known = parsedKeys.get(text);
    if (known !== undefined) {
      return known;
    }
    const type = typeOfKey(text);
    if (type === null) {
      return null;
    }
    if (parsedKeys.size >= parsedKeysMax) {
      parsedKeys.clear();
    }
    const parsed = { type, hash: hashKey(text) };
    parsedKeys.set(text, parsed);
    return parsed;
  }

  /** Checks the row against the clock, and records the use of the key. */
  function toPrincipal(row: CredentialRow | undefined, origin?: string): Resolution {
    const now = clock.now();
    if (row === undefined) {
      return { rejected: 'The API key is not known.' };
    }
    if (row.revoked_at !== null) {
      return { rejected: 'The API key was revoked.' };
    }
    if (row.expires_at !== null && Date.parse(row.expires_at) <= now) {
      return { rejected: 'The API key has expired.' };
    }
    lastUsed.set(row.id, now);
    if (origin !== undefined && row.kind !== 'publishable') {
      webOrigins.note(row.id, origin);
    }
    return {
      kind: principalKinds[row.kind],
      id: toActor(row),
      accountId: row.account_id,
      // The limits of a publishable key have no plan.
      plan: row.kind === 'publishable' ? row.kind : row.plan,
      scopes: scopesOf(row.scopes),
      audience: row.kind === 'publishable' ? 'api' : 'any',
      limits: limitsOf(row.limits),
      customerId: null,
      expiresAt: row.expires_at,
      sessionHash: null,
      confinedTo: null,
      tokenHash: null,
    };
  }

  return {
    resolve({ place, text, origin }: Credential): MaybePromise<Resolution> {
      if (place === 'authorization' && !isKeyLike(text)) {
        return 'skip';
      }
      const key = parse(text);
      if (key === null) {
        return { rejected: reasonOf(text), isPublic: true };
      }
      if (!acceptsKeys(environment, key.type)) {
        const other = key.type === 'live' ? 'test' : 'live';
        return {
          rejected: `A ${key.type} key is not accepted in ${environment}. Use a ${other} key, which starts with ${text.slice(0, 2)}_${other}_.`,
          isPublic: true,
        };
      }
      return chain(findByHash(key.hash), (row) => toPrincipal(row, origin));
    },

    /** Stores when keys were last used. Runs on a timer, because a write for each request costs too much. */
    async flushLastUsed() {
      if (lastUsed.size === 0) {
        return;
      }
      const used = lastUsed;
      lastUsed = new Map();
      const rows = [...used].map(([id, at]) => ({ id, at: timestamp(at) }));
      try {
        await database.transaction((tx) => keyQueries(tx).updateLastUsed(rows));
      } catch (error) {
        lastUsed = new Map([...used, ...lastUsed]);
        throw error;
      }
    },
  };
}
