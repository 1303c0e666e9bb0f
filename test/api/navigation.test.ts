/** GET /categories, GET /tags, and facets of GET /cheeses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { createRandom, type Query, randomCheeses, randomQuery } from './navigation-model.ts';
import { assertFacets, type Facet, fill } from './navigation-requests.ts';

/** Random queries on SQLite. With more, the test takes longer and finds more. */
const rounds = Number(process.env.CURD_TEST_ROUNDS ?? 25);

async function get(shop: Shop, path: string, query: Query = {}) {
  const { status, json, text } = await shop.request('GET', `/v2${path}?${new URLSearchParams(query)}`, {
    as: shop.reader,
  });
  assert.equal(status, 200, text);
  return json;
}

onBothEngines('GET /cheeses with facets', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await fill(shop, randomCheeses(createRandom(5), 150));
    return shop;
  });

  test('GET /cheeses with facets counts for each value the cheeses of the list with that value, under random filters', async () => {
    const shop = opened();
    const random = createRandom(17);
    const count = engine === 'sqlite' ? rounds : rounds / 5;
    let values = 0;
    for (let round = 0; round < count; round += 1) {
      values += await assertFacets(shop, round === 0 ? {} : randomQuery(random, random.pick([4, 8])));
    }
    assert.ok(values > 5 * count, 'too few values to test anything');
  });

  test('GET /cheeses with facets adds facets to any page, and only where they are requested', async () => {
    const shop = opened();
    const first = await get(shop, '/cheeses', { limit: '3', facets: 'organic' });
    assert.deepEqual(Object.keys(first), ['items', 'nextCursor', 'hasMore', 'total', 'facets']);
    const second = await get(shop, '/cheeses', { cursor: first.nextCursor, limit: '3' });
    assert.deepEqual(Object.keys(second), ['items', 'nextCursor', 'hasMore', 'total']);
    const again = await get(shop, '/cheeses', {
      cursor: first.nextCursor,
      limit: '3',
      facets: 'status,organic',
    });
    assert.deepEqual(again.items, second.items);
    assert.deepEqual(again.facets.organic, first.facets.organic);
    for (const query of ['facets=', 'facets=price', 'facets=tags,', 'facets=tags,Tags']) {
      assertError(await shop.request('GET', `/v2/cheeses?${query}`, { as: shop.reader }), 400, 'bad_request');
    }
  });

  test('GET /cheeses with facets joins spellings of one category under the most frequent one', async () => {
    const shop = opened();
    const before = (await get(shop, '/cheeses', { facets: 'category' })).facets.category.values;
    const [first] = before.filter(({ value }: { value: string }) => /^h.rd$/i.test(value));
    assert.equal(before.filter(({ value }: { value: string }) => /^h.rd$/i.test(value)).length, 1);
    assert.equal(first.count, (await get(shop, '/cheeses', { category: 'hard' })).total);
  });
});

onBothEngines('GET /cheeses with facets in a larger catalogue', (engine) => {
  const size = 2100;
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await fill(
      shop,
      Array.from({ length: size }, (_, index) => ({
        name: `Cheese ${index}`,
        origin: index < 50 ? 'Spain' : 'France',
        tags: [{ name: 'cow' }, { name: `t${index % 120}` }],
        pricePerKg: index % 100,
      })),
    );
    return shop;
  });

  test('GET /cheeses with facets in a larger catalogue returns at most 100 values and how many follow', async () => {
    const { tags } = (await get(opened(), '/cheeses', { facets: 'tags' })).facets;
    assert.deepEqual([tags.values.length, tags.more], [100, 21]);
    assert.deepEqual(tags.values[0], { value: 'cow', count: size });
    assert.equal(tags.values[1].count, 18);
  });

  test('GET /cheeses with facets in a larger catalogue returns exact counts for any number of matches under other filters', async () => {
    const shop = opened();
    const countsOf = async (query: Query) => {
      const found: Record<string, Facet> = (
        await get(shop, '/cheeses', { ...query, facets: 'origin,status' })
      ).facets;
      return Object.values(found).map(({ values }) => values.map(({ count }) => count));
    };
    assert.deepEqual(await countsOf({}), [[size - 50, 50], [size]]);
    assert.deepEqual(await countsOf({ tagsAll: 'cow' }), [[size - 50, 50], [size]]);
    assert.deepEqual(await countsOf({ tagsAll: 'cow', minPrice: '1' }), [[size - 70, 49], [size - 21]]);
    assert.deepEqual(await countsOf({ tagsAll: 'cow', minPrice: '5' }), [[1950, 45], [size - 105]]);
    assert.deepEqual(await countsOf({ minPrice: '99' }), [[21], [21]]);
    assert.deepEqual(await countsOf({ origin: 'spain' }), [[size - 50, 50], [50]]);
  });
});

