/**
 * From headers to a principal (RFC 6750, RFC 9110 section 11). Each credential that is presented must be valid;
 * any one of them may be the one that suffices. An ordered chain of resolvers knows the kinds.
 */
import { AppError, invalidCredential } from '../errors.ts';
import type { Guard } from '../http/exchange.ts';
import { isRepeated } from '../http/repeated-headers.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import type { Access, Requirement } from './access.ts';
import { permits } from './access.ts';
import { forbidden } from './forbidden.ts';
import type { Principal } from './principal.ts';

/** One credential as it was sent: in X-API-Key, or as the bearer value of Authorization. */
export interface Credential {
  readonly header: 'x-api-key' | 'authorization';
  readonly text: string;
}

/**
 * What a resolver returns: 'skip' for another kind of credential, a principal, or the reason of a rejection. The
 * reason is public where it follows from the text of the credential and the environment of the server alone.
 */
export type Resolution = 'skip' | Principal | { readonly rejected: string; readonly isPublic?: true };

export type Resolver = (credential: Credential) => MaybePromise<Resolution>;

/** The guard in front of every route: who is calling, and then, once they have been counted, whether they may. */
export function createGuard(resolvers: readonly Resolver[]): Guard {
  /** Asks one resolver after the other. */
  function resolve(credential: Credential, [resolver, ...others] = resolvers): MaybePromise<Principal> {
    if (resolver === undefined) {
      throw refused('The token is not known.');
    }
    return chain(resolver(credential), (resolution) => {
      if (resolution === 'skip') {
        return resolve(credential, others);
      }
      if ('rejected' in resolution) {
        throw resolution.isPublic ? refusedPublicly(resolution.rejected) : refused(resolution.rejected);
      }
      return resolution;
    });
  }

  function resolveAll([credential, ...others]: readonly Credential[]): MaybePromise<Principal[]> {
    return credential === undefined
      ? []
      : chain(resolve(credential), (first) => chain(resolveAll(others), (rest) => [first, ...rest]));
  }

  return { authenticate: (request) => resolveAll(credentialsOf(request)), authorize: authorize };
}

/** The principal that meets what the route asks for. @throws AppError unauthorized, forbidden */
function authorize(
  principals: readonly Principal[],
  access: Exclude<Access, 'operational'>,
  alternative?: string,
): Principal | null {
  if (access === 'open') {
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
    return actForCustomer(principals[0] as Principal, principals, []);
  }
  const permitted = principals.find((principal) => permits(access, principal));
  if (permitted === undefined) {
    throw forbidden(access, principals, alternative);
  }
  return actForCustomer(permitted, principals, access);
}

/**
 * A request with an API key and a customer's session or token acts for that customer: the key supplies the permission.
 * The server of a web shop sends both, so that it cannot show one customer the orders of another by mistake.
 */
function actForCustomer(
  permitted: Principal,
  principals: readonly Principal[],
  access: readonly Requirement[],
): Principal {
  const customer = principals.find((one) => one.customerId !== null && one !== permitted);
  if (customer === undefined) {
    return permitted;
  }
  const { kind, customerId, sessionHash, tokenHash, scopes } = customer;
  // The token of an admin reaches all orders by itself.
  const confinedTo = scopes.has('admin') ? null : customerId;
  // A token lends its customer only where it would suffice by itself: it was granted for no more than its scopes.
  const isLent = kind === 'session' || permits(access, customer);
  return { ...permitted, confinedTo, ...(isLent ? { customerId, sessionHash, tokenHash } : {}) };
}

function credentialsOf({ headers, rawHeaders }: Parameters<Guard['authenticate']>[0]): Credential[] {
  const credentials: Credential[] = [];
  const { 'x-api-key': apiKey, authorization } = headers;
  if (apiKey !== undefined) {
    requireOne(rawHeaders, 'X-API-Key');
    credentials.push({ header: 'x-api-key', text: String(apiKey) });
  }
  if (authorization !== undefined) {
    requireOne(rawHeaders, 'Authorization');
    const token = /^bearer +(\S+) *$/i.exec(String(authorization))?.[1];
    if (token === undefined) {
      throw refusedPublicly(
        'Authorization must be Bearer, one space and the token. An API key can be sent in X-API-Key instead.',
      );
    }
    credentials.push({ header: 'authorization', text: token });
  }
  return credentials;
}

/** @throws AppError unauthorized */
function requireOne(rawHeaders: readonly string[], name: string): void {
  if (isRepeated(rawHeaders, name.toLowerCase())) {
    throw refusedPublicly(`${name} is repeated. Send one credential in it.`);
  }
}

/** The reason is in the challenge only: unknown, expired and revoked credentials get the same body. */
function refused(description: string): AppError {
  return invalidCredential(
    'The credential is unknown, has expired or was revoked. WWW-Authenticate says which.',
    description,
  );
}

/** The reason is in the body and in the challenge, so it must not contain quotes or backslashes (RFC 6750, section 3). */
function refusedPublicly(reason: string): AppError {
  return invalidCredential(reason, reason);
}
