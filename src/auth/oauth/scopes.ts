/** Which scopes somebody may be granted, whatever an application asks for. */
import { type Scope, scopes } from '../access.ts';
import type { Role } from './customer-directory.ts';

const ofCustomers: readonly Scope[] = [
  'read:cheeses',
  'read:orders',
  'write:orders',
  'read:profile',
  'write:profile',
];
const ofStaff: readonly Scope[] = [...ofCustomers, 'write:cheeses'];

/** What is granted to an application that asks for nothing in particular (RFC 6749, section 3.3). */
export const defaultScope: Scope = 'read:cheeses';

/** The scopes, in words for the person who is asked. */
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

/** @param role null for an application that acts for itself, whose own list is all that bounds it */
export function permittedScopes(role: Role | null, isApproved: boolean): readonly Scope[] {
  const usual =
    role === null ? scopes.filter((scope) => scope !== 'admin') : role === 'staff' ? ofStaff : ofCustomers;
  return isApproved && role !== 'customer' ? [...usual, 'admin'] : usual;
}
