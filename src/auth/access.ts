/** Access as data, and the one place that decides on it. */

import type { Access, Requirement } from '../http/route.ts';
import type { Principal } from './principal.ts';

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
export function anyOf(...requirements: Requirement[]): Access {
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
