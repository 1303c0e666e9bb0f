/** One version: that of package.json. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { version as clientVersion } from '../../client/src/version.ts';
import { apiInfo } from '../../src/app/api-info.ts';
import { read } from './sources.ts';

const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const lockfile = JSON.parse(read('package-lock.json'));

test('package.json, the lockfile, --version, openapi.json and the API have one version', () => {
  const executable = fileURLToPath(new URL('../../bin/curd.js', import.meta.url));
  assert.equal(
    spawnSync(process.execPath, [executable, '--version'], { encoding: 'utf8' }).stdout.trim(),
    version,
  );
  assert.equal(apiInfo.version, version);
  // The version of the interface is another: its major is the prefix of the paths.
  assert.ok(JSON.parse(read('openapi.json')).info.description.includes(`served by Curd ${version}.`));
  assert.deepEqual(
    [lockfile.version, lockfile.packages[''].version],
    [version, version],
    'run npm install, which writes the version of package.json to the lockfile',
  );
});

test('The client has the version of its package, which is that of the server since 1.0.0', () => {
  const { version: packaged } = JSON.parse(read('client/package.json'));
  assert.equal(clientVersion, packaged);
  assert.equal(lockfile.packages.client.version, packaged);
  if (!version.startsWith('0.')) {
    assert.equal(packaged, version);
  }
});

test('CHANGELOG.md has a section for unreleased changes, and one for the version since 1.0.0', () => {
  const sections = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
  assert.equal(sections[0], 'Unreleased');
  if (!version.startsWith('0.')) {
    assert.ok(sections.some((title) => new RegExp(`^${version} - \\d{4}-\\d\\d-\\d\\d$`).test(title)));
  }
});
