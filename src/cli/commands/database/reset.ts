import { ConfigError } from '../../../settings/parsers.ts';
import type { resetOptions } from '../../framework/command-options.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Empties a local or sandbox shop and restores its demo catalogue. */
export function runReset(options: OptionsOf<typeof resetOptions>): Promise<void> {
  return withShop(
    options,
    async ({ config, sandbox: { snapshots }, contextOf }) => {
      if (snapshots === null) {
        throw new ConfigError('A production shop is not reset. Reset is for local and sandbox shops.');
      }
      // A refusal comes first: the confirmation would be in vain.
      await snapshots.requireReplaceable();
      if (!options.yes) {
        throw new ConfigError(
          `This deletes all cheeses, orders and customers of this shop (${config.environment}). Add --yes to confirm.`,
        );
      }
      await snapshots.reset(contextOf('cli'));
      printResult(
        options,
        { reset: true },
        'The shop is reset. Accounts, keys, applications and webhook endpoints are kept.',
      );
    },
    true,
  );
}
