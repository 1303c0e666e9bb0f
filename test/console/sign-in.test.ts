/** The console's page, and the sign-in by link. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { consoleRoutes } from '../../src/console-server/routes.ts';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, shared, temporaryFolder, testClock } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';

const minuteMs = 60_000;

const linkOf = async ({ app }: Shop) => (await app.oauth.consoleLinks.create(app.contextOf('cli'))).link;

const signIn = (shop: Shop, link: unknown) => shop.request('POST', '/v2/console/sign-in', { body: { link } });

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

onBothEngines('POST /v2/console/sign-in', (engine) => {
  const opened = shared(async (t) => {
    const clock = testClock();
    return { clock, shop: await openShop(t, { engine, clock }) };
  });

  test('POST /v2/console/sign-in exchanges a link for a token with all scopes, once', async () => {
    const { shop, clock } = opened();
    const link = await linkOf(shop);
    const { status, json, headers } = await signIn(shop, link);
    assert.equal(status, 201);
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(Date.parse(json.expiresAt) - clock.now(), 8 * 60 * minuteMs);
    const { json: who } = await shop.request('GET', '/v2/whoami', bearer(json.accessToken));
    assert.deepEqual([who.id, who.customer], ['client:console', null]);
    assert.ok(who.scopes.includes('admin'));
    assertError(await signIn(shop, link), 401, 'unauthorized');
  });

  test('POST /v2/console/sign-in lets one of several concurrent attempts succeed', async () => {
    const { shop } = opened();
    const link = await linkOf(shop);
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => signIn(shop, link)))).map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses.sort(), [201, 401, 401, 401, 401]);
  });

  test('POST /v2/console/sign-in refuses a link after 15 minutes, and a token after 8 hours', async () => {
    const { shop, clock } = opened();
    const [late, used] = [await linkOf(shop), await linkOf(shop)];
    const { accessToken } = (await signIn(shop, used)).json;
    clock.advance(15 * minuteMs + 1);
    assertError(await signIn(shop, late), 401, 'unauthorized');
    assert.equal((await shop.request('GET', '/v2/whoami', bearer(accessToken))).status, 200);
    clock.advance(8 * 60 * minuteMs);
    assertError(await shop.request('GET', '/v2/whoami', bearer(accessToken)), 401, 'unauthorized');
  });

  test('POST /v2/console/sign-in refuses malformed and unknown links', async () => {
    const { shop } = opened();
    assertError(await signIn(shop, 'a'.repeat(43)), 401, 'unauthorized');
    for (const link of ['', 1, null, 'a'.repeat(101)]) {
      assertError(await signIn(shop, link), 422, 'validation_error');
    }
  });

  test('POST /v2/console/sign-in ends with a sign-out, and with a revoked approval', async () => {
    const { shop } = opened();
    const [first, second] = [await signIn(shop, await linkOf(shop)), await signIn(shop, await linkOf(shop))];
    const out = await shop.request('POST', '/v2/console/sign-out', bearer(first.json.accessToken));
    assert.equal(out.status, 204);
    const status = async ({ json }: typeof first) =>
      (await shop.request('GET', '/v2/whoami', bearer(json.accessToken))).status;
    assert.deepEqual([await status(first), await status(second)], [401, 200]);
    const {
      oauth: { approvals },
      contextOf,
    } = shop.app;
    const approval = (await approvals.list()).find(({ clientId }) => clientId === 'console');
    await approvals.revoke(contextOf('cli'), approval?.id ?? 0);
    assert.equal(await status(second), 401);
    assertError(await shop.request('POST', '/v2/console/sign-out', { as: shop.admin }), 409, 'conflict');
  });

  test('POST /v2/console/sign-in keeps the account of the console without API keys, and its client from deletion', async () => {
    const { shop } = opened();
    await linkOf(shop);
    const {
      auth: { keys },
      oauth: { clients },
      contextOf,
    } = shop.app;
    const account = await keys.findAccount('console');
    await assert.rejects(keys.create(contextOf('cli'), account.id, {}), { code: 'conflict' });
    await assert.rejects(clients.delete(contextOf('cli'), 'console'), { code: 'conflict' });
    assert.deepEqual(
      (await clients.list()).map(({ clientId, builtIn, isPublic }) => [clientId, builtIn, isPublic]),
      [['console', true, true]],
    );
  });

  test('POST /v2/console/sign-in stores neither a link nor a token', async () => {
    const { shop } = opened();
    const link = await linkOf(shop);
    const other = await linkOf(shop);
    const { accessToken } = (await signIn(shop, other)).json;
    const rows = await shop.app.database.all(sql`select * from oauth_object`);
    for (const secret of [link, accessToken]) {
      assert.ok(!JSON.stringify(rows).includes(secret));
    }
  });
});

const facts = { name: 'Shop', currency: 'USD', timeZone: 'UTC', language: 'en' };

suite('GET /console', () => {
  const opened = shared(async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'assets'));
    const routes = consoleRoutes({
      links: {} as never,
      clock: systemClock,
      site: () => ({ ...facts, name: '<Käse & "Co">' }),
      environment: 'sandbox',
      version: '0.1.0',
      imagesOrigin: 'https://images.example',
      folder,
    });
    return { folder, page: routes[0], shop: await openShop(t) };
  });

  test('GET /console returns the page with a new nonce, a strict policy and escaped names', async () => {
    const { folder, page } = opened();
    await writeFile(join(folder, 'index.html'), '<p title="{{shop}}">{{title}}|{{nonce}}|{{environment}}');
    const show = async () =>
      (await page?.handle({ headers: {} } as never)) as {
        headers: Record<string, string>;
        body: { text: string };
      };
    const [first, second] = [await show(), await show()];
    assert.match(
      first.body.text,
      /^<p title="&lt;Käse &amp; &quot;Co&quot;&gt;">sandbox: &lt;Käse &amp; &quot;Co&quot;&gt;\|([\w+/=]{24})\|sandbox$/,
    );
    const policy = first.headers['Content-Security-Policy'] ?? '';
    const nonce = first.body.text.split('|')[1] ?? '';
    assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`));
    assert.ok(policy.includes("img-src 'self' data: blob: https://images.example;"));
    assert.doesNotMatch(policy, /unsafe/);
    assert.notEqual(second.headers['Content-Security-Policy'], policy);
  });

  test('GET /console is 503 until the console is built: a page for browsers, an error for others', async (t) => {
    const folder = await temporaryFolder(t);
    const [page] = consoleRoutes({
      links: {} as never,
      clock: systemClock,
      site: () => facts,
      environment: 'local',
      version: '0.1.0',
      imagesOrigin: null,
      folder,
    });
    const open = async (accept: string) => page?.handle({ headers: { accept } } as never);
    const shown = (await open('text/html')) as { status: number; body: { text: string } };
    assert.equal(shown.status, 503);
    assert.match(shown.body.text, /The console is not built: run &quot;npm run build&quot; in Curd/);
    await assert.rejects(open('application/json'), { code: 'unavailable' });
    await writeFile(join(folder, 'index.html'), '<p>built');
    assert.equal(((await open('text/html')) as { status: number }).status, 200);
  });

  test('GET /console is the page at every path without a dot', async () => {
    const { shop } = opened();
    const built = (await shop.request('GET', '/console')).status;
    for (const path of [
      '/console/',
      '/console/orders',
      '/console/orders/31',
      '/console/some/deep/path/',
      '/console/assets',
    ]) {
      const { status, headers } = await shop.request('GET', path);
      assert.equal(status, built, path);
      assert.equal((await shop.request('HEAD', path)).status, built, path);
      assert.equal(headers['cache-control'], 'no-store');
      const posted = await shop.request('POST', path, { body: {} });
      assert.equal(posted.status, 405, path);
      assert.equal(posted.headers.allow, 'GET, HEAD, OPTIONS');
    }
    for (const path of [
      '/console/orders.json',
      '/console/some/deep/path.js',
      '/console/a%2Eb',
      '/consoles/a',
    ]) {
      assertError(await shop.request('GET', path), 404, 'not_found');
    }
  });

  test('GET /console has its files for a year, and 404 for others', async () => {
    const { shop } = opened();
    for (const path of [
      '/console/assets/x.js',
      '/console/assets/..%2Findex.html',
      '/console/assets/main-AAAAAAAA.js',
    ]) {
      assertError(await shop.request('GET', path), 404, 'not_found');
    }
  });

  test('GET /console is 404 with CURD_CONSOLE=off, like the sign-in', async (t) => {
    const shop = await openShop(t, { settings: { CURD_CONSOLE: 'off' } });
    assertError(await shop.request('GET', '/console'), 404, 'not_found');
    assertError(await signIn(shop, 'a'), 404, 'not_found');
    assert.equal((await shop.request('GET', '/')).json.console, null);
    const landing = await shop.request('GET', '/', { headers: { accept: 'text/html' } });
    assert.match(landing.text, /<h1/);
    assert.doesNotMatch(landing.text, /console/i);
    const authorize = await shop.request('GET', '/oauth/authorize?client_id=console&response_type=code');
    assert.equal(authorize.status, 400);
  });
});
