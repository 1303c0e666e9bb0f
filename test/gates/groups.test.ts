/** "npm test" runs every test file, once. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { areasOfProcesses, listAreas } from '../groups.ts';

test('Each area of tests is in one group, or its files run in processes of their own', () => {
  const groups = new URL('../groups/', import.meta.url);
  const runs = areasOfProcesses.map((area) => `${area} 1 of 1`);
  const expected = new Set(runs);
  for (const name of readdirSync(groups)) {
    const call = readFileSync(new URL(name, groups), 'utf8');
    const [, list = '', part = '1', parts = '1'] =
      /runAreas\(\[(.*?)\](?:, (\d+), (\d+))?\)/.exec(call) ?? [];
    for (const [, area = ''] of list.matchAll(/'(\w+)'/g)) {
      runs.push(`${area} ${part} of ${parts}`);
      for (let number = 1; number <= Number(parts); number += 1) {
        expected.add(`${area} ${number} of ${parts}`);
      }
    }
  }
  assert.deepEqual(
    runs.toSorted(),
    [...expected].toSorted(),
    'name each part of an area once in the files of test/groups/',
  );
  assert.deepEqual(
    [...new Set(runs.map((run) => run.split(' ')[0]))].toSorted(),
    listAreas().toSorted(),
    'add the folder to a file of test/groups/, or to areasOfProcesses',
  );
});

test('An unknown area of "npm test -- AREA" fails before any test, and the error lists the areas', () => {
  const program = fileURLToPath(new URL('../run.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'gates', 'cheese'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^"cheese" is not an area of tests\. .*: .*\bgates, .*\bwebhooks\.\n$/);
});
