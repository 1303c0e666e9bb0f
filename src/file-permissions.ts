/** File permissions of stored data, which contains personal data and secrets that other users must not read. */
import { chmodSync, statSync } from 'node:fs';
import { ConfigError } from './settings/parsers.ts';

/** Set on folders that several users share, such as /tmp. Without access to them, other programs break. */
const stickyBit = 0o1000;

/**
 * The permissions that a file or folder should have, given its current mode. Access for everyone is the default of
 * most systems, so it is removed together with that of the group. Access for the group alone was granted on purpose.
 */
function restrictedMode(mode: number): number {
  return (mode & 0o007) === 0 ? mode & 0o777 : mode & 0o700;
}

/**
 * Removes the access of other users to files and folders. Ignores those that do not exist, and shared folders.
 * @throws ConfigError if the process may not do that
 */
export function restrict(...paths: readonly string[]): void {
  for (const path of paths) {
    const fullMode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    const mode = fullMode & 0o777;
    const restricted = restrictedMode(mode);
    const isShared = (fullMode & stickyBit) !== 0;
    if (restricted !== mode && !isShared) {
      try {
        chmodSync(path, restricted);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new ConfigError(
          `Every user of this machine can access ${path}, and this user may not change that (${code}). Run this as its owner: chmod ${restricted.toString(8)} "${path}"`,
        );
      }
    }
  }
}
