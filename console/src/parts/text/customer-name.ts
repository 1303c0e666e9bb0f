/** Customers by name: many have none, and then their username stands for it. */
import type { Customer } from '../../../../client/src/index.ts';

type Named = Pick<Customer, 'firstName' | 'lastName' | 'username'>;

const nameOf = ({ firstName, lastName }: Named): string => `${firstName} ${lastName}`.trim();

/** "Ada Keller"; "ada" without a name. */
export const shownName = (customer: Named): string => nameOf(customer) || customer.username;

/** "Ada Keller (ada)"; "ada" without a name. */
export const describeCustomer = (customer: Named): string =>
  nameOf(customer) === '' ? customer.username : `${nameOf(customer)} (${customer.username})`;
