/** Colors, on a terminal alone: `NO_COLOR` turns them off, `FORCE_COLOR` on. */
import { styleText } from 'node:util';
import type { Command } from 'commander';

type Color = 'bold' | 'red' | 'green' | 'yellow' | 'cyan';

/** Text of a color, where the stream it is written to shows colors. */
export function colored(color: Color, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(color, text, { stream });
}

/** How each line of an error begins. */
export function errorPrefix(): string {
  return `${colored('red', 'curd:', process.stderr)} `;
}

/** Gives help and usage errors the style of all other output. Call it before commands are added. */
export function styleHelp(program: Command): void {
  // Commander removes colors again where its output does not show them.
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

/** Ends each usage error with the help of the command it is about. Call it after all commands are added. */
export function nameHelp(command: Command, path = command.name()): void {
  command.showHelpAfterError(`"${path} --help" says what it takes.`);
  for (const child of command.commands) {
    nameHelp(child, `${path} ${child.name()}`);
  }
}
