/** Changes of customers that other areas follow. The customer is locked. */
import type { HookPoint } from '../hooks/hooks.ts';

export interface ChangedCustomer {
  readonly id: number;
}

export const customerDeleted: HookPoint<ChangedCustomer> = { name: 'customer deleted' };
export const passwordChanged: HookPoint<ChangedCustomer> = { name: 'password of a customer changed' };
export const emailChanged: HookPoint<ChangedCustomer & { readonly oldEmail: string }> = {
  name: 'e-mail address of a customer changed',
};
