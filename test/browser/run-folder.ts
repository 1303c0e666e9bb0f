/** The folder of a test run for its browser: installed-browser.ts writes to it, in any of the processes of the run. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates the folder for the browser of a test run. */
export async function makeBrowserFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'curd-browser-'));
  process.env.CURD_TEST_BROWSER = folder;
  return folder;
}

/** Deletes the folder, and writes how many tests found no browser, if any test of the run needed one. */
export async function removeBrowserFolder(folder: string): Promise<void> {
  const skipped = await readFile(join(folder, 'skipped'), 'utf8').catch(() => null);
  if (skipped !== null || existsSync(join(folder, 'unpacked'))) {
    const reasons = (skipped ?? '').split('\n').filter(Boolean);
    console.log([`Browser tests skipped: ${reasons.length}`, ...new Set(reasons)].join('. The reason: '));
  }
  await rm(folder, { recursive: true, force: true });
}
