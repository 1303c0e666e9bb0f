/** Availability: what visitors may know of stock, and that orders agree with it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { newCheese, newOrder, placeOrder } from '../shop-verbs.ts';
import { adjust, trackedCheese } from './stock.ts';

const read = (shop: Shop, path: string) => shop.request('GET', `/v2${path}`, { as: shop.reader });

onBothEngines('Availability', (engine) => {
  const open = shared((t) => openShop(t, { engine }));
  const openStrict = shared((t) => openShop(t, { engine, settings: { CURD_REQUIRE_PRICE: 'true' } }));

  async function availabilityOf(shop: Shop, id: number) {
    const { status, headers, json, text } = await read(shop, `/cheeses/${id}/availability`);
    assert.deepEqual([status, headers['cache-control']], [200, 'private, no-cache'], text);
    const order = await placeOrder(shop, [[id, Math.max(1, json.kilograms ?? 1)]], {
      headers: { 'dry-run': 'true' },
    });
    assert.equal(order.status < 300, json.orderable, order.text);
    if (json.kilograms !== null && json.kilograms < 100) {
      const more = await placeOrder(shop, [[id, json.kilograms + 1]], { headers: { 'dry-run': 'true' } });
      assertError(more, 422, 'validation_error');
    }
    const { cheeseId, ...rest } = json;
    assert.equal(cheeseId, id);
    return rest;
  }

  test('The availability of a cheese is what an order can have, at most 100 kg', async () => {
    const shop = open();
    const id = await trackedCheese(shop, 7);
    assert.deepEqual(await availabilityOf(shop, id), { orderable: true, kilograms: 7 });
    await newOrder(shop, [[id, 4]]);
    assert.deepEqual(await availabilityOf(shop, id), { orderable: true, kilograms: 3 });
    await adjust(shop, id, 500);
    assert.deepEqual(await availabilityOf(shop, id), { orderable: true, kilograms: 100 });
    // Less than is reserved.
    await adjust(shop, id, -505);
    assert.deepEqual(await availabilityOf(shop, id), { orderable: false, kilograms: 0 });
  });

  test('The availability of a cheese is null kilograms for a cheese that is not tracked, and not orderable with another status', async () => {
    const shop = open();
    const [untracked, pending] = [await newCheese(shop), await newCheese(shop, { status: 'pending' })];
    assert.deepEqual(await availabilityOf(shop, untracked), { orderable: true, kilograms: null });
    assert.deepEqual(await availabilityOf(shop, pending), { orderable: false, kilograms: null });
    const sold = await trackedCheese(shop, 7);
    const status = { as: shop.writer, body: { status: 'sold' } };
    assert.equal((await shop.request('PATCH', `/v2/cheeses/${sold}`, status)).status, 200);
    assert.deepEqual(await availabilityOf(shop, sold), { orderable: false, kilograms: 0 });
  });

  test('The availability of a cheese depends on the price where orders need one', async () => {
    const withoutPrice = { pricePerKg: undefined };
    const orderable = await availabilityOf(open(), await newCheese(open(), withoutPrice));
    assert.deepEqual(orderable, { orderable: true, kilograms: null });
    const refused = await availabilityOf(openStrict(), await newCheese(openStrict(), withoutPrice));
    assert.deepEqual(refused, { orderable: false, kilograms: null });
  });

  test('The availability of a cheese is listed for up to 100 cheeses in the order of the ids, without those that do not exist', async () => {
    const shop = open();
    const [one, other] = [await trackedCheese(shop, 5), await newCheese(shop)];
    const { status, headers, json } = await read(
      shop,
      `/availability?cheeseIds=${other},999999999,${one},${other}`,
    );
    assert.deepEqual([status, headers['cache-control']], [200, 'private, no-cache']);
    assert.deepEqual(json, {
      items: [
        { cheeseId: other, orderable: true, kilograms: null },
        { cheeseId: one, orderable: true, kilograms: 5 },
      ],
    });
    const many = Array.from({ length: 101 }, (_, index) => index + 1).join();
    for (const query of ['', '?cheeseIds=', '?cheeseIds=x', '?cheeseIds=1.5', `?cheeseIds=${many}`]) {
      assertError(await read(shop, `/availability${query}`), 400, 'bad_request');
    }
    assertError(await read(shop, '/cheeses/999999999/availability'), 404, 'not_found');
    assertError(await shop.request('GET', `/v2/cheeses/${one}/availability`), 401, 'unauthorized');
  });
});
