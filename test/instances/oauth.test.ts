/** An authorization server on several instances: each request of a flow may reach another one. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type Application,
  assertRefused,
  codeOf,
  newApplication,
  openBrowser,
  post,
  queryOf,
  redeeming,
  tokensOf,
  withToken,
} from '../oauth/flow.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { type Balanced, openBalanced } from './balancer.ts';

const rounds = 4;

const refreshing = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token });

/** The statuses of requests with a token to all of them. */
async function statusesFor({ all }: Balanced, token: string, path = '/v2/cheeses'): Promise<number[]> {
  return Promise.all(all.map(async (shop) => (await withToken(shop, token, 'GET', path)).status));
}

suite('An OAuth client of three instances', () => {
  test('An OAuth client of three instances gets, uses, refreshes and revokes tokens, each on another instance', async (t) => {
    const shops = await openBalanced(t, 3);
    await registerCustomer(shops, { username: 'ada' });
    const app = await newApplication(shops.all[1]);
    const scope = 'read:cheeses read:profile';
    for (let round = 0; round < rounds; round += 1) {
      const browser = openBrowser(shops.url, 'ada');
      const before = shops.log.length;
      const { access_token: token, refresh_token: refresh } = await tokensOf(shops, app, browser, { scope });
      const steps = shops.log.slice(before);
      assert.ok(steps.length >= 6, 'page, login, page, consent, code and token');
      assert.equal(new Set(steps.map(({ instance }) => instance)).size, 3);
      assert.deepEqual(await statusesFor(shops, token, '/v2/customer/ada'), [200, 200, 200]);

      const { status, json } = await post(`${shops.url}/oauth/token`, refreshing(refresh), app);
      assert.deepEqual([status, json.scope], [200, scope]);
      assert.deepEqual(await statusesFor(shops, json.access_token), [200, 200, 200]);
      for (const url of shops.urls) {
        const told = await post(`${url}/oauth/introspect`, { token: json.access_token }, app);
        assert.equal(told.json.active, true);
      }
      const revoked = await post(`${shops.url}/oauth/revoke`, { token: json.refresh_token }, app);
      assert.equal(revoked.status, 200);
      assert.deepEqual(await statusesFor(shops, json.access_token), [401, 401, 401]);
      assert.deepEqual(await statusesFor(shops, token), [401, 401, 401]);
      assertRefused(
        await post(`${shops.url}/oauth/token`, refreshing(json.refresh_token), app),
        400,
        'invalid_grant',
      );

      const { location, forms } = await browser.authorize(queryOf(app, { scope }));
      assert.ok(location?.includes('code='), 'the login of before holds on all of them');
      assert.ok(!forms.includes('login'));
    }
  });

  test('An OAuth client of three instances redeems a code once, and gets one successor of a refresh token, in parallel', async (t) => {
    const shops = await openBalanced(t, 3);
    await registerCustomer(shops, { username: 'ada' });
    const confidential = await newApplication(shops.all[1]);
    const open = await newApplication(shops.next(), { isPublic: true });

    async function send(app: Application, form: Record<string, string>, most: number): Promise<void> {
      const responses = await Promise.all(shops.urls.map((url) => post(`${url}/oauth/token`, form, app)));
      const good = responses.filter(({ status }) => status === 200);
      assert.ok(good.length <= most, responses.map(({ status }) => status).join(' '));
      assert.ok(new Set(good.map(({ json }) => json.refresh_token)).size <= 1);
      for (const response of responses.filter(({ status }) => status !== 200)) {
        assertRefused(response, 400, 'invalid_grant');
      }
      // A further use can be theft: the tokens that were issued for it are revoked too.
      const later = await post(`${shops.url}/oauth/token`, form, app);
      assertRefused(later, 400, 'invalid_grant');
      for (const { json } of good) {
        assert.deepEqual(await statusesFor(shops, json.access_token), [401, 401, 401]);
        const refreshed = await post(`${shops.url}/oauth/token`, refreshing(json.refresh_token), app);
        assertRefused(refreshed, 400, 'invalid_grant');
      }
    }

    for (let round = 0; round < rounds; round += 1) {
      for (const app of [confidential, open]) {
        const browser = openBrowser(shops.url, 'ada');
        await send(app, redeeming(app, await codeOf(app, browser)), 1);
        const { refresh_token } = await tokensOf(shops, app, browser);
        await send(app, refreshing(refresh_token), 2);
      }
    }
  });

  test('An OAuth client of three instances is refused by all after the client, its approval or its customer was deleted', async (t) => {
    const shops = await openBalanced(t, 3);
    const { app: shop } = shops.all[0];
    const context = shop.contextOf('test');
    const deleted = async () => {
      await registerCustomer(shops, { username: 'ada' });
      const app = await newApplication(shops.all[0]);
      const tokens = await tokensOf(shops, app, openBrowser(shops.url, 'ada'));
      assert.deepEqual(await statusesFor(shops, tokens.access_token), [200, 200, 200]);
      await shop.oauth.clients.delete(context, app.clientId);
      assert.deepEqual(await statusesFor(shops, tokens.access_token), [401, 401, 401]);
      for (const url of shops.urls) {
        const response = await post(`${url}/oauth/token`, refreshing(tokens.refresh_token), app);
        assertRefused(response, 401, 'invalid_client');
      }
    };
    const revoked = async () => {
      await registerCustomer(shops, { username: 'bob', role: 'staff' });
      const app = await newApplication(shops.all[0], { scopes: ['read:cheeses', 'admin'] });
      const ask = () => tokensOf(shops, app, openBrowser(shops.url, 'bob'), { scope: 'read:cheeses admin' });
      await ask();
      const [approval] = await shops.all[1].app.oauth.approvals.list();
      await shop.oauth.approvals.approve(context, approval?.id ?? 0);
      const { access_token: token } = await ask();
      assert.deepEqual(await statusesFor(shops, token, '/v2/api-keys'), [200, 200, 200]);
      await shop.oauth.approvals.revoke(context, approval?.id ?? 0);
      assert.deepEqual(await statusesFor(shops, token, '/v2/api-keys'), [401, 401, 401]);
    };
    const forgotten = async () => {
      await registerCustomer(shops, { username: 'eve', role: 'staff' });
      const app = await newApplication(shops.all[0]);
      const scope = 'read:cheeses write:cheeses write:profile';
      const { access_token: token } = await tokensOf(shops, app, openBrowser(shops.url, 'eve'), { scope });
      const find = '/v2/cheeses/findByStatus?status=sold';
      assert.deepEqual(await statusesFor(shops, token, find), [200, 200, 200]);
      const write = async (name: string) =>
        (await withToken(shops.next(), token, 'POST', '/v2/cheeses', { name })).status;
      assert.equal(await write('Brie'), 201);
      const eve = await shop.customers.administration.idOf('eve');
      await shop.customers.administration.changeRole(context, eve, 'customer');
      assert.deepEqual([await write('A'), await write('B'), await write('C')], [403, 403, 403]);
      assert.equal((await withToken(shops.next(), token, 'DELETE', '/v2/customer/eve')).status, 204);
      assert.deepEqual(await statusesFor(shops, token), [401, 401, 401]);
    };
    await deleted();
    await revoked();
    await forgotten();
  });
});
