/** What the commands share that import a file. */
import { statSync } from 'node:fs';
import { ConfigError } from '../../../settings/parsers.ts';
import { unreadableText } from '../../../system-errors.ts';

/** The exit status when some rows were refused. */
export const refusedExitCode = 2;
export const shownRows = 20;

/** The bytes of a file. @throws ConfigError */
export function sizeOf(file: string): number {
  try {
    const stats = statSync(file);
    if (!stats.isDirectory()) {
      return stats.size;
    }
  } catch (error) {
    throw new ConfigError(unreadableText(file, error));
  }
  throw new ConfigError(`${file} is a folder. Name a file in it.`);
}

/** The first lines of a list, and how many follow. */
export function listed(what: string, lines: readonly string[]): string[] {
  const more =
    lines.length > shownRows ? [`... and ${lines.length - shownRows} more ${what}; --json lists all`] : [];
  return [...lines.slice(0, shownRows).map((line) => `${what}: ${line}`), ...more];
}
