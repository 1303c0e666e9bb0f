import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** API keys. */
export class ApiKeys extends Area {
  /** Lists the active keys of an account. */
  list(filters?: Query<'listApiKeys'>, options?: CallOptions): ListOf<'listApiKeys'> {
    return this.api.listAll('/v2/api-keys', { query: filters }, options);
  }

  /** Creates a key. The response contains it once. */
  create(key: Body<'createApiKey'>, options?: CallOptions): Promise<Result<'createApiKey'>> {
    return this.api.post('/v2/api-keys', { body: key }, options);
  }

  /** Lists what a restricted key spent by day. */
  listSpending(keyId: number, options?: CallOptions): ListOf<'listApiKeySpending'> {
    return this.api.listAll('/v2/api-keys/{keyId}/spending', { path: { keyId } }, options);
  }

  /** Gives a key another name, or none. */
  rename<Options extends WriteOptions>(
    keyId: number,
    name: Body<'renameApiKey'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'renameApiKey'>>> {
    return this.api.post('/v2/api-keys/{keyId}', { path: { keyId }, body: name }, options);
  }

  /** Replaces a key. Both work until the overlap ends. */
  rotate(
    keyId: number,
    rotation?: Body<'rotateApiKey'>,
    options?: CallOptions,
  ): Promise<Result<'rotateApiKey'>> {
    return this.api.post('/v2/api-keys/{keyId}/rotate', { path: { keyId }, body: rotation }, options);
  }

  /** Ends a key at once. */
  revoke<Options extends WriteOptions>(keyId: number, options?: Options): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/api-keys/{keyId}', { path: { keyId } }, options);
  }
}

/** The credential of this client. */
export class Credential extends Area {
  /** Returns what the credential permits, and how much of its quota is left. */
  explain(options?: CallOptions): Promise<Result<'explainCredential'>> {
    return this.api.get('/v2/whoami', {}, options);
  }
}

/** The sign-in of the operator's console. */
export class Console extends Area {
  /** Exchanges a link, which `curd console` prints, for a token. */
  signIn(link: Body<'signInToConsole'>, options?: CallOptions): Promise<Result<'signInToConsole'>> {
    return this.api.post('/v2/console/sign-in', { body: link }, options);
  }

  /** Ends the token of this client. */
  signOut(options?: CallOptions): Promise<void> {
    return this.api.post('/v2/console/sign-out', {}, options);
  }
}

/** Responses that are stored by their idempotency keys. */
export class Idempotency extends Area {
  /** Returns what was done under an idempotency key. */
  get(key: string, options?: CallOptions): Promise<Result<'getIdempotentResponse'>> {
    // fetch removes the path segments "." and "..". In quotes, they are the same keys.
    const segment = key === '.' || key === '..' ? `"${key}"` : key;
    return this.api.get('/v2/idempotency/{key}', { path: { key: segment } }, options);
  }
}

/** The limits of the shop. */
export class Limits extends Area {
  /** Returns all limits. */
  list(options?: CallOptions): Promise<Result<'listLimits'>> {
    return this.api.get('/v2/limits', {}, options);
  }
}
