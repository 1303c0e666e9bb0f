import { commandName } from '../../../command-name.ts';
import { parseEnum } from '../../../settings/parsers.ts';
import type { createAccountOptions } from '../../framework/access-options.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { printResult, printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

export function createAccount(name: string, options: OptionsOf<typeof createAccountOptions>): Promise<void> {
  return withShop(
    options,
    async ({ config, auth: { keys }, contextOf }) => {
      const plan =
        options.plan === undefined ? undefined : parseEnum(Object.keys(config.plans))(options.plan, '--plan');
      const { id, plan: given } = await keys.createAccount(contextOf('cli'), name, plan);
      const next = `Create a key for it: KEY=$(${commandName} keys create --account "${name}")`;
      printResult(
        options,
        { id, name, plan: given },
        `Account ${name} is created, on the plan ${given}. ${next}`,
      );
    },
    true,
  );
}

export function listAccounts(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ auth: { keys } }) => {
    printTable(options, await keys.listAccounts(), {
      id: ({ id }) => id,
      name: ({ name }) => name,
      plan: ({ plan }) => plan,
    });
  });
}

export function setPlan(name: string, planName: string, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ config, auth: { keys } }, context) => {
    const plan = parseEnum(Object.keys(config.plans))(planName, '<plan>');
    const { id } = await keys.findAccount(name);
    await keys.setPlan(context, id, plan);
    return { value: { name, plan }, text: `Account ${name} has the plan ${plan} from its next request on.` };
  });
}
