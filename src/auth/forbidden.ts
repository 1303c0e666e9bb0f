/** Errors for valid credentials that do not permit a request. */

import type { Requirement } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import { commandName } from '../command-name.ts';
import { AppError } from '../errors.ts';

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
  const words = { apiKey: 'an API key', session: "a customer's session" };
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
  if (alternative !== undefined && kinds.includes('apiKey')) {
    return `${alternative} accepts any API key. ${keyWith(scopes)}`;
  }
  if (access.some(({ kind }) => kind === 'session')) {
    return 'Log in as the customer with POST /v2/customer/login, and send the token as Authorization: Bearer <token>.';
  }
  if (kinds.includes('apiKey')) {
    return keyWith(scopes);
  }
  const acceptsKeys = access.some(({ kind }) => kind === 'apiKey');
  return kinds.includes('oauth')
    ? tokenWith(scopes, acceptsKeys)
    : `Send an API key ${acceptsKeys ? '' : 'with this scope '}in X-API-Key along with the session.`;
}

function keyWith(scopes: readonly string[]): string {
  return `To create a key with this scope: ${commandName} keys create --account <account> --scope ${scopes[0]}`;
}

function tokenWith(scopes: readonly string[], acceptsKeys: boolean): string {
  const scope = scopes.join(' ');
  const approval = scope === 'admin' ? ', which the operator must approve' : '';
  return `Request a token with the scope ${scope}${approval}${acceptsKeys ? ', or send an API key' : ''}.`;
}
