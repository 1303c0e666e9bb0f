import {
  type CommandOptions,
  formatTable,
  parseChoice,
  parseOptionalChoice,
  printResult,
  withServices,
} from './run-command.ts';

export function createAccount(name: string, options: CommandOptions): Promise<void> {
  return withServices(
    options,
    async ({ config, keys, contextOf }) => {
      const plan = parseOptionalChoice('--plan', options.plan, Object.keys(config.plans));
      const account = await keys.createAccount(contextOf('cli'), name, plan);
      const next = `Give it a key: KEY=$(npx curd keys create --account "${name}")`;
      printResult(options, account, `Account ${account.name} is there, on the plan ${account.plan}. ${next}`);
    },
    true,
  );
}

export function listAccounts(options: CommandOptions): Promise<void> {
  return withServices(options, async ({ keys }) => {
    const accounts = await keys.listAccounts();
    const rows = accounts.map(({ id, name, plan }) => [String(id), name, plan]);
    printResult(options, accounts, formatTable(['id', 'name', 'plan'], rows));
  });
}

export function setPlan(name: string, planName: string, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ config, keys, contextOf }) => {
    const plan = parseChoice('The plan', planName, Object.keys(config.plans));
    await keys.setPlan(contextOf('cli'), name, plan);
    printResult(options, { name, plan }, `Account ${name} is on the plan ${plan} from its next request on.`);
  });
}
