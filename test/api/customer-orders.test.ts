/** The orders of one customer, and the customer of an order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { approve, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Scope,
  shared,
  type TestResponse,
} from '../helper.ts';
import { newCheese, newOrder, type OrderOptions } from '../shop-verbs.ts';

const bearer = (token: string): RequestOptions => ({ headers: { authorization: `Bearer ${token}` } });

async function openWithOrders(t: Scope, engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  await restoreTestOrders(shop.app.contextOf('system'));
  const [ada, bob] = [await newCustomer(shop, 'Ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
  const sessions = { ada: bearer(await newSession(shop, ada)), bob: bearer(await newSession(shop, bob)) };
  const client = await newClient(shop);
  await approve(shop, client, bob);
  const token = async (customer: number | null, scope: string) =>
    bearer(await newToken(shop, { client, customer, scope }));
  const key = await shop.createKey({ scopes: ['write:orders'] });
  const cheese = await newCheese(shop);
  const place = (customer: Omit<OrderOptions, 'more'> = {}) =>
    newOrder(shop, cheese, { as: key, ...customer });
  return { shop, ada, bob, sessions, token, key, place };
}

const listed = ({ json }: TestResponse): number[] => json.items.map(({ id }: { id: number }) => id);

onBothEngines('The orders of a customer', (engine) => {
  const opened = shared((t) => openWithOrders(t, engine));

  test('The orders of a customer can be listed, read and cancelled by the session, a token of the customer, and a key', async () => {
    const { shop, ada, bob, sessions, token, key, place } = opened();
    const others = [await place(sessions.bob), await place()];
    const adas = [await place(sessions.ada)];
    for (const [reading, cancelling] of [
      [sessions.ada, sessions.ada],
      [await token(ada, 'read:orders'), await token(ada, 'write:orders')],
      [{ as: shop.reader }, { as: key }],
      [
        { as: shop.reader, ...sessions.ada },
        { as: key, ...sessions.ada },
      ],
      [await token(bob, 'admin'), await token(bob, 'admin')],
    ] as const) {
      const id = await place(sessions.ada);
      adas.unshift(id);
      const list = await shop.request('GET', '/v2/customer/ada/orders?limit=100', reading);
      assert.equal(list.status, 200, list.text);
      assert.deepEqual([listed(list), list.json.total], [adas, adas.length]);
      const path = `/v2/customer/ada/orders/${id}`;
      const read = await shop.request('GET', path, reading);
      const direct = await shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader });
      assert.deepEqual([read.json, read.headers.etag], [direct.json, direct.headers.etag]);
      const timeline = await shop.request('GET', `${path}/timeline`, reading);
      assert.deepEqual(
        timeline.json,
        (await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.reader })).json,
      );
      const cancel = (tag?: string) =>
        shop.request('DELETE', path, {
          ...cancelling,
          headers: {
            ...('headers' in cancelling ? cancelling.headers : {}),
            ...(tag && { 'if-match': tag }),
          },
        });
      assertError(await cancel('"another"'), 412, 'precondition_failed');
      assert.equal((await cancel(read.headers.etag)).status, 204);
      assert.equal((await cancel()).status, 204, 'a second time');
      assert.equal((await shop.request('GET', path, reading)).json.status, 'cancelled');
      for (const other of [...others, 1, 999_999, 'abc']) {
        for (const [method, end, as] of [
          ['GET', '', reading],
          ['GET', '/timeline', reading],
          ['DELETE', '', cancelling],
        ] as const) {
          const response = await shop.request(method, `/v2/customer/ada/orders/${other}${end}`, as);
          assertError(response, 404, 'not_found');
        }
      }
    }
    for (const id of others) {
      const { json } = await shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader });
      assert.equal(json.status, 'placed');
    }
  });

  test('The orders of a customer are 403 for the session or token of another customer, and 404 for an unknown customer', async () => {
    const { shop, bob, sessions, token, key, place } = opened();
    const id = await place(sessions.ada);
    for (const [reading, cancelling] of [
      [sessions.bob, sessions.bob],
      [await token(bob, 'read:orders'), await token(bob, 'write:orders')],
      [await token(null, 'read:orders'), await token(null, 'write:orders')],
      [
        { as: shop.reader, ...sessions.bob },
        { as: key, ...sessions.bob },
      ],
      [
        { as: shop.admin, ...sessions.bob },
        { as: shop.admin, ...sessions.bob },
      ],
      [
        { as: shop.admin, ...(await token(bob, 'read:cheeses')) },
        { as: shop.admin, ...(await token(bob, 'read:cheeses')) },
      ],
    ] as const) {
      for (const [username, status, type] of [
        ['ada', 403, 'forbidden'],
        ['nobody', 404, 'not_found'],
      ] as const) {
        const path = `/v2/customer/${username}/orders`;
        assertError(await shop.request('GET', path, reading), status, type);
        assertError(await shop.request('GET', `${path}/${id}`, reading), status, type);
        assertError(await shop.request('GET', `${path}/${id}/timeline`, reading), status, type);
        assertError(await shop.request('DELETE', `${path}/${id}`, cancelling), status, type);
      }
    }
    assertError(await shop.request('GET', '/v2/customer/nobody/orders', { as: key }), 404, 'not_found');
    const noScope = await shop.request('DELETE', `/v2/customer/ada/orders/${id}`, { as: shop.reader });
    assertError(noScope, 403, 'forbidden');
    const { json } = await shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader });
    assert.equal(json.status, 'placed');
  });

  test('The orders of a customer are paginated and filtered, with a link to the next page; shipped orders are not cancelled', async () => {
    const { shop, sessions, place } = opened();
    await place(sessions.bob);
    const shipped = await place(sessions.bob);
    for (const step of ['approve', 'ship']) {
      await shop.request('POST', `/v2/store/order/${shipped}/${step}`, { as: shop.admin });
    }
    const path = '/v2/customer/bob/orders';
    assertError(await shop.request('DELETE', `${path}/${shipped}`, sessions.bob), 409, 'conflict');
    assert.deepEqual(listed(await shop.request('GET', `${path}?status=shipped`, sessions.bob)), [shipped]);
    const all = listed(await shop.request('GET', `${path}?limit=100`, sessions.bob));
    assert.ok(all.length > 2);
    const walked: number[] = [];
    let next: string | undefined = `${path}?limit=1&createdFrom=2020-01-01T00:00:00Z`;
    while (next !== undefined) {
      const page: TestResponse = await shop.request('GET', next, sessions.bob);
      assert.equal(page.json.total, all.length);
      walked.push(...listed(page));
      next = /^<([^>]+)>; rel="next"$/.exec(page.headers.link ?? '')?.[1];
    }
    assert.deepEqual(walked, all);
    assertError(await shop.request('GET', `${path}?limit=0`, sessions.bob), 400, 'bad_request');
    assertError(await shop.request('GET', `${path}?cursor=nonsense`, sessions.bob), 400, 'bad_request');
  });
});

onBothEngines('The customer of an order', (engine) => {
  const opened = shared((t) => openWithOrders(t, engine));

  test('The customer of an order is returned to a key, an admin, and a key that acts for that customer', async () => {
    const { shop, bob, ada, sessions, token, place } = opened();
    const id = await place(sessions.ada);
    const path = `/v2/store/order/${id}/customer`;
    const profile = await shop.request('GET', '/v2/customer/ada', { as: shop.reader });
    for (const as of [
      { as: shop.reader },
      { as: shop.reader, ...sessions.ada },
      await token(bob, 'admin'),
      { as: shop.reader, ...(await token(bob, 'admin')) },
    ]) {
      const response = await shop.request('GET', path, as);
      assert.deepEqual(
        [response.status, response.json, response.headers.etag],
        [200, profile.json, profile.headers.etag],
      );
    }
    for (const as of [
      { as: shop.reader, ...sessions.bob },
      { as: shop.admin, ...sessions.bob },
      { as: shop.reader, ...(await token(bob, 'read:cheeses')) },
      sessions.ada,
      await token(ada, 'read:orders read:profile'),
    ]) {
      assertError(await shop.request('GET', path, as), 403, 'forbidden');
    }
  });

  test('The customer of an order is 204 when there is none: an order by a key alone, a test order, or a deleted customer', async () => {
    const { shop, place } = opened();
    const as = { as: shop.reader };
    const eve = bearer(await newSession(shop, await newCustomer(shop, 'eve', 'customer')));
    const [alone, gone] = [await place(), await place(eve)];
    assert.equal((await shop.request('DELETE', '/v2/customer/eve', eve)).status, 204);
    for (const id of [alone, gone, 1]) {
      const { status, text } = await shop.request('GET', `/v2/store/order/${id}/customer`, as);
      assert.deepEqual([status, text], [204, '']);
    }
    for (const id of [999_999, 'abc']) {
      assertError(await shop.request('GET', `/v2/store/order/${id}/customer`, as), 404, 'not_found');
    }
    const { sessions } = opened();
    const acting = { as: shop.reader, ...sessions.ada };
    assertError(await shop.request('GET', `/v2/store/order/${alone}/customer`, acting), 403, 'forbidden');
  });
});
