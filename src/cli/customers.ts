import type { Role } from '../auth/oauth/customer-directory.ts';
import { type ChangeOptions, makeChange } from './change.ts';

/** Makes a customer staff, or customer again. */
export function setRole(username: string, role: Role, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ customerAdministration }, context) => {
    const id = await customerAdministration.idOf(username);
    await customerAdministration.changeRole(context, id, role);
    const roleText = { customer: 'a customer', staff: 'staff' }[role];
    return { value: { username, role }, text: `${username} is ${roleText} from the next request on.` };
  });
}
