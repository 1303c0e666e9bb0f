/** File permissions of what a shop stores: customers' addresses and secrets, which other users must not read. */
import { chmodSync, statSync } from 'node:fs';
import { ConfigError } from './setting-values.ts';

/**
 * The permissions that a file or folder should have, given its current mode. Access for everyone is the default of
 * most systems, so it is removed together with that of the group. Access for the group alone was granted on purpose.
 */
export function restrictedMode(mode: number): number {
  return (mode & 0o007) === 0 ? mode & 0o777 : mode & 0o700;
}

/**
 * Removes the access of other users to files and folders. Ignores those that do not exist.
 * @throws ConfigError where the process may not do that
 */
export function restrict(...paths: readonly string[]): void {
  for (const path of paths) {
    const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
    const restricted = restrictedMode(mode);
    if (restricted !== mode) {
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
