/** The documents list every error, every setting and every step of the pipeline, as the code does. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ErrorCode, errorCatalogue } from '../../src/errors.ts';
import { pipeline } from '../../src/http/pipeline/pipeline.ts';
import { toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { loadConfig, type RawSettings } from '../../src/settings/config.ts';
import { environments } from '../../src/settings/parsers.ts';
import {
  defaultIn,
  defaultText,
  type Setting,
  type SettingContext,
  toFlag,
} from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/table.ts';
import { temporaryFolder } from '../context.ts';
import { filesIn, read } from './sources.ts';

/** The cells of all rows of all tables of a page, without header rows. */
function tableRows(page: string): string[][] {
  const lines = read(page).split('\n');
  return lines
    .filter((line, index) => {
      const isRule = /^\|[\s:|-]+\|\s*$/.test(line);
      const isHeader = /^\|[\s:|-]+\|\s*$/.test(lines[index + 1] ?? '');
      return line.startsWith('|') && !isRule && !isHeader;
    })
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

const allSettings: readonly Setting[] = Object.values(settings);

/** Texts in backticks. */
const codeIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('docs/README.md lists every page once', () => {
  const listed = [...read('docs/README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map(
    ([, name]) => `docs/${name}`,
  );
  const pages = filesIn('docs/*.md').filter((path) => path !== 'docs/README.md');
  assert.deepEqual(listed.toSorted(), pages, 'link each page of docs/ once in docs/README.md');
});

suite('docs/errors.md', () => {
  const rows = () => tableRows('docs/errors.md');

  test('docs/errors.md has a row for every error type, and for no other', () => {
    const types = Object.values(errorCatalogue).map(({ type }) => type);
    const documented = rows().flatMap(([first]) => codeIn(first));
    assert.deepEqual(
      documented.toSorted(),
      [...new Set(types)].sort(),
      'give each error type of src/errors.ts one row in docs/errors.md',
    );
  });

  test('docs/errors.md gives the status of every error type', () => {
    for (const [code, { type }] of Object.entries(errorCatalogue)) {
      const status = toErrorStatus({ code: code as ErrorCode });
      const row = rows().find(([first]) => codeIn(first).includes(type)) ?? [];
      assert.match(row.slice(1).join(' '), new RegExp(`\\b${status}\\b`), type);
    }
  });
});

suite('docs/configuration.md', () => {
  const rows = () => tableRows('docs/configuration.md').filter(([first]) => /CURD_/.test(first ?? ''));

  test('docs/configuration.md has a row for every setting, with its variable, its flag and its default', () => {
    for (const setting of allSettings) {
      const { variable } = setting;
      const row = rows().find(([first]) => codeIn(first).includes(variable));
      assert.ok(row !== undefined, `${variable} has no row`);
      const text = row.join(' | ').replaceAll('`', '');
      assert.match(text, new RegExp(`--${toFlag(variable)}(?![\\w-])`), variable);
      assert.ok(text.includes(defaultText(setting)), `${variable}: the default is "${defaultText(setting)}"`);
    }
  });

  test('docs/configuration.md has the bounds that the error of a setting names', () => {
    const context = { environment: 'local', plans: {}, mail: { kind: 'off' } } as unknown as SettingContext;
    const bounds = /\b\d\w* to \d\w*|at (?:most|least) \d\w*/g;
    let found = 0;
    for (const { variable, placeholder, parse, ...setting } of allSettings) {
      const text = placeholder === 'json' ? '{"?":0}' : '\0';
      const row = rows().find(([first]) => codeIn(first).includes(variable)) ?? [];
      const documented = row
        .join(' ')
        .replaceAll(/`|(?<=\d),(?=\d{3})/g, '')
        .toLowerCase();
      try {
        parse(text, variable, { ...context, defaultText: defaultIn({ ...setting }, context) ?? '' });
      } catch (error) {
        for (const [bound] of (error as Error).message.matchAll(bounds)) {
          assert.ok(documented.includes(bound), `the row of ${variable} does not say "${bound}"`);
          found += 1;
        }
      }
    }
    assert.ok(found > 30, `${found}`);
  });

  test('docs/configuration.md has no row for a setting that does not exist', () => {
    const known: string[] = allSettings.map(({ variable }) => variable);
    const documented = rows().flatMap(([first]) => codeIn(first).filter((code) => code.startsWith('CURD_')));
    assert.deepEqual(
      new Set(documented),
      new Set(known),
      'give each setting a row in docs/configuration.md, and nothing else',
    );
    const flags = rows().flatMap((row) => row.join(' ').match(/--[a-z][a-z-]*/g) ?? []);
    const knownFlags = allSettings.flatMap(({ variable, former = variable }) =>
      [variable, former].map((name) => `--${toFlag(name)}`),
    );
    assert.deepEqual(
      flags.filter((flag) => !knownFlags.includes(flag)),
      [],
      'no setting has these flags: correct docs/configuration.md',
    );
  });
});

test('docs/architecture.md lists the steps of the pipeline in their order', () => {
  const [, section = ''] = read('docs/architecture.md').split('## How a request is processed');
  const listed = [...section.matchAll(/^\|[^|]*\| +`(\w+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(
    listed,
    Object.values(pipeline).flatMap((steps) => steps.map(({ name }) => name)),
    'give each step a row in the table of docs/architecture.md, in the order of the pipeline',
  );
});

suite('The settings table', () => {
  test('The settings table gives each setting one variable', () => {
    for (const { help } of allSettings) {
      assert.notEqual(help, '');
    }
    assert.equal(new Set(allSettings.map(({ variable }) => variable)).size, allSettings.length);
  });

  for (const environment of environments) {
    test(`The settings table has defaults in ${environment} whose text is parsed to the same value`, async (t) => {
      const raw: RawSettings = {
        CURD_DATA_DIR: await temporaryFolder(t),
        CURD_ENVIRONMENT: environment,
        CURD_SECRET: 'x'.repeat(32),
        CURD_PUBLIC_URL: 'https://cheese.example',
      };
      const parsed = (texts: RawSettings) => {
        const { given: _, ...config } = loadConfig(texts);
        return config;
      };
      const config = parsed(raw);
      const context = { ...config, defaultText: '' };
      for (const setting of allSettings.filter(({ variable }) => !(variable in raw))) {
        const text = defaultIn(setting, context);
        if (text !== null) {
          assert.deepEqual(parsed({ ...raw, [setting.variable]: text }), config, setting.variable);
        }
      }
    });
  }

  test('The settings table describes in words only the defaults that depend on more than the environment', () => {
    const described = allSettings.filter(({ defaultText: text }) => text !== undefined);
    assert.deepEqual(
      described.map(({ variable }) => variable),
      [
        'CURD_PUBLIC_URL',
        'CURD_DATABASE',
        'CURD_IMAGES',
        'CURD_IMAGES_URL',
        'CURD_SECRET',
        'CURD_MAIL',
        'CURD_MAIL_FROM',
      ],
      'give the setting a default without defaultText, or add it here with the reason in its commit',
    );
    for (const setting of allSettings) {
      assert.equal(typeof setting.default === 'function', described.includes(setting), setting.variable);
    }
  });
});
