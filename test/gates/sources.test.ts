/** Rules for the contents of all source files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesIn, placesOf, read } from './sources.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const linesMax = 500;
const filesMax = 15;
const usualLinesMax = 300;
/** Longer files of `src`, each with the reason why it is not split. */
const longFiles: Readonly<Record<string, string>> = {
  'src/settings/table.ts': 'one entry for each setting, to be read in their order',
};

const linesOf = (path: string) => read(path).split('\n').length - 1;

suite('The sources', () => {
  test(`The sources have no file of more than ${linesMax} lines`, () => {
    const long = filesIn('{bin,src,test,bench}/**/*.{ts,js}').filter((path) => linesOf(path) > linesMax);
    assert.deepEqual(long, [], 'split these files');
  });

  test(`The sources have no file of more than ${usualLinesMax} lines in src without an entry with a reason`, () => {
    const long = filesIn('src/**/*.ts').filter((path) => linesOf(path) > usualLinesMax);
    assert.deepEqual(
      long,
      Object.keys(longFiles),
      'split the new ones, and remove entries of files that are short enough',
    );
    for (const [path, reason] of Object.entries(longFiles)) {
      assert.ok(reason.length > 20, `${path} has no reason`);
    }
  });

  test(`The sources have no folder of more than ${filesMax} files in src, client/src and console/src`, () => {
    const counts = new Map<string, number>();
    for (const path of filesIn('{src,client/src,console/src}/**/*.{ts,tsx,css}')) {
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    }
    assert.ok(counts.has('src/http/pipeline'));
    const wide = [...counts].filter(([, count]) => count > filesMax);
    assert.deepEqual(wide, [], 'move files of one purpose into a folder of their own');
  });

  test('The sources of the console name no currency in texts: the shop has one', () => {
    const named = /(?<!\|)\$(?=[\d<\s'"`)])|\b(?:US d|D)ollars?\b|['"]USD['"]/;
    const isComment = (line: string) => /^\s*(?:\/?\*|\/\/)/.test(line);
    const found = filesIn('console/src/**/*.{ts,tsx}').flatMap((path) =>
      read(path)
        .split('\n')
        .filter((line) => named.test(line) && !isComment(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    assert.deepEqual(
      found,
      [
        "console/src/currency.ts: export const shopCurrency = page?.documentElement.dataset.currency ?? 'USD';",
      ],
      'use parts/text/format.ts',
    );
    for (const line of ["label: '$'", 'label="Price ($)"', '<Text>$5</Text>', "'US dollars'"]) {
      assert.match(line, named);
    }
  });

  test('The sources contain nothing that looks like an API key, in any file of the repository', (t) => {
    if (!existsSync(join(root, '.git'))) {
      t.skip('there is no repository');
      return;
    }
    const options = { cwd: root, encoding: 'utf8' } as const;
    const names = execFileSync(
      'git',
      ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
      options,
    );
    const paths = names
      .split('\0')
      .filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile());
    assert.ok(paths.includes('package.json'));
    const keyShaped = /sk_(?:live|test)_\w{20,}/;
    const found = paths.filter((path) => keyShaped.test(readFileSync(join(root, path), 'latin1')));
    assert.deepEqual(found, [], 'scanners for secrets would report these: build such texts in parts');
  });

  test('The sources measure pages in browser tests only where they wait for styles and fonts', () => {
    // The first paint is measured while the styles are on their way. A mail in a frame has its styles inside.
    const allowed = ['test/browser/chromium.ts', 'test/browser/console-first-load.test.ts'];
    const measured =
      /(?<!frame\?\.)evaluate(?:<[^>]*>)?\((?:(?!\n\n)[^;])*(?:scrollWidth|getComputedStyle|getBoundingClientRect)|\.boundingBox\(/;
    const early = filesIn('test/{browser,client}/*.ts').filter(
      (path) => !allowed.includes(path) && measured.test(read(path)),
    );
    assert.deepEqual(early, [], 'use measure, measureWidth or measureBox of test/browser/chromium.ts');
  });

  test('The sources of the console read numbers in fields by readNumber', () => {
    // Number() reads "1e3" and "0x10", and nothing says what it does not read.
    const allowed: Readonly<Record<string, string>> = {
      'console/src/parts/fields/country-select.tsx': 'sorts by a condition',
      'console/src/screens/orders/new/new-lines.tsx': 'the weight of a choice',
      'console/src/screens/orders/new/new-order.tsx': 'ids of the URL and of a choice',
    };
    const isField = /TextInput|Textarea|NumberField|currentTarget/;
    const isRead = /\b(?:Number|parseFloat|parseInt)\(|\.map\(Number\)|valueAsNumber/;
    const found = filesIn('console/src/**/*.{ts,tsx}').filter(
      (path) => isField.test(read(path)) && isRead.test(read(path)),
    );
    assert.deepEqual(found, Object.keys(allowed), 'use readNumber of console/src/parts/fields/number.ts');
  });

  test('The sources spread no literal into a literal: its members can be listed', () => {
    assert.deepEqual(placesOf(/\.\.\.\{(?! *\})/, []), [], 'list the members');
  });

  test('The sources read the environment in one place', () => {
    // The client sample is text for programs of others. The name of the command depends on PATH, which is no setting.
    const allowed = [
      'src/cli/framework/run-command.ts',
      'src/cli/framework/output.ts',
      'src/app/client-sample.ts',
      'src/command-name.ts',
    ];
    const places = placesOf(/process\.env\b/, allowed);
    assert.deepEqual(places, [], 'make it a setting in src/settings/table.ts');
  });

  test('The sources take time and random values from the clock only', () => {
    const sources =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(Bytes|UUID|Int|Fill)|\bgetRandomValues\b/;
    const places = placesOf(sources, ['src/clock.ts', 'src/settings/secret.ts']);
    assert.deepEqual(places, [], 'use the Clock that is passed in, which tests can replace');
  });

  test('The sources compare the engine in the database and in texts of commands only', () => {
    const allowed = filesIn('src/{database,cli}/**/*.ts');
    const places = placesOf(/\bengine\b\)? (===|!==) '|'(sqlite|postgres)' (===|!==)/, allowed);
    assert.deepEqual(
      places,
      [],
      'what differs between the engines is a member of Sql or Database with a name',
    );
  });

  test('The sources read members of JSON in SQL by key, never by position', () => {
    const places = placesOf(/->>?\s*\d|'\$\[\d/, []);
    assert.deepEqual(
      places,
      [],
      'name what is read: rowsFromJson takes objects, valuesFromJson single values',
    );
  });

  test('The sources take values of node:http from http/node-http.ts: an import statement would load an HTTP client at each start', () => {
    assert.deepEqual(
      placesOf(/^import (?!type ).*'node:http';/, []),
      [],
      'import the value from src/http/node-http.ts',
    );
  });

  test('The sources write imports with file extensions, and built-in modules with node:', () => {
    const places = placesOf(
      /from '(\.[^']*(?<!\.ts|\.json)|(fs|path|crypto|http|url|util|stream|zlib))'/,
      [],
    );
    assert.deepEqual(places, [], 'add .ts to paths, and node: to built-in modules');
  });
});
