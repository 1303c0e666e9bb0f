/** Programs in a mount namespace of their own, where a folder is a disk with a fault. */
import { execFileSync } from 'node:child_process';

export const canMount = (() => {
  try {
    execFileSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** For `skip` of tests. */
export const skipUnmountable = canMount ? false : 'a disk with a fault needs unshare -Urm and mount';

/** The program, before the one that is run, which makes the folder a file system of this size. */
export function onSmallDisk(folder: string, kilobytes: number): string[] {
  return within(`mount -t tmpfs -o size=${kilobytes}k tmpfs "$1"`, folder);
}

/** The program, before the one that is run, which makes the file system of the folder read-only. */
export function onReadOnlyDisk(folder: string): string[] {
  return within('mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"', folder);
}

function within(mount: string, folder: string): string[] {
  return ['unshare', '-Urm', 'sh', '-c', `${mount} && shift && exec "$@"`, 'sh', folder];
}
