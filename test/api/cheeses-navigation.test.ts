/** GET /cheeses: filters by origin, organic, price, age and missing fields, and sorts by price and age. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCatalogue } from '../../src/cheeses/consistency-check.ts';
import type { Cheese } from '../../src/cheeses/schemas.ts';
import { assertError, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import {
  createRandom,
  type Query,
  type Random,
  randomCheeses,
  randomQuery,
  sorts,
} from './navigation-model.ts';
import { assertListed, fill, idsOf, list, pages } from './navigation-requests.ts';

/** Random queries on SQLite. With more, the test takes longer and finds more. */
const rounds = Number(process.env.CURD_TEST_ROUNDS ?? 60);
/** Random writes, `CURD_TEST_WRITES=2000` for more. */
const writes = Number(process.env.CURD_TEST_WRITES ?? 60);
const size = 160;

/** Changes the catalogue in one of all ways. */
function randomWrite(shop: Shop, { next, pick, ...random }: Random, id: number, index: number) {
  const [input] = randomCheeses({ next, pick, ...random }, 1, 10_000 + index);
  const send = (method: string, url: string, body?: object) =>
    shop.request(method, url, { as: shop.writer, body, headers: { 'x-confirm-delete': 'true' } });
  const url = `/v2/cheeses/${id}`;
  return pick([
    () => send('POST', '/v2/cheeses', input),
    () => send('PUT', '/v2/cheeses', { ...input, id }),
    () =>
      send(
        'PATCH',
        url,
        pick([{ pricePerKg: null }, { origin: null, ageMonths: next(8) }, { tags: input?.tags }]),
      ),
    () => send('POST', url, { status: input?.status }),
    () => send('DELETE', url),
  ])();
}

onBothEngines('GET /cheeses with filters and sorts', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await fill(shop, randomCheeses(createRandom(7), size));
    return { shop, cheeses: await pages(shop, { limit: '100', sort: 'createdAt' }) };
  });

  test('GET /cheeses with filters returns in each sort what a plain filter and sort of all cheeses returns', async () => {
    const { shop, cheeses } = opened();
    assert.equal(cheeses.length, size);
    const random = createRandom(11);
    const count = engine === 'sqlite' ? rounds : Math.ceil(rounds / 4);
    let found = 0;
    for (let round = 0; round < count; round += 1) {
      const query = randomQuery(random, random.pick([3, 6, 12]));
      for (const sort of round % 8 === 0 ? sorts : [random.pick(sorts)]) {
        found += await assertListed(shop, cheeses, query, sort, random.pick(['3', '20', '100']));
      }
    }
    assert.ok(found > count, `${found} matches are too few to test anything`);
  });

  test('GET /cheeses with filters returns each untouched cheese once while others are created and deleted between pages', async () => {
    const { shop } = opened();
    const random = createRandom(13);
    for (const sort of sorts.slice(4)) {
      const query = { sort, limit: '40', status: 'available,sold' };
      const before = await pages(shop, query);
      const [seen, deleted]: [number[], Set<number>] = [[], new Set()];
      let next: Query | null = query;
      for (let page = 0; next !== null && page < 20; page += 1) {
        const { json } = await list(shop, next);
        seen.push(...idsOf(json.items));
        for (const id of [json.items.at(-1)?.id, random.pick(before).id]) {
          const gone = await shop.request('DELETE', `/v2/cheeses/${id}`, {
            as: shop.writer,
            headers: { 'x-confirm-delete': 'true' },
          });
          assert.ok(gone.status === 204 || gone.status === 404, gone.text);
          deleted.add(id);
        }
        await fill(shop, randomCheeses(random, 3, size + page * 10 + 1000 * sorts.indexOf(sort)));
        next = json.hasMore ? { cursor: json.nextCursor, limit: '40' } : null;
      }
      const known = new Set(idsOf(before));
      assert.deepEqual(
        seen.filter((id) => known.has(id) && !deleted.has(id)),
        idsOf(before).filter((id) => !deleted.has(id)),
        sort,
      );
    }
  });

  test('GET /cheeses with filters has right counters, price bands and postings after random writes', {
    timeout: 600_000,
  }, async () => {
    const { shop } = opened();
    const random = createRandom(19);
    for (let done = 0; done < writes; done += 20) {
      const ids = idsOf(await pages(shop, { limit: '100' }));
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const { status, text } = await randomWrite(shop, random, random.pick(ids), done + index);
          assert.ok([200, 201, 204, 404].includes(status), text);
        }),
      );
    }
    assert.deepEqual(await shop.app.database.snapshot(checkCatalogue), []);
  });
});

