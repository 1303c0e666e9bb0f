/** How an order is shipped: carrier and tracking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertError, assertFields, bern, onBothEngines, openShop, shared } from '../helper.ts';

const nothing = { carrier: null, trackingNumber: null, trackingUrl: null };
const tracking = {
  carrier: 'Swiss Post',
  trackingNumber: '99.00.1',
  trackingUrl: 'https://carrier.example/track?number=99.00.1',
};

async function openStore(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  await restoreTestOrders(shop.app.contextOf('system'));
  const { admin } = shop;
  const body = { name: 'Comté', pricePerKg: 24.5 };
  const cheeseId = (await shop.request('POST', '/v2/cheeses', { as: admin, body })).json.id;
  return {
    shop,
    /** Places an order, with the session of a customer or without. */
    async place(headers: Readonly<Record<string, string>> = {}): Promise<number> {
      const order = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
      return (await shop.request('POST', '/v2/store/order', { as: admin, headers, body: order })).json.id;
    },
    move: (id: number, verb: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
      shop.request('POST', `/v2/store/order/${id}/${verb}`, {
        as: admin,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
    read: (id: number) => shop.request('GET', `/v2/store/order/${id}/shipment`, { as: shop.reader }),
    replace: (id: number, given: unknown, headers: Readonly<Record<string, string>> = {}) =>
      shop.request('PUT', `/v2/store/order/${id}/shipment`, { as: admin, headers, body: given }),
    timeline: async (id: number) =>
      (await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.reader })).json.items,
  };
}

