/** GET /v2/store/order/{orderId}?wait=: a long poll for the change of an order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { onBothEngines, shared } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';
import { newCheese, placeOrder } from '../shop-verbs.ts';

onBothEngines('GET /v2/store/order/{orderId} with wait', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await restoreTestOrders(shop.app.contextOf('test'));
    const cheeseId = await newCheese(shop);
    return { shop, orderer: await shop.createKey({ scopes: ['write:orders'] }), cheeseId };
  });

  async function place(): Promise<{ readonly url: string; readonly etag: string; readonly orderer: string }> {
    const { shop, orderer, cheeseId } = opened();
    const response = await placeOrder(shop, cheeseId, { as: orderer });
    assert.equal(response.status, 201, response.text);
    return { url: `/v2/store/order/${response.json.id}`, etag: response.headers.etag ?? '', orderer };
  }

  const waitFor = (shop: Shop, as: string, url: string, etag: string, seconds: number) =>
    shop.request('GET', `${url}?wait=${seconds}`, { as, headers: { 'if-none-match': etag } });

  test('GET /store/order/{orderId} with wait returns the order when it changes', async () => {
    const { shop } = opened();
    const { url, etag, orderer } = await place();
    const waiting = waitFor(shop, orderer, url, etag, 25);
    assert.equal((await shop.request('DELETE', url, { as: orderer })).status, 204);
    const { status, json, headers } = await waiting;
    assert.deepEqual([status, json.status], [200, 'cancelled']);
    assert.notEqual(headers.etag, etag);
  });

  test('GET /store/order/{orderId} with wait returns 304 when the time is over, and at once without a current If-None-Match', async () => {
    const { shop } = opened();
    const { url, etag, orderer } = await place();
    assert.equal((await waitFor(shop, orderer, url, etag, 1)).status, 304);
    const before = performance.now();
    assert.equal((await waitFor(shop, orderer, url, '"0"', 30)).status, 200);
    assert.equal((await shop.request('GET', `${url}?wait=30`, { as: orderer })).status, 200);
    assert.ok(performance.now() - before < 15_000);
  });

  test('GET /store/order/{orderId} with wait returns a test order when it changes, which has no event in the log', async () => {
    const { shop, orderer } = opened();
    const { headers, json } = await shop.request('GET', '/v2/store/order/1', { as: orderer });
    assert.equal(json.status, 'placed');
    const waiting = waitFor(shop, orderer, '/v2/store/order/1', headers.etag ?? '', 25);
    assert.equal((await shop.request('POST', '/v2/store/order/1/approve', { as: shop.admin })).status, 200);
    assert.equal((await waiting).json.status, 'approved');
  });

  test('GET /store/order/{orderId} with wait is refused above 30 seconds and for an unknown order', async () => {
    const { shop, orderer } = opened();
    const { url } = await place();
    for (const wait of ['31', '-1', 'abc', '']) {
      const response = await shop.request('GET', `${url}?wait=${wait}`, { as: orderer });
      assertError(response, 400, 'bad_request');
    }
    assertError(await waitFor(shop, orderer, '/v2/store/order/999', '"1"', 20), 404, 'not_found');
  });

  test('GET /store/order/{orderId} with wait ends with 401 when the key is revoked meanwhile', async () => {
    const { shop } = opened();
    const { url, etag } = await place();
    const key = await shop.createKey();
    const waiting = waitFor(shop, key, url, etag, 2);
    const { json } = await shop.request('GET', '/v2/whoami', { as: key });
    await shop.app.auth.keys.revoke(shop.app.contextOf('test'), Number(json.id.split(':')[1]));
    assertError(await waiting, 401, 'unauthorized');
  });
});