onBothEngines('GET /cheeses in a small catalogue', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    await fill(shop, [
      { name: 'A', category: { name: 'Gruyère' }, tags: [{ name: 'cow' }], pricePerKg: 5, ageMonths: 3 },
      { name: 'B', category: { name: 'GRUYERE' }, tags: [{ name: 'Cow' }], origin: 'Côte d’Ivoire' },
      { name: 'C', tags: [{ name: 'goat' }], pricePerKg: 7, ageMonths: 0 },
      { name: 'D', pricePerKg: 5 },
    ]);
    return shop;
  });
  const namesOf = async (query: Query) => {
    const { status, json, text } = await list(opened(), query);
    assert.equal(status, 200, text);
    return json.items.map(({ name }: Cheese) => name).join('');
  };

  test('GET /cheeses in a small catalogue compares category and origin without case and accents, and tags exactly', async () => {
    assert.equal(await namesOf({ category: 'gruyere' }), 'AB');
    assert.equal(await namesOf({ category: 'GRUYÈRE' }), 'AB');
    assert.equal(await namesOf({ origin: 'COTE D’IVOIRE' }), 'B');
    assert.equal(await namesOf({ tags: 'Cow' }), 'B');
    assert.equal(await namesOf({ tags: 'cow' }), 'A');
  });

  test('GET /cheeses in a small catalogue sorts cheeses without a price or age last in both directions, by id', async () => {
    assert.equal(await namesOf({ sort: 'pricePerKg' }), 'ADCB');
    assert.equal(await namesOf({ sort: '-pricePerKg' }), 'CDAB');
    assert.equal(await namesOf({ sort: 'ageMonths' }), 'CABD');
    assert.equal(await namesOf({ sort: '-ageMonths' }), 'ACBD');
  });

  test('GET /cheeses in a small catalogue finds a category by more spellings than are read one by one', async () => {
    const shop = opened();
    const spellings = Array.from({ length: 30 }, (_, index) =>
      [...'abcde'].map((letter, bit) => ((index >> bit) % 2 ? letter.toUpperCase() : letter)).join(''),
    );
    await fill(
      shop,
      spellings.map((name, index) => ({ name: `S${index}`, category: { name }, pricePerKg: index })),
    );
    const found = await pages(shop, { category: 'abcde', sort: '-pricePerKg', limit: '7' });
    assert.deepEqual(
      found.map(({ pricePerKg }) => pricePerKg),
      spellings.map((_, index) => index).reverse(),
    );
    assert.equal((await pages(shop, { category: 'abcde', sort: 'createdAt', limit: '7' })).length, 30);
    assert.equal((await pages(shop, { category: 'abcde', maxPrice: '9.5', organic: 'false' })).length, 10);
  });

  test('GET /cheeses in a small catalogue carries filters and sort in the cursor', async () => {
    const shop = opened();
    const first = { minPrice: '5', maxPrice: '7', sort: '-pricePerKg', limit: '1' };
    const { json } = await list(shop, first);
    const cursor = json.nextCursor;
    assert.equal((await list(shop, { ...first, cursor })).status, 200);
    for (const changed of [
      { sort: 'pricePerKg' },
      { minPrice: '4' },
      { organic: 'true' },
      { missing: 'image' },
    ]) {
      assertError(await list(shop, { ...first, ...changed, cursor }), 400, 'bad_request');
    }
  });

  test('GET /cheeses in a small catalogue returns 400 for a value that is not valid', async () => {
    const refused = `organic= organic=yes origin= category= minPrice= minPrice=abc minPrice=-1 minPrice=1000001
      maxPrice=1e3 maxPrice=.5 maxPrice=1. minPrice=5&maxPrice=4 minAge=1.5 maxAge=121 minAge=-1 minAge=3&maxAge=2
      missing= missing=price, missing=name sort=price sort=-origin minPrice=1&minPrice=2`;
    for (const query of refused.split(/\s+/)) {
      const response = await opened().request('GET', `/v2/cheeses?${query}`, { as: opened().reader });
      assertError(response, 400, 'bad_request');
    }
  });
});
