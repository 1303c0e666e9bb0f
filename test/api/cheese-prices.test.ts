/** GET /cheeses/{cheeseId}/prices: the prices of the past, the lowest of 30 days, and reductions. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkPrices } from '../../src/cheeses/prices/consistency-check.ts';
import { percentOff } from '../../src/cheeses/prices/price-list.ts';
import { pricesMax } from '../../src/cheeses/prices/record.ts';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Scope, type Shop, shared, testClock } from '../helper.ts';
import { deleteCheese } from '../shop-verbs.ts';

const day = 86_400_000;

async function openPriced(t: Scope, engine: 'sqlite' | 'postgres') {
  const clock = testClock();
  const shop = await openShop(t, { engine, clock });
  const read = async (id: number, query = '') => {
    const response = await shop.request('GET', `/v2/cheeses/${id}/prices${query}`, { as: shop.reader });
    assert.equal(response.status, 200, response.text);
    return response.json;
  };
  const set = async (id: number, pricePerKg: number | null) => {
    const options = { as: shop.writer, body: { pricePerKg } };
    assert.equal((await shop.request('PATCH', `/v2/cheeses/${id}`, options)).status, 200);
  };
  /** A cheese whose price was changed, each time after some days. */
  const priced = async (first: number | null, ...changes: readonly (readonly [number, number | null])[]) => {
    const price = first === null ? {} : { pricePerKg: first };
    const body = { name: `Priced ${randomUUID()}`, ...price };
    const { id } = (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json;
    for (const [days, pricePerKg] of changes) {
      clock.advance(days * day);
      await set(id, pricePerKg);
    }
    return id as number;
  };
  return { clock, shop, read, set, priced };
}

const pricesOf = (page: { items: { pricePerKg: number | null }[] }) =>
  page.items.map(({ pricePerKg }) => pricePerKg);

async function importing(shop: Shop, text: string, fields: Readonly<Record<string, string>> = {}) {
  const data = new FormData();
  data.append('file', new Blob([text]), 'cheeses.csv');
  for (const [name, value] of Object.entries(fields)) {
    data.append(name, value);
  }
  const encoded = new Response(data);
  const { status, json } = await shop.request('POST', '/v2/imports', {
    as: shop.writer,
    raw: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('Content-Type') ?? '' },
  });
  assert.equal(status, 200);
  return json;
}

/** A price from a time on. */
interface Change {
  readonly at: number;
  readonly price: number | null;
}

/** What the response must say, from all changes that were made, moment by moment. */
function expected(changes: readonly Change[], now: number) {
  const kept: Change[] = [];
  for (const change of changes) {
    if (kept.at(-1)?.at === change.at) {
      kept.pop();
    }
    if (kept.length === 0 || kept.at(-1)?.price !== change.price) {
      kept.push(change);
    }
  }
  const priceAt = (moment: number) => kept.findLast(({ at }) => at <= moment)?.price ?? null;
  // A price is current at its beginning, so these moments see every price of the window.
  const lowest = (from: number, to: number) => {
    const moments = [from, ...kept.map(({ at }) => at).filter((at) => at >= from && at < to)];
    const prices = moments.map(priceAt).filter((price) => price !== null);
    return prices.length === 0 ? null : Math.min(...prices);
  };
  const current = kept.at(-1) as Change;
  const before = kept.slice(0, -1).findLast(({ price }) => price !== null)?.price ?? null;
  const prior = lowest(current.at - 30 * day, current.at);
  const isReduced = current.price !== null && before !== null && current.price < before && prior !== null;
  const since = new Date(current.at).toISOString();
  return {
    prices: kept.map(({ price }) => price).reverse(),
    lowest30Days: lowest(now - 30 * day, now + 1),
    reduction: isReduced
      ? { since, priorPrice: prior, percent: percentOff(prior, current.price as number) }
      : null,
  };
}

