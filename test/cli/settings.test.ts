/** Settings: refusals before anything is written, flags and variables, and the data folder. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { loadConfig } from '../../src/settings/config.ts';
import { settings } from '../../src/settings/table.ts';
import { secret } from '../context.ts';
import {
  assertEachRefused,
  assertRefused,
  curd,
  curdJson,
  type Environment,
  freshShop,
  type Refusal,
} from './run.ts';

const production = { CURD_ENVIRONMENT: 'production', CURD_SECRET: secret };
const complete = { ...production, CURD_PUBLIC_URL: 'https://cheese.example' };

type Refused = [name: string, environment: Environment, ...says: RegExp[]];

/** Settings that would be unsafe. */
const unsafe: Refused[] = [
  ['production without a URL', { ...complete, CURD_PUBLIC_URL: '' }, /CURD_PUBLIC_URL is not set/, /https/],
  ['production without a secret', { ...complete, CURD_SECRET: '' }, /CURD_SECRET is not set/, /32 bytes/],
  ['production, short secret', { ...complete, CURD_SECRET: 'x'.repeat(31) }, /CURD_SECRET/, /32 bytes/],
  [
    'production on http',
    { ...complete, CURD_PUBLIC_URL: 'http://cheese.example' },
    /CURD_PUBLIC_URL/,
    /https/,
  ],
  ['sandbox without a secret', { CURD_ENVIRONMENT: 'sandbox' }, /CURD_SECRET is not set/, /sandbox/],
  ['sandbox, short secret', { CURD_ENVIRONMENT: 'sandbox', CURD_SECRET: 'short' }, /CURD_SECRET/, /32 bytes/],
];

