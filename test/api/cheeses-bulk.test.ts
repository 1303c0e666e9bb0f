/** Bulk changes of cheeses: prices, status, category and tags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertError, assertFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';

interface Stored {
  readonly id: number;
  readonly name: string;
  readonly pricePerKg?: number;
}

async function openCatalogue(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  let made = 0;
  return {
    shop,
    async create(fields: object = {}): Promise<Stored> {
      made += 1;
      const body = { name: `Cheese ${made}`, pricePerKg: 20, ...fields };
      const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
      assert.equal(response.status, 201, response.text);
      return response.json;
    },
    bulk: (changes: unknown, headers: Readonly<Record<string, string>> = {}, as = shop.writer) =>
      shop.request('POST', '/v2/cheeses/bulk', { as, headers, body: { changes } }),
    read: async (id: number) => (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).json,
  };
}

const versionOf = async ({ app }: Shop): Promise<number> => app.cheeses.service.version();
const eventsOf = ({ app }: Shop, id: number) =>
  app.database.all<{ data: string }>(
    sql`select data from event where subject = ${`cheese:${id}`} and type = 'cheese.updated' order by id`,
  );

onBothEngines('POST /cheeses/bulk', (engine) => {
  const opened = shared((t) => openCatalogue(t, engine));

  test('POST /cheeses/bulk changes all cheeses with one version, shows old and new values, and is undone by `undo`', async () => {
    const { shop, create, bulk, read } = opened();
    const hard = { name: 'Hard' };
    const one = await create({ category: hard, tags: [{ name: 'cow' }, { name: 'old' }] });
    const two = await create({ category: hard, tags: [{ name: 'old' }], status: 'sold' });
    const three = await create({ pricePerKg: undefined });
    const before = await Promise.all([one, two, three].map(({ id }) => read(id)));
    const version = await versionOf(shop);
    const changed = await bulk([
      {
        cheeseIds: [two.id, one.id, three.id],
        price: { percent: 5, rounding: '0.05' },
        status: 'available',
        category: { name: 'Alpine' },
        addTags: ['new'],
        removeTags: ['old'],
      },
    ]);
    assert.equal(changed.status, 200, changed.text);
    assert.equal(await versionOf(shop), version + 1);
    assert.deepEqual(
      changed.json.items.map(({ id }: Stored) => id),
      [two.id, one.id, three.id],
    );
    assert.deepEqual(changed.json.items[0].changes, {
      category: { from: 'Hard', to: 'Alpine' },
      tags: { from: ['old'], to: ['new'] },
      status: { from: 'sold', to: 'available' },
      pricePerKg: { from: 20, to: 21 },
    });
    assert.deepEqual(changed.json.items[2].changes, {
      category: { from: null, to: 'Alpine' },
      tags: { from: [], to: ['new'] },
    });
    const after = await read(one.id);
    assert.deepEqual(
      [after.pricePerKg, after.category.name, after.tags.map(({ name }: Stored) => name)],
      [21, 'Alpine', ['cow', 'new']],
    );
    assert.equal((await eventsOf(shop, one.id)).length, 1);
    const prices = await shop.request('GET', `/v2/cheeses/${one.id}/prices`, { as: shop.reader });
    assert.equal(prices.json.items.length, 2);
    const list = await shop.request('GET', '/v2/cheeses?category=Alpine', { as: shop.reader });
    assert.equal(list.json.total, 3);

    const undone = await bulk(changed.json.undo.changes);
    assert.equal(undone.status, 200, undone.text);
    const { updatedAt: _, ...restored } = await read(one.id);
    assert.deepEqual(restored, (({ updatedAt: _updated, ...rest }) => rest)(before[0]));
    for (const [index, { id }] of [one, two, three].entries()) {
      assert.deepEqual({ ...(await read(id)), updatedAt: '' }, { ...before[index], updatedAt: '' });
    }
  });

  test('POST /cheeses/bulk changes nothing in a dry run, which shows the values, nor where all are the same', async () => {
    const { shop, create, bulk, read } = opened();
    const { id } = await create();
    const version = await versionOf(shop);
    const dry = await bulk([{ cheeseIds: [id], price: { amount: -0.5 } }], { 'dry-run': 'true' });
    assert.deepEqual(dry.json.items[0].changes, { pricePerKg: { from: 20, to: 19.5 } });
    const same = await bulk([{ cheeseIds: [id], price: { set: 20 }, status: 'available' }]);
    assert.deepEqual(same.json, { items: [], unchanged: 1, undo: null });
    assert.deepEqual([await versionOf(shop), (await read(id)).pricePerKg], [version, 20]);
    const once = { 'idempotency-key': 'rise-1' };
    const rise = () => bulk([{ cheeseIds: [id], price: { percent: 10 } }], once);
    assert.equal((await rise()).text, (await rise()).text);
    assert.equal((await read(id)).pricePerKg, 22);
  });

  test('POST /cheeses/bulk changes all or nothing', async () => {
    const { shop, create, bulk, read } = opened();
    const [first, dear] = [await create(), await create({ pricePerKg: 900_000 })];
    const twin = await create({ name: 'Twin', category: { name: 'Left' } });
    await create({ name: 'Twin', category: { name: 'Right' } });
    const version = await versionOf(shop);
    const change = { price: { percent: 20 }, cheeseIds: [first.id] };
    assertError(await bulk([change, { cheeseIds: [999_999], status: 'sold' }]), 404, 'not_found');
    assertFields(await bulk([{ ...change, cheeseIds: [first.id, dear.id] }]), ['changes[0].price.percent']);
    assertFields(await bulk([{ ...change, price: { amount: -21 } }]), ['changes[0].price.amount']);
    const moved = await bulk([change, { cheeseIds: [twin.id], category: { name: 'Right' } }]);
    assertError(moved, 409, 'conflict');
    assertFields(await bulk([{ ...change, category: { id: 999_999 } }]), ['changes[0].category.id']);
    assert.deepEqual([await versionOf(shop), (await read(first.id)).pricePerKg], [version, 20]);
  });

  test('POST /cheeses/bulk refuses invalid bodies with their fields', async () => {
    const { create, bulk } = opened();
    const { id } = await create();
    const cheeseIds = [id];
    const refused: [changes: unknown, fields: string[]][] = [
      [[], ['changes']],
      [[{ cheeseIds: [], status: 'sold' }], ['changes[0].cheeseIds']],
      [[{ cheeseIds: [0], status: 'sold' }], ['changes[0].cheeseIds[0]']],
      [[{ cheeseIds }], ['changes[0]']],
      [[{ cheeseIds: [id, id], status: 'sold' }], ['changes[0].cheeseIds[1]']],
      [
        [
          { cheeseIds, status: 'sold' },
          { cheeseIds, status: 'sold' },
        ],
        ['changes[1].cheeseIds[0]'],
      ],
      [[{ cheeseIds, price: {} }], ['changes[0].price']],
      [[{ cheeseIds, price: { set: 1, percent: 1 } }], ['changes[0].price']],
      [[{ cheeseIds, price: { set: 1, rounding: '0.05' } }], ['changes[0].price.rounding']],
      [[{ cheeseIds, price: { percent: -100 } }], ['changes[0].price.percent']],
      [[{ cheeseIds, price: { percent: 1, rounding: '0.99' } }], ['changes[0].price.rounding']],
      [[{ cheeseIds, tags: ['a'], addTags: ['b'] }], ['changes[0].tags']],
      [[{ cheeseIds, addTags: ['a,b'] }], ['changes[0].addTags[0]']],
      [
        Array.from({ length: 2 }, (_, index) => ({
          cheeseIds: Array.from({ length: 501 }, (_one, position) => 1 + position + 1000 * index),
          status: 'sold',
        })),
        ['changes'],
      ],
    ];
    for (const [changes, fields] of refused) {
      assertFields(await bulk(changes), fields, JSON.stringify(changes).slice(0, 200));
    }
  });

  test('POST /cheeses/bulk leaves large values out of its response, and `undo` restores them', async () => {
    const { shop, create, bulk, read } = opened();
    const long = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(100, 'x'));
    const { id } = await create({ tags: [{ name: 'old' }] });
    const before = await read(id);
    const { json } = await bulk([{ cheeseIds: [id], price: { set: 7 }, addTags: long }]);
    assert.deepEqual(json.items, [
      { id, name: before.name, changes: { pricePerKg: { from: 20, to: 7 } }, omitted: ['tags'] },
    ]);
    const [event] = await eventsOf(shop, id);
    assert.deepEqual(JSON.parse(event?.data ?? '').changes.tags, { from: ['old'], to: ['old', ...long] });
    const undone = await bulk(json.undo.changes);
    assert.deepEqual(undone.json.items[0].omitted, ['tags']);
    const { updatedAt: _, ...same } = await read(id);
    assert.deepEqual({ ...same, updatedAt: before.updatedAt }, before);
  });

  test('POST /cheeses/bulk refuses 8 MB of cheeses and new values, whatever part each of them has, and changes nothing', async () => {
    const { shop, create, bulk } = opened();
    const tags = (first: number) =>
      Array.from({ length: 100 }, (_, index) => `${first + index}`.padEnd(100, 'y'));
    const inputs = Array.from({ length: 800 }, (_, index) => ({ name: `Wide ${index}` }));
    await shop.app.cheeses.service.import(shop.app.contextOf('test'), inputs, new Set());
    const { id: last } = await create();
    const cheeseIds = inputs.map((_, index) => last - 1 - index);
    const version = await versionOf(shop);
    const refused = await bulk([{ cheeseIds, tags: tags(100) }]);
    assertFields(refused, ['changes']);
    assert.match(
      refused.json.errors[0].message,
      /^would write 8\.\d MB, and 8 MB are permitted: change fewer/,
    );
    assert.equal(await versionOf(shop), version);
    const half = await bulk([{ cheeseIds: cheeseIds.slice(0, 400), tags: tags(100) }]);
    assert.equal(half.status, 200);
    assert.ok(half.text.length < 200_000, `${half.text.length} characters`);
    const rest = await bulk([{ cheeseIds: cheeseIds.slice(400), tags: tags(100) }]);
    assert.equal(rest.status, 200);
    // The new value is small, and the cheeses are large.
    assertFields(await bulk([{ cheeseIds, status: 'sold' }]), ['changes']);
  });

  test('POST /cheeses/bulk is 403 without write:cheeses, and for a request that acts for a customer', async () => {
    const { shop, create, bulk } = opened();
    const { id } = await create();
    const ada = await newCustomer(shop, 'ada', 'customer');
    const session = { authorization: `Bearer ${await newSession(shop, ada)}` };
    const changes = [{ cheeseIds: [id], status: 'sold' }];
    assertError(await bulk(changes, {}, shop.reader), 403, 'forbidden');
    assertError(await bulk(changes, session, shop.admin), 403, 'forbidden');
    const alone = { headers: session, body: { changes } };
    assertError(await shop.request('POST', '/v2/cheeses/bulk', alone), 403, 'forbidden');
  });

  test('POST /cheeses/bulk changes 1,000 cheeses while others are read', async () => {
    const { shop, create, bulk } = opened();
    const inputs = Array.from({ length: 1000 }, (_, index) => ({ name: `Many ${index}`, pricePerKg: 10 }));
    const context = shop.app.contextOf('test');
    await shop.app.cheeses.service.import(context, inputs, new Set());
    const { id: last } = await create();
    const cheeseIds = Array.from({ length: 1000 }, (_, index) => last - 1 - index);
    const [changed, ...read] = await Promise.all([
      bulk([{ cheeseIds, price: { percent: 5, rounding: '0.95' }, addTags: ['sale'] }]),
      ...[0, 1, 2].map((index) =>
        shop.request('GET', `/v2/cheeses/${cheeseIds[index]}`, { as: shop.reader }),
      ),
    ]);
    assert.equal(changed?.status, 200);
    assert.deepEqual([changed?.json.items.length, changed?.json.undo.changes.length], [1000, 1]);
    assert.ok(read.every(({ status }) => status === 200));
    const list = await shop.request('GET', '/v2/cheeses?tags=sale&limit=1', { as: shop.reader });
    assert.deepEqual([list.json.total, list.json.items[0].pricePerKg], [1000, 10.95]);
  });
});
