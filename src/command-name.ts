/** How this machine runs a command of Curd, for messages that people copy. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

/** The command that works in a shell beside this process: `curd` where it is installed, else `npx curd`. */
export const commandName = findCommandName(process.env.PATH ?? '');

/** @param path the folders of programs, as in the variable PATH */
export function findCommandName(path: string): string {
  // npm puts the folders of its packages on the PATH of its scripts only.
  const folders = path.split(delimiter).filter((folder) => folder !== '' && !isOfNpm(folder));
  return folders.some((folder) => isProgram(join(folder, 'curd'))) ? 'curd' : 'npx curd';
}

function isOfNpm(folder: string): boolean {
  const parts = folder.split(sep);
  return parts.includes('node_modules') || parts.includes('node-gyp-bin') || parts.includes('_npx');
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
