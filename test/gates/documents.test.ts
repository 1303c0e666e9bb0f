/** Documents say what the program says: errors and settings. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { errorCatalogue } from '../../src/errors.ts';
import { settings } from '../../src/settings/table.ts';
import { read } from './sources.ts';

/** The rows of all tables of a page, without their heads, each as its cells. */
function tableRows(page: string): string[][] {
  const lines = read(page).split('\n');
  return lines
    .filter((line, index) => {
      const isRule = /^\|[\s:|-]+\|\s*$/.test(line);
      const isHead = /^\|[\s:|-]+\|\s*$/.test(lines[index + 1] ?? '');
      return line.startsWith('|') && !isRule && !isHead;
    })
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** What stands in backticks. */
const coded = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

suite('docs/errors.md', () => {
  const rows = () => tableRows('docs/errors.md');

  test('has a row for every type of error, and for no other', () => {
    const types = Object.values(errorCatalogue).map(({ type }) => type);
    const documented = rows().flatMap(([first]) => coded(first));
    assert.deepEqual(documented.toSorted(), [...new Set(types)].sort());
  });

  test('gives every type its status', () => {
    for (const { type, status } of Object.values(errorCatalogue)) {
      const row = rows().find(([first]) => coded(first).includes(type)) ?? [];
      assert.match(row.slice(1).join(' '), new RegExp(`\\b${status}\\b`), type);
    }
  });
});

suite('docs/configuration.md', () => {
  const rows = () => tableRows('docs/configuration.md').filter(([first]) => /CURD_/.test(first ?? ''));

  test('has a row for every setting, with its variable, its flag and its default', () => {
    for (const { variable, flag, default: fallback } of settings) {
      const row = rows().find(([first]) => coded(first).includes(variable));
      assert.ok(row !== undefined, `${variable} has no row`);
      const words = row.join(' | ').replaceAll('`', '');
      assert.match(words, new RegExp(`--${flag}(?![\\w-])`), variable);
      assert.ok(words.includes(fallback.replaceAll('`', '')), `${variable}: the default is "${fallback}"`);
    }
  });

  test('has no row for a setting that is not there', () => {
    const known: string[] = settings.map(({ variable }) => variable);
    const documented = rows().flatMap(([first]) => coded(first).filter((code) => code.startsWith('CURD_')));
    assert.deepEqual(new Set(documented), new Set(known));
    const flags = rows().flatMap((row) => row.join(' ').match(/--[a-z][a-z-]*/g) ?? []);
    const knownFlags = settings.map(({ flag }) => `--${flag}`);
    assert.deepEqual(
      flags.filter((flag) => !knownFlags.includes(flag as `--${(typeof settings)[number]['flag']}`)),
      [],
    );
  });
});

suite('The table of settings', () => {
  test('gives every setting one variable and one flag, which are spelled alike', () => {
    for (const { variable, flag, help } of settings) {
      assert.equal(variable, `CURD_${flag.toUpperCase().replaceAll('-', '_')}`);
      assert.notEqual(help, '');
    }
    assert.equal(new Set(settings.map(({ variable }) => variable)).size, settings.length);
  });
});
