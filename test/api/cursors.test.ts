/** Cursors: each is valid only for the list and the query that returned it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, bern, onBothEngines, openShop, type Shop } from '../helper.ts';

onBothEngines('A cursor', (engine) => {
  test('A cursor of one list is refused by the other list', async (t) => {
    const shop = await openShop(t, { engine });
    const as = await shop.createKey({ scopes: ['write:cheeses', 'write:orders'] });
    for (const name of ['Brie', 'Comté']) {
      await shop.request('POST', '/v2/cheeses', { as, body: { name, pricePerKg: 1 } });
      const body = {
        items: [{ cheeseId: 1, quantity: 1 }],
        shippingAddress: bern,
      };
      await shop.request('POST', '/v2/store/order', { as, body });
    }
    const cursorOf = async (path: string) =>
      (await shop.request('GET', `${path}?limit=1`, { as })).json.nextCursor as string;
    const cheeses = await cursorOf('/v2/cheeses');
    const orders = await cursorOf('/v2/store/orders');
    assert.ok(cheeses.length > 20 && orders.length > 20);
    assertError(await shop.request('GET', `/v2/store/orders?cursor=${cheeses}`, { as }), 400, 'bad_request');
    assertError(await shop.request('GET', `/v2/cheeses?cursor=${orders}`, { as }), 400, 'bad_request');
  });

  test('A cursor of orders is valid for statuses in any order, and invalid dates are refused', async (t) => {
    const shop = await openShop(t, { engine });
    const list = (query: string) => shop.request('GET', `/v2/store/orders?${query}`, { as: shop.reader });
    for (const date of [
      '2026-02-30T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '9999-12-31T23:59:59-12:00',
      '2026-13-01T00:00:00Z',
    ]) {
      assertError(await list(`createdFrom=${date}`), 400, 'bad_request');
    }
    assert.equal((await list('createdFrom=2024-02-29T00:00:00Z')).status, 200);
    const as = await shop.createKey({ scopes: ['write:cheeses', 'write:orders'] });
    await shop.request('POST', '/v2/cheeses', { as, body: { name: 'Brie', pricePerKg: 1 } });
    for (let order = 0; order < 2; order += 1) {
      const body = { items: [{ cheeseId: 1, quantity: 1 }], shippingAddress: bern };
      await shop.request('POST', '/v2/store/order', { as, body });
    }
    const first = await list('limit=1&status=placed,approved');
    const next = await list(`limit=1&status=approved,placed&cursor=${first.json.nextCursor}`);
    assert.equal(next.status, 200);
    assert.equal(next.json.items.length, 1);
  });
});

// Cursors are checked before the database is read, so one engine is enough.
test('A cursor that was altered, or is sent with another query or to another shop, is refused', async (t) => {
  const shop = await openShop(t);
  for (const name of ['gra', 'grb']) {
    const body = { name, tags: [{ name: 'cow' }] };
    await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
  }
  const query = 'sort=-name&status=sold,available&tags=goat,cow&q=gr&limit=1';
  const list = (to: Shop, text: string) => to.request('GET', `/v2/cheeses?${text}`, { as: to.reader });
  const cursor: string = (await list(shop, query)).json.nextCursor;
  const changed = 'sort=name status=available tags=cow tagsAll=cow category=Hard categoryId=1 q=g limit=0';
  const altered = [...cursor].map(
    (was, index) => `${cursor.slice(0, index)}${was === 'A' ? 'B' : 'A'}${cursor.slice(index + 1)}`,
  );
  const odd = [cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}.A`, `%20${cursor}`, '.'];
  const other = await openShop(t, { settings: { CURD_SECRET: 'another secret, good for tests as well' } });
  for (const [to, text] of [
    ...[...changed.split(' '), `cursor=${cursor}`].map((more) => [shop, `cursor=${cursor}&${more}`] as const),
    ...[...altered, ...odd].map((one) => [shop, `cursor=${one}`] as const),
    [other, `cursor=${cursor}`] as const,
  ]) {
    const response = await list(to, text);
    assert.equal(response.status, 400, text);
    assertError(response, 400, 'bad_request');
  }
  assert.equal((await list(shop, `cursor=${cursor}`)).status, 200);
});
