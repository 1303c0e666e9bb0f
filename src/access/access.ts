/** Access to routes as data, and the function that checks it. */
import type { Principal } from './principal.ts';

/** One way to get access to a route. */
export type Requirement =
  | { readonly kind: 'apiKey' }
  | { readonly kind: 'session' }
  | { readonly kind: 'oauth'; readonly scope: string };

/**
 * Who may send requests to a route: a principal that meets one of the requirements. `open` needs no credential, but
 * refuses an invalid one. `operational` routes ignore credentials; their requests are counted by client IP.
 */
export type Access = readonly Requirement[] | 'any credential' | 'open' | 'operational';

/**
 * What a publishable key may do on a route, in the one word by which the route takes such keys:
 * - `catalogue`: read it, also with the key in the URL (a GET), because the response is for everybody;
 * - `alone`: send the request without another credential;
 * - `withCustomer`: reach the data of the customer whose session accompanies the key.
 */
export type PublishableAccess = 'catalogue' | 'alone' | 'withCustomer';

/** How a route takes a publishable key, for the OpenAPI document. */
export const publishableTexts: Readonly<Record<PublishableAccess, string>> = {
  catalogue: 'A publishable key suffices, in the header or as the parameter `key` of the URL.',
  alone: 'A publishable key suffices.',
  withCustomer: "A publishable key is accepted beside a customer's session.",
};

/** No scope implies another one, except that `admin` satisfies every scope. */
export const scopeSummaries = {
  'read:cheeses': 'Read the catalogue',
  'write:cheeses': 'Change the catalogue',
  'read:orders': 'See past orders',
  'write:orders': 'Place and cancel orders',
  'read:profile': "See a customer's profile",
  'write:profile': "Change a customer's profile",
  admin: 'Everything; granted by an operator',
};
export type Scope = keyof typeof scopeSummaries;
export const scopes = Object.keys(scopeSummaries) as [Scope, ...Scope[]];

/** Any API key of this environment, with any scopes. */
export const apiKey: Requirement = { kind: 'apiKey' };
/** The session of a customer. */
export const session: Requirement = { kind: 'session' };
/** A token with the scope, or an API key that was created with it. */
export const oauth = (scope: Scope): Requirement => ({ kind: 'oauth', scope });

/** Access for principals that meet one of the requirements. */
export function anyOf(...requirements: Requirement[]): readonly Requirement[] {
  return requirements;
}

/** Why a route without `permitsConfined` refuses a request, for the OpenAPI document. */
export const confinedRefusal = 'The request acts for a customer';

/** Whether the principal meets one of the requirements. The scopes of a publishable key have no effect by themselves. */
export function permits(requirements: readonly Requirement[], principal: Principal): boolean {
  return (
    principal.kind !== 'publishable' &&
    requirements.some((requirement) =>
      requirement.kind === 'oauth'
        ? principal.scopes.has(requirement.scope) || principal.scopes.has('admin')
        : requirement.kind === principal.kind,
    )
  );
}
