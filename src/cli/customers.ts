import type { Role } from '../auth/oauth/customer-directory.ts';
import type { CommandOptions } from './options.ts';
import { printResult } from './output.ts';
import { withServices } from './run-command.ts';

/** Makes a customer staff, or customer again. */
export function setRole(username: string, role: Role, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ customerAdministration, contextOf }) => {
    const id = await customerAdministration.idOf(username);
    await customerAdministration.changeRole(contextOf('cli'), id, role);
    const roleText = { customer: 'a customer', staff: 'staff' }[role];
    printResult(options, { username, role }, `${username} is ${roleText} from the next request on.`);
  });
}
