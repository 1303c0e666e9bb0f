/** Colors, only on a terminal. `NO_COLOR` turns them off, `FORCE_COLOR` turns them on. */
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { commandName } from '../../command-name.ts';

export type Color = 'bold' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colored text, if the stream shows colors. */
export function colored(color: Color, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(color, text, { stream });
}

/** The start of each error message. */
export function errorPrefix(): string {
  return `${colored('red', 'curd:', process.stderr)} `;
}

/** Styles help and usage errors. Call it before commands are added, because they inherit the style. */
export function styleHelp(program: Command): void {
  // Commander removes colors when its output does not show them.
  const styled = (color: Color) => (text: string) => styleText(color, text, { validateStream: false });
  program.configureHelp({
    showGlobalOptions: true,
    styleTitle: styled('bold'),
    styleSubcommandTerm: styled('cyan'),
    styleOptionTerm: styled('cyan'),
  });
  program.configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, errorPrefix())),
  });
}

/** Makes each usage error name the help of its command. Call it after all commands are added. */
export function addHelpHints(command: Command, path = commandName): void {
  command.showHelpAfterError(`Run "${path} --help" for usage.`);
  for (const child of command.commands) {
    addHelpHints(child, `${path} ${child.name()}`);
  }
}
