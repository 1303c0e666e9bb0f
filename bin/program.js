// Which files the program runs from: the bundle (bin/build.js), or the sources, which Node runs directly. A package and the
// image have the bundle only. In a clone, the bundle runs while it is of these sources.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The URL of the program. */
export function findProgram() {
  const source = new URL('../src/main.ts', import.meta.url);
  const bundle = new URL('../lib/main.js', import.meta.url);
  return existsSync(source) && !isBundleCurrent() ? source : bundle;
}

/** Whether no source has changed since the bundle was built: 4 ms, because sizes and times are compared, not contents. */
export function isBundleCurrent() {
  try {
    const root = fileURLToPath(new URL('../', import.meta.url));
    const sources = JSON.parse(readFileSync(`${root}lib/sources.json`, 'utf8'));
    return sources.every(([path, size, mtimeMs]) => {
      const now = statSync(root + path);
      return now.size === size && now.mtimeMs === mtimeMs;
    });
  } catch {
    // It was not built, or a source was deleted.
    return false;
  }
}
