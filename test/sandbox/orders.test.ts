/** Orders that ship and are delivered by themselves, while the clock is moved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, openShop } from '../helper.ts';
import { newCheese, newOrder, registerAndLogIn } from '../shop-verbs.ts';
import { advance, clockPath, findOrder } from './helper.ts';

const dayMs = 24 * 60 * 60_000;

onBothEngines('CURD_AUTO_SHIP and CURD_AUTO_DELIVER', (engine) => {
  const settings = { CURD_AUTO_SHIP: 'true', CURD_AUTO_DELIVER: '3d' };

  test('CURD_AUTO_SHIP and CURD_AUTO_DELIVER take an order through its life, each step at its time', async (t) => {
    const shop = await openShop(t, { engine, settings });
    const { headers: customer } = await registerAndLogIn(shop);
    const id = await newOrder(shop, [[await newCheese(shop, { pricePerKg: 20 }), 30]], { headers: customer });
    const dry = await shop.request('POST', clockPath, {
      as: shop.admin,
      body: { advance: '10d' },
      headers: { 'Dry-Run': 'effects' },
    });
    const types = JSON.parse(dry.text).effects.map(({ type }: { type: string }) => type);
    assert.deepEqual(
      types.filter((type: string) => type.startsWith('order.')),
      ['order.approved', 'order.shipped', 'order.delivered'],
    );
    assert.equal((await findOrder(shop, id)).status, 'placed');

    const did = await advance(shop, '10d');
    assert.deepEqual(did, { approved: 1, cancelled: 0, shipped: 1, delivered: 1, deliveries: 0 });
    assert.equal((await findOrder(shop, id)).status, 'delivered');
    const timeline = await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.admin });
    const times = timeline.json.items.map(({ at }: { at: string }) => Date.parse(at));
    const waits = times.slice(1).map((at: number, index: number) => at - times[index]);
    for (const [index, expected] of [5000, 2 * dayMs, 3 * dayMs].entries()) {
      assert.ok(waits[index] >= expected && waits[index] < expected + 60_000, `${index}: ${waits[index]}`);
    }
    const found = await shop.request('GET', `/v2/store/order/${id}/customer`, { as: shop.admin });
    assert.equal(found.json.customerStatus, 'silver', found.text);
  });

  test('CURD_AUTO_SHIP and CURD_AUTO_DELIVER leave orders alone that an operator ships or cancels first', async (t) => {
    const shop = await openShop(t, { engine, settings });
    const cheese = await newCheese(shop);
    const [first, second] = [await newOrder(shop, [[cheese, 30]]), await newOrder(shop, [[cheese, 30]])];
    await advance(shop, '1h');
    const change = (method: string, path: string) => shop.request(method, path, { as: shop.admin });
    assert.equal((await change('POST', `/v2/store/order/${first}/ship`)).status, 200);
    assert.equal((await change('DELETE', `/v2/store/order/${second}`)).status, 204);
    const did = await advance(shop, '30d');
    assert.deepEqual(did, { approved: 0, cancelled: 0, shipped: 0, delivered: 1, deliveries: 0 });
    assert.deepEqual(
      [(await findOrder(shop, first)).status, (await findOrder(shop, second)).status],
      ['delivered', 'cancelled'],
    );
  });
});
