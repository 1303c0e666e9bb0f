/** Requests with an API key and a customer's credential: they have access to that customer's orders only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { approve, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Shop,
  shared,
  type TestResponse,
} from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A shop with the orders of two customers and of a key alone, and the credentials of all of them. */
async function openWithOrders(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  await restoreTestOrders(shop.app.contextOf('system'));
  const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
  const sessions = { ada: bearer(await newSession(shop, ada)), bob: bearer(await newSession(shop, bob)) };
  const client = await newClient(shop);
  const key = await shop.createKey({ scopes: ['write:orders'] });
  const cheese = await newCheese(shop);
  const place = (headers: Readonly<Record<string, string>> = {}) =>
    newOrder(shop, cheese, { as: key, headers });
  return { shop, ada, bob, sessions, client, key, place };
}

const listed = ({ json }: TestResponse): number[] => json.items.map(({ id }: { id: number }) => id);
const statusOf = async (shop: Shop, id: number): Promise<string> =>
  (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader })).json.status;

onBothEngines('A request that acts for a customer', (engine) => {
  const opened = shared((t) => openWithOrders(t, engine));

  test('A request that acts for a customer lists, reads and cancels the orders of that customer and no others', async () => {
    const { shop, sessions, key, ada, client, place } = opened();
    const orders = { ada: await place(sessions.ada), bob: await place(sessions.bob), key: await place() };
    const adas = [orders.ada];
    const token = (scope: string) => newToken(shop, { client, customer: ada, scope });
    const actings: RequestOptions[] = [
      { as: key, headers: sessions.ada },
      { as: shop.admin, headers: sessions.ada },
      { as: key, headers: bearer(await token('read:orders write:orders')) },
      // It has no access by itself, and still confines the key.
      { as: key, headers: bearer(await token('read:cheeses')) },
    ];
    for (const acting of actings) {
      const list = await shop.request('GET', '/v2/store/orders', acting);
      assert.deepEqual([listed(list), list.json.total], [adas, adas.length]);
      const placed = await shop.request('GET', '/v2/store/orders?status=placed', acting);
      assert.deepEqual(listed(placed), [orders.ada]);
      for (const path of ['', '/timeline']) {
        const read = (id: number) => shop.request('GET', `/v2/store/order/${id}${path}`, acting);
        assert.equal((await read(orders.ada)).status, 200);
        assert.equal((await read(1)).status, 200, 'test orders are open to all');
        assertError(await read(orders.bob), 403, 'forbidden');
        assertError(await read(orders.key), 403, 'forbidden');
        assertError(await read(999_999), 404, 'not_found');
      }
      const cancel = (id: number) => shop.request('DELETE', `/v2/store/order/${id}`, acting);
      assertError(await cancel(orders.bob), 403, 'forbidden');
      assertError(await cancel(orders.key), 403, 'forbidden');
      assertError(await cancel(999_999), 404, 'not_found');
      const own = await place(sessions.ada);
      assert.equal((await cancel(own)).status, 204);
      assert.equal(await statusOf(shop, own), 'cancelled');
      adas.unshift(own);
    }
    assert.deepEqual(
      [await statusOf(shop, orders.bob), await statusOf(shop, orders.key)],
      ['placed', 'placed'],
    );
  });

  test('A request that acts for a customer cannot use the cursor of a longer list to reach other orders', async () => {
    const { shop, sessions, key, place } = opened();
    const [own] = [await place(sessions.ada), await place(sessions.bob), await place()];
    const { json } = await shop.request('GET', '/v2/store/orders?limit=1', { as: key });
    const rest = await shop.request('GET', `/v2/store/orders?limit=100&cursor=${json.nextCursor}`, {
      as: key,
      headers: sessions.ada,
    });
    assert.ok(listed(rest).includes(own));
    for (const id of listed(rest)) {
      assert.equal(
        (await shop.request('GET', `/v2/store/order/${id}`, { as: key, headers: sessions.ada })).status,
        200,
      );
    }
  });

  test('A request that acts for a customer cannot approve, ship or deliver, not even its own order, nor replay that', async () => {
    const { shop, sessions, ada, client, place } = opened();
    const id = await place(sessions.ada);
    const token = bearer(await newToken(shop, { client, customer: ada, scope: 'read:orders' }));
    for (const step of ['approve', 'ship', 'deliver']) {
      const path = `/v2/store/order/${id}/${step}`;
      const once = { 'idempotency-key': `${step}-once` };
      for (const headers of [sessions.ada, sessions.bob, token]) {
        assertError(await shop.request('POST', path, { as: shop.admin, headers }), 403, 'forbidden');
      }
      assert.equal((await shop.request('POST', path, { as: shop.admin, headers: once })).status, 200);
      for (const headers of [sessions.ada, token]) {
        const replay = await shop.request('POST', path, { as: shop.admin, headers: { ...once, ...headers } });
        assertError(replay, 403, 'forbidden');
      }
      assert.equal((await shop.request('POST', path, { as: shop.admin, headers: once })).status, 200);
    }
    assert.equal(await statusOf(shop, id), 'delivered');
  });

  test('A request that acts for a customer reaches all orders when the other credential is the token of an admin or a client', async () => {
    const { shop, sessions, bob, client, key, place } = opened();
    await approve(shop, client, bob);
    const [own, other] = [await place(sessions.bob), await place(sessions.ada)];
    for (const token of [
      await newToken(shop, { client, customer: bob, scope: 'admin' }),
      await newToken(shop, { client, customer: null, scope: 'read:orders' }),
    ]) {
      const acting = { as: key, headers: bearer(token) };
      const ids = listed(await shop.request('GET', '/v2/store/orders?limit=100', acting));
      assert.ok(ids.includes(own) && ids.includes(other));
      assert.equal((await shop.request('GET', `/v2/store/order/${other}`, acting)).status, 200);
    }
    const admin = await newToken(shop, { client, customer: bob, scope: 'admin' });
    const approved = { as: key, headers: bearer(admin) };
    assert.equal((await shop.request('POST', `/v2/store/order/${other}/approve`, approved)).status, 200);
  });

  test('A request that acts for a customer needs the key: a session alone is 403 on every path under /store', async () => {
    const { shop, sessions, place } = opened();
    const id = await place(sessions.ada);
    const routes = shop.app.routes.filter(({ path }) => path.startsWith('/store'));
    assert.ok(routes.length >= 9);
    for (const { method, path } of routes) {
      const url = `/v2${path.replace(':orderId', String(id))}`;
      const body = method === 'POST' ? { body: {} } : {};
      assertError(await shop.request(method, url, { headers: sessions.ada, ...body }), 403, 'forbidden');
    }
    assert.equal(await statusOf(shop, id), 'placed');
  });
});
