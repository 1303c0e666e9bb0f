/** The executable. The commands are listed in cli/commands/commands.ts. */
import { commands, groups } from './cli/commands/commands.ts';
import { buildCommandTree } from './cli/framework/command-tree.ts';
import { printFailure } from './cli/framework/output.ts';

try {
  await buildCommandTree(commands, groups).parseAsync();
} catch (error) {
  printFailure(error);
}
