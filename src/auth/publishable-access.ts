/**
 * Access with a publishable key. Everybody can copy such a key, so a route must say that it takes one. Beside a customer's
 * session the request is that of the customer: the session may do what it may do alone, and what the key lends it.
 */
import { type PublishableAccess, permits, type Requirement } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import { forbiddenForPublishableKey, forbiddenWithoutOrders, forbiddenWithTwoKeys } from './forbidden.ts';

const orderScopes: ReadonlySet<string> = new Set(['read:orders', 'write:orders']);
const noScopes: ReadonlySet<string> = new Set();

export const isPublishable = ({ kind }: Principal) => kind === 'publishable';

/** The key, or the customer whose credential accompanies it. @throws AppError forbidden */
export function authorizePublishable(
  key: Principal,
  principals: readonly Principal[],
  access: readonly Requirement[] | 'any credential' | 'open',
  publishable: PublishableAccess | undefined,
): Principal {
  const others = principals.filter((other) => other !== key);
  if (others.some(({ customerId }) => customerId === null)) {
    throw forbiddenWithTwoKeys();
  }
  const [customer] = others;
  if (publishable === undefined || (customer === undefined && publishable === 'withCustomer')) {
    throw forbiddenForPublishableKey(access, publishable);
  }
  if (customer === undefined) {
    return key;
  }
  const lent = key.scopes.has('write:orders') ? orderScopes : noScopes;
  const acting = customer.kind === 'session' ? { ...customer, scopes: lent } : customer;
  if (publishable === 'withCustomer' && typeof access !== 'string' && !permits(access, acting)) {
    throw forbiddenWithoutOrders(access);
  }
  return acting;
}