onBothEngines('GET /cheeses/{cheeseId}/prices', (engine) => {
  const open = shared((t) => openPriced(t, engine));

  test('GET /cheeses/{cheeseId}/prices calculates each of two steps from the lowest price of the 30 days before it', async () => {
    const { priced, read, clock } = open();
    const id = await priced(30, [5, 25], [5, 20]);
    const page = await read(id);
    assert.deepEqual(pricesOf(page), [20, 25, 30]);
    assert.deepEqual(
      page.items.map(({ from, until }: { from: string; until: string | null }) => [from, until]),
      [0, 5, 10].map((ago) => [
        new Date(clock.now() - ago * day).toISOString(),
        ago === 0 ? null : new Date(clock.now() - (ago - 5) * day).toISOString(),
      ]),
    );
    assert.equal(page.lowest30Days, 20);
    assert.deepEqual(page.reduction, { since: page.items[0].from, priorPrice: 25, percent: 20 });
  });

  test('GET /cheeses/{cheeseId}/prices calculates a reduction after a short increase from the price before the increase', async () => {
    const { priced, read } = open();
    const { lowest30Days, reduction } = await read(await priced(30, [100, 40], [7, 28]));
    assert.deepEqual([lowest30Days, reduction.priorPrice, reduction.percent], [28, 30, 6]);
    // After a price that was even lower, there is no percentage.
    const again = await read(await priced(30, [100, 20], [2, 40], [2, 35]));
    assert.deepEqual([again.reduction.priorPrice, again.reduction.percent], [20, null]);
  });

  test('GET /cheeses/{cheeseId}/prices compares a price that was removed and set again with the last price', async () => {
    const { priced, read } = open();
    assert.equal((await read(await priced(30, [3, null], [3, 30]))).reduction, null);
    const reduced = await read(await priced(30, [3, null], [3, 24]), '?limit=1');
    assert.deepEqual([reduced.reduction.priorPrice, reduced.reduction.percent], [30, 20]);
    // In the 30 days before, there was no price.
    assert.equal((await read(await priced(30, [3, null], [31, 24]))).reduction, null);
    const none = await read(await priced(null));
    assert.deepEqual([pricesOf(none), none.lowest30Days, none.reduction], [[null], null, null]);
  });

  test('GET /cheeses/{cheeseId}/prices counts a price that was still current 30 days ago, to the millisecond', async () => {
    const { priced, read, clock } = open();
    const id = await priced(20, [1, 30]);
    clock.advance(30 * day - 1);
    assert.equal((await read(id)).lowest30Days, 20);
    clock.advance(1);
    assert.equal((await read(id)).lowest30Days, 30);
    const removed = await priced(20, [1, null]);
    clock.advance(30 * day);
    assert.equal((await read(removed)).lowest30Days, null);
  });

  test('GET /cheeses/{cheeseId}/prices follows a model after random changes, of which several may have the same time', async () => {
    const { priced, set, read, clock } = open();
    const steps = fc.array(
      fc.tuple(
        fc.constantFrom(0, 0, 1, day, 29 * day, 30 * day, 31 * day),
        fc.option(fc.integer({ min: 0, max: 4 })),
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(fc.option(fc.integer({ min: 0, max: 4 })), steps, async (first, changes) => {
        const id = await priced(first);
        const all = [{ at: clock.now(), price: first }];
        for (const [wait, price] of changes) {
          clock.advance(wait);
          await set(id, price);
          all.push({ at: clock.now(), price });
        }
        const page = await read(id);
        const { items: _, nextCursor: _cursor, hasMore: _more, ...rest } = page;
        assert.deepEqual({ prices: pricesOf(page), ...rest }, expected(all, clock.now()));
      }),
      { numRuns: 25 },
    );
    assert.deepEqual(await checkPrices(open().shop.app.database), []);
  });

  test('GET /cheeses/{cheeseId}/prices has no row for updates that do not change the price, for refused ones and for dry runs', async () => {
    const { priced, set, read, shop } = open();
    const id = await priced(30);
    for (let update = 0; update < 100; update += 1) {
      await set(id, 30);
    }
    const options = { as: shop.writer, body: { name: 'A new name' } };
    assert.equal((await shop.request('PATCH', `/v2/cheeses/${id}`, options)).status, 200);
    for (const [headers, status] of [
      [{ 'dry-run': 'true' }, 200],
      [{ 'if-match': '"0"' }, 412],
    ] as const) {
      const body = { pricePerKg: 10 };
      const response = await shop.request('PATCH', `/v2/cheeses/${id}`, { as: shop.writer, body, headers });
      assert.equal(response.status, status, response.text);
    }
    assert.deepEqual(pricesOf(await read(id)), [30]);
  });

  test('GET /cheeses/{cheeseId}/prices has the changes of every way to change a price', async () => {
    const { shop, clock, read, priced } = open();
    const id = await priced(30);
    const { name } = (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).json;
    clock.advance(day);
    const replacement = { id, name, status: 'available', pricePerKg: 31 };
    assert.equal(
      (await shop.request('PUT', '/v2/cheeses', { as: shop.writer, body: replacement })).status,
      200,
    );
    clock.advance(day);
    const file = `name,pricePerKg\n${name},29.5\nImported ${engine},12\n`;
    assert.equal((await importing(shop, file, { preview: 'true', mode: 'update' })).updated, 1);
    const { updated, created, sample } = await importing(shop, file, { mode: 'update' });
    assert.deepEqual([updated, created], [1, 1]);
    assert.deepEqual(pricesOf(await read(id)), [29.5, 31, 30]);
    assert.deepEqual(pricesOf(await read(sample[1].cheese.id)), [12]);
  });

  test('GET /cheeses/{cheeseId}/prices is read in pages, whose cursor is of one cheese', async () => {
    const { priced, read, shop } = open();
    const id = await priced(1, [1, 2], [1, 3], [1, null], [1, 5]);
    const all = await read(id);
    const items: unknown[] = [];
    let query = '?limit=2';
    for (let page = 1; page <= 3; page += 1) {
      const response = await read(id, query);
      assert.equal(response.hasMore, page < 3);
      assert.deepEqual([response.lowest30Days, response.reduction], [1, null]);
      items.push(...response.items);
      query = `?limit=2&cursor=${response.nextCursor}`;
    }
    assert.deepEqual(items, all.items);
    const { headers, json } = await shop.request('GET', `/v2/cheeses/${id}/prices?limit=2`, {
      as: shop.reader,
    });
    assert.equal(headers['cache-control'], 'private, no-cache');
    const next = `/v2/cheeses/${id}/prices?cursor=${json.nextCursor}&limit=2`;
    assert.equal(headers.link, `<${next}>; rel="next"`);
    const other = await shop.request('GET', next.replace(String(id), String(await priced(1))), {
      as: shop.reader,
    });
    assertError(other, 400, 'bad_request');
  });

  test('GET /cheeses/{cheeseId}/prices keeps the newest prices of a cheese that had very many', async () => {
    const { priced, set, read, clock, shop } = open();
    const id = await priced(1, [1, 2]);
    const { database } = shop.app;
    const old = Array.from({ length: pricesMax - 2 }, (_, index) => [
      id,
      new Date(index * 1000).toISOString(),
      index % 2,
    ]);
    await database.insert('cheese_price', ['cheese_id', 'since', 'price'], old);
    await database.run(sql`update cheese set version = ${pricesMax} where id = ${id}`);
    for (const price of [3, 4]) {
      clock.advance(1);
      await set(id, price);
    }
    const row = await database.get(sql`
      select count(*) as n, min(since) as oldest from cheese_price where cheese_id = ${id}`);
    assert.deepEqual({ ...(row as object) }, { n: pricesMax, oldest: old[2]?.[1] });
    assert.deepEqual(pricesOf(await read(id, '?limit=3')), [4, 3, 2]);
  });

  test('GET /cheeses/{cheeseId}/prices ends with the cheese, and is 404 for a cheese that does not exist', async () => {
    const { priced, shop } = open();
    const id = await priced(30, [1, 20]);
    assert.equal((await deleteCheese(shop, id)).status, 204);
    for (const missing of [id, 999_999_999, 'x']) {
      const response = await shop.request('GET', `/v2/cheeses/${missing}/prices`, { as: shop.reader });
      assertError(response, 404, 'not_found');
    }
    const rows = await shop.app.database.all(sql`select since from cheese_price where cheese_id = ${id}`);
    assert.deepEqual(rows, []);
  });
});

suite('percentOff', () => {
  test('percentOff is rounded down, and exact where doubles are not', () => {
    assert.equal(percentOff(30, 28.2), 6);
    assert.equal(percentOff(30, 30), null);
    assert.equal(percentOff(0, 0), null);
    assert.equal(percentOff(30, 0), 100);
    assert.equal(percentOff(1e-7, 5e-8), 50);
  });

  test('percentOff is that of whole cents', () => {
    const cents = fc.integer({ min: 0, max: 100_000_000 });
    fc.assert(
      fc.property(cents, cents, (one, other) => {
        const [low, high] = one < other ? [one, other] : [other, one];
        const percent = high === low ? null : Number((BigInt(high - low) * 100n) / BigInt(high));
        assert.equal(percentOff(high / 100, low / 100), percent);
      }),
    );
  });
});
