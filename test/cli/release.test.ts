/** "npm run release" in a copy of the repository: a commit and packages, and nothing that leaves the machine. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../context.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What a release reads. */
const parts = ['bin', 'client', 'console', 'deploy', 'migrations', 'release', 'src'];
const generated = /node_modules|[/\\]dist$/;

test('A release refuses wrong versions, and commits the version, the changelog, packages and checksums', async (t) => {
  const folder = await temporaryFolder(t);
  for (const path of parts) {
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => !generated.test(source),
    });
  }
  for (const { name } of readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== '.git',
  )) {
    cpSync(join(root, name), join(folder, name));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  symlinkSync(join(root, 'client/node_modules'), join(folder, 'client/node_modules'));
  // A pattern with a slash at its end does not match a link.
  writeFileSync(
    join(folder, '.gitignore'),
    `${readFileSync(join(root, '.gitignore'), 'utf8')}node_modules\n`,
  );
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet');
  git('config', 'user.name', 'Release');
  git('config', 'user.email', 'release@example.com');
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- New: cheese.\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Before');
  const release = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['release/release.js', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  for (const [version, message] of [
    ['', /"" is not a version such as/],
    ['v9.0.0', /"v9.0.0" is not a version/],
    ['0.0.9', /0\.0\.9 is not later than the current version/],
  ] as const) {
    const { status, stderr } = release(version);
    assert.deepEqual([status, message.test(stderr)], [1, true], stderr);
  }
  // docs/production.md and docs/operations.md say so in a clone.
  execFileSync('npm', ['pack', '--ignore-scripts'], { cwd: folder, stdio: 'ignore' });
  mkdirSync(join(folder, 'backup'));
  writeFileSync(join(folder, 'backup/curd-2026-11-22T03-00-00Z.tar'), '');
  assert.equal(git('status', '--porcelain'), '');
  writeFileSync(join(folder, 'untracked'), '');
  assert.match(release('98.7.6').stderr, /not committed/);
  execFileSync('rm', [join(folder, 'untracked')]);

  const { status, stdout, stderr } = release('98.7.6');
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(
    stdout,
    /Nothing is published[\s\S]*git tag v98\.7\.6[\s\S]*npm publish dist\/curd-98\.7\.6\.tgz/,
  );
  assert.equal(git('log', '-1', '--format=%s'), 'Release 98.7.6\n');
  assert.equal(git('status', '--porcelain'), '');
  const dist = join(folder, 'dist');
  assert.deepEqual(readdirSync(dist).toSorted(), ['SHA256SUMS', 'curd-98.7.6.tgz', 'curd-client-98.7.6.tgz']);
  for (const line of readFileSync(join(dist, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
    const [sum, name = ''] = line.split('  ');
    assert.equal(
      createHash('sha256')
        .update(readFileSync(join(dist, name)))
        .digest('hex'),
      sum,
    );
  }
  assert.match(
    readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'),
    /^## Unreleased\n\n## 98\.7\.6 - \d{4}-\d\d-\d\d\n\n- New/m,
  );
  assert.match(readFileSync(join(folder, 'openapi.json'), 'utf8'), /served by Curd 98\.7\.6\./);
  assert.match(readFileSync(join(folder, 'client/src/version.ts'), 'utf8'), /'98\.7\.6'/);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  assert.deepEqual([packages[''].version, packages.client.version], ['98.7.6', '98.7.6']);

  assert.match(release('98.7.7').stderr, /nothing under "Unreleased"/);
});
