/**
 * Authentication and authorization (RFC 6750; RFC 9110, section 11). Every credential of a request must be valid, and one
 * of them must meet the access of the route. An ordered list of resolvers handles the kinds of credentials.
 */

import { type PublishableAccess, permits, type Requirement } from '../access/access.ts';
import type { Audience, Principal } from '../access/principal.ts';
import { AppError, invalidCredential } from '../errors.ts';
import type { Guard, GuardedRoute } from '../http/pipeline/guard.ts';
import { isRepeated } from '../http/repeated-headers.ts';
import { isChange } from '../http/route.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import {
  forbidden,
  forbiddenForCustomers,
  forbiddenForPublishableKey,
  forbiddenForRestrictedKey,
  forbiddenWithoutOrders,
  forbiddenWithTwoKeys,
} from './forbidden.ts';

const orderScopes: ReadonlySet<string> = new Set(['read:orders', 'write:orders']);
const noScopes: ReadonlySet<string> = new Set();

/** The value of X-API-Key, the bearer token of Authorization, or the publishable key in the URL. */
export interface Credential {
  readonly place: 'x-api-key' | 'authorization' | 'url';
  readonly text: string;
  /** The header `Origin` of the request. */
  readonly origin?: string | undefined;
}

/**
 * The result of a resolver: 'skip' for another kind of credential, a principal, or the reason of a rejection. The reason
 * is public when it follows only from the text of the credential and the environment of the server.
 */
export type Resolution = 'skip' | Principal | { readonly rejected: string; readonly isPublic?: true };

export type Resolver = (credential: Credential) => MaybePromise<Resolution>;

/** Authenticates requests; authorizes them after they were counted. */
export function createGuard(resolvers: readonly Resolver[]): Guard {
  /** The result of the first resolver, from the given place, that does not skip the credential. */
  function resolve(credential: Credential, place = 0): MaybePromise<Principal> {
    const resolver = resolvers[place];
    if (resolver === undefined) {
      throw rejected('The token is not known.');
    }
    return chain(resolver(credential), (resolution) => {
      if (resolution === 'skip') {
        return resolve(credential, place + 1);
      }
      if ('rejected' in resolution) {
        throw resolution.isPublic ? rejectedPublicly(resolution.rejected) : rejected(resolution.rejected);
      }
      return resolution;
    });
  }

  function resolveAll(
    [credential, ...others]: readonly Credential[],
    audience: Audience,
  ): MaybePromise<Principal[]> {
    return credential === undefined
      ? []
      : chain(resolve(credential), (first) => {
          requireAudience(first, audience);
          return chain(resolveAll(others, audience), (rest) => [first, ...rest]);
        });
  }

  return {
    authenticate: (request, audience, keyInUrl) => resolveAll(credentialsOf(request, keyInUrl), audience),
    authorize,
  };
}

/** A token is accepted only by the resource for which it was requested (RFC 8707). @throws AppError unauthorized */
function requireAudience(principal: Principal, audience: Audience): void {
  if (principal.audience === audience || principal.audience === 'any') {
    return;
  }
  throw rejectedPublicly(
    audience === 'api'
      ? 'This token is for the MCP endpoint alone. Request a token without resource for the API.'
      : principal.kind === 'oauth'
        ? 'This token is for the API. Request one with resource, as the metadata of the MCP endpoint names it.'
        : 'The MCP endpoint accepts API keys and access tokens, and not this kind of credential.',
  );
}

/** The principal that meets the access of the route. @throws AppError unauthorized, forbidden */
function authorize(principals: readonly Principal[], route: GuardedRoute): Principal | null {
  const { access, alternative, permitsConfined, publishable } = route;
  const key = principals.find(({ kind }) => kind === 'publishable');
  if (key !== undefined) {
    return authorizePublishable(key, principals, access, publishable);
  }
  if (permitsConfined !== true && customerActedFor(principals) !== undefined) {
    throw forbiddenForCustomers();
  }
  if (access === 'open') {
    if (isChange(route) && principals.some(({ kind }) => kind === 'restricted')) {
      throw forbiddenForRestrictedKey();
    }
    return principals[0] ?? null;
  }
  if (principals.length === 0) {
    throw new AppError(
      'unauthorized',
      'Send an API key in X-API-Key, or a token as "Authorization: Bearer <token>".',
      { details: { credential: 'missing' } },
    );
  }
  if (access === 'any credential') {
    return actForCustomer(principals[0] as Principal, principals, access);
  }
  const permitted = principals.find((principal) => permits(access, principal));
  if (permitted === undefined) {
    throw forbidden(access, principals, alternative);
  }
  return actForCustomer(permitted, principals, access);
}

