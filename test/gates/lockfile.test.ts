/** The lockfile: each package has a hash, and no production package runs an install script. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../context.ts';
import { read } from './sources.ts';

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
}

const packages: [string, Package][] = Object.entries(
  JSON.parse(read('package-lock.json')).packages as Record<string, Package>,
).filter(([path, { link }]) => path.includes('node_modules/') && !link); // The other entries are our own: the root and the workspace.

suite('package-lock.json', () => {
  test('package-lock.json has a hash for each package', () => {
    const unlocked = packages.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'));
    assert.deepEqual(unlocked, [], 'install these packages from the registry: npm install <package>');
  });

  test('package-lock.json has the three dependencies of the client, and no second version of one in the workspace', () => {
    const { dependencies } = JSON.parse(read('client/package.json'));
    assert.deepEqual(
      Object.keys(dependencies).sort(),
      ['eventsource-parser', 'oauth4webapi', 'standardwebhooks'],
      'everybody who installs the client gets its dependencies: do without, or add it here and to the README of the client',
    );
    const nested = Object.keys(dependencies).map((name) => `client/node_modules/${name}`);
    assert.deepEqual(
      packages.filter(([path]) => nested.includes(path)),
      [],
      'a dependency with two versions',
    );
  });

  test('package-lock.json has no install script in production packages, except that of esbuild, which works without it', () => {
    const scripts = packages.filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev);
    assert.deepEqual(
      scripts.map(([path]) => path),
      ['node_modules/esbuild'],
      'scripts run on the servers of shops: choose a package without one, or make it a devDependency',
    );
  });

  test('package-lock.json has the same Node version for each platform, and npm installs the matching package', () => {
    const node = packages.filter(([path]) => /^node_modules\/node-(bin-)?(darwin|linux|win)-/.test(path));
    const { optionalDependencies } = JSON.parse(read('package.json'));
    assert.deepEqual(
      node.map(([path]) => path.replace('node_modules/', '')),
      Object.keys(optionalDependencies),
      'run npm install after a change of the versions of Node in package.json',
    );
    for (const [path, { version = '', optional, os, cpu }] of node) {
      assert.equal(optionalDependencies[path.replace('node_modules/', '')], version, 'an exact version');
      assert.equal(version, node[0]?.[1].version);
      assert.ok(optional && os !== undefined && cpu !== undefined, path);
    }
  });
});

suite('bin/link-node.js', { skip: process.platform === 'win32' }, () => {
  test('bin/link-node.js links the Node of the platform package if npm has not, and keeps an existing link', async (t) => {
    const folder = await temporaryFolder(t);
    mkdirSync(join(folder, 'bin'));
    for (const name of ['link-node.js', 'node-package.js']) {
      cpSync(fileURLToPath(new URL(`../../bin/${name}`, import.meta.url)), join(folder, 'bin', name));
    }
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    const run = () => {
      const { status, stderr } = spawnSync(process.execPath, [join(folder, 'bin', 'link-node.js')]);
      assert.equal(status, 0, String(stderr));
    };
    run();
    const { optionalDependencies } = JSON.parse(read('package.json'));
    for (const name of Object.keys(optionalDependencies)) {
      mkdirSync(join(folder, 'node_modules', name, 'bin'), { recursive: true });
      symlinkSync(process.execPath, join(folder, 'node_modules', name, 'bin', 'node'));
    }
    const link = join(folder, 'node_modules', '.bin', 'node');
    run();
    const { platform, arch } = process;
    assert.match(readlinkSync(link), new RegExp(`^\\.\\./node-(bin-)?${platform}-${arch}/bin/node$`));
    assert.equal(spawnSync(link, ['--version']).stdout.toString().trim(), process.version);
    run();
  });
});
