/** Access as data, and the one place that decides on it. */
import type { Principal } from './principal.ts';

/** What may be declared about access. Kinds and scopes are checked by auth/access.ts. */
export type Requirement =
  | { readonly kind: 'apiKey' }
  | { readonly kind: 'session' }
  | { readonly kind: 'oauth'; readonly scope: string };

/**
 * Who may call a route: any one of the requirements. `open` takes anyone, but refuses a wrong credential;
 * `operational` routes do not look at credentials at all; requests to them are counted by client IP.
 */
export type Access = readonly Requirement[] | 'any credential' | 'open' | 'operational';

/** The scopes of the contract. Nothing implies anything, except that `admin` satisfies every scope. */
export const scopeSummaries = {
  'read:cheeses': 'Read the catalogue',
  'write:cheeses': 'Change the catalogue',
  'read:orders': 'See past orders',
  'write:orders': 'Place and cancel orders',
  'read:profile': "See a customer's profile",
  'write:profile': "Change a customer's profile",
  admin: 'Everything; granted by hand',
};
export type Scope = keyof typeof scopeSummaries;
export const scopes = Object.keys(scopeSummaries) as Scope[];

/** Any API key of this environment, whatever its scopes. */
export const apiKey: Requirement = { kind: 'apiKey' };
/** A customer who is logged in. */
export const session: Requirement = { kind: 'session' };
/** A token with the scope, or an API key that was expressly created with it. */
export const oauth = (scope: Scope): Requirement => ({ kind: 'oauth', scope });

/** A route takes whoever meets one of these. */
export function anyOf(...requirements: Requirement[]): readonly Requirement[] {
  return requirements;
}

/** Does the principal meet one of the requirements? */
export function permits(requirements: readonly Requirement[], principal: Principal): boolean {
  return requirements.some((requirement) =>
    requirement.kind === 'oauth'
      ? principal.scopes.has(requirement.scope) || principal.scopes.has('admin')
      : requirement.kind === principal.kind,
  );
}
