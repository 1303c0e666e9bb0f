/** Commands that make one change. With --dry-run, it is rolled back, and what it would change is printed. */
import type { ComposedShop } from '../../app/compose.ts';
import type { Context } from '../../database/context.ts';
import { Effects, rollingBack } from '../../database/dry-run.ts';
import type { changeOptions } from './command-options.ts';
import type { OptionsOf } from './options.ts';
import { pluralize, printResult } from './output.ts';
import { withShop } from './run-command.ts';

export type ChangeOptions = OptionsOf<typeof changeOptions>;

/** What a command prints after its change. */
export interface ChangeResult {
  /** Printed with --json. */
  readonly value: unknown;
  readonly text: string;
}

interface ShownEffect {
  readonly type: string;
  readonly subject?: string;
  readonly count?: number;
}

/** Makes the change of a command, or a dry run of it, and prints the result. */
export function makeChange(
  options: ChangeOptions,
  change: (shop: ComposedShop, context: Context) => Promise<ChangeResult>,
  mayCreateShop = false,
): Promise<void> {
  const run = async (shop: ComposedShop) => {
    const context = shop.contextOf('cli');
    if (!options.dryRun) {
      const { value, text } = await change(shop, context);
      printResult(options, value, text);
      return;
    }
    const effects = new Effects();
    await change(shop, {
      transaction: rollingBack(context.transaction, effects, shop.clock),
      origin: { ...context.origin, effects },
    });
    const shown = effects.listed.map((json) => JSON.parse(json) as ShownEffect);
    const lines = shown.map(({ type, subject, count }) => `${type} ${subject ?? count}`);
    const count = shown.length + effects.more;
    const text = [
      count === 0
        ? 'Nothing was changed. The command would change nothing, either.'
        : `Nothing was changed. The command has ${pluralize(count, 'effect')}:`,
    ];
    printResult(
      options,
      { dryRun: true, effects: shown, more: effects.more },
      [...text, ...lines, ...(effects.more > 0 ? [`and ${effects.more} more`] : [])].join('\n'),
    );
  };
  return withShop(options, run, mayCreateShop && !options.dryRun);
}
