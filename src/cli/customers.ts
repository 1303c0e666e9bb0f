import { ConfigError } from '../setting-values.ts';
import { type CommandOptions, oneOf, print, withServices } from './command.ts';

/** Makes a customer staff, or a customer again. */
export function setRole(username: string, role: string, options: CommandOptions): Promise<void> {
  const checked = oneOf('the role', role, ['customer', 'staff']);
  if (checked === undefined) {
    throw new ConfigError('Name the role: customer or staff.');
  }
  return withServices(options, async ({ customers, contextOf }) => {
    await customers.setRole(contextOf('cli'), username, checked);
    print(options, { username, role: checked }, `${username} is ${checked} from the next request on.`);
  });
}
