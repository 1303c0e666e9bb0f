/** POST /store/order: who may place an order, how often, and concurrent requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  bern,
  onBothEngines,
  openShop,
  type Shop,
  type TestResponse,
  testClock,
} from '../helper.ts';
import { newCheese, placeOrder, registerAndLogIn } from '../shop-verbs.ts';

const hourMs = 60 * 60_000;

const orderRows = (shop: Shop) =>
  shop.app.database.all<{
    id: number;
    customer_id: number | null;
    placed_by: string;
    status: string;
  }>(sql`select id, customer_id, placed_by, status from orders order by id`);

const statusesOf = (responses: readonly TestResponse[]) => responses.map(({ status }) => status);

onBothEngines('POST /store/order', (engine) => {
  test('POST /store/order returns 401 without a valid credential, and 403 without write:orders', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await newCheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const readsOrders = await shop.createKey({ scopes: ['read:orders', 'write:cheeses'] });
    const { headers: session } = await registerAndLogIn(shop);
    assertError(await placeOrder(shop, id, { as: null }), 401, 'unauthorized');
    assertError(
      await placeOrder(shop, id, { as: null, headers: { authorization: 'Bearer x' } }),
      401,
      'unauthorized',
    );
    assertError(
      await placeOrder(shop, id, { as, headers: { authorization: 'Bearer x' } }),
      401,
      'unauthorized',
    );
    assertError(await placeOrder(shop, id, { as: `${as}x`, headers: session }), 401, 'unauthorized');
    for (const key of [shop.reader, shop.writer, readsOrders]) {
      assertError(await placeOrder(shop, id, { as: key }), 403, 'forbidden');
      assertError(await placeOrder(shop, id, { as: key, headers: session }), 403, 'forbidden');
    }
    assertError(await placeOrder(shop, id, { as: null, headers: session }), 403, 'forbidden');
    assert.equal((await orderRows(shop)).length, 0);
    assert.equal((await placeOrder(shop, id)).status, 201);
  });

  test('POST /store/order assigns the order to the customer whose session is sent with the key', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await newCheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const ada = await registerAndLogIn(shop);
    const own = await placeOrder(shop, id, { as, headers: ada.headers });
    const anonymous = await placeOrder(shop, id, { as });
    assert.deepEqual(statusesOf([own, anonymous]), [201, 201]);
    const [first, second] = await orderRows(shop);
    assert.deepEqual([first?.customer_id, second?.customer_id], [ada.id, null]);
    assert.match(first?.placed_by ?? '', /^key:\d+$/);
    assert.equal(second?.placed_by, first?.placed_by);
    await shop.request('POST', '/v2/customer/logout', { headers: ada.headers });
    assertError(await placeOrder(shop, id, { as, headers: ada.headers }), 401, 'unauthorized');
    assert.equal((await orderRows(shop)).length, 2);
  });

  test('POST /store/order uses 0 for a missing price, and leaves the approval to an operator', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const unpriced = await newCheese(shop, { pricePerKg: undefined });
    const free = await placeOrder(shop, await newCheese(shop, { pricePerKg: 0 }));
    const alone = await placeOrder(shop, [[unpriced, 100]]);
    const body = {
      items: [unpriced, await newCheese(shop, { pricePerKg: 24.5 })].map((id) => ({
        cheeseId: id,
        quantity: 2,
      })),
    };
    const mixed = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: { ...body, shippingAddress: bern },
    });
    assert.deepEqual(
      [free, alone, mixed].map(({ json }) => [json.total, json.items[0].pricePerKg]),
      [
        [0, 0],
        [0, 0],
        [49, 0],
      ],
    );
    clock.advance(24 * hourMs);
    await shop.app.worker.run();
    assert.deepEqual(
      (await orderRows(shop)).map(({ status }) => status),
      ['approved', 'placed', 'placed'],
    );
    const approved = await shop.request('POST', `/v2/store/order/${alone.json.id}/approve`, {
      as: shop.admin,
    });
    assert.deepEqual([approved.status, approved.json.status], [200, 'approved']);
  });

  test('POST /store/order returns 422 for a cheese without a price when CURD_REQUIRE_PRICE is true', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_REQUIRE_PRICE: 'true' } });
    const response = await placeOrder(shop, await newCheese(shop, { pricePerKg: undefined }));
    assertError(response, 422, 'validation_error');
    assert.deepEqual(
      response.json.errors.map(({ field }: { field: string }) => field),
      ['items[0].cheeseId'],
    );
    assert.equal((await placeOrder(shop, await newCheese(shop, { pricePerKg: 0 }))).status, 201);
  });

  test('POST /store/order returns 429 above CURD_ORDERS_PER_HOUR, until the time in Retry-After', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_ORDERS_PER_HOUR: '2' } });
    const id = await newCheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    assert.equal((await placeOrder(shop, id, { as })).status, 201);
    clock.advance(10 * 60_000);
    const replayed = { 'idempotency-key': 'second' };
    assert.equal((await placeOrder(shop, id, { as, headers: replayed })).status, 201);
    clock.advance(10 * 60_000);
    const refused = await placeOrder(shop, id, { as });
    assertError(refused, 429, 'rate_limit_exceeded');
    assert.equal(refused.headers['retry-after'], '2400');
    assert.equal((await placeOrder(shop, id, { as, headers: replayed })).status, 201, 'a replay is no order');
    const other = await shop.createKey({ scopes: ['write:orders'] });
    assert.equal((await placeOrder(shop, id, { as: other })).status, 201, 'every key has its own hour');
    clock.advance(2_400_000 - 1001);
    assert.equal(
      (await placeOrder(shop, id, { as })).headers['retry-after'],
      '2',
      'whole seconds, never too few',
    );
    clock.advance(1000);
    assert.equal((await placeOrder(shop, id, { as })).headers['retry-after'], '1');
    clock.advance(1);
    assert.equal((await placeOrder(shop, id, { as })).status, 201);
    assert.equal((await placeOrder(shop, id, { as })).headers['retry-after'], '600');
    assert.equal((await orderRows(shop)).length, 4);
  });

  test('POST /store/order returns 429 above CURD_ORDERS_PER_HOUR for concurrent orders', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_ORDERS_PER_HOUR: '2' } });
    const id = await newCheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const responses = await Promise.all(Array.from({ length: 10 }, () => placeOrder(shop, id, { as })));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 201, ...Array(8).fill(429)]);
  });

  test('POST /store/order places one order for 20 parallel requests with one Idempotency-Key', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await newCheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const shops = [shop, await shop.another()];
    const once = { 'idempotency-key': 'once' };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        placeOrder(shops[index % 2] as Shop, id, { as, headers: once }),
      ),
    );
    const isReplay = (response: TestResponse) => response.headers['idempotency-replayed'] === 'true';
    const first = responses.filter((response) => response.status === 201 && !isReplay(response));
    assert.equal(first.length, 1, String(statusesOf(responses)));
    for (const answer of responses.filter((one) => !first.includes(one))) {
      if (answer.status === 201) {
        assert.deepEqual(answer.json, first[0]?.json);
        assert.equal(answer.headers.location, first[0]?.headers.location);
      } else {
        assertError(answer, 409, 'conflict');
      }
    }
    assert.ok(isReplay(await placeOrder(shop, id, { as, headers: once })));
    assertError(await placeOrder(shop, [[id, 2]], { as, headers: once }), 422, 'validation_error');
    assert.equal((await orderRows(shop)).length, 1);
  });

  test('POST /store/order separates the Idempotency-Keys of the customers of one API key', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await newCheese(shop);
    const once = { 'idempotency-key': 'once' };
    const ada = await registerAndLogIn(shop);
    const eve = await registerAndLogIn(shop);
    for (const session of [ada.headers, eve.headers, {}, ada.headers]) {
      assert.equal((await placeOrder(shop, id, { headers: { ...once, ...session } })).status, 201);
    }
    assert.deepEqual(
      (await orderRows(shop)).map(({ customer_id }) => customer_id),
      [ada.id, eve.id, null],
    );
  });

  test('POST /store/order accepts no order after its cheese was sold, also for concurrent requests', async (t) => {
    const shop = await openShop(t, { engine });
    for (let round = 0; round < 8; round += 1) {
      const id = await newCheese(shop);
      const orders: Promise<TestResponse>[] = [];
      let selling: Promise<TestResponse> | undefined;
      // An order in every turn of the event loop, and the sale between two of them.
      for (let turn = 0; turn < 12; turn += 1) {
        orders.push(placeOrder(shop, id));
        if (turn === round) {
          const body = { status: 'sold' };
          selling = shop.request('POST', `/v2/cheeses/${id}`, { as: shop.writer, body });
        }
        await nextTurn();
      }
      const sold = await selling;
      assert.equal(sold?.status, 200);
      const responses = await Promise.all(orders);
      const events = await shop.app.database.all<{ type: string; subject: string }>(
        sql`select type, subject from event order by id`,
      );
      const begin = events.findIndex(({ subject }) => subject === `cheese:${id}`);
      const placed = responses.filter(({ status }) => status === 201).length;
      assert.deepEqual(
        events.slice(begin).map(({ type }) => type),
        ['cheese.created', ...Array.from({ length: placed }, () => 'order.placed'), 'cheese.updated'],
      );
      for (const response of responses.filter(({ status }) => status !== 201)) {
        assertError(response, 422, 'validation_error');
      }
    }
  });

  test('POST /store/order leaves no order of a customer who was deleted concurrently', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    const id = await newCheese(shop);
    for (let round = 0; round < 8; round += 1) {
      const { username, headers: session } = await registerAndLogIn(shop);
      const where = round % 2 === 0 ? shop : other;
      const orders = Array.from({ length: 6 }, () => placeOrder(shop, id, { headers: session }));
      // The deletion starts later each time.
      for (let turn = 0; turn < round; turn += 1) {
        await nextTurn();
      }
      const gone = await where.request('DELETE', `/v2/customer/${username}`, { headers: session });
      const responses = await Promise.all(orders);
      assert.equal(gone.status, 204, gone.text);
      assert.ok(
        responses.every(({ status }) => status === 201 || status === 401),
        String(statusesOf(responses)),
      );
      const left = await orderRows(shop);
      assert.deepEqual(
        left.filter(({ status, customer_id }) => status !== 'cancelled' || customer_id !== null).length,
        0,
      );
    }
  });
});
