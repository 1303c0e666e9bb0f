/** The scope admin: the application's list, a customer who is staff, and an operator who approved the two. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Scope } from '../../src/access/access.ts';
import { onBothEngines, type Shop, testClock } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import {
  assertRefused,
  newApplication,
  openBrowser,
  openListeningShop,
  post,
  queryOf,
  redirectParameters,
  rewrite,
  setRole,
  tokensOf,
  withToken,
} from './flow.ts';

const scopes: readonly Scope[] = ['read:cheeses', 'write:cheeses', 'admin'];
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** What an operator does to the one request that there is. */
async function decide({ app }: Shop, verb: 'approve' | 'deny' | 'revoke'): Promise<void> {
  const {
    oauth: { approvals },
    contextOf,
  } = app;
  const [request, ...others] = await approvals.list();
  assert.deepEqual(others, []);
  await approvals[verb](contextOf('test'), request?.id ?? 0);
}

const statusesOf = async ({ app }: Shop) =>
  (await app.oauth.approvals.list()).map(({ status, username }) => `${username} ${status}`);

/** The status of what only admin may do. */
const adminStatus = async (shop: Shop, token: string) =>
  (await withToken(shop, token, 'GET', '/v2/api-keys?account=nobody')).status;

/** What the credential says about the request for admin. */
const approvalOf = async (shop: Shop, token: string) =>
  (await withToken(shop, token, 'GET', '/v2/whoami')).json.approval;

