/** OAuth tokens for the MCP endpoint: requested with `resource`, and accepted nowhere else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, cleanUp, onBothEngines, openListeningShop, shared } from '../helper.ts';
import {
  assertRefused,
  codeOf,
  implicitQueryOf,
  newApplication,
  openBrowser,
  post,
  queryOf,
  redeeming,
  redirectParameters,
  tokensOf,
} from '../oauth/flow.ts';
import { newCheese, orderOf, registerCustomer } from '../shop-verbs.ts';
import { run as runWithKey, send } from './clients.ts';

const agentScopes = ['read:cheeses', 'read:orders', 'write:orders'] as const;
const scope = agentScopes.join(' ');

onBothEngines('OAuth for the MCP endpoint', (engine) => {
  const scene = shared(async (t) => {
    const shop = await openListeningShop(t, { engine });
    await registerCustomer(shop, { username: 'ada' });
    const resource = `${shop.app.issuer()}/mcp`;
    const app = await newApplication(shop, {
      isPublic: true,
      isNative: true,
      redirectUris: ['http://127.0.0.1/cb'],
    });
    const machine = await newApplication(shop, { grants: ['client_credentials'] });
    const token = `${shop.url}/oauth/token`;
    return { shop, resource, app, machine, token, browser: () => openBrowser(shop.url, 'ada') };
  });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const atMcp = (token: string, method = 'tools/list', params = {}) =>
    scene().shop.request('POST', '/mcp', { headers: bearer(token), body: { ...listTools, method, params } });

  test('The OAuth metadata of the MCP endpoint names the resource, the authorization server and the scopes', async () => {
    const { shop, resource } = scene();
    const { status, json } = await shop.request('GET', '/.well-known/oauth-protected-resource/mcp');
    assert.equal(status, 200);
    assert.deepEqual(
      [json.resource, json.authorization_servers, json.scopes_supported],
      [resource, [shop.app.issuer()], agentScopes],
    );
    assertError(await shop.request('GET', '/.well-known/oauth-protected-resource'), 404, 'not_found');
  });

  test('An OAuth token for the MCP endpoint is accepted by the resource for which it was requested, and not by the other', async () => {
    const { shop, resource, app, browser, machine, token } = scene();
    const grant = { grant_type: 'client_credentials', scope };
    const tokenOf = async (form: Record<string, string>) =>
      (await post(token, form, machine)).json.access_token;
    const forMcp = [
      (await tokensOf(shop, app, browser(), { scope, resource })).access_token,
      await tokenOf({ ...grant, resource }),
    ];
    const forApi = [(await tokensOf(shop, app, browser(), { scope })).access_token, await tokenOf(grant)];
    const order = { body: orderOf(await newCheese(shop)) };
    for (const one of forMcp) {
      assert.equal((await atMcp(one)).status, 200);
      assertError(
        await shop.request('POST', '/v2/store/order', { ...order, headers: bearer(one) }),
        401,
        'unauthorized',
      );
      assertError(await shop.request('GET', '/v2/whoami', { headers: bearer(one) }), 401, 'unauthorized');
      const both = { ...order, as: shop.admin, headers: bearer(one) };
      assertError(await shop.request('POST', '/v2/store/order', both), 401, 'unauthorized');
    }
    for (const one of forApi) {
      const refused = await atMcp(one);
      assertError(refused, 401, 'unauthorized');
      assert.match(refused.headers['www-authenticate'] ?? '', /invalid_token.*resource_metadata="/);
      assert.equal(
        (await shop.request('POST', '/v2/store/order', { ...order, headers: bearer(one) })).status,
        201,
      );
    }
    const found = await post(`${shop.url}/oauth/introspect`, { token: forMcp[1] as string }, machine);
    assert.deepEqual([found.json.active, found.json.aud], [true, resource]);
  });

  test('A refreshed token for the MCP endpoint is for the same resource', async () => {
    const { shop, resource, app, browser, token } = scene();
    const tokens = await tokensOf(shop, app, browser(), { scope, resource });
    assert.equal(tokens.scope, scope);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const refreshed = await post(token, form, app);
    assert.equal((await atMcp(refreshed.json.access_token)).status, 200);
    const other = {
      ...form,
      refresh_token: refreshed.json.refresh_token,
      resource: 'https://elsewhere.example/mcp',
    };
    assertRefused(await post(token, other, app), 400, 'invalid_target');
  });

  test('An authorization code is for the resource of its request, such as the MCP endpoint', async () => {
    const { resource, app, browser, token } = scene();
    const withResource = redeeming(app, await codeOf(app, browser(), { scope, resource }));
    const { json } = await post(token, { ...withResource, resource }, app);
    assert.equal((await atMcp(json.access_token)).status, 200);
    const without = redeeming(app, await codeOf(app, browser(), { scope }));
    assertRefused(await post(token, { ...without, resource }, app), 400, 'invalid_target');
    const elsewhere = redeeming(app, await codeOf(app, browser(), { scope, resource }));
    assertRefused(await post(token, { ...elsewhere, resource: `${resource}/` }, app), 400, 'invalid_target');
  });

  test('A resource other than the MCP endpoint is invalid_target, and scopes that no tool needs are invalid_scope', async () => {
    const { shop, resource, app, browser, machine, token } = scene();
    const errorOf = async (more: Record<string, string>) =>
      redirectParameters('query', await browser().authorize(queryOf(app, { scope, ...more }))).error;
    for (const other of ['https://elsewhere.example/mcp', `${resource}/`, `${resource}#x`, 'mcp', shop.url]) {
      assert.equal(await errorOf({ resource: other }), 'invalid_target', other);
    }
    const twice = queryOf(app, { scope, resource });
    twice.append('resource', resource);
    assert.equal(redirectParameters('query', await browser().authorize(twice)).error, 'invalid_target');
    assert.equal(await errorOf({ resource, scope: 'read:cheeses write:profile' }), 'invalid_scope');
    const grant = { grant_type: 'client_credentials', resource };
    assertRefused(await post(token, { ...grant, resource: shop.url }, machine), 400, 'invalid_target');
    assertRefused(await post(token, { ...grant, scope: 'read:profile' }, machine), 400, 'invalid_scope');
    const all = await post(token, grant, machine);
    assert.deepEqual(new Set(all.json.scope.split(' ')), new Set(agentScopes));
    const implicit = await newApplication(shop, { grants: ['implicit'] });
    const visit = await browser().authorize(implicitQueryOf(implicit, { scope, resource }));
    assert.equal(redirectParameters('fragment', visit).error, 'invalid_target');
  });

  test('An OAuth token for the MCP endpoint acts for its customer, within its scopes', async () => {
    const { shop, resource, app, browser } = scene();
    const { access_token: reading } = await tokensOf(shop, app, browser(), {
      scope: 'read:cheeses',
      resource,
    });
    const { access_token: full } = await tokensOf(shop, app, browser(), { scope, resource });
    const id = await newCheese(shop);
    const given = { ...orderOf(id), maxTotal: 10, idempotencyKey: 'of ada' };
    const refused = await atMcp(reading, 'tools/call', { name: 'place_order', arguments: given });
    assertError(refused, 403, 'forbidden');
    assert.match(refused.headers['www-authenticate'] ?? '', /scope="write:orders", resource_metadata=/);
    const placed = (await atMcp(full, 'tools/call', { name: 'place_order', arguments: given })).json.result;
    const { id: orderId } = placed.structuredContent;
    const read = await atMcp(full, 'tools/call', { name: 'get_order', arguments: { orderId } });
    assert.match(read.json.result.structuredContent.timeline[0].by, /^client:\w+\/customer:\d+$/);
    const { json } = await shop.request('GET', `/v2/store/order/${orderId}/customer`, { as: shop.admin });
    assert.equal(json.username, 'ada');
    // Orders of others are not found or forbidden, as over HTTP.
    const key = await shop.createKey({ scopes: ['write:orders'] });
    const other = await runWithKey(shop, key, 'place_order', { ...given, idempotencyKey: 'of a key' });
    const foreign = { orderId: other.structuredContent.id };
    for (const name of ['get_order', 'cancel_order']) {
      const { result } = (await atMcp(full, 'tools/call', { name, arguments: foreign })).json;
      assert.equal(result.isError, true);
      assert.ok([403, 404].includes(result.structuredContent.code));
    }
    // A key beside a token of a customer is not for agents.
    const confined = await send(shop, key, 'tools/list', {}, bearer(full));
    assertError(confined, 403, 'forbidden');
  });

  test('Every resource is invalid_target without the MCP endpoint', async (t) => {
    const { shop, resource, machine } = scene();
    const off = await shop.another({ mcp: 'off' });
    await off.app.server.listen({ host: '127.0.0.1', port: 0 });
    cleanUp(t, () => off.app.close());
    const form = { grant_type: 'client_credentials', resource };
    assertRefused(
      await post(`${off.app.server.listeningOrigin}/oauth/token`, form, machine),
      400,
      'invalid_target',
    );
  });
});
