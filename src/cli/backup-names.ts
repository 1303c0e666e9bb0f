/** Names of backups that are made again and again, and the removal of old ones. */
import { statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../settings/parsers.ts';

/** Stands for the time of the backup in the name of its file. */
export const datePlaceholder = '{date}';
/** Of the folder in which a backup is made. */
export const unfinishedEnding = '.unfinished';

const datePattern = '\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ';
const abandonedAfterMs = 24 * 60 * 60 * 1000;

/** The path of a backup, with `{date}` where the target is a folder. @throws ConfigError */
export function patternOf(target: string): string {
  const path = resolve(target);
  if (dirname(path).includes(datePlaceholder)) {
    throw new ConfigError(`${target} has ${datePlaceholder} in a folder: use it in the name of the file.`);
  }
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(path, `curd-${datePlaceholder}.tar`) : path;
}

/** A timestamp as part of a file name: to the second, and names sort by it. */
export function dateOf(timestamp: string): string {
  return `${timestamp.slice(0, 19).replaceAll(':', '-')}Z`;
}

/** @throws ConfigError when --keep is used and all backups would have the same name */
export function requireSeveralNames(keep: number | undefined, pattern: string): void {
  if (keep !== undefined && !basename(pattern).includes(datePlaceholder)) {
    throw new ConfigError(
      `--keep needs backups of several names: name a folder, or a file with ${datePlaceholder} in its name.`,
    );
  }
}

/** Removes all but the newest backups of these names, and what killed ones left behind. @returns the removed backups */
export async function removeOld(pattern: string, keep: number): Promise<string[]> {
  const folder = dirname(pattern);
  const [before = '', ...rest] = basename(pattern).split(datePlaceholder).map(RegExp.escape);
  const name = new RegExp(`^${before}${datePattern}${rest.join(RegExp.escape(datePlaceholder))}$`);
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && name.test(entry.name));
  const old = files
    .map((entry) => join(folder, entry.name))
    .sort()
    .slice(0, -keep);
  for (const file of old) {
    await rm(file);
  }
  for (const entry of entries) {
    const isUnfinished =
      entry.name.endsWith(unfinishedEnding) && name.test(entry.name.slice(0, -unfinishedEnding.length));
    if (
      isUnfinished &&
      systemClock.now() - (await stat(join(folder, entry.name))).mtimeMs > abandonedAfterMs
    ) {
      await rm(join(folder, entry.name), { recursive: true, force: true });
    }
  }
  return old;
}
