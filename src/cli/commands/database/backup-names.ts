/** Names of regular backups, and the deletion of old ones. */
import { statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemClock } from '../../../clock.ts';
import { commandName } from '../../../command-name.ts';
import { ConfigError } from '../../../settings/parsers.ts';

/** Part of the name of a backup, replaced by the time of the backup. */
export const datePlaceholder = '{date}';
/** The ending of the folder in which a backup is prepared. */
export const unfinishedEnding = '.unfinished';

const datePattern = '\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ';
const interruptedAfterMs = 24 * 60 * 60 * 1000;

/** The path of a backup. It contains `{date}` when the target is a folder. @throws ConfigError */
export function pathPattern(target: string): string {
  const path = resolve(target);
  if (dirname(path).includes(datePlaceholder)) {
    throw new ConfigError(`${target} has ${datePlaceholder} in a folder name. Use it in the file name only.`);
  }
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(path, `curd-${datePlaceholder}.tar`) : path;
}

/** A timestamp for a file name, in seconds. Names sort by time. */
export function dateOf(timestamp: string): string {
  return `${timestamp.slice(0, 19).replaceAll(':', '-')}Z`;
}

/**
 * @param target as it was given
 * @throws ConfigError when --keep is used and all backups would have the same name
 */
export function requireSeveralNames(keep: number | undefined, pattern: string, target: string): void {
  if (keep !== undefined && !basename(pattern).includes(datePlaceholder)) {
    throw new ConfigError(
      `--keep needs backups with different names, and ${target} is neither a folder that exists nor a name with ${datePlaceholder}. Create the folder first, or name the file like "${commandName} backup backups/shop-${datePlaceholder}.tar --keep ${keep}".`,
    );
  }
}

/** Deletes all but the newest backups with these names, and folders of interrupted backups. @returns the deleted backups */
export async function deleteOldBackups(pattern: string, keep: number): Promise<string[]> {
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
      systemClock.now() - (await stat(join(folder, entry.name))).mtimeMs > interruptedAfterMs
    ) {
      await rm(join(folder, entry.name), { recursive: true, force: true });
    }
  }
  return old;
}
