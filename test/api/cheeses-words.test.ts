/** Searches for several words, of which each has many cheeses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cheese, CheeseInput } from '../../src/cheeses/schemas.ts';
import { onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { createRandom, matches, type Query, type Random, randomCheeses, sorted } from './navigation-model.ts';
import { fill, idsOf, list, pages } from './navigation-requests.ts';

/** Random searches on SQLite, `CURD_TEST_SEARCHES=2000` for more. */
const searches = Number(process.env.CURD_TEST_SEARCHES ?? 200);
const size = 1200;
/** Words that no cheese has both of, although their cheeses are neighbors in every order. */
const apart = Array.from(
  { length: size },
  (_, index): CheeseInput => ({ name: `${1000 + index} ${index % 2 === 0 ? 'Alp' : 'Berg'}` }),
);

function randomSearch({ pick, isOneOf }: Random): Query {
  // More than a hundred words begin with 1.
  const words = ['gru', 'gruy', 'bl', 'tomme', 'f', 'b', '1'];
  return {
    q: isOneOf(5) ? 'tom gru f' : `${pick(words)} ${pick(words)}`,
    ...(isOneOf(3) ? { status: pick(['available', 'sold', 'pending,sold']) } : {}),
    ...(isOneOf(4) ? { tags: pick(['cow', 'cow,goat', 'smoked,none']) } : {}),
    ...(isOneOf(6) ? { organic: pick(['true', 'false']) } : {}),
    ...(isOneOf(5) ? { minPrice: pick(['5', '20']) } : {}),
  };
}

/** Asserts the first pages of a list. Returns how many cheeses match. */
async function assertPages(
  shop: Shop,
  cheeses: readonly Cheese[],
  query: Query,
  sort: string,
  limit: number,
) {
  const expected = idsOf(
    sorted(
      cheeses.filter((cheese) => matches(cheese, query)),
      sort,
    ),
  );
  let next: Query = { ...query, sort };
  for (let page = 0; page < 3; page += 1) {
    const { status, json, text } = await list(shop, { ...next, limit: String(limit) });
    assert.equal(status, 200, text);
    const context = `${JSON.stringify(query)} ${sort} ${limit}, page ${page}`;
    assert.deepEqual(idsOf(json.items), expected.slice(page * limit, (page + 1) * limit), context);
    assert.equal(json.total, expected.length, context);
    if (json.nextCursor === null) {
      break;
    }
    next = { cursor: json.nextCursor };
  }
  return expected.length;
}

onBothEngines('GET /cheeses with several words', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await fill(shop, [...randomCheeses(createRandom(23), size), ...apart]);
    return { shop, cheeses: await pages(shop, { limit: '100', sort: 'createdAt' }) };
  });

  test('GET /cheeses with several words returns what a plain filter and sort of all cheeses returns, page by page', async () => {
    const { shop, cheeses } = opened();
    const random = createRandom(29);
    const count = engine === 'sqlite' ? searches : searches / 5;
    let found = 0;
    for (let round = 0; round < count; round += 1) {
      const sort = random.pick(['name', '-name', 'createdAt', '-createdAt'] as const);
      found += await assertPages(shop, cheeses, randomSearch(random), sort, random.pick([3, 20]));
    }
    assert.ok(found > 10 * count, 'too few matches to test anything');
  });

  test('GET /cheeses with words inside of names in scripts without blanks returns their cheeses', async () => {
    const { shop } = opened();
    const sake = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'さけるチーズ' },
    });
    for (const [q, total] of [
      ['チーズ', 1],
      ['チー', 1],
      ['さける', 1],
      ['さける チーズ', 1],
      ['けるチーズ', 0],
      ['さ\u200bけるﾁｰｽﾞ', 1],
    ] as const) {
      assert.equal((await list(shop, { q })).json.total, total, q);
    }
    const url = `/v2/cheeses/${sake.json.id}`;
    await shop.request('PATCH', url, { as: shop.writer, body: { name: '山羊奶酪' } });
    assert.deepEqual(
      [(await list(shop, { q: 'チーズ' })).json.total, idsOf((await list(shop, { q: '奶酪' })).json.items)],
      [0, [sake.json.id]],
    );
    await shop.request('DELETE', url, { as: shop.writer, headers: { 'x-confirm-delete': 'true' } });
  });

  test('GET /cheeses with several words returns an empty page for words that no cheese has together', async () => {
    const { shop } = opened();
    for (const sort of ['name', '-name', 'createdAt', '-createdAt']) {
      const { json } = await list(shop, { q: 'alp berg', sort });
      assert.deepEqual([json.items, json.total], [[], 0]);
    }
  });
});
