/** The folder of compiled code. A user who can write there can run code, so other users must not have access. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileCacheFolder } from '../../bin/compile-cache.js';
import { temporaryFolder } from '../context.ts';

const executable = fileURLToPath(new URL('../../bin/curd.js', import.meta.url));

function createFolder(parent: string, name: string, mode: number): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, mode);
  return folder;
}

test('Compiled code is stored in a folder that only the user can access, not in the temporary folder', async (t) => {
  const home = await temporaryFolder(t);
  const temporary = createFolder(home, 'tmp', 0o1777);
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
  const env = { ...inherited, HOME: home, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
  const { status } = spawnSync(process.execPath, [executable, '--version'], { env });
  assert.equal(status, 0);
  assert.deepEqual(readdirSync(temporary), []);
  const folder = join(home, '.cache', 'curd', 'compiled');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.ok(readdirSync(folder).length > 0);
});

test('A folder that another user could have written to is not used', async (t) => {
  const parent = await temporaryFolder(t);
  assert.equal(
    compileCacheFolder(createFolder(parent, 'private', 0o755)),
    join(parent, 'private', '.cache', 'curd', 'compiled'),
  );

  const open = createFolder(parent, 'open', 0o777);
  assert.equal(compileCacheFolder(open), null, 'its parent can be replaced');
  assert.ok(!existsSync(join(open, '.cache')), 'nothing is created there');
  assert.equal(
    compileCacheFolder(createFolder(open, 'below', 0o755)),
    null,
    'a parent of its parent can be replaced',
  );

  createFolder(parent, 'readable/.cache/curd/compiled', 0o755);
  assert.equal(compileCacheFolder(join(parent, 'readable')), null, 'it was not private before');

  createFolder(parent, 'linked/.cache/curd', 0o755);
  symlinkSync(createFolder(parent, 'elsewhere', 0o700), join(parent, 'linked', '.cache', 'curd', 'compiled'));
  assert.equal(compileCacheFolder(join(parent, 'linked')), null, 'it is a link');

  assert.equal(compileCacheFolder(join(parent, 'missing')), null, 'there is no home folder');
  assert.ok(!existsSync(join(parent, 'missing')));

  if (process.getuid?.() === 0) {
    chownSync(createFolder(parent, 'foreign/.cache/curd/compiled', 0o700), 65_534, 65_534);
    assert.equal(compileCacheFolder(join(parent, 'foreign')), null, 'another user owns it');
    const home = createFolder(parent, 'home', 0o755);
    chownSync(home, 65_534, 65_534);
    assert.equal(compileCacheFolder(home), null, 'another user owns its parent');
    assert.ok(!existsSync(join(home, '.cache')));
  }
});
