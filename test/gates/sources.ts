/** The files of the project, for gates that read them. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/** Paths from the root of the repository, `/` between their parts. */
export function filesIn(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: fileURLToPath(root), exclude: (name) => name === 'node_modules' }).sort();
}

export function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** Places in `src` where a pattern stands, as `file:line`, outside of the files that may hold it. */
export function placesOf(pattern: RegExp, allowed: readonly string[]): string[] {
  return filesIn('src/**/*.ts')
    .filter((path) => !allowed.includes(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    );
}
