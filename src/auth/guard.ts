/**
 * From headers to a principal (RFC 6750, RFC 9110 section 11). Each credential that is presented must be valid;
 * any one of them may be the one that suffices. An ordered chain of resolvers knows the kinds.
 */
import { AppError } from '../errors.ts';
import { after, type Eventual } from '../eventual.ts';
import type { Guard } from '../http/admission.ts';
import type { Principal } from '../http/principal.ts';
import type { Access, Requirement } from '../http/route.ts';
import { permits } from './access.ts';
import { bearer, invalidToken, unauthorized } from './challenge.ts';

/** One credential as it was sent: in X-API-Key, or as the bearer value of Authorization. */
export interface Credential {
  readonly header: 'x-api-key' | 'authorization';
  readonly text: string;
}

/** What a resolver says: it is not of its kind, it is this principal, or it is of its kind and wrong. */
export type Resolution = 'not mine' | Principal | { readonly rejected: string };

export type Resolver = (credential: Credential) => Eventual<Resolution>;

/** The guard in front of every route: who is calling, and then, once they have been counted, whether they may. */
export function createGuard(resolvers: readonly Resolver[]): Guard {
  /** Asks one resolver after the other. */
  function resolve(credential: Credential, [resolver, ...others] = resolvers): Eventual<Principal> {
    if (resolver === undefined) {
      throw refused('The token is not known.');
    }
    return after(resolver(credential), (resolution) => {
      if (resolution === 'not mine') {
        return resolve(credential, others);
      }
      if ('rejected' in resolution) {
        throw refused(resolution.rejected);
      }
      return resolution;
    });
  }

  function resolveAll([credential, ...others]: readonly Credential[]): Eventual<Principal[]> {
    return credential === undefined
      ? []
      : after(resolve(credential), (first) => after(resolveAll(others), (rest) => [first, ...rest]));
  }

  return { identify: (headers) => resolveAll(credentialsOf(headers)), admit };
}

/** The principal that meets what the route asks for. @throws AppError unauthorized, forbidden */
function admit(principals: readonly Principal[], access: Exclude<Access, 'operational'>): Principal | null {
  if (access === 'open') {
    return principals[0] ?? null;
  }
  if (principals.length === 0) {
    throw unauthorized('Send an API key in X-API-Key, or a token as "Authorization: Bearer <token>".');
  }
  if (access === 'any credential') {
    return onBehalf(principals[0] as Principal, principals, []);
  }
  const permitted = principals.find((principal) => permits(access, principal));
  if (permitted === undefined) {
    throw forbidden(access);
  }
  return onBehalf(permitted, principals, access);
}

/** A key that comes along with a customer's session acts for that customer: so a web shop places orders for people. */
function onBehalf(
  permitted: Principal,
  principals: readonly Principal[],
  access: readonly Requirement[],
): Principal {
  // A token lends its customer only where it would suffice by itself: it was granted for no more than its scopes.
  const customer = principals.find(
    (one) => one.customerId !== null && (one.kind === 'session' || permits(access, one)),
  );
  if (customer === undefined || customer === permitted) {
    return permitted;
  }
  const { customerId, sessionHash } = customer;
  return { ...permitted, customerId, sessionHash };
}

function credentialsOf(headers: Readonly<Record<string, string | string[] | undefined>>): Credential[] {
  const credentials: Credential[] = [];
  const { 'x-api-key': apiKey, authorization } = headers;
  if (apiKey !== undefined) {
    credentials.push({ header: 'x-api-key', text: String(apiKey) });
  }
  if (authorization !== undefined) {
    const token = /^bearer +(\S+) *$/i.exec(String(authorization))?.[1];
    if (token === undefined) {
      throw refused('Authorization must read Bearer, a blank and the token.');
    }
    credentials.push({ header: 'authorization', text: token });
  }
  return credentials;
}

/** The body is the same whatever was wrong; the challenge says more. */
function refused(description: string): AppError {
  return invalidToken('The credential is not valid here.', description);
}

function forbidden(access: readonly Requirement[]): AppError {
  const scopes = access.flatMap((requirement) => (requirement.kind === 'oauth' ? [requirement.scope] : []));
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : '';
  return new AppError('forbidden', `The credential is valid, but this needs ${inWords(access)}.`, {
    headers: { 'WWW-Authenticate': `${bearer}, error="insufficient_scope"${scope}` },
  });
}

function inWords(access: readonly Requirement[]): string {
  const words = { apiKey: 'an API key', session: "a customer's session" };
  return access
    .map((requirement) =>
      requirement.kind === 'oauth' ? `the scope ${requirement.scope}` : words[requirement.kind],
    )
    .join(' or ');
}
