import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, onBothEngines, openShop } from '../helper.ts';

onBothEngines('A cursor', (engine) => {
  test('of one list is refused by the other', async (t) => {
    const shop = await openShop(t, { engine });
    const as = await shop.newKey({ scopes: ['write:cheeses', 'write:orders'] });
    for (const name of ['Brie', 'Comté']) {
      await shop.call('POST', '/v2/cheeses', { as, body: { name, pricePerKg: 1 } });
      const body = {
        items: [{ cheeseId: 1, quantity: 1 }],
        shippingAddress: { street: 'Gasse 1', city: 'Bern', country: 'CH' },
      };
      await shop.call('POST', '/v2/store/order', { as, body });
    }
    const cursorOf = async (path: string) =>
      (await shop.call('GET', `${path}?limit=1`, { as })).json.nextCursor as string;
    const cheeses = await cursorOf('/v2/cheeses');
    const orders = await cursorOf('/v2/store/orders');
    assert.ok(cheeses.length > 20 && orders.length > 20);
    assertError(await shop.call('GET', `/v2/store/orders?cursor=${cheeses}`, { as }), 400, 'bad_request');
    assertError(await shop.call('GET', `/v2/cheeses?cursor=${orders}`, { as }), 400, 'bad_request');
  });

  test('of orders goes on whatever the order of its statuses, and dates that are none are refused', async (t) => {
    const shop = await openShop(t, { engine });
    const list = (query: string) => shop.call('GET', `/v2/store/orders?${query}`, { as: shop.reader });
    for (const date of [
      '2026-02-30T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '9999-12-31T23:59:59-12:00',
      '2026-13-01T00:00:00Z',
    ]) {
      assertError(await list(`createdFrom=${date}`), 400, 'bad_request');
    }
    assert.equal((await list('createdFrom=2024-02-29T00:00:00Z')).status, 200);
    const as = await shop.newKey({ scopes: ['write:cheeses', 'write:orders'] });
    await shop.call('POST', '/v2/cheeses', { as, body: { name: 'Brie', pricePerKg: 1 } });
    for (let order = 0; order < 2; order += 1) {
      const shippingAddress = { street: 'Gasse 1', city: 'Bern', country: 'CH' };
      const body = { items: [{ cheeseId: 1, quantity: 1 }], shippingAddress };
      await shop.call('POST', '/v2/store/order', { as, body });
    }
    const first = await list('limit=1&status=placed,approved');
    const next = await list(`limit=1&status=approved,placed&cursor=${first.json.nextCursor}`);
    assert.equal(next.status, 200);
    assert.equal(next.json.items.length, 1);
  });
});
