/** The index that lists are read from: its load, its bound, and what it shows while the catalogue changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheeseInput } from '../../src/cheeses/schemas.ts';
import { openDatabase } from '../../src/database/open.ts';
import { sql } from '../../src/database/sql.ts';
import { assertError, cleanUp, onBothEngines, openShop, type Shop, testClock, until } from '../helper.ts';

/** Changes during which lists are read; `CURD_TEST_CHANGES=1000` for more. */
const changesMax = Number(process.env.CURD_TEST_CHANGES ?? 200);
const manyTags = Number(process.env.CURD_TEST_TAGS ?? 100_000);
const tagsOfACheese = 100;
/** Of other requests, by CPU time, because other programs may use the machine. */
const turnMsMax = 50;

function fill(shop: Shop, inputs: readonly CheeseInput[]) {
  return shop.app.cheeses.service.import(shop.app.contextOf('test'), inputs, new Set());
}

async function list(shop: Shop, query = '') {
  const response = await shop.request('GET', `/v2/cheeses?${query}`, { as: shop.reader });
  assert.equal(response.status, 200, response.text);
  return response;
}

const namesOf = async (shop: Shop, query = '') =>
  (await list(shop, query)).json.items.map(({ name }: { name: string }) => name);

const versionOf = (headers: Readonly<Record<string, string>>) => Number(/\d+/.exec(headers.etag ?? '')?.[0]);

onBothEngines('A list', (engine) => {
  test('A list of cheeses has items and a total of one version of the catalogue during a burst of changes', async (t) => {
    const shop = await openShop(t, { engine });
    const other = engine === 'postgres' ? await shop.another() : shop;
    const {
      cheeses: { service: cheeses },
      contextOf,
    } = shop.app;
    await fill(
      shop,
      Array.from({ length: 90 }, (_, index) => ({ name: `Cheese ${index}` })),
    );
    const first = (await list(shop, 'limit=100')).json.items.map(({ id }: { id: number }) => id) as number[];
    const [available, byVersion] = [new Set(first), new Map<number, ReadonlySet<number>>()];
    byVersion.set(await cheeses.version(), new Set(available));
    let isChanging = true;
    async function change(): Promise<void> {
      for (let done = 0; done < changesMax; done += 1) {
        const id = first[(done * 37) % first.length] as number;
        const status = available.delete(id) ? 'sold' : 'available';
        if (status === 'available') {
          available.add(id);
        }
        await cheeses.update(contextOf('test'), id, { status });
        byVersion.set(await cheeses.version(), new Set(available));
      }
      isChanging = false;
    }
    let lists = 0;
    let whole = 0;
    async function read(from: Shop): Promise<void> {
      while (isChanging) {
        // A cached list takes no turn of the event loop, and a change needs one.
        await nextTurn();
        const { headers, json } = await list(from, 'status=available&limit=100&facets=status');
        // The change may have been confirmed to the list before it was confirmed to its caller.
        await until(async () => byVersion.has(versionOf(headers)));
        const expected = byVersion.get(versionOf(headers)) as ReadonlySet<number>;
        const found = json.items.map(({ id }: { id: number }) => id);
        assert.equal(json.total, expected.size);
        assert.ok(found.every((id: number) => expected.has(id)));
        assert.equal(
          json.facets.status.values.find(({ value }: { value: string }) => value === 'available')?.count ?? 0,
          expected.size,
        );
        assert.ok(json.hasMore || found.length === expected.size);
        lists += 1;
        whole += json.hasMore ? 0 : 1;
      }
    }
    await Promise.all([change(), read(shop), read(shop), read(other), read(other)]);
    assert.ok(lists > 20 && whole > lists / 2, `${whole} of ${lists} lists have one page`);
  });

  test('A list of cheeses is right after most cheeses were changed, which lets the index be loaded again', async (t) => {
    const shop = await openShop(t, { engine });
    const {
      cheeses: { index: catalogueIndex, service: cheeses },
      contextOf,
    } = shop.app;
    const inputs = Array.from({ length: 1400 }, (_, index) => ({
      name: `Cheese ${index}`,
      origin: 'France',
    }));
    await fill(shop, inputs);
    await list(shop);
    const before = catalogueIndex.last?.index;
    await cheeses.import(
      contextOf('test'),
      inputs.slice(0, 900).map(({ name }) => ({ name, origin: 'Italy' })),
      new Set(),
      { givenFields: inputs.slice(0, 900).map(() => ['origin']) },
    );
    const isReplaced = async () => {
      assert.equal((await list(shop, 'origin=italy')).json.total, 900);
      assert.equal((await list(shop, 'origin=france')).json.total, 500);
      return catalogueIndex.last?.index !== before;
    };
    await until(isReplaced);
    assert.equal(catalogueIndex.last?.index.columns.length, 1400);
  });

  test('A list of cheeses lacks a deleted cheese on an instance that has not read before its tombstone was removed', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const {
      cheeses: { changes: catalogueChanges, service: cheeses },
      contextOf,
    } = shop.app;
    await fill(shop, [{ name: 'Brie' }, { name: 'Gouda' }]);
    assert.deepEqual(await namesOf(shop), ['Brie', 'Gouda']);
    await cheeses.delete(contextOf('test'), 1);
    clock.advance(400 * 24 * 60 * 60 * 1000);
    await catalogueChanges.purge();
    const left = await shop.app.database.all(sql`select cheese_id from cheese_tombstone`);
    assert.equal(left.length, 0);
    assert.deepEqual(await namesOf(shop), ['Gouda']);
  });
});

