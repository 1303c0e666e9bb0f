/** The generated types of the client are current. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { read } from './sources.ts';

suite('client/src/schema.ts', () => {
  test('is committed as openapi-typescript generates it from openapi.json', async () => {
    const client = fileURLToPath(new URL('../../client/', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['node_modules/openapi-typescript/bin/cli.js', '../openapi.json', '--default-non-nullable', 'false'],
      { cwd: client, maxBuffer: 64 * 1024 * 1024 },
    );
    assert.ok(
      stdout === read('client/src/schema.ts'),
      'client/src/schema.ts is not current: run "npm run generate"',
    );
  });
});
