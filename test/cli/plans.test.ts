/** Plans: set on the command line, applied by a running server, and validated in the settings. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { loadConfig } from '../../src/settings/config.ts';
import {
  accountWithKey,
  assertEachRefused,
  assertRefused,
  curd,
  curdJson,
  freshShop,
  type RunningServer,
  runInProcess,
  serve,
} from './run.ts';

const further = '{"gold":{"perHour":5000,"burst":42},"free":{"burst":7}}';

const wrongPlans = [
  'free',
  '[]',
  '5',
  '{"free":5}',
  '{"free":[]}',
  '{"free":null,"gold":null}',
  '{"free":{"burst":0}}',
  '{"free":{"burst":1.5}}',
  '{"free":{"burst":60001}}',
  '{"free":{"burst":"10"}}',
  '{"free":{"burst":null}}',
  '{"free":{"perHour":0}}',
  '{"free":{"perHour":-1}}',
  '{"free":{"perHour":1000000001}}',
  '{"free":{"perhour":5}}',
  '{"gold":{"perHour":5}}',
  '{"gold":{"burst":5}}',
  '{"Gold":{"perHour":5,"burst":5}}',
  '{"":{"perHour":5,"burst":5}}',
  '{"__proto__":{"perHour":5,"burst":5}}',
];

const wrongLimits = [
  '5',
  '[]',
  '{"perMinute":-1}',
  '{"perMinute":"5"}',
  '{"perMinute":null}',
  '{"perMinute":60001}',
  '{"perHour":5}',
  '{"perMinute":1.5}',
];

async function policyOf(server: RunningServer, key: string): Promise<string | null> {
  const response = await fetch(`${server.url}/v2/whoami`, { headers: { 'X-API-Key': key } });
  await response.arrayBuffer();
  return response.headers.get('ratelimit-policy');
}

suite('Plans', { concurrency: 2 }, () => {
  test('Plans of accounts that are set on the command line apply on a running server from the next request on', async (t) => {
    const shop = await freshShop(t, { CURD_PLANS: further });
    const account = await curdJson(shop, 'accounts', 'create', 'dairy', '--plan', 'gold');
    assert.equal(account.plan, 'gold');
    const { key } = await curdJson(shop, 'keys', 'create', '--account', 'dairy');
    const server = await serve(t, shop);
    assert.equal(await policyOf(server, key), '"hour";q=5000;w=3600, "burst";q=42;w=1');
    for (const [plan, policy] of [
      ['free', '"hour";q=100;w=3600, "burst";q=7;w=1'],
      ['enterprise', '"burst";q=1000;w=1'],
      ['pro', '"hour";q=10000;w=3600, "burst";q=100;w=1'],
    ] as const) {
      assert.equal((await curdJson(shop, 'accounts', 'set-plan', 'dairy', plan)).plan, plan);
      assert.equal(await policyOf(server, key), policy);
    }
    assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
  });

  test('Accounts that are created without a plan have that of CURD_ACCOUNT_PLAN', async (t) => {
    const shop = await freshShop(t, { CURD_PLANS: further });
    assert.equal((await curdJson(shop, 'accounts', 'create', 'usual')).plan, 'enterprise');
    const golden = { ...shop, CURD_ACCOUNT_PLAN: 'gold' };
    assert.equal((await curdJson(golden, 'accounts', 'create', 'dairy')).plan, 'gold');
    assert.equal((await curdJson(golden, 'accounts', 'create', 'other', '--plan', 'pro')).plan, 'pro');
  });

  test('Plans of accounts that do not exist are refused, with a list of those that do', async (t) => {
    const shop = await freshShop(t, { CURD_PLANS: further });
    const { account } = await accountWithKey(shop);
    const names = /free, pro, enterprise, gold/;
    await assertEachRefused(t, [
      [
        'to begin with',
        () => runInProcess(shop, 'accounts create', ['other'], { plan: 'silver' }),
        /silver/,
        names,
      ],
      ['to move to', () => runInProcess(shop, 'accounts set-plan', [account, 'silver']), /silver/, names],
      ['for an unknown account', () => runInProcess(shop, 'accounts set-plan', ['nobody', 'gold']), /nobody/],
    ]);
  });

  test('Plans of accounts that are invalid prevent the start of the server, with one sentence', async (t) => {
    const shop = await freshShop(t);
    const run = await curd({ ...shop, CURD_PLANS: '{"free":{"burst":0}}' }, 'serve');
    assertRefused(run, /CURD_PLANS/, /"free"/);
    await assertEachRefused(t, [
      [
        'a plan of sessions that is not there',
        () => loadConfig({ ...shop, CURD_SESSION_PLAN: 'gold' }),
        /CURD_SESSION_PLAN/,
        /"gold"/,
        /pro/,
      ],
      [
        'a plan of accounts that is not there',
        () => loadConfig({ ...shop, CURD_ACCOUNT_PLAN: 'gold' }),
        /CURD_ACCOUNT_PLAN/,
        /"gold"/,
        /pro/,
      ],
    ]);
  });

  test('Plans of accounts and limits of client IPs are validated with all members', async (t) => {
    const { CURD_DATA_DIR } = await freshShop(t);
    const cases = [
      ...wrongPlans.map((text) => ['CURD_PLANS', text] as const),
      ...wrongLimits.map((text) => ['CURD_ADDRESS_LIMITS', text] as const),
    ];
    await assertEachRefused(
      t,
      cases.map(([variable, text]) => [
        `${variable}=${text}`,
        () => loadConfig({ CURD_DATA_DIR, [variable]: text }),
        new RegExp(variable),
      ]),
    );
  });

  test('Plans of accounts that were added can be used for sessions too', async (t) => {
    const { CURD_DATA_DIR } = await freshShop(t);
    const config = loadConfig({ CURD_DATA_DIR, CURD_PLANS: further, CURD_SESSION_PLAN: 'gold' });
    assert.equal(config.sessionPlan, 'gold');
    assert.deepEqual(config.plans.free, { perHour: 100, burst: 7 });
    assert.deepEqual(config.plans.gold, { perHour: 5000, burst: 42 });
  });
});