onBothEngines('A change that is refused', (engine) => {
  test('A refused change of a cheese leaves no category or tag behind', async (t) => {
    const shop = await openShop(t, { engine });
    await fill(shop, [{ name: 'Brie', category: { name: 'Soft' } }, { name: 'Gouda' }]);
    const { database } = shop.app;
    const terms = () => database.all(sql`select id, kind, name from term order by id`);
    const before = await terms();
    const fresh = { category: { name: 'New' }, tags: [{ name: 'new' }, { name: 'newer' }] };
    const send = (method: string, url: string, body: object, headers = {}) =>
      shop.request(method, url, { as: shop.writer, body, headers });
    const stale = { 'if-match': '"77"' };
    for (const [response, status] of [
      [await send('PATCH', '/v2/cheeses/1', fresh, stale), 412],
      [await send('PUT', '/v2/cheeses', { id: 1, name: 'Brie', status: 'sold', ...fresh }, stale), 412],
      [await send('PATCH', '/v2/cheeses/77', fresh), 404],
      [
        await send('PATCH', '/v2/cheeses/2', { name: 'Brie', category: { name: 'Soft' }, tags: fresh.tags }),
        409,
      ],
      [await send('POST', '/v2/cheeses', { name: 'Gouda', tags: fresh.tags }), 409],
      [await send('POST', '/v2/cheeses', { name: 'Tomme', tags: [...fresh.tags, { id: 999 }] }), 422],
      [await send('POST', '/v2/cheeses', { name: 'Tomme', ...fresh }, { 'dry-run': 'true' }), 201],
    ] as const) {
      assert.equal(response.status, status, response.text);
    }
    assert.deepEqual(await terms(), before);
    const { json } = await shop.request('GET', '/v2/tags?empty=true', { as: shop.reader });
    assert.equal(json.total, 0);
  });
});

