/** Orders that an operator places for a customer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertError, assertFields, bern, onBothEngines, openShop, shared } from '../helper.ts';
import { newCheese, orderOf } from '../shop-verbs.ts';

async function openCounter(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  const ada = await newCustomer(shop, 'ada', 'customer');
  const session = { authorization: `Bearer ${await newSession(shop, ada)}` };
  const body = orderOf([[await newCheese(shop, { pricePerKg: 20 }), 2]]);
  const placeFor = (customerId: unknown, more: object = {}) =>
    shop.request('POST', `/v2/store/order?customerId=${customerId}`, { as: shop.admin, body, ...more });
  const listOf = async (headers: Readonly<Record<string, string>>): Promise<number[]> =>
    (await shop.request('GET', '/v2/customer/ada/orders', { headers })).json.items.map(
      ({ id }: { id: number }) => id,
    );
  return { shop, ada, session, placeFor, listOf };
}

onBothEngines('POST /store/order with customerId', (engine) => {
  const opened = shared((t) => openCounter(t, engine));

  test('POST /store/order with customerId places an order that is the customer’s, and names the operator', async () => {
    const { shop, ada, session, placeFor, listOf } = opened();
    const placed = await placeFor(ada);
    assert.equal(placed.status, 201, placed.text);
    const { id } = placed.json;
    assert.ok((await listOf(session)).includes(id));
    const timeline = await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.admin });
    assert.match(timeline.json.items[0].by, /^key:\d+$/);
    const listed = await shop.request('GET', `/v2/store/orders?customerId=${ada}`, { as: shop.admin });
    assert.ok(listed.json.items.some((order: { id: number }) => order.id === id));
    for (const verb of ['approve', 'ship', 'deliver']) {
      await shop.request('POST', `/v2/store/order/${id}/${verb}`, { as: shop.admin });
    }
    const { json } = await shop.request('GET', `/v2/customers/${ada}`, { as: shop.admin });
    assert.equal(json.deliveredTotal, 40);
    const cancelled = await placeFor(ada);
    const own = `/v2/customer/ada/orders/${cancelled.json.id}`;
    assert.equal((await shop.request('DELETE', own, { headers: session })).status, 204);
  });

  test('POST /store/order with customerId is 403 without the scope admin and beside the credential of a customer', async () => {
    const { shop, ada, session, placeFor, listOf } = opened();
    const before = await listOf(session);
    const seller = await shop.createKey({ scopes: ['write:orders'] });
    for (const acting of [
      { as: seller },
      { as: seller, headers: session },
      { as: shop.admin, headers: session },
    ]) {
      assertError(await placeFor(ada, acting), 403, 'forbidden');
      assertError(await placeFor(999_999, acting), 403, 'forbidden');
    }
    assert.deepEqual(await listOf(session), before);
  });

  test('POST /store/order with customerId is 404 for an unknown customer, and 422 for what is no id', async () => {
    const { placeFor } = opened();
    assertError(await placeFor(999_999), 404, 'not_found');
    for (const invalid of ['0', '-1', 'ada', '1.5', '', '9007199254740993']) {
      assertFields(await placeFor(invalid), ['customerId']);
    }
  });

  test('POST /store/order with customerId is a quote in a dry run, and replayed for its key from an encrypted response', async () => {
    const { shop, ada, session, placeFor, listOf } = opened();
    const before = await listOf(session);
    const quote = await placeFor(ada, { headers: { 'dry-run': 'true' } });
    assert.deepEqual([quote.status, quote.json.total], [201, 40]);
    assert.deepEqual(await listOf(session), before);
    const once = { headers: { 'idempotency-key': 'call-1' } };
    assert.equal((await placeFor(ada, once)).text, (await placeFor(ada, once)).text);
    assert.equal((await listOf(session)).length, before.length + 1);
    const stored = await shop.app.database.all<{ response: string }>(
      sql`select response from stored_response`,
    );
    assert.ok(stored.length > 0);
    assert.doesNotMatch(stored.map(({ response }) => response).join(), new RegExp(bern.street));
  });
});
