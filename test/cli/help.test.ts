/** "npx curd --help" and the help of each command: arguments, options and settings. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { commands } from '../../src/cli/commands/commands.ts';
import { flagName } from '../../src/cli/framework/options.ts';
import { toFlag } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/table.ts';
import { curd } from './run.ts';

/** Every command, with texts that its help must contain besides the settings. */
const expectedTexts: Readonly<Record<string, readonly string[]>> = {
  serve: ['first start'],
  'accounts create': ['<name>', '--plan', 'enterprise'],
  'accounts list': [],
  'accounts set-plan': ['<name>', '<plan>', 'enterprise'],
  'keys create': ['--account', '--type', '--scope', '--expires-in', '90d'],
  'keys list': ['--account'],
  'keys rotate': ['<id>', '--overlap', '24h'],
  'keys revoke': ['<id>'],
  'import cheeses': ['<file>', '--map', 'pricePerKg', '.csv', '.ndjson', 'Exit status 2'],
  'export cheeses': ['<file>', '.csv', '.ndjson'],
  'clients create': ['<name>', '--account', '--scope', '--redirect-uri', '--native', '--grant', '--public'],
  'clients list': [],
  'clients delete': ['<clientId>'],
  'approvals list': [],
  'approvals approve': ['<id>'],
  'approvals deny': ['<id>'],
  'approvals revoke': ['<id>'],
  'customers set-role': ['<username>', '<role>'],
  'shop change': ['--currency', '--time-zone', '--address-zip-code', '--dry-run'],
  'orders approve': ['<orderId>'],
  'orders ship': ['<orderId>', '--carrier', '--tracking-number', '--tracking-url'],
  'orders track': ['<orderId>', '--carrier'],
  'orders note': ['<orderId>', '<text>'],
  'customers note': ['<username>', '<text>'],
  'orders deliver': ['<orderId>'],
  'orders cancel': ['<orderId>'],
  'stock list': ['--low'],
  'stock set': ['<cheeseId>', '<kg>', '--low-at'],
  'stock adjust': ['<cheeseId>', '<deltaKg>', '--reason', 'spoiled'],
  'stock untrack': ['<cheeseId>'],
  migrate: [],
  doctor: ['--repair', 'Exit status 2'],
  'demo remove': ['--dry-run'],
  reset: ['--yes'],
  seed: ['--customers', '--orders', '--seed', '--until', '1000'],
  backup: ['<file>', '--keep', '{date}'],
  restore: ['<file>', 'Stop the server first'],
  copy: ['--from', '--to', '--from-images', '--to-images', 'Exit status 2'],
};
const groups = [
  'shop',
  'accounts',
  'keys',
  'clients',
  'approvals',
  'customers',
  'orders',
  'stock',
  'import',
  'export',
];
/** Settings in the help of every command. The help of the server has all. */
const locationFlags = ['data-dir', 'database'];

const unwrapped = (text: string) => text.replace(/\s+/g, ' ');

suite('curd --help', () => {
  test('curd --help lists every command', async () => {
    const { code, stdout } = await curd({}, '--help');
    assert.equal(code, 0);
    for (const name of new Set([
      ...Object.keys(expectedTexts).map((one) => one.split(' ')[0]),
      'openapi',
      'completion',
    ])) {
      assert.match(stdout, new RegExp(`^  ${name}\\b.* \\w`, 'm'), String(name));
    }
  });

  test('curd --help of a command lists its arguments and options, and refers to the settings', async () => {
    const pages = await Promise.all(
      Object.keys(expectedTexts).map((name) => curd({}, ...name.split(' '), '--help')),
    );
    for (const [index, [name, expected]] of Object.entries(expectedTexts).entries()) {
      const page = pages[index];
      assert.equal(page?.code, 0, name);
      assert.equal(page.stderr, '');
      const words = unwrapped(page.stdout);
      assert.ok(words.startsWith(`Usage: curd ${name} `), words.slice(0, 80));
      assert.match(page.stdout, /^\n?[^\n]+\n\n\w[^\n]{10,}/, `${name} has a summary`);
      for (const part of [...expected, '--json', '-h, --help']) {
        assert.ok(words.includes(part), `${name} --help contains ${part}`);
      }
      for (const { variable } of Object.values(settings)) {
        const flag = toFlag(variable);
        const pattern = new RegExp(`--${flag} <[^>]+> [^-].*${variable}`);
        assert.equal(
          pattern.test(words),
          name === 'serve' || locationFlags.includes(flag),
          `${name} --help: --${flag}`,
        );
      }
      assert.equal(words.includes('curd serve --help'), name !== 'serve');
    }
  });

  test('curd --help of every command has a summary, --json and an example that the command accepts', async () => {
    for (const { name, examples, options, hasSettings } of commands) {
      const { code, stdout } = await curd({}, ...name.split(' '), '--help');
      const words = unwrapped(stdout);
      assert.equal(code, 0, name);
      assert.match(stdout, /^\n?[^\n]+\n\n\w[^\n]{5,}/, name);
      assert.equal(words.includes('--json'), hasSettings, name);
      assert.ok(examples.length > 0, name);
      for (const example of examples) {
        assert.ok(words.includes(`npx curd ${example}`), example);
        assert.ok(`${example} `.startsWith(`${name} `), example);
        const known = [
          ...Object.keys(options).map(flagName),
          ...Object.values(settings).map(({ variable }) => toFlag(variable)),
        ];
        const unknown = [...example.matchAll(/ --([\w-]+)/g)].filter(
          ([, flag = '']) => !known.includes(flag),
        );
        assert.deepEqual(unknown, [], example);
      }
    }
  });

  test('curd --help of a group lists its commands', async () => {
    const pages = await Promise.all(groups.map((name) => curd({}, name, '--help')));
    for (const [index, group] of groups.entries()) {
      for (const name of Object.keys(expectedTexts).filter((one) => one.startsWith(`${group} `))) {
        assert.match(pages[index]?.stdout ?? '', new RegExp(`^  ${name.split(' ')[1]}\\b.* \\w`, 'm'), name);
      }
    }
  });

  test('curd --help is named on standard error after a mistyped command, with exit status 1', async () => {
    const mistyped = [
      {
        args: ['sevre'],
        says: /^curd: unknown command 'sevre'\n[\s\S]*Run "npx curd --help" for usage\.\n$/,
      },
      { args: ['keys', 'creat'], says: /^curd: [\s\S]*Run "npx curd keys --help"/ },
      { args: ['serve', '--prot', '1'], says: /^curd: [\s\S]*Run "npx curd serve --help"/ },
      { args: ['keys', 'create'], says: /^curd: [\s\S]*Run "npx curd keys create --help"/ },
      { args: ['import', 'cheeses'], says: /^curd: [\s\S]*Run "npx curd import cheeses --help"/ },
      { args: [], says: /Usage: curd/ },
    ];
    const runs = await Promise.all(mistyped.map(({ args }) => curd({}, ...args)));
    for (const [index, { code, stdout, stderr }] of runs.entries()) {
      const { args = [], says = /./ } = mistyped[index] ?? {};
      assert.equal(code, 1, String(args));
      assert.equal(stdout, '');
      assert.match(stderr, says);
    }
  });

  test('curd --help and --version work in any folder', async () => {
    const { code, stdout } = await curd({}, '--version');
    assert.equal(code, 0);
    assert.equal(stdout, `${packageJson.version}\n`);
  });
});