onBothEngines('A catalogue with as many cheeses as CURD_CATALOGUE_MAX', (engine) => {
  test('A catalogue of CURD_CATALOGUE_MAX cheeses refuses creations with 409 and rows of imports, until a cheese is deleted', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_CATALOGUE_MAX: '3' } });
    const create = (name: string, headers = {}) =>
      shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name }, headers });
    const outcomes = await fill(
      shop,
      ['A', 'B', 'C', 'D', 'A'].map((name) => ({ name })),
    );
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ['created', 'created', 'created', 'refused', 'refused'],
    );
    assert.match(JSON.stringify(outcomes[3]), /CURD_CATALOGUE_MAX/);
    for (const headers of [{}, { 'dry-run': 'true' }]) {
      const refused = await create('E', headers);
      assertError(refused, 409, 'conflict');
      assert.match(refused.json.message, /CURD_CATALOGUE_MAX allows 3 cheeses/);
    }
    const changed = await shop.request('PATCH', '/v2/cheeses/1', {
      as: shop.writer,
      body: { organic: true },
    });
    assert.equal(changed.status, 200);
    const headers = { 'x-confirm-delete': 'true' };
    assert.equal((await shop.request('DELETE', '/v2/cheeses/2', { as: shop.writer, headers })).status, 204);
    assert.equal((await create('E')).status, 201);
    assert.equal((await create('F')).status, 409);
    assert.deepEqual(await namesOf(shop), ['A', 'C', 'E']);
  });
});

test('A server that cannot load its catalogue or follow its changes is not ready, and lists wait for it', async (t) => {
  const shop = await openShop(t, { engine: 'postgres' });
  await fill(shop, [{ name: 'Brie' }]);
  const blocking = await openDatabase(shop.config);
  cleanUp(t, () => blocking.close());
  // The first round blocks the load, the second one the changes since.
  for (const table of [sql`cheese`, sql`cheese_tombstone`]) {
    let listing = Promise.resolve<unknown>(null);
    await blocking.exclusiveTransaction(async (tx) => {
      await tx.run(sql`lock table ${table} in access exclusive mode`);
      listing = namesOf(shop);
      const ready = await shop.request('GET', '/readyz');
      assertError(ready, 503, 'unavailable');
      assert.match(ready.json.message, /^The server reads the catalogue, and lists wait for it\.$/);
      assert.equal((await shop.request('GET', '/healthz')).status, 200);
    });
    assert.deepEqual(await listing, ['Brie']);
    assert.equal((await shop.request('GET', '/readyz')).status, 200);
  }
});

test(`Facets and lists of ${manyTags} tags take short turns of the event loop`, {
  timeout: 120_000,
}, async (t) => {
  const shop = await openShop(t);
  for (let first = 0; first < manyTags; first += 10_000) {
    await fill(
      shop,
      Array.from({ length: 10_000 / tagsOfACheese }, (_, index) => ({
        name: `Cheese ${first + index}`,
        origin: index % 2 === 0 ? 'France' : 'Italy',
        tags: Array.from({ length: tagsOfACheese }, (_tag, tag) => ({
          name: `tag ${first + index * tagsOfACheese + tag}`,
        })),
      })),
    );
  }
  await list(shop);
  for (const [path, expected] of [
    ['/v2/cheeses?facets=tags', manyTags - 100],
    ['/v2/cheeses?facets=tags&origin=france&q=chee', manyTags / 2 - 100],
    ['/v2/tags?limit=100', manyTags],
    ['/v2/tags?limit=100&q=tag&status=available', manyTags],
  ] as const) {
    let isRunning = true;
    let longest = 0;
    let last = cpuMs();
    const measure = () => {
      longest = Math.max(longest, cpuMs() - last);
      last = cpuMs();
      if (isRunning) {
        setImmediate(measure);
      }
    };
    measure();
    const { json } = await shop.request('GET', path, { as: shop.reader });
    isRunning = false;
    measure();
    assert.equal(json.facets?.tags.more ?? json.total, expected, path);
    assert.ok(longest < turnMsMax, `${path}: ${longest} ms in one turn`);
  }
});

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

test('A list is right after somebody has deleted rows of the table of cheeses', async (t) => {
  const shop = await openShop(t);
  await fill(shop, [{ name: 'Brie' }, { name: 'Gouda' }]);
  assert.deepEqual(await namesOf(shop), ['Brie', 'Gouda']);
  await shop.app.database.run(sql`delete from cheese where id = 1`);
  assert.deepEqual(await namesOf(shop, 'sort=name&limit=7'), ['Gouda']);
});
