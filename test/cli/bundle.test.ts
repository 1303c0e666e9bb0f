/** The bundle in lib/ in a copy of a clone: when it runs, and what its stack traces say. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { shared, temporaryFolder } from '../context.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A clone with what the program is made of. */
const clone = shared(async (t) => {
  const folder = await temporaryFolder(t);
  for (const path of ['bin', 'client/src', 'migrations', 'package.json', 'src']) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'data'));
  const { findProgram } = await import(pathToFileURL(join(folder, 'bin/program.js')).href);
  const env = {
    ...process.env,
    CURD_DATA_DIR: join(folder, 'data'),
    CURD_LOG_LEVEL: 'debug',
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  return {
    folder,
    build: () => execFileSync(process.execPath, [join(folder, 'bin/build.js')], { env }),
    curd: (...args: string[]) =>
      spawnSync(process.execPath, [join(folder, 'bin/curd.js'), ...args], { env, encoding: 'utf8' }),
    program: () => findProgram().href.slice(pathToFileURL(folder).href.length + 1),
    edit(path: string, text: string, replacement: string) {
      const before = readFileSync(join(folder, path), 'utf8');
      assert.ok(before.includes(text), `${path} has no ${text}`);
      writeFileSync(join(folder, path), before.replace(text, replacement));
    },
  };
});

suite('The bundle', () => {
  test('The bundle runs after a build, and the sources run when one of them has changed or is missing', () => {
    const { folder, build, program, edit } = clone();
    const file = 'src/duration.ts';
    assert.equal(program(), 'src/main.ts', 'nothing is built');
    build();
    assert.equal(program(), 'lib/main.js');
    const files = readdirSync(join(folder, 'lib')).length;

    edit(file, 'const', '\nconst');
    assert.equal(program(), 'src/main.ts', 'a source is longer');
    build();
    assert.equal(program(), 'lib/main.js');
    edit(file, '\nconst', ' const');
    assert.equal(program(), 'src/main.ts', 'a source has another text of the same length');
    build();
    utimesSync(join(folder, file), 1e9, 1e9);
    assert.equal(program(), 'src/main.ts', 'a source is older, as from an archive');
    build();
    assert.equal(program(), 'lib/main.js');
    assert.equal(readdirSync(join(folder, 'lib')).length, files, 'files of earlier builds are deleted');

    rmSync(join(folder, 'src/cli/operations/write-index.ts'));
    assert.equal(program(), 'lib/main.js', 'the program has no part of this file');
    renameSync(join(folder, file), join(folder, 'moved.ts'));
    assert.equal(program(), 'src/main.ts', 'a source is missing');
    renameSync(join(folder, 'moved.ts'), join(folder, file));
    assert.equal(program(), 'lib/main.js');
  });

  test('A stack trace of the bundle names the file and line of the source', () => {
    const { folder, build, curd, program, edit } = clone();
    const path = 'src/cli/commands/database/migrate.ts';
    edit(
      path,
      'function resultText',
      "function fail(): never {\n  throw new Error('broken');\n}\n\nfunction resultText",
    );
    edit(path, 'const database', 'fail();\n  const database');
    const lines = readFileSync(join(folder, path), 'utf8').split('\n');
    const lineOf = (text: string) => 1 + lines.findIndex((line) => line.includes(text));
    build();
    assert.equal(program(), 'lib/main.js');
    appendFileSync(join(folder, 'lib/main.js'), 'process.stdout.write("the bundle runs")');
    const { stdout, stderr } = curd('migrate');
    assert.equal(stdout, 'the bundle runs');
    assert.match(stderr, new RegExp(`at fail .*/${path}:${lineOf("new Error('broken')")}:9`));
    assert.match(stderr, new RegExp(`at runMigrate .*/${path}:${lineOf('  fail();')}:3`));
    assert.ok(!stderr.includes(join(folder, 'lib')), stderr);
  });
});