onBothEngines('The scope admin', (engine) => {
  test('The scope admin is for staff of an approved pair, through an application that lists it and uses PKCE (RFC 6749, 3.3)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    await registerCustomer(shop, { username: 'bob', role: 'staff' });
    const app = await newApplication(shop, { scopes });
    const unlisted = await newApplication(shop);
    const [ada, bob] = [openBrowser(shop.url, 'ada'), openBrowser(shop.url, 'bob')];
    const scope = 'read:cheeses admin';
    const errorOf = async (browser: typeof ada, query: URLSearchParams) =>
      redirectParameters('query', await browser.authorize(query)).error;

    assert.equal(await errorOf(bob, queryOf(unlisted, { scope })), 'invalid_scope');
    const bare = { scope, code_challenge: undefined, code_challenge_method: undefined };
    assert.equal(await errorOf(bob, queryOf(app, bare)), 'invalid_request');

    const offered = await ada.authorize(queryOf(app, { scope: 'read:cheeses write:cheeses admin' }), {
      consent: undefined,
    });
    for (const withheld of ['write:cheeses', 'admin']) {
      assert.ok(offered.page.includes(`<code>${withheld}</code>: only staff of the shop can grant this`));
    }
    const ofCustomer = await tokensOf(shop, app, ada, { scope: 'read:cheeses write:cheeses admin' });
    assert.equal(ofCustomer.scope, 'read:cheeses');
    assert.equal(await approvalOf(shop, ofCustomer.access_token), null);
    assert.equal(await errorOf(ada, queryOf(app, { scope: 'admin' })), 'access_denied');
    assert.deepEqual(await statusesOf(shop), [], 'there is nothing to approve for who is no staff');

    assert.equal(await errorOf(bob, queryOf(app, { scope: 'admin' })), 'access_denied');
    assert.deepEqual(await statusesOf(shop), ['bob pending']);
    const met = await bob.authorize(queryOf(app, { scope }), { consent: undefined });
    assert.match(met.page, /<code>admin<\/code>: waits for an operator \(request 1\)/);
    assert.doesNotMatch(met.page, /Administer the shop/);
    const waiting = await tokensOf(shop, app, bob, { scope });
    assert.deepEqual([waiting.scope, waiting.expires_in], ['read:cheeses', 3600]);
    assert.equal(await adminStatus(shop, waiting.access_token), 403);
    assert.deepEqual(await approvalOf(shop, waiting.access_token), { id: 1, status: 'pending' });
    assert.deepEqual(await statusesOf(shop), ['bob pending']);

    await decide(shop, 'approve');
    assert.deepEqual(await approvalOf(shop, waiting.access_token), { id: 1, status: 'approved' });
    assert.equal(await adminStatus(shop, waiting.access_token), 403, 'it was never granted to this token');
    const asked = await bob.authorize(queryOf(app, { scope }), { consent: undefined });
    assert.match(asked.page, /Administer the shop/, 'asked anew, in words');
    assert.doesNotMatch(asked.page, /cannot grant now/);
    const approved = await tokensOf(shop, app, bob, { scope });
    assert.deepEqual([approved.scope, approved.expires_in], [scope, 900]);
    assert.equal(await adminStatus(shop, approved.access_token), 404);
    await rewrite(shop, 'RefreshToken', ({ iat = 0, exp = 0, scope: held }) => {
      assert.ok(!String(held).includes('admin') || exp - iat <= 8 * 3600, 'eight hours with admin');
      return {};
    });
    assert.equal((await tokensOf(shop, app, ada, { scope })).scope, 'read:cheeses', 'of this pair alone');
  });

  test('The scope admin stays denied, and when it is revoked ends at the next request and for good (RFC 6749, 10.3)', async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'bob', role: 'staff' });
    const app = await newApplication(shop, { scopes });
    const browser = openBrowser(shop.url, 'bob');
    const ask = () => tokensOf(shop, app, browser, { scope: 'read:cheeses admin' });
    await ask();
    await assert.rejects(decide(shop, 'revoke'), { code: 'conflict' });
    await decide(shop, 'deny');
    assert.equal((await ask()).scope, 'read:cheeses');
    assert.deepEqual(await statusesOf(shop), ['bob denied']);
    const denied = await openBrowser(shop.url, 'bob').authorize(
      queryOf(app, { scope: 'read:cheeses admin' }),
      {
        consent: undefined,
      },
    );
    assert.match(denied.page, /<code>admin<\/code>: an operator has denied this \(request 1\)/);

    await decide(shop, 'approve');
    await assert.rejects(decide(shop, 'deny'), { code: 'conflict' });
    const { access_token, refresh_token, scope } = await ask();
    assert.equal(scope, 'read:cheeses admin');
    assert.equal(await adminStatus(shop, access_token), 404);
    await decide(shop, 'revoke');
    assert.equal(await adminStatus(shop, access_token), 401);
    assert.equal((await withToken(shop, access_token, 'GET', '/v2/cheeses')).status, 401);
    const again = await post(`${shop.url}/oauth/token`, { grant_type: 'refresh_token', refresh_token }, app);
    assertRefused(again, 400, 'invalid_grant');
    const other = await shop.another();
    assert.equal(await adminStatus(other, access_token), 401, 'in every process');
    assert.equal((await ask()).scope, 'read:cheeses');
    assert.deepEqual(await statusesOf(shop), ['bob revoked']);
  });
});

