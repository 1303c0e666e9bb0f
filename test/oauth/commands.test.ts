/** Applications and approvals on the command line, and what may not be registered. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Scope } from '../../src/access/access.ts';
import type { GrantType } from '../../src/auth/oauth/clients.ts';
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
} from '../cli/run.ts';
import { openShop } from '../helper.ts';
import { codeOf, newApplication, openBrowser, post, redeeming } from './flow.ts';

suite('The registration of an application', () => {
  test('The registration of an application refuses redirect URIs that could lead elsewhere, and gives the reason (RFC 6749, 3.1.2; RFC 9700, 2.1; RFC 8252, 7)', async (t) => {
    const shop = await openShop(t);
    const invalid: readonly [string, RegExp, boolean?][] = [
      ['https://app.example.com/cb#', /fragment/],
      ['https://app.example.com/cb#here', /fragment/],
      ['https://*.example.com/cb', /wildcard/],
      ['https://app.example.com/*', /wildcard/],
      ['https://user@app.example.com/cb', /username or password/],
      ['https://user:pw@app.example.com/cb', /username or password/],
      ['https://:pw@app.example.com/cb', /username or password/],
      ['http://app.example.com/cb', /https/],
      ['http://127.0.0.2/cb', /https/],
      ['http://localhost.example.com/cb', /https/],
      ['http://10.0.0.1/cb', /https/],
      ['javascript:alert(1)', /scheme/],
      ['javascript:alert(1)', /scheme/, true],
      ['data:text/html,x', /scheme/],
      ['data:text/html,x', /scheme/, true],
      ['file:///etc/passwd', /scheme/, true],
      ['vbscript:x', /scheme/, true],
      ['blob:https://app.example.com/x', /scheme/, true],
      ['myapp:/cb', /scheme/, true],
      ['com.example.app:/cb', /scheme/],
      ['https://127.0.0.1/cb', /http/, true],
      ['/cb', /absolute/],
      ['app.example.com', /absolute/],
      ['', /absolute/],
      [`https://app.example.com/${'a'.repeat(500)}`, /500/],
    ];
    for (const [uri, reason, isNative = false] of invalid) {
      await assert.rejects(
        newApplication(shop, { redirectUris: ['https://app.example.com/cb', uri], isNative }),
        { code: 'validation', message: reason },
        uri,
      );
    }
    for (const [uri, isNative] of [
      ['https://app.example.com/cb?tenant=1', false],
      ['http://localhost:3000/cb', false],
      ['http://127.0.0.1/cb', true],
      ['http://[::1]:8080/cb', true],
      ['com.example.app:/cb', true],
      ['https://app.example.com/claimed', true],
    ] as const) {
      await newApplication(shop, { redirectUris: [uri], isNative });
    }
  });

  test('The registration of an application refuses combinations of grants, scopes and redirect URIs that contradict each other (RFC 6749, 2)', async (t) => {
    const shop = await openShop(t);
    const uri = 'https://app.example.com/cb';
    const listed: Scope[] = ['read:cheeses'];
    const grants = (...names: GrantType[]) => ({ grants: names });
    for (const [request, reason] of [
      [{ redirectUris: [], ...grants('authorization_code') }, /redirect URI/],
      [{ redirectUris: [], ...grants('implicit') }, /redirect URI/],
      [{ redirectUris: [uri], ...grants('client_credentials') }, /redirect URI/],
      [{ redirectUris: [], ...grants('client_credentials', 'refresh_token') }, /authorization_code/],
      [{ redirectUris: [uri], ...grants('implicit', 'refresh_token') }, /authorization_code/],
      [{ redirectUris: [], isPublic: true, ...grants('client_credentials') }, /public/],
      [{ scopes: ['admin'] as Scope[], isPublic: true }, /admin/],
      [{ scopes: [] }, /scopes/],
      [{ name: '' }, /name/],
      [{ name: ' Curd' }, /name/],
      [{ name: '<b>Curd' }, /name/],
      [{ name: 'Curd <script>' }, /name/],
      [{ name: 'Curd\u202e' }, /name/],
      [{ name: 'C'.repeat(101) }, /name/],
      [{ redirectUris: Array.from({ length: 21 }, (_, index) => `${uri}${index}`) }, /20/],
    ] as const) {
      const refused = newApplication(shop, { scopes: listed, ...request });
      await assert.rejects(refused, { code: 'validation', message: reason }, JSON.stringify(request));
    }
  });
});

suite('The command line', { concurrency: 2 }, () => {
  test('curd clients registers, lists and deletes applications', async (t) => {
    const shop = await freshShop(t);
    const { account } = await accountWithKey(shop);
    const create = (...args: string[]) => ['clients', 'create', 'Diary', '--account', account, ...args];
    const uri = 'https://app.example.com/cb';
    const first = await curdJson(
      shop,
      ...create('--scope', 'read:cheeses read:orders', '--redirect-uri', uri),
    );
    assert.deepEqual(Object.keys(first), ['clientId', 'clientSecret']);
    assert.match(first.clientId, /^[0-9a-f]{32}$/, 'never taken for an option of a command');
    assert.match(first.clientSecret, /^[\w-]{43}$/, '256 bits');
    const native = ['--native', '--public', '--redirect-uri', 'com.example.app:/cb'];
    const second = await curdJson(
      shop,
      ...create('--scope', 'read:cheeses', '--redirect-uri', 'http://127.0.0.1/cb', ...native),
    );
    assert.equal(second.clientSecret, null);
    const thirdRun = await curd(shop, ...create('--scope', 'read:cheeses'));
    assert.match(thirdRun.stdout, /^[\w-]{43}\n$/, 'the secret alone');
    const [, third] = /with the client id (\w+)\. Keep it: it is not shown again/.exec(thirdRun.stderr) ?? [];
    const fourthRun = await curd(shop, ...create('--scope', 'read:cheeses', ...native));
    assert.match(fourthRun.stdout, /^[0-9a-f]{32}\n$/, 'the client id of a public application');
    assert.match(fourthRun.stderr, /no secret/);
    const rows = await curdJson(shop, 'clients', 'list');
    const common = { name: 'Diary', account, native: false, public: false, builtIn: false };
    const plain = rows.map(({ createdAt, ...row }: { createdAt: string }) => {
      assert.match(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      return row;
    });
    assert.deepEqual(
      plain.map(({ clientId }: { clientId: string }) => clientId),
      [first.clientId, second.clientId, third, fourthRun.stdout.trim()],
    );
    assert.deepEqual(plain[0], {
      ...common,
      clientId: first.clientId,
      scopes: ['read:cheeses', 'read:orders'],
      grants: ['authorization_code', 'refresh_token'],
      redirectUris: [uri],
    });
    assert.deepEqual(
      [plain[1].native, plain[1].public, plain[1].redirectUris],
      [true, true, ['http://127.0.0.1/cb', 'com.example.app:/cb']],
    );
    assert.deepEqual([plain[2].grants, plain[2].redirectUris], [['client_credentials'], []]);
    assert.ok(!JSON.stringify(rows).includes(first.clientSecret));

    await curdJson(shop, 'clients', 'delete', first.clientId);
    await assertEachRefused(t, [
      ['deleted twice', () => runInProcess(shop, 'clients delete', [first.clientId]), /clients list/],
    ]);
    assert.equal((await inShop(shop, ({ oauth: { clients } }) => clients.list())).length, 3);
  });

  test('curd clients refuses what cannot be registered in one sentence', async (t) => {
    const shop = await freshShop(t);
    const { account } = await accountWithKey(shop);
    const create = (more: object) => () =>
      runInProcess(shop, 'clients create', ['Diary'], { account, scope: 'read:cheeses', ...more });
    await assertEachRefused(t, [
      ['an address with a fragment', create({ redirectUri: ['https://app.example.com/cb#x'] }), /fragment/],
      ['an address on http', create({ redirectUri: ['http://app.example.com/cb'] }), /https/],
      ['an address that is a script', create({ redirectUri: ['javascript:alert(1)'] }), /scheme/],
      ['another scope', create({ scope: 'nonsense' }), /--scope/, /nonsense/],
      ['another grant', create({ grant: 'password' }), /--grant/],
      ['an account that is not there', create({ account: 'nobody' }), /nobody/],
    ]);
    const ofNobody = ['clients', 'create', 'Diary', '--account', 'nobody', '--scope', 'read:cheeses'];
    assertRefused(await curd(shop, ...ofNobody), /nobody/);
    assert.deepEqual(await inShop(shop, ({ oauth: { clients } }) => clients.list()), []);
  });

  test('curd approvals lists requests for admin, and its decisions count on a running server', async (t) => {
    const shop = await freshShop(t);
    const { url } = await serve(t, shop);
    const person = { username: 'bob', email: 'bob@example.com', password: 'correct horse battery staple' };
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/v2/customer`, { method: 'POST', headers, body: JSON.stringify(person) });
    const uri = 'https://app.example.com/cb';
    const made = await inShop(
      shop,
      async ({
        customers: { administration: customerAdministration },
        auth: { keys },
        oauth: { clients },
        contextOf,
      }) => {
        const bob = await customerAdministration.idOf('bob');
        await customerAdministration.changeRole(contextOf('test'), bob, 'staff');
        const { id } = await keys.findAccount('local');
        const scopes: Scope[] = ['read:cheeses', 'admin'];
        const request = { name: 'Diary', accountId: id, scopes, redirectUris: [uri] };
        return clients.create(contextOf('test'), request);
      },
    );
    const app = { ...made, redirectUri: uri };
    const browser = openBrowser(url, 'bob');
    const ask = async () => {
      const code = await codeOf(app, browser, { scope: 'read:cheeses admin' });
      return (await post(`${url}/oauth/token`, redeeming(app, code), app)).json;
    };
    // The link to the console that the start prints is approved.
    const listApprovals = async () =>
      (await curdJson(shop, 'approvals', 'list')).filter(
        ({ clientId }: { clientId: string }) => clientId !== 'console',
      );
    assert.deepEqual(await listApprovals(), []);
    assert.equal((await ask()).scope, 'read:cheeses');
    const [row, ...others] = await listApprovals();
    assert.deepEqual(others, []);
    const pending = {
      id: row.id,
      status: 'pending',
      clientId: app.clientId,
      clientName: 'Diary',
      username: 'bob',
      requestedAt: row.requestedAt,
      decidedAt: null,
      decidedBy: null,
      expiresAt: null,
    };
    assert.deepEqual(row, pending);
    assert.deepEqual(Object.keys(row), Object.keys(pending));
    const id = String(row.id);
    const approved = await curdJson(shop, 'approvals', 'approve', id);
    assert.equal(approved.status, 'approved');
    const lasts = Date.parse(approved.expiresAt) - Date.parse(approved.decidedAt);
    assert.ok(Math.abs(lasts - 90 * 86_400_000) < 1000, `${lasts}`);
    const { access_token, scope } = await ask();
    assert.equal(scope, 'read:cheeses admin');
    const authorization = `Bearer ${access_token}`;
    const statusNow = async () =>
      (await fetch(`${url}/v2/api-keys?account=local`, { headers: { authorization } })).status;
    assert.equal(await statusNow(), 200);
    await assertEachRefused(t, [
      ['denied when it is approved', () => runInProcess(shop, 'approvals deny', [id]), /approved/],
    ]);
    const revoked = await curdJson(shop, 'approvals', 'revoke', id);
    assert.equal(await statusNow(), 401);
    assert.deepEqual([revoked.status, revoked.expiresAt], ['revoked', null]);
    await assertEachRefused(t, [
      ['revoked twice', () => runInProcess(shop, 'approvals revoke', [id]), /revoked/],
    ]);
    assert.equal((await curdJson(shop, 'approvals', 'deny', id)).status, 'denied');
    await assertEachRefused(
      t,
      ['99', 'x', '0', '-1', '1.5'].map((unknown) => [
        `the request ${unknown}`,
        () => runInProcess(shop, 'approvals approve', [unknown]),
        /approvals list/,
      ]),
    );
    assertRefused(await curd(shop, 'approvals', 'approve', '99'), /approvals list/);
  });
});
