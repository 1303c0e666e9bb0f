/** The executable. The commands are listed in cli/commands.ts. */
import { buildCommandTree } from './cli/command-tree.ts';
import { printFailure } from './cli/output.ts';

try {
  await buildCommandTree().parseAsync();
} catch (error) {
  printFailure(error);
}
