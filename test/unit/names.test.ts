/** Names of settings that are misspelled, and the name of the command. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import fc from 'fast-check';
import { findCommandName } from '../../src/command-name.ts';
import { editDistance, similarNames } from '../../src/settings/similar-names.ts';
import { settings } from '../../src/settings/table.ts';

const variables = Object.values(settings).map(({ variable }) => variable);

suite('similarNames', () => {
  test('similarNames finds the setting that a misspelled variable stands for', () => {
    for (const [name, similar] of [
      ['CURD_PUBLIK_URL', ['CURD_PUBLIC_URL']],
      ['CURD_PROT', ['CURD_PORT']],
      ['CURD_DATA', ['CURD_DATA_DIR', 'CURD_DATABASE']],
      ['CURD_BUTTER', []],
      ['CURD_', variables],
    ] as const) {
      assert.deepEqual(similarNames(name, variables).toSorted(), [...similar].toSorted(), name);
    }
  });

  test('similarNames finds every setting with one character that is missing', () => {
    for (const variable of variables) {
      for (let at = 'CURD_'.length; at < variable.length; at += 1) {
        const misspelled = variable.slice(0, at) + variable.slice(at + 1);
        // CURD_MAIL is CURD_MAILS without a character.
        const isFound = similarNames(misspelled, variables).includes(variable);
        assert.ok(isFound || variables.some((one) => one === misspelled), misspelled);
      }
    }
  });
});

test('editDistance is a metric, and at most the length of the longer text', () => {
  const text = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      const distance = editDistance(a, b);
      assert.equal(distance, editDistance(b, a));
      assert.equal(distance === 0, a === b);
      assert.ok(distance <= Math.max([...a].length, [...b].length));
      assert.ok(distance <= editDistance(a, c) + editDistance(c, b));
    }),
  );
});

suite('findCommandName', () => {
  const folder = mkdtempSync(join(tmpdir(), 'curd-path-'));
  after(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, 'bin');
  const ofNpm = join(folder, 'node_modules', '.bin');
  for (const place of [bin, ofNpm]) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'curd'), '');
  }
  chmodSync(join(ofNpm, 'curd'), 0o755);

  test('findCommandName is curd where such a program is on the PATH, but not one of npm', () => {
    const find = (PATH: string) => findCommandName({ PATH }, 'machine');
    assert.equal(find(`${ofNpm}:${bin}`), 'npx curd', 'a file that cannot be run');
    chmodSync(join(bin, 'curd'), 0o755);
    assert.equal(find(`${ofNpm}:${bin}`), 'curd');
    assert.equal(find(`:${ofNpm}`), 'npx curd');
    assert.equal(find(''), 'npx curd');
    assert.equal(findCommandName({}, 'machine'), 'npx curd');
  });

  test('findCommandName runs curd in the container of the process, by the program that started the container', () => {
    const find = (container: string, host: string) => findCommandName({ PATH: bin, container }, host);
    assert.equal(find('docker', '0123456789ab'), 'docker exec 0123456789ab curd');
    assert.equal(find('podman', 'fedcba987654'), 'podman exec fedcba987654 curd');
    assert.equal(find('docker', 'shop'), 'docker exec <container> curd', 'a host name that was chosen');
    assert.equal(find('lxc', '0123456789ab'), 'curd', 'a container that is used like a machine');
    assert.equal(findCommandName({ PATH: ofNpm, container: 'docker' }, '0123456789ab'), 'npx curd');
  });
});