const mistyped: Refused[] = [
  ['short secret in local', { CURD_SECRET: 'é'.repeat(15) }, /CURD_SECRET/, /32 bytes/],
  ['PostgreSQL without a secret', { CURD_DATABASE: 'postgres://127.0.0.1/x' }, /CURD_SECRET/, /PostgreSQL/],
  ['unknown environment', { CURD_ENVIRONMENT: 'staging' }, /CURD_ENVIRONMENT/, /local, sandbox, production/],
  ['port that is none', { CURD_PORT: '80a' }, /CURD_PORT/, /65535/],
  ['port out of range', { CURD_PORT: '65536' }, /CURD_PORT/, /65535/],
  ['unknown database', { CURD_DATABASE: 'mysql://x' }, /CURD_DATABASE/, /sqlite:<file>/, /postgres:\/\//],
  ['SQLite without a file', { CURD_DATABASE: 'sqlite:' }, /CURD_DATABASE/],
  ['delay of a stop of more than five minutes', { CURD_STOP_DELAY: '6m' }, /CURD_STOP_DELAY/, /0s to 5m/],
  ['delay of more than a hundred years', { CURD_APPROVAL_DELAY: '99999d' }, /from 0s to 36500d/],
  ['text as a time limit', { CURD_IDLE_TIMEOUT: 'soon' }, /from 1ms to 24h/],
  ['short event log', { CURD_EVENT_RETENTION: '3d' }, /from 4d to 36500d, or to forever/],
  ['short list of changes', { CURD_TOMBSTONE_RETENTION: '6d' }, /from 7d to 36500d/],
  ['edge cache of years', { CURD_EDGE_CACHE: '366d' }, /from 1s to 365d, or to off/],
  ['limit that is too high', { CURD_ADDRESS_LIMITS: '{"perMinute":60001}' }, /whole numbers from 1 to 60000/],
  ['logins that are no count', { CURD_LOGIN_LIMITS: '{"pair":1.5}' }, /whole numbers from 1 to 60000/],
  ['tier that is too high', { CURD_TIERS: '{"gold":1e10}' }, /numbers from 0 to 1000000000/],
  ['plan with a long name', { CURD_PLANS: `{"${'x'.repeat(51)}":{}}` }, /and up to 49 of a-z/],
  [
    'sender with a long name',
    { CURD_MAIL_FROM: `${'x'.repeat(101)} <a@b.ch>` },
    /at most 100 .* at most 254/,
  ],
  ['unknown log level', { CURD_LOG_LEVEL: 'loud' }, /CURD_LOG_LEVEL/, /debug/],
  ['URL that is none', { CURD_PUBLIC_URL: 'cheese.example' }, /CURD_PUBLIC_URL/, /https?/],
  ['origin that is none', { CURD_CORS_ORIGINS: '*, foo' }, /CURD_CORS_ORIGINS contains "foo"/],
  ['origin with a path', { CURD_CORS_ORIGINS: 'https://shop.example/' }, /CURD_CORS_ORIGINS/],
  ['URL with a query', { CURD_PUBLIC_URL: 'https://cheese.example/?a' }, /CURD_PUBLIC_URL/, /query/],
];

function inThisProcess(shop: Environment) {
  return ([name, environment, ...says]: Refused): Refusal => [
    name,
    () =>
      loadConfig(
        Object.fromEntries(Object.entries({ ...shop, ...environment }).filter(([, text]) => text !== '')),
      ),
    ...says,
  ];
}

suite('curd', { concurrency: 2 }, () => {
  test('curd refuses unsafe settings with one sentence and a remedy, before it writes anything', async (t) => {
    const shop = await freshShop(t);
    await assertEachRefused(t, unsafe.map(inThisProcess(shop)));
    for (const environment of [{ CURD_ENVIRONMENT: 'sandbox' }, { ...complete, CURD_PUBLIC_URL: '' }]) {
      const run = await curd({ ...shop, ...environment }, 'serve');
      assertRefused(run, /is not set/);
      assert.ok(!run.stderr.includes(secret));
    }
    assert.deepEqual(readdirSync(shop.CURD_DATA_DIR ?? ''), []);
  });

  test('curd reports every missing or invalid setting at once, and writes nothing', async (t) => {
    const shop = await freshShop(t);
    const environment = {
      ...shop,
      CURD_ENVIRONMENT: 'production',
      CURD_SESSION_PLAN: 'gold',
      CURD_IDLE_TIMEOUT: 'soon',
    };
    const { code, stdout, stderr } = await curd(environment, 'serve', '--port', 'abc');
    assert.deepEqual([code, stdout], [1, '']);
    const [head, ...lines] = stderr.trimEnd().split('\n');
    assert.match(head ?? '', /^curd: 5 settings are missing or invalid/);
    const starts = ['CURD_PUBLIC_URL is not set: ', 'CURD_SECRET is not set: ', '--port is "abc": '];
    const others = ['CURD_SESSION_PLAN is "gold": ', 'CURD_IDLE_TIMEOUT is "soon": '];
    assert.deepEqual(
      lines.map((line) => /^ {2}(.*?: )\S/.exec(line)?.[1]),
      [...starts, ...others],
    );
    assert.deepEqual(readdirSync(shop.CURD_DATA_DIR ?? ''), []);
  });

  test('curd checks every setting before it reports errors', async (t) => {
    const { CURD_DATA_DIR } = await freshShop(t);
    // Any text is a valid host or folder, and a question mark is a valid name.
    const checked = Object.values(settings).filter(
      ({ variable }) =>
        !['CURD_HOST', 'CURD_DATA_DIR', 'CURD_SHOP_NAME', 'CURD_MAIL_TEMPLATES'].includes(variable),
    );
    const environment = Object.fromEntries(checked.map(({ variable }) => [variable, '?']));
    assert.throws(
      () => loadConfig({ ...environment, CURD_DATA_DIR }),
      ({ message }: Error) => {
        for (const { variable } of checked) {
          assert.match(message, new RegExp(`^  ${variable}\\b`, 'm'));
        }
        return message.split('\n').length === checked.length + 1;
      },
    );
  });

  test('curd accepts a name of the shop of 1 to 60 visible characters', async (t) => {
    const { CURD_DATA_DIR } = await freshShop(t);
    const load = (CURD_SHOP_NAME: string) => loadConfig({ CURD_DATA_DIR, CURD_SHOP_NAME }).shopName;
    assert.equal(loadConfig({ CURD_DATA_DIR }).shopName, 'Cheese shop');
    assert.equal(load('🧀'.repeat(60)), '🧀'.repeat(60));
    for (const name of ['🧀'.repeat(61), ' ', 'a\nb', 'a\u0085b']) {
      assert.throws(() => load(name), /CURD_SHOP_NAME must have 1 to 60 characters/, JSON.stringify(name));
    }
  });

  test('curd refuses invalid settings with one sentence that names the variable', async (t) => {
    await assertEachRefused(t, mistyped.map(inThisProcess(await freshShop(t))));
  });

  test('curd names the secret of the data folder to a shop that was copied from it or changes its environment', async (t) => {
    const shop = await freshShop(t);
    const file = join(shop.CURD_DATA_DIR ?? '', 'secret');
    await writeFile(file, secret, { mode: 0o600 });
    for (const environment of [{ CURD_DATABASE: 'postgres://127.0.0.1/x' }, complete]) {
      const run = await curd({ ...shop, ...environment, CURD_SECRET: '' }, 'serve');
      assertRefused(run, /CURD_SECRET is not set/);
      assert.ok(run.stderr.includes(`set it to the content of this file`), run.stderr);
      assert.ok(run.stderr.includes(file), run.stderr);
    }
  });

  test('curd accepts loopback URLs in production, and a secret of exactly 32 bytes', async (t) => {
    const shop = await freshShop(t, {
      ...production,
      CURD_SECRET: 'é'.repeat(16),
      CURD_PUBLIC_URL: 'http://localhost:8080',
    });
    assert.ok((await curdJson(shop, 'migrate')).applied.length > 0);
  });

  test('curd prefers a flag to the environment, and ignores an empty variable', async (t) => {
    const shop = await freshShop(t, { CURD_ENVIRONMENT: 'nonsense', CURD_SECRET: '', CURD_LOG_LEVEL: '' });
    assert.ok((await curdJson(shop, 'migrate', '--environment', 'local')).applied.length > 0);
  });

  test('curd creates the SQLite file of CURD_DATABASE and its folders', async (t) => {
    const shop = await freshShop(t, { CURD_DATABASE: 'sqlite:one/two/shop.db' });
    const account = await curdJson(shop, 'accounts', 'create', 'first');
    assert.ok(readdirSync(`${shop.CURD_DATA_DIR}/one/two`).includes('shop.db'));
    assert.deepEqual(await curdJson(shop, 'accounts', 'list'), [account]);
  });

  test('curd reports in one sentence that PostgreSQL is unreachable', async (t) => {
    const shop = await freshShop(t, {
      CURD_DATABASE: 'postgres://curd:hidden@127.0.0.1:1/x',
      CURD_SECRET: secret,
    });
    const runs = await Promise.all([curd(shop, 'accounts', 'list'), curd(shop, 'serve', '--port', '0')]);
    for (const run of runs) {
      assertRefused(run, /database/i, /ECONNREFUSED|refused/);
      assert.ok(!run.stderr.includes('hidden'));
    }
  });

  test('curd reports in one sentence that a data folder cannot be written', async (t) => {
    const shop = await freshShop(t);
    const run = await curd(shop, 'migrate', '--data-dir', '/dev/null/data');
    assertRefused(
      run,
      /data folder \/dev\/null\/data cannot be written: .* not a folder .*Correct the path\.$/m,
    );
  });

  test('curd names the flag when a setting was given as a flag, and the variable otherwise', async (t) => {
    const shop = await freshShop(t, { CURD_LOG_LEVEL: 'loud' });
    const [byFlag, byVariable] = await Promise.all([
      curd({ ...shop, CURD_LOG_LEVEL: 'info' }, 'serve', '--port', 'abc'),
      curd(shop, 'serve'),
    ]);
    assertRefused(byFlag, /^curd: --port is "abc": set it to a whole number/);
    assert.doesNotMatch(byFlag.stderr, /CURD_/);
    assertRefused(byVariable, /^curd: CURD_LOG_LEVEL is "loud"/);
  });

  test('curd accepts the earlier names of --processes and CURD_PROCESSES, whose present ones win', async (t) => {
    const shop = await freshShop(t, { CURD_WORKERS: '2' });
    const [byVariable, byFlag, byBoth] = await Promise.all([
      curd(shop, 'serve'),
      curd({ ...shop, CURD_WORKERS: '' }, 'serve', '--workers', '3'),
      curd({ ...shop, CURD_PROCESSES: '4' }, 'serve'),
    ]);
    assertRefused(byVariable, /^curd: CURD_PROCESSES is 2, but one process owns an SQLite database/);
    assertRefused(byFlag, /^curd: --processes is 3, but/);
    assertRefused(byBoth, /^curd: CURD_PROCESSES is 4, but/);
  });

  test('curd migrate runs each migration once when two processes run it at the same time', async (t) => {
    const shop = await freshShop(t);
    const [one, other] = await Promise.all([curdJson(shop, 'migrate'), curdJson(shop, 'migrate')]);
    assert.deepEqual(Object.keys(one), ['applied']);
    assert.notEqual(one.applied.length, other.applied.length);
    assert.equal(Math.min(one.applied.length, other.applied.length), 0);
    const again = await curd(shop, 'migrate');
    assert.deepEqual(again, { code: 0, stdout: 'The database is up to date.\n', stderr: '' });
  });
});
