/** Messages name commands as they work where they are read: `npx curd`, `curd` or `docker exec <container> curd`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from '../../src/cli/commands/commands.ts';
import { filesIn, read } from './sources.ts';

/** Texts that are the same on every machine: the OpenAPI document, the table of settings, and completion. */
const fixed = /^\s*(?:\/?\*|\/\/)|description:|summary:|completion/;
const fixedFiles = [
  'src/settings/mail-settings.ts',
  'src/cli/commands/completion.ts',
  'src/operations/routes.ts',
];
const words = [...new Set(commands.map(({ name }) => name.split(' ')[0]))];
const named = new RegExp(`(?<![\\w$./{-])curd (?:${words.join('|')})\\b`);

test('No message names a command of Curd without commandName, nor the console without shopCommand', () => {
  const places = filesIn('src/**/*.ts', 'console/src/**/*.{ts,tsx}')
    .filter((path) => !fixedFiles.includes(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) =>
          named.test(line) && !fixed.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [],
        ),
    );
  assert.deepEqual(
    places,
    [],
    'use commandName of src/command-name.ts, or shopCommand of console/src/environment.ts',
  );
});
