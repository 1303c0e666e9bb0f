import { roles } from '../auth/oauth/customer-directory.ts';
import { type CommandOptions, parseChoice, printResult, withServices } from './run-command.ts';

/** Makes a customer staff, or a customer again. */
export function setRole(username: string, role: string, options: CommandOptions): Promise<void> {
  const checked = parseChoice('The role', role, roles);
  return withServices(options, async ({ customers, contextOf }) => {
    await customers.setRole(contextOf('cli'), username, checked);
    const isNow = { customer: 'a customer', staff: 'staff' }[checked];
    printResult(options, { username, role: checked }, `${username} is ${isNow} from the next request on.`);
  });
}
