/** Errors for valid credentials that do not permit a request. */

import type { Requirement } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import { commandName } from '../command-name.ts';
import { AppError } from '../errors.ts';
import { kindsOfKeys } from './keys/kinds.ts';

/**
 * The message names what the route requires, and how the client gets it.
 * @param alternative another request with the same result, for which any API key suffices
 */
export function forbidden(
  access: readonly Requirement[],
  principals: readonly Principal[],
  alternative: string | undefined,
): AppError {
  const scopes = access.flatMap((requirement) => (requirement.kind === 'oauth' ? [requirement.scope] : []));
  const remedy = remedyFor(access, scopes, principals, alternative);
  return new AppError(
    'forbidden',
    `The credential is valid, but this needs ${requirementText(access)}. ${remedy}`,
    { details: { scopes } },
  );
}

/** The error for a request that acts for a customer, on a route that does not permit that. */
export function forbiddenForCustomers(): AppError {
  return new AppError(
    'forbidden',
    "This request acts for a customer, because it has an API key and the customer's session or token. Such requests read the catalogue, and reach this customer's profile and orders, and nothing else. For this one, send the API key alone.",
    { details: { scopes: [] } },
  );
}

function requirementText(access: readonly Requirement[]): string {
  const words = { apiKey: 'a secret API key', session: "a customer's session" };
  return access
    .map((requirement) =>
      requirement.kind === 'oauth' ? `the scope ${requirement.scope}` : words[requirement.kind],
    )
    .join(' or ');
}

function remedyFor(
  access: readonly Requirement[],
  scopes: readonly string[],
  principals: readonly Principal[],
  alternative: string | undefined,
): string {
  const kinds = principals.map(({ kind }) => kind);
  if (kinds.includes('restricted')) {
    return restrictedRemedy(scopes);
  }
  if (alternative !== undefined && kinds.includes('apiKey')) {
    return `${alternative} accepts any API key. ${keyWith(scopes)}`;
  }
  const acceptsKeys = access.some(({ kind }) => kind === 'apiKey');
  if (kinds.includes('oauth') && scopes.length > 0) {
    return tokenWith(scopes, acceptsKeys);
  }
  if (access.some(({ kind }) => kind === 'session')) {
    return 'Log in as the customer with POST /v2/customer/login, and send the token as Authorization: Bearer <token>.';
  }
  if (kinds.includes('apiKey')) {
    return keyWith(scopes);
  }
  return `Send an API key ${acceptsKeys ? '' : 'with this scope '}in X-API-Key along with the session.`;
}

/** A restricted key gets no other scopes later. */
function restrictedRemedy(scopes: readonly string[]): string {
  const possible = scopes.filter((scope) =>
    (kindsOfKeys.restricted.scopes as readonly string[]).includes(scope),
  );
  return possible[0] === undefined
    ? 'A restricted key (rk_) cannot have it. Send a secret key (sk_) from a server.'
    : `A restricted key (rk_) does only what its scopes say. To create one: ${commandName} keys create --restricted --account <account> --scope ${possible[0]}`;
}

function keyWith(scopes: readonly string[]): string {
  return `To create a key with this scope: ${commandName} keys create --account <account> --scope ${scopes[0]}`;
}

function tokenWith(scopes: readonly string[], acceptsKeys: boolean): string {
  const scope = scopes.join(' ');
  const approval = scope === 'admin' ? ', which the operator must approve' : '';
  return `Request a token with the scope ${scope}${approval}${acceptsKeys ? ', or send an API key' : ''}.`;
}

/** The error for a restricted key on a change that needs no credential, such as a registration. */
export function forbiddenForRestrictedKey(): AppError {
  return new AppError(
    'forbidden',
    'A restricted key (rk_) does only what its scopes say, and this is not part of them. Send the request without the key.',
    { details: { scopes: [] } },
  );
}

const scopesIn = (access: readonly Requirement[] | string) =>
  typeof access === 'string'
    ? []
    : access.flatMap((requirement) => (requirement.kind === 'oauth' ? [requirement.scope] : []));

/** The error for a publishable key on a route that does not take one, or takes it with a customer only. */
export function forbiddenForPublishableKey(
  access: readonly Requirement[] | string,
  publishable: 'withCustomer' | undefined | string,
): AppError {
  const scopes = scopesIn(access);
  const scope = scopes[0] === undefined ? '' : ` --scope ${scopes[0]}`;
  const remedy =
    publishable === 'withCustomer'
      ? "Send the customer's session too: log in with POST /v2/customer/login, and send the token as Authorization: Bearer <token>."
      : `Send this request from a server, with a secret key (sk_): ${commandName} keys create --account <account>${scope}`;
  return new AppError(
    'forbidden',
    `A publishable key (pk_) reads the catalogue and registers and logs in customers. It does not permit this by itself. ${remedy}`,
    { details: { scopes } },
  );
}

/** The error for a customer's request that needs what the publishable key beside the session does not lend. */
export function forbiddenWithoutOrders(access: readonly Requirement[]): AppError {
  return new AppError(
    'forbidden',
    `A customer's session does not permit this, and the publishable key beside it has no scope for it. To create a key with which customers order: ${commandName} keys create --publishable --account <account> --scope write:orders`,
    { details: { scopes: scopesIn(access) } },
  );
}

/** The error for a publishable key beside another key or token of an account. */
export function forbiddenWithTwoKeys(): AppError {
  return new AppError(
    'forbidden',
    "The request has a publishable key and another key or token of an account. Send one of them: the publishable key from a web page, with or without a customer's session, or the other one from a server.",
    { details: { scopes: [] } },
  );
}
