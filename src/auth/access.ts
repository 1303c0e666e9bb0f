/** Access as data, and the one place that decides on it. */
import type { Principal } from '../http/principal.ts';
import type { Access, Requirement } from '../http/route.ts';

/** The scopes of the contract. Nothing implies anything, except that `admin` satisfies every scope. */
export const scopes = [
  'read:cheeses',
  'write:cheeses',
  'read:orders',
  'write:orders',
  'read:profile',
  'write:profile',
  'admin',
] as const;
export type Scope = (typeof scopes)[number];

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
