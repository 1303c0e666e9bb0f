/** Which profiles and orders a principal may reach. */
import type { Principal } from '../access/principal.ts';

/**
 * The customer themselves, an API key, or an admin. A request that acts for a customer reaches that customer alone, even
 * if its API key has the scope admin: see docs/decisions/0009-a-key-acts-for-a-customer.md.
 */
export function mayRead(principal: Principal, customerId: number): boolean {
  const isPermitted = principal.kind === 'apiKey' || isSelfOrAdmin(principal, customerId);
  return isPermitted && !isConfinedToAnother(principal, customerId);
}

/** The customer themselves, or an admin; a request that acts for a customer changes that customer alone. */
export function mayManage(principal: Principal, customerId: number): boolean {
  return isSelfOrAdmin(principal, customerId) && !isConfinedToAnother(principal, customerId);
}

function isConfinedToAnother({ confinedTo }: Principal, customerId: number): boolean {
  return confinedTo !== null && confinedTo !== customerId;
}

function isSelfOrAdmin(principal: Principal, customerId: number): boolean {
  return principal.customerId === customerId || principal.scopes.has('admin');
}
