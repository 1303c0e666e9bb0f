import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../helper.ts';

const setup = fileURLToPath(new URL('../global-setup.ts', import.meta.url));

test('A run of the tests ends with status 1 where one of them fails', async (t) => {
  const file = join(await temporaryFolder(t), 'failing.test.mjs');
  await writeFile(
    file,
    "import { test } from 'node:test'; test('fails', () => { throw new Error('as it should'); });",
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(process.execPath, ['--test', `--test-global-setup=${setup}`, file], {
    env,
    stdio: 'ignore',
  });
  const [code] = await once(run, 'close');
  assert.equal(code, 1);
});
