/** "curd accounts" and "curd keys": output, effect on a running server, and refusals. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { suite, test } from 'node:test';
import { typeOfKey } from '../../src/auth/keys/format.ts';
import { bern, secret } from '../context.ts';
import {
  accountWithKey,
  assertEachRefused,
  assertRefused,
  curd,
  curdJson,
  freshShop,
  inShop,
  runInProcess,
  serve,
} from './run.ts';

const newKeyFields = ['id', 'kind', 'key', 'type', 'last4', 'expiresAt'];
const listedKeyFields = [
  'id',
  'kind',
  'actor',
  'name',
  'type',
  'last4',
  'scopes',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
];

function assertAbout(moment: string, expectedMs: number): void {
  assert.match(moment, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Math.abs(Date.parse(moment) - expectedMs) < 60_000, moment);
}

suite('curd accounts', { concurrency: 2 }, () => {
  test('curd accounts create accounts with the plan free outside of local, and test keys in sandbox', async (t) => {
    const shop = await freshShop(t, { CURD_ENVIRONMENT: 'sandbox', CURD_SECRET: secret });
    assert.equal((await curdJson(shop, 'accounts', 'create', 'one')).plan, 'free');
    assert.equal((await curdJson(shop, 'keys', 'create', '--account', 'one')).type, 'test');
    await assertEachRefused(t, [
      [
        'a live key',
        () => runInProcess(shop, 'keys create', [], { account: 'one', type: 'live' }),
        /live/,
        /sandbox/,
      ],
    ]);
  });

  test('curd accounts create live keys in production, and no test keys', async (t) => {
    const shop = await freshShop(t, {
      CURD_ENVIRONMENT: 'production',
      CURD_SECRET: secret,
      CURD_PUBLIC_URL: 'https://cheese.example',
    });
    const { account } = await accountWithKey(shop);
    const made = await curdJson(shop, 'keys', 'create', '--account', account);
    assert.equal(made.type, 'live');
    assert.equal(typeOfKey(made.key), 'live');
    const refused = await curd(shop, 'keys', 'create', '--account', account, '--type', 'test');
    assertRefused(refused, /test/, /production/);
  });
});

suite('curd keys', { concurrency: 2 }, () => {
  test('curd keys create warns of a category that no cheese is in, and curd keys show counts one order as one', async (t) => {
    const shop = await freshShop(t);
    const server = await serve(t, shop);
    await curdJson(shop, 'accounts', 'create', 'shop');
    const create = (...categories: readonly string[]) =>
      curd(
        shop,
        ...['keys', 'create', '--account', 'shop', '--restricted', '--scope', 'write:orders', '--json'],
        ...['--orders-per-day', '1', ...categories.flatMap((name) => ['--category', name])],
      );
    const misspelled = await create('Hadr', 'semi-HARD');
    assert.equal(misspelled.code, 0);
    assert.match(misspelled.stderr, /no cheese is in the category Hadr, .*: Bloomy rind, .*revoke this key/);
    const made = await create('Semi-hard', 'hârd');
    assert.equal(made.stderr, '');
    const { id, key } = JSON.parse(made.stdout);
    const order = () =>
      fetch(`${server.url}/v2/store/order`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ items: [{ cheeseId: 29, quantity: 1 }], shippingAddress: bern }),
      });
    assert.equal((await order()).status, 201);
    const refused = await order();
    assert.equal(refused.status, 429);
    assert.match(
      ((await refused.json()) as { message: string }).message,
      /may spend in a day: 1 order, 0 left\./,
    );
    assert.match((await curd(shop, 'keys', 'show', String(id))).stdout, /\$36\.80 in 1 order$/m);
  });

  test('curd keys create, list, rotate and revoke take effect immediately on a running server', async (t) => {
    const shop = await freshShop(t);
    const server = await serve(t, shop);
    await curdJson(shop, 'accounts', 'create', 'shop');

    const reader = await curdJson(shop, 'keys', 'create', '--account', 'shop');
    assert.deepEqual(Object.keys(reader), newKeyFields);
    assert.equal(typeOfKey(reader.key), 'test');
    assert.equal(reader.type, 'test');
    assert.equal(reader.last4, reader.key.slice(-4));
    assert.equal(reader.expiresAt, null);
    assert.equal(await server.statusFor(reader.key), 200);
    assert.equal(await server.statusFor(reader.key, 'POST'), 403);

    const writer = await curdJson(
      shop,
      ...['keys', 'create', '--account', 'shop', '--type', 'live'],
      ...['--scope', 'write:cheeses read:cheeses', '--expires-in', '90d'],
    );
    assert.equal(typeOfKey(writer.key), 'live');
    assertAbout(writer.expiresAt, Date.now() + 90 * 86_400_000);
    assert.equal(await server.statusFor(writer.key, 'POST'), 201);

    const listed = await curdJson(shop, 'keys', 'list', '--account', 'shop');
    assert.equal(listed.length, 2);
    for (const [index, made] of [reader, writer].entries()) {
      assert.deepEqual(Object.keys(listed[index]), listedKeyFields);
      assert.equal(listed[index].id, made.id);
      assert.equal(listed[index].type, made.type);
      assert.equal(listed[index].last4, made.last4);
      assert.equal(listed[index].expiresAt, made.expiresAt);
      assertAbout(listed[index].createdAt, Date.now());
    }
    assert.deepEqual(listed[0].scopes, []);
    assert.deepEqual(listed[1].scopes, ['write:cheeses', 'read:cheeses']);
    assert.ok(!JSON.stringify(listed).includes(reader.key));

    const successor = await curdJson(shop, 'keys', 'rotate', String(writer.id), '--overlap', '0s');
    assert.deepEqual(Object.keys(successor), newKeyFields);
    assert.equal(successor.type, 'live');
    assert.equal(await server.statusFor(writer.key), 401);
    assert.equal(await server.statusFor(successor.key, 'POST'), 201, 'the new key has the same scopes');

    const page = await curdJson(
      shop,
      ...['keys', 'create', '--account', 'shop', '--publishable', '--scope', 'write:orders'],
      ...['--origin', 'https://shop.example', '--origin', 'http://localhost:5173'],
    );
    assert.match(page.key, /^pk_test_/);
    const [shown] = (await curdJson(shop, 'keys', 'list', '--account', 'shop')).slice(-1);
    assert.deepEqual(
      [shown.key, shown.kind, shown.origins],
      [page.key, 'publishable', ['https://shop.example', 'http://localhost:5173']],
    );
    await assertEachRefused(t, [
      [
        'an origin of a secret key',
        () => runInProcess(shop, 'keys create', [], { account: 'shop', origin: ['https://shop.example'] }),
        /origins: a secret key cannot have it/,
      ],
    ]);
    await curdJson(shop, 'keys', 'revoke', String(page.id));

    await curdJson(shop, 'keys', 'revoke', String(reader.id));
    assert.equal(await server.statusFor(reader.key), 401);
    const left = await curdJson(shop, 'keys', 'list', '--account', 'shop');
    assert.deepEqual(
      left.map(({ id }: { id: number }) => id),
      [successor.id],
    );
    assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
  });

  test('curd keys rotate keeps the old key valid for a day, and it counts as one of the three', async (t) => {
    const shop = await freshShop(t);
    const { account } = await accountWithKey(shop);
    const listed = () =>
      inShop(shop, async ({ auth: { keys } }) => keys.list((await keys.findAccount(account)).id));
    const [first] = await listed();
    assert.ok(first !== undefined);
    const second = await curdJson(shop, 'keys', 'rotate', String(first.id));
    const [old] = await listed();
    assert.equal(old?.id, first.id);
    assertAbout(old.expiresAt ?? '', Date.now() + 86_400_000);

    const third = await curdJson(shop, 'keys', 'create', '--account', account);
    const fourth = await curd(shop, 'keys', 'create', '--account', account, '--json');
    assertRefused(fourth, /3 API keys/, /revoke/);
    await assertEachRefused(t, [
      [
        'a fourth, by rotation',
        () => runInProcess(shop, 'keys rotate', [String(third.id)], { overlap: '1d' }),
        /3 API keys/,
      ],
    ]);
    const replaced = await curdJson(shop, 'keys', 'rotate', String(third.id), '--overlap', '0s');
    assert.deepEqual(
      (await listed()).map(({ id }) => id),
      [first.id, second.id, replaced.id],
    );
  });

  test('curd keys create and rotate print only the key on standard output, and the rest on standard error', async (t) => {
    const shop = await freshShop(t);
    const { account } = await accountWithKey(shop);
    const created = await curd(shop, 'keys', 'create', '--account', account);
    const id = /^This is key (\d+)\. Keep it: it is not shown again\.\n$/.exec(created.stderr)?.[1];
    assert.ok(id !== undefined, created.stderr);
    const rotated = await curd(shop, 'keys', 'rotate', id, '--overlap', '0s');
    assert.match(rotated.stderr, /^This is key \d+\. Keep it/);
    for (const { code, stdout } of [created, rotated]) {
      assert.equal(code, 0);
      assert.equal(typeOfKey(stdout.slice(0, -1)), 'test');
      assert.equal(stdout.at(-1), '\n');
    }
  });
});

suite('Wrong arguments', { concurrency: 2 }, () => {
  test('Wrong arguments of commands are refused in one sentence with the allowed values, and nothing is changed', async (t) => {
    const shop = await freshShop(t);
    const known = await inShop(shop, async ({ auth: { keys }, contextOf }) => {
      await keys.createAccount(contextOf('test'), 'shop');
      return keys.listAccounts();
    });
    const create = (more: object) => () =>
      runInProcess(shop, 'keys create', [], { account: 'shop', ...more });
    const rotate = (id: string, overlap: string) => () =>
      runInProcess(shop, 'keys rotate', [id], { overlap });
    await assertEachRefused(t, [
      [
        'an account that exists',
        () => runInProcess(shop, 'accounts create', ['shop']),
        /<name> is "shop": it belongs to another account/,
      ],
      ['an account without a name', () => runInProcess(shop, 'accounts create', ['']), /name/],
      [
        'an unknown plan',
        () => runInProcess(shop, 'accounts set-plan', ['shop', 'gold']),
        /gold/,
        /free, pro, enterprise/,
      ],
      [
        'a plan for an unknown account',
        () => runInProcess(shop, 'accounts set-plan', ['nobody', 'free']),
        /no account named "nobody"/,
      ],
      ['a key for an unknown account', create({ account: 'nobody' }), /no account named "nobody"/],
      ['another type', create({ type: 'dead' }), /dead/, /live, test/],
      ['another scope', create({ scope: 'write:cheese' }), /write:cheese"/, /write:cheeses/],
      ['a lifetime without a unit', create({ expiresIn: '90' }), /--expires-in/, /90d/],
      ['an overlap that is no duration', rotate('1', 'soon'), /--overlap/, /soon/],
      ['the rotation of a key that is not there', rotate('99', '1d'), /no such API key/],
      ['the rotation of what is no id', rotate('abc', '1d'), /abc/, /keys list/],
      [
        'the revocation of an unknown key',
        () => runInProcess(shop, 'keys revoke', ['99']),
        /no such API key/,
      ],
    ]);
    await inShop(shop, async ({ auth: { keys } }) => {
      assert.deepEqual(await keys.listAccounts(), known);
      assert.deepEqual(await keys.list(known[0]?.id ?? 0), []);
    });
  });

  test('Wrong arguments of commands end the process with status 1, one sentence on standard error, and no standard output', async (t) => {
    const shop = await freshShop(t);
    const create = ['keys', 'create', '--account', 'nobody', '--json'];
    assertRefused(await curd(shop, ...create), /no shop at .*curd\.sqlite yet\. Start the server first/);
    assert.deepEqual(readdirSync(shop.CURD_DATA_DIR ?? ''), [], 'no shop is created');
    await curdJson(shop, 'migrate');
    assertRefused(await curd(shop, ...create), /no account named "nobody"\. "npx curd accounts list" shows/);
    assertRefused(await curd(shop, 'keys', 'rotate', 'abc'), /"abc" is not the id of an API key/);
    const twice = ['--scope', 'write:cheeses', '--scope', 'admin'];
    const { code, stderr } = await curd(shop, ...create, ...twice);
    assert.equal(code, 1);
    assert.match(stderr, /'--scope <scopes>' .*given twice/);
  });
});
