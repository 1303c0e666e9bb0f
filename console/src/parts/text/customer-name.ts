import type { Customer } from '../../../../client/src/index.ts';

/** "Ada Keller (ada)"; "ada" for a customer without a name. */
export function describeCustomer({
  firstName,
  lastName,
  username,
}: Pick<Customer, 'firstName' | 'lastName' | 'username'>): string {
  const name = `${firstName} ${lastName}`.trim();
  return name === '' ? username : `${name} (${username})`;
}
