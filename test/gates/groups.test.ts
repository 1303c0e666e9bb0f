/** "npm test" runs every test file, once. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { foldersOfProcesses } from '../groups.ts';

test('Each folder of tests is in one group, or its files run in processes of their own', () => {
  const tests = new URL('../', import.meta.url);
  const folders = readdirSync(tests, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((folder) => readdirSync(new URL(folder, tests)).some((name) => name.endsWith('.test.ts')));
  const runs = foldersOfProcesses.map((folder) => `${folder} 1 of 1`);
  const expected = new Set(runs);
  for (const name of readdirSync(new URL('groups/', tests))) {
    const call = readFileSync(new URL(`groups/${name}`, tests), 'utf8');
    const [, list = '', part = '1', parts = '1'] =
      /runFolders\(\[(.*?)\](?:, (\d+), (\d+))?\)/.exec(call) ?? [];
    for (const [, folder = ''] of list.matchAll(/'(\w+)'/g)) {
      runs.push(`${folder} ${part} of ${parts}`);
      for (let number = 1; number <= Number(parts); number += 1) {
        expected.add(`${folder} ${number} of ${parts}`);
      }
    }
  }
  assert.deepEqual(
    runs.toSorted(),
    [...expected].toSorted(),
    'name each part of a folder once in the files of test/groups/',
  );
  assert.deepEqual(
    [...new Set(runs.map((run) => run.split(' ')[0]))].toSorted(),
    folders.toSorted(),
    'add the folder to a file of test/groups/, or to foldersOfProcesses and the script "test"',
  );
  assert.ok(packageJson.scripts.test.endsWith(`'test/groups/*.ts' 'test/${foldersOfProcesses}/*.test.ts'`));
});
