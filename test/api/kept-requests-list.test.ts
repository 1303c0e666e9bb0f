/** GET /v2/requests: filters and pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../src/database/sql.ts';
import { onBothEngines, openShop, type RequestOptions, testClock } from '../helper.ts';
import { cheese, send } from './request-helpers.ts';

interface Item {
  readonly id: string;
  readonly at: string;
  readonly status: number;
  readonly method: string;
  readonly route: string | null;
  readonly error: { readonly type: string } | null;
  readonly credential: { readonly id: string } | null;
}

onBothEngines('GET /v2/requests', (engine: Engine) => {
  test('GET /v2/requests has the items that a scan of all items gives, over pages', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const sent: [string, string, RequestOptions][] = [
      ['GET', '/v2/cheeses', { as: shop.reader }],
      ['GET', '/v2/cheeses/4711', { as: shop.reader }],
      ['POST', '/v2/cheeses', { as: shop.reader, body: cheese }],
      ['POST', '/v2/cheeses', { as: shop.writer, body: {} }],
      ['GET', '/v2/nowhere', { as: shop.reader }],
    ];
    for (let round = 0; round < 3; round += 1) {
      for (const [index, [method, url, options]] of sent.entries()) {
        clock.advance(1000);
        await send(shop, `r${round}-${index}`, method, url, options);
      }
    }
    async function pages(query: string, limit: number) {
      const items: Item[] = [];
      let url = `/v2/requests?limit=${limit}${query}`;
      for (let count = 0; count < 40; count += 1) {
        const { json, status } = await shop.request('GET', url, { as: shop.admin });
        assert.equal(status, 200);
        assert.equal(json.hasMore, json.nextCursor !== null);
        assert.ok(json.items.length <= limit);
        items.push(...json.items);
        if (json.nextCursor === null) {
          return items;
        }
        url = `/v2/requests?limit=${limit}&cursor=${json.nextCursor}`;
      }
      return assert.fail('the list does not end');
    }
    const all = await pages('', 100);
    assert.equal(all.length, 15);
    assert.deepEqual([all[0]?.id, all.at(-1)?.id], ['r2-4', 'r0-0']);
    const at = String(all[6]?.at);
    const writer = String(all[1]?.credential?.id);
    const filters: [string, (item: Item) => boolean][] = [
      ['&status=404', ({ status }) => status === 404],
      ['&status=4xx', ({ status }) => status >= 400 && status < 500],
      ['&status=2xx', ({ status }) => status >= 200 && status < 300],
      ['&method=POST', ({ method }) => method === 'POST'],
      [
        `&route=${encodeURIComponent('/v2/cheeses/{cheeseId}')}`,
        ({ route }) => route === '/v2/cheeses/{cheeseId}',
      ],
      ['&error=forbidden', ({ error }) => error?.type === 'forbidden'],
      [`&credential=${writer}`, ({ credential }) => credential?.id === writer],
      [`&from=${at}`, (item) => item.at >= at],
      [`&before=${at}`, (item) => item.at < at],
      [
        `&from=${at}&status=4xx&method=GET`,
        (item) => item.at >= at && item.status >= 400 && item.method === 'GET',
      ],
    ];
    for (const [query, matches] of filters) {
      const expected = all.filter((item) => matches(item));
      assert.ok(expected.length > 0 && expected.length < all.length, query);
      for (const limit of [1, 4, 100]) {
        assert.deepEqual(await pages(query, limit), expected, query);
      }
    }
  });

  test('GET /v2/requests refuses unknown values', async (t) => {
    const shop = await openShop(t, { engine });
    for (const query of [
      'status=6xx',
      'status=99',
      'from=yesterday',
      'method=BREW',
      'cursor=x',
      'limit=101',
    ]) {
      const { status } = await shop.request('GET', `/v2/requests?${query}`, { as: shop.admin });
      assert.equal(status, 400, query);
    }
  });

  test('GET /v2/requests reaches a match behind 5,000 requests that do not match', async (t) => {
    const shop = await openShop(t, { engine });
    await send(shop, 'needle', 'POST', '/v2/cheeses', { as: shop.reader, body: cheese });
    const at = new Date(shop.clock.now()).toISOString();
    await shop.app.database.insert(
      'request',
      ['request_id', 'owner', 'at', 'method', 'status', 'facts'],
      Array.from({ length: 5001 }, (_, index) => [`n-${index}`, '', at, 'GET', 404, '{}']),
    );
    const first = await shop.request('GET', '/v2/requests?status=403', { as: shop.admin });
    assert.deepEqual([first.json.items, first.json.hasMore], [[], true]);
    const second = await shop.request('GET', `/v2/requests?cursor=${first.json.nextCursor}`, {
      as: shop.admin,
    });
    assert.deepEqual(
      second.json.items.map(({ id }: { id: string }) => id),
      ['needle'],
    );
    assert.equal(second.json.hasMore, false);
  });
});
