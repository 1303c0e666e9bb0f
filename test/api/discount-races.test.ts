/** Concurrent orders with one discount code, and cancellations of them: on PostgreSQL through two instances. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { checkOrders } from '../../src/orders/consistency-check.ts';
import { assertFields, onBothEngines, openShop, type Shop, shared, until } from '../helper.ts';
import { openInstances, tally } from '../instances/instances.ts';
import { changeOrder, deleteCheese, newCheese, placeOrder, registerAndLogIn } from '../shop-verbs.ts';

const usesMax = 10;
const orders = 200;
let made = 0;

async function newCode(shop: Shop, fields: object): Promise<string> {
  made += 1;
  const body = { code: `RACE-${made}`, kind: 'percent', value: 10, ...fields };
  const { status, text, json } = await shop.request('POST', '/v2/discounts', { as: shop.admin, body });
  assert.equal(status, 201, text);
  return json.code;
}

/** `used`, the rows of uses, and the orders that have the code and are not cancelled: in one statement. */
async function countsOf({ app }: Shop, code: string): Promise<number[]> {
  const row = await app.database.get<{ used: number; uses: number; live: number }>(sql`
    select used, (select count(*) from discount_use u where u.discount_id = d.id) as uses,
      (select count(*) from orders where status <> 'cancelled' and breakdown like ${`%"code":"${code}"%`}) as live
    from discount d where code = ${code}`);
  return [row?.used ?? -1, row?.uses ?? -1, row?.live ?? -1];
}

onBothEngines('Concurrent orders with a code', (engine) => {
  const opened = shared(async (t) => {
    const settings = { CURD_APPROVAL_DELAY: '1h' };
    return engine === 'postgres'
      ? (await openInstances(t, 2, { settings })).all
      : ([await openShop(t, { engine, settings })] as const);
  });

  test('Concurrent orders with a code of ten uses are ten at any time, with cancellations among them', async () => {
    const shops = opened();
    const [shop] = shops;
    const [cheese, doomed] = [await newCheese(shop), await newCheese(shop)];
    const discountCode = await newCode(shop, { usesMax });
    const at = (index: number) => shops[index % shops.length] as Shop;
    let isOver = false;
    const seen: number[][] = [];
    const watching = (async () => {
      while (!isOver) {
        seen.push(await countsOf(shop, discountCode));
        // SQLite answers within the turn of the event loop.
        await sleep(2);
      }
    })();
    const responses = await Promise.all(
      Array.from({ length: orders }, async (_, index) => {
        const placed = await placeOrder(at(index), index % 4 === 0 ? doomed : cheese, {
          more: { discountCode },
        });
        if (placed.status === 201 && index % 3 === 0) {
          // Twice at the same time: it gives one use back.
          const cancelled = await Promise.all([
            changeOrder(at(index + 1), placed.json.id, 'cancel'),
            changeOrder(at(index), placed.json.id, 'cancel'),
          ]);
          assert.equal(tally(cancelled), '2 x 204');
        }
        if (index === orders / 2) {
          assert.equal((await deleteCheese(at(index), doomed)).status, 204);
        }
        return placed;
      }),
    );
    isOver = true;
    await watching;
    for (const response of responses.filter(({ status }) => status !== 201)) {
      if (!/items/.test(response.text)) {
        assertFields(response, ['discountCode']);
        assert.equal(response.json.errors[0].message, 'the code is used up');
      }
    }
    assert.ok(seen.length > 0);
    for (const [used = 0, uses, live] of seen) {
      assert.ok(used >= 0 && used <= usesMax, String(used));
      assert.deepEqual([uses, live], [used, used]);
    }
    // What is left of the ten can be used, and no more.
    const [used = 0] = await countsOf(shop, discountCode);
    const rest = await Promise.all(
      Array.from({ length: orders / 10 }, (_, index) =>
        placeOrder(at(index), cheese, { more: { discountCode } }),
      ),
    );
    assert.equal(rest.filter(({ status }) => status === 201).length, usesMax - used);
    assert.deepEqual(await countsOf(shop, discountCode), [usesMax, usesMax, usesMax]);
    assert.deepEqual(await checkOrders(shop.app.database), []);
  });

  test('Concurrent orders with a code of two uses for each customer are two', async () => {
    const shops = opened();
    const [shop] = shops;
    const cheese = await newCheese(shop);
    const discountCode = await newCode(shop, { usesPerCustomer: 2 });
    const { headers } = await registerAndLogIn(shop);
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        placeOrder(shops[index % shops.length] as Shop, cheese, { headers, more: { discountCode } }),
      ),
    );
    assert.equal(tally(responses), '2 x 201, 10 x 422');
    assert.deepEqual(await countsOf(shop, discountCode), [2, 2, 2]);
  });

  test('Concurrent changes and deletions of a code leave no order with a use that is not counted', async () => {
    const shops = opened();
    const [shop] = shops;
    const cheese = await newCheese(shop);
    const discountCode = await newCode(shop, {});
    const at = (index: number) => shops[index % shops.length] as Shop;
    const path = `/v2/discounts/${discountCode}`;
    const responses = await Promise.all([
      ...Array.from({ length: 30 }, async (_, index) => {
        const placed = await placeOrder(at(index), cheese, { more: { discountCode } });
        if (placed.status === 201 && index % 2 === 0) {
          assert.equal((await changeOrder(at(index + 1), placed.json.id, 'cancel')).status, 204);
        }
        return placed;
      }),
      ...Array.from({ length: 5 }, (_, index) =>
        at(index).request('PATCH', path, { as: shop.admin, body: { value: index + 1 } }),
      ),
    ]);
    for (const { status, text } of responses) {
      assert.ok([200, 201, 422].includes(status), text);
    }
    const [used, uses, live] = await countsOf(shop, discountCode);
    assert.deepEqual([uses, live], [used, used]);
    const deleted = await Promise.all([
      ...Array.from({ length: 10 }, (_, index) => placeOrder(at(index), cheese, { more: { discountCode } })),
      shop.request('DELETE', path, { as: shop.admin }),
    ]);
    assert.equal(deleted.at(-1)?.status, 204);
    assert.deepEqual(await checkOrders(shop.app.database), []);
  });

  if (engine === 'postgres') {
    test('Concurrent orders with a code never deadlock', async () => {
      const [{ app }] = opened();
      await until(async () => {
        await app.database.get(sql`select pg_stat_force_next_flush() is null as done`);
        const row = await app.database.get<{ deadlocks: number }>(
          sql`select deadlocks from pg_stat_database where datname = current_database()`,
        );
        return row?.deadlocks === 0;
      });
    });
  }
});
