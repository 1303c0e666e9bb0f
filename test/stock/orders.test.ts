/** What orders do to stock: reservation, release, consumption, and the rule for the status of the cheese. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  assertFields,
  onBothEngines,
  openShop,
  type Shop,
  shared,
  testClock,
} from '../helper.ts';
import { changeOrder, newCheese, newOrder, placeOrder } from '../shop-verbs.ts';
import {
  adjust,
  assertConsistent,
  eventsOf,
  levelsOf,
  putStock,
  setStatus,
  statusOf,
  trackedCheese,
  untrack,
} from './stock.ts';

const hourMs = 60 * 60_000;
const clock = testClock();

const orderStatus = async (shop: Shop, id: number): Promise<string> =>
  (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin })).json.status;

const typesOf = async (shop: Shop, subject: string): Promise<string[]> =>
  (await eventsOf(shop, subject)).map(({ type }) => type);

onBothEngines('Orders of tracked cheeses', (engine) => {
  const opened = shared((t) => openShop(t, { engine, clock, settings: { CURD_APPROVAL_DELAY: '1h' } }));

  test('Orders of tracked cheeses reserve nothing in a dry run of the last kilogram, which an order then gets', async () => {
    const shop = opened();
    const cheese = await trackedCheese(shop, 1);
    for (let run = 0; run < 2; run += 1) {
      assert.equal((await placeOrder(shop, [[cheese, 1]], { headers: { 'dry-run': 'true' } })).status, 201);
      assert.deepEqual(await levelsOf(shop, cheese), [1, 0, 1]);
    }
    assert.deepEqual(await typesOf(shop, `stock:${cheese}`), ['stock.adjusted']);
    await newOrder(shop, [[cheese, 1]]);
    assertFields(await placeOrder(shop, [[cheese, 1]], { headers: { 'dry-run': 'true' } }), [
      'items[0].quantity',
    ]);
    assert.deepEqual(await levelsOf(shop, cheese), [1, 1, 0]);
    await assertConsistent(shop);
  });

  test('Orders of tracked cheeses reserve all lines or none, and name what is left for each line', async () => {
    const shop = opened();
    const [a, b, free] = [await trackedCheese(shop, 50), await trackedCheese(shop, 5), await newCheese(shop)];
    const two = await placeOrder(shop, [
      [a, 30],
      [a, 30],
    ]);
    assertFields(two, ['items[1].quantity']);
    assert.equal(two.json.errors[0].message, '20 kg are left');
    const mixed = await placeOrder(shop, [
      [9_999_999, 1],
      [b, 6],
      [free, 100],
      [a, 40],
      [b, 4],
      [a, 20],
      [a, 10],
    ]);
    assert.deepEqual(
      mixed.json.errors.map(({ field, message }: { field: string; message: string }) => [field, message]),
      [
        ['items[0].cheeseId', 'there is no cheese with this id'],
        ['items[1].quantity', '5 kg are left'],
        ['items[5].quantity', '10 kg are left'],
      ],
    );
    assert.deepEqual(await levelsOf(shop, a), [50, 0, 50]);
    const first = await newOrder(shop, [
      [a, 30],
      [free, 1],
      [b, 4],
      [a, 20],
    ]);
    assert.deepEqual(await levelsOf(shop, a), [50, 50, 0]);
    assert.deepEqual(await levelsOf(shop, b), [5, 4, 1]);
    const next = await newOrder(shop, [[free, 1]]);
    assert.equal(next, first + 1, 'a refused order must not use up an id');
    const last = await placeOrder(shop, [
      [a, 1],
      [b, 2],
    ]);
    assert.deepEqual(
      last.json.errors.map(({ message }: { message: string }) => message),
      ['0 kg are left', '1 kg is left'],
    );
    await assertConsistent(shop);
  });

  test('Orders of tracked cheeses release on cancellation and consume on shipping; delivery changes nothing', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 10);
    const [first, second] = [
      await newOrder(shop, [
        [id, 3],
        [id, 1],
      ]),
      await newOrder(shop, [[id, 2]]),
    ];
    assert.deepEqual(await levelsOf(shop, id), [10, 6, 4]);
    await changeOrder(shop, second, 'cancel');
    await changeOrder(shop, second, 'cancel');
    assert.deepEqual(await levelsOf(shop, id), [10, 4, 6]);
    await changeOrder(shop, first, 'approve');
    assert.deepEqual(await levelsOf(shop, id), [10, 4, 6]);
    assert.equal((await changeOrder(shop, first, 'ship')).status, 200);
    assert.deepEqual(await levelsOf(shop, id), [6, 0, 6]);
    assert.equal((await changeOrder(shop, first, 'deliver')).status, 200);
    assert.deepEqual(await levelsOf(shop, id), [6, 0, 6]);
    await assertConsistent(shop);
  });

  test('Orders of tracked cheeses cannot ship after a loss, and the message names the cheese and the kilograms', async () => {
    const shop = opened();
    const [id, other] = [await trackedCheese(shop, 10), await trackedCheese(shop, 10)];
    const order = await newOrder(shop, [
      [other, 2],
      [id, 8],
    ]);
    await changeOrder(shop, order, 'approve');
    await adjust(shop, id, -5, 'spoiled');
    assert.deepEqual(await levelsOf(shop, id), [5, 8, -3]);
    const refused = await changeOrder(shop, order, 'ship');
    assertError(refused, 409, 'conflict');
    assert.match(refused.json.message, /Cheese of a test \d+ \(8 kg ordered, 5 kg on hand\)/);
    assert.equal(await orderStatus(shop, order), 'approved');
    assert.deepEqual(await levelsOf(shop, other), [10, 2, 8]);
    await assertConsistent(shop);
    const notes = await shop.app.database.snapshot(
      (await import('../../src/stock/consistency-check.ts')).checkStock,
    );
    assert.deepEqual(
      notes.flatMap(({ examples }) => examples),
      [`cheese ${id}: 3 kg are missing`],
    );
    await adjust(shop, id, 3);
    assert.equal((await changeOrder(shop, order, 'ship')).status, 200);
    assert.deepEqual(await levelsOf(shop, id), [0, 0, 0]);
  });

  test('Orders of tracked cheeses are approved although they took the last kilogram, unless an operator set the status', async () => {
    const shop = opened();
    const [id, other] = [await trackedCheese(shop, 3), await trackedCheese(shop, 3)];
    const orders = [await newOrder(shop, [[id, 3]]), await newOrder(shop, [[other, 3]])];
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, id), 'sold');
    const refused = await placeOrder(shop, [[id, 1]]);
    assertFields(refused, ['items[0].cheeseId']);
    await setStatus(shop, other, 'pending');
    clock.advance(hourMs);
    await shop.app.worker.run();
    assert.deepEqual(await Promise.all(orders.map((order) => orderStatus(shop, order))), [
      'approved',
      'cancelled',
    ]);
    assert.deepEqual(await levelsOf(shop, other), [3, 0, 3]);
    assert.equal(await statusOf(shop, other), 'pending');
    await assertConsistent(shop);
  });

  test('Orders of tracked cheeses are approved by a request although they took the last kilogram', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 3);
    const order = await newOrder(shop, [[id, 3]]);
    await shop.app.worker.run();
    assert.equal((await changeOrder(shop, order, 'approve')).status, 200);
    const late = await newCheese(shop, { status: 'available' });
    const unreserved = await newOrder(shop, [[late, 1]]);
    await setStatus(shop, late, 'sold');
    assertError(await changeOrder(shop, unreserved, 'approve'), 409, 'conflict');
  });

  test('Orders of tracked cheeses make the cheese sold at 0 and available after a restock, by the actor system', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 4);
    await newOrder(shop, [[id, 4]]);
    assertFields(await placeOrder(shop, [[id, 1]]), ['items[0].quantity']);
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, id), 'sold');
    await adjust(shop, id, 6);
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, id), 'available');
    const rows = await shop.app.database.all<{ actor: string; data: string }>(sql`
      select actor, data from event where subject = ${`cheese:${id}`} and type = 'cheese.updated' order by id`);
    assert.deepEqual(
      rows.map(({ actor, data }) => [actor, JSON.parse(data).changes]),
      [
        ['system', { status: { from: 'available', to: 'sold' } }],
        ['system', { status: { from: 'sold', to: 'available' } }],
      ],
    );
  });

  test('Orders of tracked cheeses leave a status that an operator set, also after the stock rule', async () => {
    const shop = opened();
    const [sold, pending, back, now] = [
      await trackedCheese(shop, 1),
      await trackedCheese(shop, 1),
      await trackedCheese(shop, 1),
      await trackedCheese(shop, 1),
    ];
    await setStatus(shop, sold, 'sold');
    for (const id of [pending, back]) {
      await newOrder(shop, [[id, 1]]);
    }
    await shop.app.worker.run();
    // An operator changes what the rule has set, and sets the same status by hand.
    await setStatus(shop, pending, 'pending');
    await setStatus(shop, back, 'pending');
    await setStatus(shop, back, 'sold');
    for (const id of [sold, pending, back]) {
      await adjust(shop, id, 10);
    }
    await shop.app.worker.run();
    assert.deepEqual(await Promise.all([sold, pending, back].map((id) => statusOf(shop, id))), [
      'sold',
      'pending',
      'sold',
    ]);
    // Permitted while nothing is left. The rule acts at the next crossing of 0.
    await newOrder(shop, [[now, 1]]);
    await shop.app.worker.run();
    await setStatus(shop, now, 'available');
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, now), 'available');
    assertFields(await placeOrder(shop, [[now, 1]]), ['items[0].quantity']);
    await adjust(shop, now, 1);
    await adjust(shop, now, -1, 'spoiled');
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, now), 'sold');
    await assertConsistent(shop);
  });

  test('DELETE of the stock makes a cheese available that the rule had set to sold', async () => {
    const shop = opened();
    const [id, own] = [await trackedCheese(shop, 0), await trackedCheese(shop, 5)];
    await setStatus(shop, own, 'sold');
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, id), 'sold');
    await untrack(shop, id);
    await untrack(shop, own);
    assert.deepEqual([await statusOf(shop, id), await statusOf(shop, own)], ['available', 'sold']);
    await shop.app.worker.run();
    assert.equal(await statusOf(shop, id), 'available');
  });

  test('Orders of tracked cheeses record stock.low and stock.depleted once for each crossing', async () => {
    const shop = opened();
    const id = await trackedCheese(shop, 10, 5);
    const first = await newOrder(shop, [[id, 4]]);
    const second = await newOrder(shop, [[id, 1]]);
    await newOrder(shop, [[id, 1]]);
    await changeOrder(shop, second, 'cancel');
    await changeOrder(shop, first, 'cancel');
    await newOrder(shop, [[id, 9]]);
    await adjust(shop, id, -2, 'spoiled');
    await putStock(shop, id, { onHand: 30, lowAt: 5 });
    await putStock(shop, id, { onHand: 30, lowAt: 20 });
    await putStock(shop, id, { onHand: 30, lowAt: 21 });
    assert.deepEqual(
      (await eventsOf(shop, `stock:${id}`)).map(({ type, data }) => [
        type.slice('stock.'.length),
        (data as { available: number }).available,
      ]),
      [
        ['adjusted', 10],
        // The order of 1 kg that leaves 5 kg.
        ['low', 5],
        ['low', 0],
        ['depleted', 0],
        ['adjusted', -2],
        ['adjusted', 20],
        ['adjusted', 20],
        ['low', 20],
        ['adjusted', 20],
      ],
    );
    const empty = await trackedCheese(shop, 0, 0);
    assert.deepEqual(await typesOf(shop, `stock:${empty}`), [
      'stock.adjusted',
      'stock.low',
      'stock.depleted',
    ]);
  });

  test('Orders of tracked cheeses that were placed before are reserved when tracking begins, except those that have shipped', async () => {
    const shop = opened();
    const id = await newCheese(shop);
    const orders = [
      await newOrder(shop, [[id, 1]]),
      await newOrder(shop, [
        [id, 2],
        [id, 5],
      ]),
      await newOrder(shop, [[id, 4]]),
      await newOrder(shop, [[id, 100]]),
      await newOrder(shop, [[id, 90]]),
    ];
    const [, approved = 0, , shipped = 0, cancelled = 0] = orders;
    await changeOrder(shop, approved, 'approve');
    await changeOrder(shop, shipped, 'approve');
    await changeOrder(shop, shipped, 'ship');
    await changeOrder(shop, cancelled, 'cancel');
    const response = await putStock(shop, id, { onHand: 20 });
    assert.deepEqual([response.json.reserved, response.json.available], [12, 8]);
    await changeOrder(shop, approved, 'ship');
    await changeOrder(shop, shipped, 'deliver');
    assert.deepEqual(await levelsOf(shop, id), [13, 5, 8]);
    await assertConsistent(shop);
  });

  test('Orders of tracked cheeses are cancelled with a cheese, which deletes its stock and releases the others', async () => {
    const shop = opened();
    const [id, other] = [await trackedCheese(shop, 9), await trackedCheese(shop, 9)];
    await newOrder(shop, [
      [id, 1],
      [other, 2],
    ]);
    await newOrder(shop, [
      [other, 3],
      [id, 8],
    ]);
    await newOrder(shop, [[other, 1]]);
    const { status } = await shop.request('DELETE', `/v2/cheeses/${id}`, {
      as: shop.writer,
      headers: { 'x-confirm-delete': 'true' },
    });
    assert.equal(status, 204);
    assert.deepEqual(await levelsOf(shop, other), [9, 1, 8]);
    await shop.app.worker.run();
    await assertConsistent(shop);
    const jobs = await shop.app.database.all<object>(
      sql`select key from background_job where kind = 'stock.status'`,
    );
    assert.equal(jobs.length, 0);
  });

  test('Orders of tracked cheeses are cancelled with a customer, which releases what they had reserved', async () => {
    const shop = opened();
    const [id, other] = [await trackedCheese(shop, 40), await trackedCheese(shop, 40)];
    const body = { username: 'ada', email: 'ada@example.com', password: 'good enough' };
    await shop.request('POST', '/v2/customer', { body });
    const { json } = await shop.request('POST', '/v2/customer/login', { body });
    const authorization = { authorization: `Bearer ${json.token}` };
    for (let index = 0; index < 4; index += 1) {
      const lines =
        index % 2 === 0
          ? ([
              [id, 2],
              [other, 1],
            ] as const)
          : ([[other, 3]] as const);
      assert.equal((await placeOrder(shop, lines, { headers: authorization })).status, 201);
    }
    await newOrder(shop, [[id, 1]]);
    assert.deepEqual(await levelsOf(shop, other), [40, 8, 32]);
    const gone = await shop.request('DELETE', '/v2/customer/ada', { headers: authorization });
    assert.equal(gone.status, 204);
    assert.deepEqual(
      [await levelsOf(shop, id), await levelsOf(shop, other)],
      [
        [40, 1, 39],
        [40, 0, 40],
      ],
    );
    await assertConsistent(shop);
  });

  test('Orders of tracked cheeses that are test orders never touch stock', async () => {
    const shop = opened();
    const before = await shop.request('GET', '/v2/stock?limit=100', { as: shop.reader });
    for (const [verb, id] of [
      ['cancel', 1],
      ['approve', 2],
      ['ship', 3],
    ] as const) {
      assert.ok((await changeOrder(shop, id, verb)).status < 500);
    }
    const after = await shop.request('GET', '/v2/stock?limit=100', { as: shop.reader });
    assert.equal(after.text, before.text);
  });
});
