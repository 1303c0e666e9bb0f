/** DELETE /cheeses/{id} of a cheese in orders: placed orders are cancelled, approved and shipped ones prevent it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop } from '../helper.ts';
import { deleteCheese, newCheese, newOrder, placeOrder } from '../shop-verbs.ts';

const read = async (shop: Shop, id: number, more = '') =>
  (await shop.request('GET', `/v2/store/order/${id}${more}`, { as: shop.reader })).json;

/** All stored orders, cheeses and events. */
async function stored(shop: Shop): Promise<string> {
  const { database } = shop.app;
  return JSON.stringify([
    await database.all(sql`select * from orders order by id`),
    await database.all(sql`select * from background_job order by cast(key as bigint)`),
    await database.all(sql`select * from open_order_cheese order by cheese_id, order_id`),
    await database.all(sql`select * from cheese order by id`),
    await database.all(sql`select * from catalogue`),
    await database.all(sql`select id from event order by id`),
  ]);
}

/** Cheeses of open orders that are not in the catalogue. */
const orphans = (shop: Shop) =>
  shop.app.database.all<{ order_id: number }>(sql`
    select order_id from open_order_cheese where cheese_id not in (select id from cheese)`);

onBothEngines('DELETE /cheeses/{id}', (engine) => {
  test('DELETE /cheeses/{id} returns 204 and cancels placed orders, which keep their items', async (t) => {
    const shop = await openShop(t, { engine });
    const comte = await newCheese(shop, { name: 'Comté' });
    const brie = await newCheese(shop, { name: 'Brie' });
    const first = await newOrder(shop, [comte, brie, comte]);
    const second = await newOrder(shop, [comte]);
    const bystander = await newOrder(shop, [brie]);
    const before = await read(shop, first);
    assert.equal((await deleteCheese(shop, comte)).status, 204);
    assert.equal((await shop.request('GET', `/v2/cheeses/${comte}`, { as: shop.reader })).status, 404);
    for (const id of [first, second]) {
      assert.equal((await read(shop, id)).status, 'cancelled');
      const { items } = await read(shop, id, '/timeline');
      assert.equal(items.length, 2);
      assert.equal(items[1].status, 'cancelled');
      assert.match(items[1].by, /^key:\d+$/);
      assert.match(items[1].reason, /Comté/);
    }
    const { status: _, updatedAt: _now, ...kept } = await read(shop, first);
    const { status: _before, updatedAt: _then, ...was } = before;
    assert.deepEqual(kept, was);
    assert.equal(kept.items[0].cheeseId, comte);
    assert.equal((await read(shop, bystander)).status, 'placed');
    const { database } = shop.app;
    const jobs = await database.all<{ key: string }>(sql`select key from background_job`);
    assert.deepEqual(
      jobs.map(({ key }) => Number(key)),
      [bystander],
    );
    const open = await database.all<{ order_id: number }>(sql`select order_id from open_order_cheese`);
    assert.deepEqual(
      open.map(({ order_id }) => order_id),
      [bystander],
    );
  });

  for (const steps of [['approve'], ['approve', 'ship']] as const) {
    test(`DELETE /cheeses/{id} returns 409 with the orders after ${steps.join(' and ')}, and changes nothing`, async (t) => {
      const shop = await openShop(t, { engine });
      const comte = await newCheese(shop, { name: 'Comté' });
      const placed = await newOrder(shop, [comte]);
      const promised = await newOrder(shop, [comte, await newCheese(shop, { name: 'Brie' })], {
        changes: steps,
      });
      await newOrder(shop, [comte]);
      const before = await stored(shop);
      const response = await deleteCheese(shop, comte);
      assertError(response, 409, 'conflict');
      assert.match(response.json.message, new RegExp(`\\b${promised}\\b`));
      assert.doesNotMatch(response.json.message, new RegExp(`\\b${placed}\\b`));
      assert.equal(await stored(shop), before);
    });
  }

  test('DELETE /cheeses/{id} names some orders and counts the others when many contain the cheese', async (t) => {
    const shop = await openShop(t, { engine });
    const comte = await newCheese(shop, { name: 'Comté' });
    for (let index = 0; index < 7; index += 1) {
      await newOrder(shop, [comte], { changes: ['approve'] });
    }
    const { message } = (await deleteCheese(shop, comte)).json;
    assert.match(message, /\b11\b.*\b15\b.*\b2 more/);
  });

  test('DELETE /cheeses/{id} ignores delivered and cancelled orders', async (t) => {
    const shop = await openShop(t, { engine });
    const comte = await newCheese(shop, { name: 'Comté' });
    const ids = [
      await newOrder(shop, [comte], { changes: ['approve', 'ship', 'deliver'] }),
      await newOrder(shop, [comte], { changes: ['cancel'] }),
      await newOrder(shop, [comte], { changes: ['approve', 'cancel'] }),
    ];
    const before = await Promise.all(ids.map((id) => read(shop, id)));
    assert.equal((await deleteCheese(shop, comte)).status, 204);
    assert.deepEqual(await Promise.all(ids.map((id) => read(shop, id))), before);
  });

  test('DELETE /cheeses/{id} leaves no open order of a deleted cheese when one is placed concurrently', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    for (let round = 0; round < 20; round += 1) {
      const id = await newCheese(shop, { name: `Cheese ${round}` });
      const where = round % 2 === 0 ? shop : other;
      const placing = Array.from({ length: 3 }, () => placeOrder(shop, id));
      // The deletion is sent later each time.
      for (let turn = 0; turn < round / 2; turn += 1) {
        await nextTurn();
      }
      const gone = await deleteCheese(where, id, shop.writer);
      assert.equal(gone.status, 204, gone.text);
      for (const response of await Promise.all(placing)) {
        if (response.status === 201) {
          assert.equal((await read(shop, response.json.id)).status, 'cancelled');
        } else {
          assertError(response, 422, 'validation_error');
        }
      }
      assert.equal((await orphans(shop)).length, 0);
    }
  });

  test('DELETE /cheeses/{id} keeps the cheese or cancels the order when one is approved concurrently', async (t) => {
    const shop = await openShop(t, { engine });
    for (let round = 0; round < 6; round += 1) {
      const id = await newCheese(shop, { name: `Cheese ${round}` });
      const order = await newOrder(shop, [id]);
      const approving = shop.request('POST', `/v2/store/order/${order}/approve`, { as: shop.admin });
      for (let turn = 0; turn < round; turn += 1) {
        await nextTurn();
      }
      const [approved, gone] = await Promise.all([approving, deleteCheese(shop, id)]);
      const { status } = await read(shop, order);
      assert.deepEqual(
        [approved.status, gone.status],
        status === 'approved' ? [200, 409] : [409, 204],
        `it is ${status}`,
      );
      assert.ok(status === 'approved' || status === 'cancelled', status);
      assert.equal((await orphans(shop)).length, 0);
    }
  });
});
