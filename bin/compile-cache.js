// The folder of Node's compile cache. A user who can write there can change what runs, and Node checks neither owner nor
// permissions, so the default folder below the shared temporary folder is not safe.
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Returns a folder that only this user can change. Creates it if necessary. null when that is impossible. On Windows
 * nothing is checked, because profiles are private.
 * @param {string} [home] the user's home folder, which must exist
 * @returns {string | null}
 */
export function compileCacheFolder(home) {
  try {
    const folder = join(realpathSync(home ?? homedir()), '.cache', 'curd', 'compiled');
    // Checks the parents first, so that no folder is created inside a folder of another user.
    if (!isUnderControl(existing(folder))) {
      return null;
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return isPrivate(folder) ? folder : null;
  } catch {
    return null;
  }
}

/** The real path of the nearest parent that exists. @param {string} path */
function existing(path) {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(folder) || folder === dirname(folder)) {
      return realpathSync(folder);
    }
  }
}

/** Whether no other user except root can change or rename it or one of its parents. @param {string} path */
function isUnderControl(path) {
  const user = process.getuid?.();
  if (user === undefined) {
    return true;
  }
  const { uid, mode } = lstatSync(path);
  // In a sticky folder of root, such as /tmp, only the owner can rename an entry.
  const isSafe = [0, user].includes(uid) && ((mode & 0o022) === 0 || ((mode & 0o1000) !== 0 && uid === 0));
  return isSafe && (path === dirname(path) || isUnderControl(dirname(path)));
}

/** @param {string} folder */
function isPrivate(folder) {
  const { uid, mode } = lstatSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
}
