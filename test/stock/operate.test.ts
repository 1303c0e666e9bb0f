/** /cheeses/{cheeseId}/stock and /stock: reading, counting, adjusting, and the end of tracking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertFields, onBothEngines, openShop, shared } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import {
  adjust,
  assertConsistent,
  eventsOf,
  levelsOf,
  putStock,
  stockOf,
  trackedCheese,
  untrack,
} from './stock.ts';

onBothEngines('Stock', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('GET of a stock returns 404 for an unknown cheese and for one that is not tracked', async () => {
    const shop = opened();
    const id = await newCheese(shop);
    const untracked = await stockOf(shop, id);
    assertError(untracked, 404, 'not_found');
    assert.match(untracked.json.message, new RegExp(`not tracked.*PUT /v2/cheeses/${id}/stock`));
    for (const response of [
      await stockOf(shop, 9_999_999),
      await putStock(shop, 9_999_999, { onHand: 1 }),
      await adjust(shop, 9_999_999, 1),
      await untrack(shop, 9_999_999),
    ]) {
      assertError(response, 404, 'not_found');
      assert.match(response.json.message, /no cheese/);
    }
    assertError(await adjust(shop, id, 1), 404, 'not_found');
    assertError(await untrack(shop, id), 404, 'not_found');
  });

  test('PUT of a stock begins to track a cheese, then sets the quantity; DELETE ends it', async () => {
    const shop = opened();
    const id = await newCheese(shop);
    const created = await putStock(shop, id, { onHand: 50, lowAt: 10 });
    assert.equal(created.status, 201, created.text);
    const { trackedSince, ...levels } = created.json;
    assert.deepEqual(levels, { onHand: 50, reserved: 0, available: 50, lowAt: 10 });
    const read = await stockOf(shop, id);
    assert.deepEqual([read.json, read.headers.etag], [created.json, created.headers.etag]);

    const same = await putStock(shop, id, { onHand: 50, lowAt: 10 });
    assert.deepEqual([same.status, same.headers.etag], [200, created.headers.etag]);
    const changed = await putStock(shop, id, { onHand: 40 });
    assert.deepEqual(changed.json, { onHand: 40, reserved: 0, available: 40, lowAt: null, trackedSince });
    assert.notEqual(changed.headers.etag, created.headers.etag);

    assert.equal((await untrack(shop, id)).status, 204);
    assertError(await stockOf(shop, id), 404, 'not_found');
    assertError(await untrack(shop, id), 404, 'not_found');
    assert.deepEqual(await eventsOf(shop, `stock:${id}`), [
      {
        type: 'stock.adjusted',
        data: {
          cheeseId: id,
          onHand: 50,
          reserved: 0,
          available: 50,
          deltaKg: 50,
          reason: 'tracking_started',
        },
      },
      {
        type: 'stock.adjusted',
        data: { cheeseId: id, onHand: 40, reserved: 0, available: 40, deltaKg: -10, reason: 'counted' },
      },
      {
        type: 'stock.adjusted',
        data: { cheeseId: id, onHand: 0, reserved: 0, available: 0, deltaKg: -40, reason: 'tracking_ended' },
      },
    ]);
  });

  test('PUT of a stock returns 412 when If-Match names another version, or nothing is tracked', async () => {
    const shop = opened();
    const id = await newCheese(shop);
    assertError(await putStock(shop, id, { onHand: 1 }, { 'if-match': '*' }), 412, 'precondition_failed');
    const { headers } = await putStock(shop, id, { onHand: 1 });
    assert.equal((await adjust(shop, id, 1)).status, 201);
    assertError(
      await putStock(shop, id, { onHand: 5 }, { 'if-match': headers.etag ?? '' }),
      412,
      'precondition_failed',
    );
    const { etag = '' } = (await stockOf(shop, id)).headers;
    assert.equal((await putStock(shop, id, { onHand: 5 }, { 'if-match': etag })).status, 200);
    assert.deepEqual(await levelsOf(shop, id), [5, 0, 5]);
  });

  test('POST of stock adjustments adds and subtracts, and returns 422 when less than nothing would be left', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 20);
    const received = await adjust(shop, id, 30);
    assert.deepEqual([received.status, received.json.onHand], [201, 50]);
    assert.equal((await adjust(shop, id, -5, 'spoiled')).json.onHand, 45);
    const refused = await adjust(shop, id, -46, 'sold_elsewhere');
    assertFields(refused, ['deltaKg']);
    assert.match(refused.json.message, /only 45 kg are on hand/);
    assertFields(await adjust(shop, id, 0), ['deltaKg']);
    assertFields(await adjust(shop, id, 1_000_000_000), ['deltaKg']);
    assertFields(await adjust(shop, id, 1, 'stolen by mice'), ['reason']);
    assertFields(await putStock(shop, id, { onHand: -1, lowAt: 1.2345 }), ['onHand', 'lowAt']);
    assert.deepEqual(await levelsOf(shop, id), [45, 0, 45]);
    const events = await eventsOf(shop, `stock:${id}`);
    assert.deepEqual(
      events.map(({ data }) => (data as { reason: string }).reason),
      ['tracking_started', 'received', 'spoiled'],
    );
  });

  test('POST of stock adjustments with an Idempotency-Key is done once', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 1);
    const post = () =>
      shop.request('POST', `/v2/cheeses/${id}/stock/adjustments`, {
        as: shop.writer,
        headers: { 'idempotency-key': `adjust-${id}` },
        body: { deltaKg: 2, reason: 'received' },
      });
    const [first, second] = [await post(), await post()];
    assert.deepEqual([first.status, second.status, second.text], [201, 201, first.text]);
    assert.deepEqual(await levelsOf(shop, id), [3, 0, 3]);
  });

  test('GET /events?subject=stock:12 lists the history of adjustments', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 7);
    const list = () => shop.request('GET', `/v2/events?subject=stock:${id}`, { as: shop.reader });
    const until = Date.now() + 10_000;
    let response = await list();
    while (response.json.items.length === 0 && Date.now() < until) {
      response = await list();
    }
    assert.deepEqual(
      response.json.items.map(({ type, data }: { type: string; data: object }) => [type, data]),
      [
        [
          'stock.adjusted',
          { cheeseId: id, onHand: 7, reserved: 0, available: 7, deltaKg: 7, reason: 'tracking_started' },
        ],
      ],
    );
  });

  test('GET /stock lists tracked cheeses by id, over pages, with exact totals', async (t) => {
    const shop = await openShop(t, { engine });
    const ids: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      await newCheese(shop);
      ids.push(await trackedCheese(shop, index, index % 2 === 0 ? 2 : null));
    }
    const list = (query: string) => shop.request('GET', `/v2/stock?${query}`, { as: shop.reader });
    const first = await list('limit=3');
    assert.deepEqual([first.json.total, first.json.hasMore], [5, true]);
    const second = await list(`limit=3&cursor=${first.json.nextCursor}`);
    const all = [...first.json.items, ...second.json.items];
    assert.deepEqual(
      all.map(({ cheeseId }) => cheeseId),
      ids,
    );
    assert.deepEqual([second.json.total, second.json.nextCursor], [5, null]);
    const { trackedSince, cheeseName, ...item } = all[2];
    assert.deepEqual(item, {
      cheeseId: ids[2],
      status: 'available',
      onHand: 2,
      reserved: 0,
      available: 2,
      lowAt: 2,
    });
    const idsOf = ({ json }: { json: { items: { cheeseId: number }[] } }) =>
      json.items.map(({ cheeseId }) => cheeseId);
    const low = await list('low=true');
    assert.deepEqual([idsOf(low), low.json.total], [[ids[0], ids[2]], 2]);
    const sorted = await list('limit=2&sort=level');
    assertError(await list(`sort=cheeseId&cursor=${sorted.json.nextCursor}`), 400, 'bad_request');
    const some = await list(`cheeseIds=${ids[4]},${ids[1]},9999999`);
    assert.deepEqual([idsOf(some), some.json.total], [[ids[1], ids[4]], 2]);
    assert.deepEqual(idsOf(await list(`low=true&cheeseIds=${ids.join(',')}`)), [ids[0], ids[2]]);
    for (const query of [
      'low=maybe',
      'low=false',
      'cheeseIds=1,x',
      'cheeseIds=0',
      'cheeseIds=',
      `cheeseIds=${Array.from({ length: 101 }, (_, index) => index + 1)}`,
      `low=true&cursor=${first.json.nextCursor}`,
    ]) {
      assertError(await list(query), 400, 'bad_request');
    }
    assert.equal((await untrack(shop, ids[0] ?? 0)).status, 204);
    await shop.request('DELETE', `/v2/cheeses/${ids[1]}`, {
      as: shop.writer,
      headers: { 'x-confirm-delete': 'true' },
    });
    assert.equal((await list('')).json.total, 3);
    await assertConsistent(shop);
  });

  test('GET /stock?sort=level lists what is not available first, then what is low, over pages', async (t) => {
    const shop = await openShop(t, { engine });
    const enough = await trackedCheese(shop, 9);
    const low = await trackedCheese(shop, 3, 3);
    // Without a number lowAt, too.
    const gone = [await trackedCheese(shop, 0), await trackedCheese(shop, 0, 5)];
    const sold = await trackedCheese(shop, 4);
    await newOrder(shop, [[sold, 4]]);
    const expected = [...gone, sold, low, enough];
    for (const [query, ids] of [
      ['sort=level', expected],
      ['sort=level&low=true', expected.slice(0, -1)],
      ['low=true', [low, ...gone, sold]],
      ['sort=cheeseId', [enough, low, ...gone, sold]],
      [`sort=level&cheeseIds=${enough},${sold}`, [sold, enough]],
    ] as const) {
      const read: number[] = [];
      for (let cursor = ''; ; ) {
        const url = cursor === '' ? `${query}&limit=2` : `limit=2&cursor=${cursor}`;
        const { status, json, text } = await shop.request('GET', `/v2/stock?${url}`, { as: shop.reader });
        assert.equal(status, 200, text);
        assert.equal(json.total, ids.length);
        read.push(...json.items.map(({ cheeseId }: { cheeseId: number }) => cheeseId));
        if (json.nextCursor === null) {
          break;
        }
        cursor = json.nextCursor;
      }
      assert.deepEqual(read, ids, query);
    }
    assertError(await shop.request('GET', '/v2/stock?sort=name', { as: shop.reader }), 400, 'bad_request');
  });

  test('DELETE of a stock ends the reservations and keeps the orders', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 5);
    const order = await newOrder(shop, [[id, 3]]);
    assert.deepEqual(await levelsOf(shop, id), [5, 3, 2]);
    assert.equal((await untrack(shop, id)).status, 204);
    await assertConsistent(shop);
    await newOrder(shop, [[id, 100]]);
    const again = await putStock(shop, id, { onHand: 5 });
    assert.deepEqual([again.status, again.json.reserved], [201, 103], String(order));
    await assertConsistent(shop);
  });
});
