/** The files of deploy/, used as docs/production.md describes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { typeOfKey } from '../../src/auth/keys/format.ts';
import { headerBytesMax } from '../../src/http/bodies/size-limits.ts';
import { imageBytesMax } from '../../src/images/routes.ts';
import { secret, temporaryFolder } from '../context.ts';
import { filesIn, read } from '../gates/sources.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The first number of a setting in a file, without its unit. */
function numberIn(path: string, pattern: RegExp): number {
  const [, number] = pattern.exec(read(path)) ?? [];
  assert.ok(number !== undefined, `${path} has no ${pattern}`);
  return Number(number);
}

suite('deploy/', () => {
  test('deploy/ has an environment file and a script to run commands on a production shop', async (t) => {
    const folder = await temporaryFolder(t);
    const environmentFile = join(folder, 'curd.env');
    const script = join(folder, 'curd');
    const settings = (value: string) =>
      read('deploy/curd.env.example')
        .replace(/^CURD_SECRET=$/m, `CURD_SECRET='${value}'`)
        .replace('/var/lib/curd', join(folder, 'data'));
    const commands = read('deploy/curd')
      .replace('/etc/curd.env', environmentFile)
      .replace('/opt/curd/node_modules/.bin/node', process.execPath)
      .replace('/opt/curd', root)
      .replace('-u curd', '-u root');
    writeFileSync(script, commands);
    chmodSync(script, 0o755);
    const run = (...args: string[]) => {
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      env.PATH = `${env.PATH}:/usr/sbin:/sbin`;
      return spawnSync(script, args, { encoding: 'utf8', env });
    };

    writeFileSync(environmentFile, settings(''));
    const incomplete = run('migrate');
    assert.match(incomplete.stderr, /^curd: CURD_SECRET is not set: production needs one/);
    writeFileSync(environmentFile, settings(secret));
    const account = run('accounts', 'create', 'shop', '--plan', 'enterprise');
    assert.deepEqual([account.status, account.stderr], [0, '']);
    const key = run('keys', 'create', '--account', 'shop', '--scope', 'write:cheeses write:orders');
    assert.equal(typeOfKey(key.stdout.trim()), 'live', key.stderr);
  });

  test('deploy/ starts Node with the same flags as npm start', () => {
    const [, flags = ''] = /"start": "node (--.*) bin\/curd\.js serve"/.exec(read('package.json')) ?? [];
    assert.match(flags, /--max-semi-space-size=\d/);
    assert.ok(read('deploy/curd.service').includes(`/node ${flags} bin/curd.js serve\n`));
    const words = ['node', ...flags.split(' '), '/curd/bin/curd.js'];
    assert.ok(read('Dockerfile').includes(`ENTRYPOINT [${words.map((word) => `"${word}"`).join(', ')}]`));
  });

  test('deploy/ rates the exposure of every unit as that of the server', () => {
    const hardening = (unit: string) => {
      const lines = read(`deploy/${unit}`).split('\n');
      return lines
        .filter((line) => /^(Protect|Private|NoNew|Capability|Restrict|Lock|SystemCall)\w*=/.test(line))
        .toSorted();
    };
    assert.ok(hardening('curd.service').length > 15);
    for (const unit of ['curd-backup.service', 'curd-doctor.service', 'curd-edge.service']) {
      assert.deepEqual(hardening(unit), hardening('curd.service'), unit);
    }
  });

  test('deploy/ configures proxies with the limits of Curd', () => {
    const megabytes = imageBytesMax / 1e6;
    assert.ok(numberIn('deploy/Caddyfile', /max_size (\d+)MB/) > megabytes);
    assert.ok(numberIn('deploy/nginx.conf', /client_max_body_size (\d+)m;/) > megabytes);
    const kilobytes = headerBytesMax / 1024;
    assert.equal(numberIn('deploy/nginx.conf', /large_client_header_buffers 4 (\d+)k;/), kilobytes);
  });

  test('deploy/ has every file that is named in the documents and in its files', () => {
    const present = filesIn('deploy/*');
    for (const path of ['README.md', ...filesIn('docs/*.md'), ...present]) {
      for (const [named] of read(path).matchAll(/\bdeploy\/[\w.-]*\w/g)) {
        assert.ok(present.includes(named), `${path} names ${named}`);
      }
    }
  });
});
