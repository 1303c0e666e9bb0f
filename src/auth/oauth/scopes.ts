/** The scopes that may be granted, by role and approval. */
import { type Scope, scopes } from '../../access/access.ts';
import type { Role } from './customer-directory.ts';
import type { ApprovalStatus } from './queries.ts';

const customerScopes: readonly Scope[] = [
  'read:cheeses',
  'read:orders',
  'write:orders',
  'read:profile',
  'write:profile',
];
const staffScopes: readonly Scope[] = [...customerScopes, 'write:cheeses'];

/** The scope of requests without one (RFC 6749, section 3.3). */
export const defaultScope: Scope = 'read:cheeses';

/** Texts of the consent page. */
export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  'read:cheeses': 'Look at the cheeses of the shop',
  'write:cheeses': 'Add, change and delete cheeses of the shop',
  'read:orders': 'See your orders',
  'write:orders': 'Place and cancel orders in your name',
  'read:profile': 'See your profile: name, e-mail address, phone, favourite cheese',
  'write:profile': 'Change your profile and password, and delete your account',
  admin: 'Administer the shop: every order, every customer, every key',
};

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

/** @param role null for an application that acts for itself: then only the scopes of the client restrict it */
export function permittedScopes(role: Role | null, isApproved: boolean): readonly Scope[] {
  const unapproved =
    role === null
      ? scopes.filter((scope) => scope !== 'admin')
      : role === 'staff'
        ? staffScopes
        : customerScopes;
  return isApproved && role !== 'customer' ? [...unapproved, 'admin'] : unapproved;
}

/**
 * Why a customer cannot grant a requested scope, as the consent page says it.
 * @param request for the scope admin; null when the customer is not staff
 */
export function withheldReason(
  request: { readonly id: number; readonly status: ApprovalStatus } | null,
): string {
  if (request === null) {
    return 'only staff of the shop can grant this';
  }
  const reason =
    request.status === 'pending' ? 'waits for an operator' : `an operator has ${request.status} this`;
  return `${reason} (request ${request.id})`;
}