/**
 * Access with a publishable key. Everybody can copy such a key, so a route must say that it takes one. Beside a customer's
 * session the request is that of the customer: the session may do what it may do alone, and what the key lends it.
 * @returns the key, or the customer whose credential accompanies it @throws AppError forbidden
 */
function authorizePublishable(
  key: Principal,
  principals: readonly Principal[],
  access: readonly Requirement[] | 'any credential' | 'open',
  publishable: PublishableAccess | undefined,
): Principal {
  const others = principals.filter((other) => other !== key);
  if (others.some(({ customerId }) => customerId === null)) {
    throw forbiddenWithTwoKeys();
  }
  const [customer] = others;
  if (publishable === undefined || (customer === undefined && publishable === 'withCustomer')) {
    throw forbiddenForPublishableKey(access, publishable);
  }
  if (customer === undefined) {
    return key;
  }
  const lent = key.scopes.has('write:orders') ? orderScopes : noScopes;
  const acting = customer.kind === 'session' ? { ...customer, scopes: lent } : customer;
  if (publishable === 'withCustomer' && typeof access !== 'string' && !permits(access, acting)) {
    throw forbiddenWithoutOrders(access);
  }
  return acting;
}

/**
 * The session or token of the customer for whom a request acts, with the permissions of the API key beside it. The server
 * of a web shop sends both, so that a missing check there does not show one customer the data of another. A token with
 * the scope admin reaches all data by itself.
 */
function customerActedFor(principals: readonly Principal[]): Principal | undefined {
  return principals.length === 1
    ? undefined
    : principals.find(({ customerId, scopes }) => customerId !== null && !scopes.has('admin'));
}

/** The permitted principal, confined to the customer for whom the request acts. */
function actForCustomer(
  permitted: Principal,
  principals: readonly Principal[],
  access: readonly Requirement[] | 'any credential',
): Principal {
  const customer = principals.find((other) => other.customerId !== null && other !== permitted);
  if (customer === undefined) {
    return permitted;
  }
  const { kind, customerId, sessionHash, tokenHash } = customer;
  const confinedTo = customerActedFor(principals)?.customerId ?? null;
  // A token supplies its customer only if it meets the access by itself: the customer granted only its scopes.
  const suppliesCustomer = kind === 'session' || access === 'any credential' || permits(access, customer);
  return { ...permitted, confinedTo, ...(suppliesCustomer ? { customerId, sessionHash, tokenHash } : {}) };
}

function credentialsOf(
  { headers, rawHeaders }: Parameters<Guard['authenticate']>[0],
  keyInUrl: string | null = null,
): Credential[] {
  const credentials: Credential[] = [];
  const { 'x-api-key': apiKey, authorization, origin } = headers;
  if (apiKey !== undefined) {
    requireOne(rawHeaders, 'X-API-Key');
    credentials.push({ place: 'x-api-key', text: String(apiKey), origin });
  }
  if (authorization !== undefined) {
    requireOne(rawHeaders, 'Authorization');
    const token = /^bearer +(\S+) *$/i.exec(String(authorization))?.[1];
    if (token === undefined) {
      throw rejectedPublicly(
        'Authorization must be Bearer, one space and the token. An API key can be sent in X-API-Key instead.',
      );
    }
    credentials.push({ place: 'authorization', text: token, origin });
  }
  if (keyInUrl !== null) {
    credentials.push({ place: 'url', text: keyInUrl });
  }
  return credentials;
}

/** @throws AppError unauthorized */
function requireOne(rawHeaders: readonly string[], name: string): void {
  if (isRepeated(rawHeaders, name.toLowerCase())) {
    throw rejectedPublicly(`${name} is repeated. Send one credential in it.`);
  }
}

/** The reason is in the challenge only: unknown, expired and revoked credentials get the same body. */
function rejected(description: string): AppError {
  return invalidCredential(
    'The credential is unknown, has expired or was revoked. WWW-Authenticate says which.',
    description,
  );
}

/** The reason is in the body and in the challenge, so it must not contain quotes or backslashes (RFC 6750, section 3). */
function rejectedPublicly(reason: string): AppError {
  return invalidCredential(reason, reason);
}