onBothEngines('GET /categories and GET /tags', (engine) => {
  const names = ['Brie', 'bries', 'Émmental', 'emmental', 'Zola', 'Œuf'];
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await fill(
      shop,
      names.map((name, index) => ({
        name: `Cheese ${index}`,
        category: { name },
        tags: [{ name: 'cow' }, { name }],
        status: index % 2 === 0 ? 'available' : 'sold',
      })),
    );
    await fill(shop, [{ name: 'Gone', category: { name: 'Gone' } }]);
    const { items } = await get(shop, '/cheeses', { q: 'gone' });
    await shop.request('DELETE', `/v2/cheeses/${items[0].id}`, {
      as: shop.writer,
      headers: { 'x-confirm-delete': 'true' },
    });
    return shop;
  });
  const listed = async (path: string, query: Query = {}) =>
    (await get(opened(), path, query)).items.map((one: { name: string; cheeses: number }) => [
      one.name,
      one.cheeses,
    ]);

  test('GET /categories and GET /tags list names without case and accents, with their cheeses in the requested statuses', async () => {
    const sorted = ['Brie', 'bries', 'Émmental', 'emmental', 'Œuf', 'Zola'];
    assert.deepEqual(
      await listed('/categories'),
      sorted.map((name) => [name, 1]),
    );
    assert.deepEqual(await listed('/tags'), [
      ...sorted.slice(0, 2).map((name) => [name, 1]),
      ['cow', 6],
      ...sorted.slice(2).map((name) => [name, 1]),
    ]);
    assert.deepEqual(await listed('/categories', { status: 'sold' }), [
      ['bries', 1],
      ['emmental', 1],
      ['Œuf', 1],
    ]);
    assert.deepEqual(await listed('/tags', { q: 'ÉMM' }), [
      ['Émmental', 1],
      ['emmental', 1],
    ]);
    assert.deepEqual(await listed('/tags', { q: 'oe', status: 'available' }), []);
    assert.deepEqual(await listed('/categories', { q: 'g' }), []);
    assert.deepEqual(await listed('/categories', { q: 'g', empty: 'true' }), [['Gone', 0]]);
  });

  test('GET /categories and GET /tags continue by cursor with exact totals, a Link and the ETag of the catalogue', async () => {
    const shop = opened();
    for (const [path, total] of [
      ['/categories', 6],
      ['/tags', 7],
    ] as const) {
      const found: string[] = [];
      let url: string | undefined = `/v2${path}?limit=2`;
      while (url !== undefined) {
        const { status, json, headers, text } = await shop.request('GET', url, { as: shop.reader });
        assert.equal(status, 200, text);
        assert.equal(json.total, total);
        assert.equal(json.hasMore, json.nextCursor !== null);
        found.push(...json.items.map(({ name }: { name: string }) => name));
        url = /<([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
        const same = await shop.request('GET', `/v2${path}`, {
          as: shop.reader,
          headers: { 'if-none-match': headers.etag ?? '' },
        });
        assert.equal(same.status, 304);
      }
      assert.deepEqual(
        found,
        (await listed(path, { limit: '100' })).map(([name]: [string]) => name),
      );
    }
  });

  test('GET /categories and GET /tags return 400 for a parameter that is not valid and a cursor of another list', async () => {
    const shop = opened();
    const { nextCursor } = await get(shop, '/tags', { limit: '1', status: 'available' });
    const refused = `q= limit=0 limit=101 empty= empty=1 status= status=gone cursor= cursor=x q=a&q=b`.split(
      ' ',
    );
    for (const query of [...refused, `status=sold&cursor=${nextCursor}`]) {
      assertError(await shop.request('GET', `/v2/tags?${query}`, { as: shop.reader }), 400, 'bad_request');
    }
    const other = await shop.request('GET', `/v2/categories?cursor=${nextCursor}`, { as: shop.reader });
    assertError(other, 400, 'bad_request');
  });
});