onBothEngines('The shipment of an order', (engine) => {
  const opened = shared((t) => openStore(t, engine));

  test('The shipment of an order is stated by the request that ships it, and shown by the timeline', async () => {
    const { place, move, read, timeline } = opened();
    const id = await place();
    assert.deepEqual((await read(id)).json, { shippedAt: null, ...nothing });
    await move(id, 'approve');
    const shipped = await move(id, 'ship', tracking);
    assert.equal(shipped.status, 200, shipped.text);
    const shipment = { shippedAt: shipped.json.shipDate, ...tracking };
    assert.deepEqual((await read(id)).json, shipment);
    await move(id, 'deliver');
    assert.deepEqual((await read(id)).json, shipment);
    assert.deepEqual(
      (await timeline(id)).map((one: { status: string; shipment: unknown }) => [one.status, one.shipment]),
      [
        ['placed', null],
        ['approved', null],
        ['shipped', tracking],
        ['delivered', null],
      ],
    );
  });

  test('The shipment of an order is empty where the body is left out, empty or null', async () => {
    const { place, move, read, timeline } = opened();
    for (const body of [undefined, {}, nothing]) {
      const id = await place();
      await move(id, 'approve');
      const { json } = await move(id, 'ship', body);
      assert.deepEqual((await read(id)).json, { shippedAt: json.shipDate, ...nothing });
      assert.equal((await timeline(id)).at(-1).shipment, null);
    }
  });

  test('The shipment of an order can be changed until the delivery, with If-Match, and the event has no text of it', async () => {
    const { shop, place, move, read, replace } = opened();
    const id = await place();
    assertError(await replace(id, tracking), 409, 'conflict');
    await move(id, 'approve');
    assert.match((await replace(id, tracking)).json.message, /approved.*ship it with them/);
    await move(id, 'ship');
    const { ETag: _, etag = '' } = (await read(id)).headers;
    const changed = await replace(id, tracking, { 'if-match': etag });
    assert.deepEqual(changed.json, (await read(id)).json);
    assertError(await replace(id, {}, { 'if-match': etag }), 412, 'precondition_failed');
    assert.equal((await replace(id, tracking)).headers.etag, changed.headers.etag, 'no change, same ETag');
    const partly = await replace(id, { carrier: 'Courier' });
    assert.deepEqual(partly.json, { ...changed.json, ...nothing, carrier: 'Courier' });
    await move(id, 'deliver');
    assertError(await replace(id, tracking), 409, 'conflict');
    const events = await shop.app.database.all<{ data: string }>(
      sql`select data from event where subject = ${`order:${id}`} and type = 'order.shipment_changed'`,
    );
    assert.deepEqual(
      events.map(({ data }) => JSON.parse(data)),
      [{ id }, { id }],
    );
  });

  test('The shipment of an order refuses what is too long or not https, and then ships nothing', async () => {
    const { place, move, read, replace } = opened();
    const id = await place();
    await move(id, 'approve');
    const refused: [body: object, field: string][] = [
      [{ carrier: 'x'.repeat(81) }, 'carrier'],
      [{ carrier: ' ' }, 'carrier'],
      [{ trackingNumber: 'x'.repeat(81) }, 'trackingNumber'],
      [{ trackingNumber: 7 }, 'trackingNumber'],
      [{ trackingUrl: `https://a.example/${'x'.repeat(483)}` }, 'trackingUrl'],
      ...[
        'http://a.example',
        'javascript:alert(1)',
        'https://',
        'https://a b.example',
        'https://me@a.example/',
      ].map((trackingUrl): [object, string] => [{ trackingUrl }, 'trackingUrl']),
    ];
    for (const [body, field] of refused) {
      assertFields(await move(id, 'ship', body), [field]);
      assertFields(await replace(id, body), [field]);
    }
    assert.equal((await read(id)).json.shippedAt, null);
    assert.equal((await move(id, 'ship', { carrier: '🧀'.repeat(80) })).status, 200);
    assertError(await read(999_999), 404, 'not_found');
    assertError(await replace(999_999, tracking), 404, 'not_found');
  });

  test('The shipment of an order is in no dry run, and replayed once', async () => {
    const { place, move, read } = opened();
    const id = await place();
    await move(id, 'approve');
    assert.equal((await move(id, 'ship', tracking, { 'dry-run': 'true' })).status, 200);
    assert.deepEqual((await read(id)).json, { shippedAt: null, ...nothing });
    const once = { 'idempotency-key': `ship-${id}` };
    const first = await move(id, 'ship', tracking, once);
    assert.equal((await move(id, 'ship', tracking, once)).text, first.text);
    assertFields(await move(id, 'ship', { carrier: 'Other' }, once), ['']);
  });

  test('The shipment of an order is read by its customer only, changed by no customer, and deleted with the customer', async () => {
    const { shop, place, move, read, replace } = opened();
    const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
    const bearer = async (id: number) => ({ authorization: `Bearer ${await newSession(shop, id)}` });
    const sessions = { ada: await bearer(ada), bob: await bearer(bob) };
    const id = await place(sessions.ada);
    await move(id, 'approve');
    const path = `/v2/store/order/${id}/shipment`;
    for (const headers of [sessions.ada, sessions.bob]) {
      for (const as of [undefined, shop.admin]) {
        const acting = { headers, ...(as === undefined ? {} : { as }) };
        assertError(await shop.request('PUT', path, { ...acting, body: {} }), 403, 'forbidden');
        const ship = shop.request('POST', `/v2/store/order/${id}/ship`, { ...acting, body: tracking });
        assertError(await ship, 403, 'forbidden');
      }
    }
    const { json } = await move(id, 'ship', tracking);
    const own = await shop.request('GET', `/v2/customer/ada/orders/${id}/shipment`, {
      headers: sessions.ada,
    });
    assert.deepEqual(own.json, { shippedAt: json.shipDate, ...tracking });
    const beside = await shop.request('GET', path, { as: shop.reader, headers: sessions.ada });
    assert.deepEqual(beside.json, own.json);
    for (const [url, status] of [
      [`/v2/customer/ada/orders/${id}/shipment`, 403],
      [`/v2/customer/bob/orders/${id}/shipment`, 404],
    ] as const) {
      assert.equal((await shop.request('GET', url, { headers: sessions.bob })).status, status);
    }
    assert.equal((await shop.request('DELETE', '/v2/customer/ada', { headers: sessions.ada })).status, 204);
    assert.deepEqual((await read(id)).json, { shippedAt: json.shipDate, ...nothing });
    assert.equal((await replace(id, { carrier: 'Courier' })).status, 200);
  });

  test('The shipment of a test order is restored', async () => {
    const { shop, move, read, replace } = opened();
    assert.equal((await replace(5, tracking)).status, 200);
    assert.equal((await move(3, 'ship', tracking)).status, 200);
    await restoreTestOrders(shop.app.contextOf('system'));
    for (const id of [3, 5]) {
      assert.equal((await read(id)).json.carrier, null);
    }
  });
});