suite('The scope admin', () => {
  test('The scope admin expires after ninety days, also for issued tokens, and can be requested again (RFC 6749, 10.3)', async (t) => {
    const clock = testClock(Date.now());
    const shop = await openListeningShop(t, { clock });
    await registerCustomer(shop, { username: 'bob', role: 'staff' });
    const app = await newApplication(shop, { scopes });
    const ask = () => tokensOf(shop, app, openBrowser(shop.url, 'bob'), { scope: 'read:cheeses admin' });
    await ask();
    await decide(shop, 'approve');
    const [row] = await shop.app.oauth.approvals.list();
    assert.equal(Date.parse(row?.expiresAt ?? '') - Date.parse(row?.decidedAt ?? ''), 90 * dayMs);
    clock.advance(90 * dayMs - 5 * minuteMs);
    const last = await ask();
    assert.equal(last.scope, 'read:cheeses admin');
    clock.advance(4 * minuteMs);
    assert.equal(await adminStatus(shop, last.access_token), 404);
    clock.advance(minuteMs);
    assert.equal(await adminStatus(shop, last.access_token), 403);
    assert.equal((await withToken(shop, last.access_token, 'GET', '/v2/cheeses')).status, 200);
    assert.deepEqual(await statusesOf(shop), ['bob approved']);
    assert.equal((await ask()).scope, 'read:cheeses');
    assert.deepEqual(await statusesOf(shop), ['bob pending']);
  });

  test('The scope admin ends at once with the role, and so do the other scopes of staff (RFC 6749, 3.3)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'bob', role: 'staff' });
    const app = await newApplication(shop, { scopes });
    const browser = openBrowser(shop.url, 'bob');
    const scope = 'read:cheeses write:cheeses admin';
    await tokensOf(shop, app, browser, { scope });
    await decide(shop, 'approve');
    const {
      access_token: token,
      refresh_token,
      scope: granted,
    } = await tokensOf(shop, app, browser, { scope });
    assert.equal(granted, scope);
    const write = async (one: string) =>
      (await withToken(shop, one, 'POST', '/v2/cheeses', { name: `Cheese ${Math.random()}` })).status;
    const read = async (one: string) => (await withToken(shop, one, 'GET', '/v2/cheeses')).status;
    assert.deepEqual(
      [await adminStatus(shop, token), await write(token), await read(token)],
      [404, 201, 200],
    );
    await setRole(shop, 'bob', 'customer');
    assert.deepEqual(
      [await adminStatus(shop, token), await write(token), await read(token)],
      [403, 403, 200],
    );
    const form = { grant_type: 'refresh_token', refresh_token };
    const fresh = (await post(`${shop.url}/oauth/token`, form, app)).json.access_token;
    assert.deepEqual(
      [await adminStatus(shop, fresh), await write(fresh), await read(fresh)],
      [403, 403, 200],
    );
    const anew = await tokensOf(shop, app, openBrowser(shop.url, 'bob'), { scope });
    assert.equal(anew.scope, 'read:cheeses');
  });

  test('The scope admin needs a login of the last five minutes (OpenID Connect Core 1.0, 3.1.2.3)', async (t) => {
    const shop = await openListeningShop(t);
    await registerCustomer(shop, { username: 'bob', role: 'staff' });
    const app = await newApplication(shop, { scopes });
    const browser = openBrowser(shop.url, 'bob');
    const visit = async (scope: string) => (await browser.authorize(queryOf(app, { scope }))).forms;
    assert.deepEqual(await visit('read:cheeses admin'), ['login', 'consent']);
    await decide(shop, 'approve');
    assert.deepEqual(await visit('read:cheeses'), []);
    assert.deepEqual(await visit('read:cheeses admin'), ['consent']);
    for (const [secondsAgo, asked] of [
      [290, []],
      [310, ['login']],
    ] as const) {
      await rewrite(shop, 'Session', () => ({ loginTs: Math.floor(Date.now() / 1000) - secondsAgo }));
      assert.deepEqual(await visit('read:cheeses'), []);
      assert.deepEqual(await visit('read:cheeses admin'), asked);
    }
    assert.deepEqual(await visit('read:cheeses admin'), [], 'the login was of just now');
  });

  test('The scope admin is approved for machines as well, and revoked at the next request (RFC 6749, 4.4)', async (t) => {
    const shop = await openListeningShop(t);
    const app = await newApplication(shop, { scopes, grants: ['client_credentials'] });
    const form = { grant_type: 'client_credentials', scope: 'read:cheeses admin' };
    const ask = async () => (await post(`${shop.url}/oauth/token`, form, app)).json;
    assert.equal((await ask()).scope, 'read:cheeses');
    assert.deepEqual(await statusesOf(shop), ['null pending']);
    await decide(shop, 'deny');
    assert.equal((await ask()).scope, 'read:cheeses');
    assert.deepEqual(await statusesOf(shop), ['null denied']);
    await decide(shop, 'approve');
    const { access_token, scope, expires_in } = await ask();
    assert.deepEqual([scope, expires_in], ['read:cheeses admin', 900]);
    assert.equal(await adminStatus(shop, access_token), 404);
    await decide(shop, 'revoke');
    assert.equal(await adminStatus(shop, access_token), 401);
    assert.equal((await ask()).scope, 'read:cheeses');
  });
});
