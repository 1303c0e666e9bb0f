/** How this machine runs a command of Curd, for messages that people copy. */
import { accessSync, constants } from 'node:fs';
import { hostname } from 'node:os';
import { delimiter, join, sep } from 'node:path';

/** Programs that run containers, as they name themselves in the variable `container`. Our image sets it for Docker. */
const containerPrograms = ['docker', 'podman'];
/** An id of a container, which is its host name unless another was chosen. */
const containerId = /^[\da-f]{12}$/;

/**
 * The command that works where messages of this process are read: `curd` if it is installed, else `npx curd`. Messages
 * of a container are read outside of it, as its log or in a response.
 */
export const commandName = findCommandName(process.env, hostname());

/** @param environment `PATH` has the folders of programs */
export function findCommandName(
  { PATH = '', container = '' }: { readonly PATH?: string; readonly container?: string },
  host: string,
): string {
  // npm puts the folders of its packages on the PATH of its scripts only.
  const folders = PATH.split(delimiter).filter((folder) => folder !== '' && !isOfNpm(folder));
  if (!folders.some((folder) => isProgram(join(folder, 'curd')))) {
    return 'npx curd';
  }
  return containerPrograms.includes(container)
    ? `${container} exec ${containerId.test(host) ? host : '<container>'} curd`
    : 'curd';
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
