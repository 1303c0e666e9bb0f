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

const hourMs = 60 * 60_000;
let made = 0;

async function cheese(shop: Shop, fields: object = { pricePerKg: 24.5 }): Promise<number> {
  made += 1;
  const body = { name: `Cheese ${made}`, ...fields };
  return (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json.id;
}

function place(
  shop: Shop,
  as: string | undefined,
  cheeseId: number,
  headers: Record<string, string> = {},
  quantity = 1,
): Promise<TestResponse> {
  const body = { items: [{ cheeseId, quantity }], shippingAddress: bern };
  return shop.request('POST', '/v2/store/order', { body, headers, ...(as === undefined ? {} : { as }) });
}

/** Registers and logs in a customer. */
async function customer(
  shop: Shop,
): Promise<{ username: string; id: number; session: { authorization: string } }> {
  made += 1;
  const username = `ada${made}`;
  const body = { username, email: `${username}@example.com`, password: 'good enough' };
  const { id } = (await shop.request('POST', '/v2/customer', { body })).json;
  const login = await shop.request('POST', '/v2/customer/login', { body });
  assert.equal(login.status, 200, login.text);
  return { username, id, session: { authorization: `Bearer ${login.json.token}` } };
}

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
    const id = await cheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const readsOrders = await shop.createKey({ scopes: ['read:orders', 'write:cheeses'] });
    const { session } = await customer(shop);
    assertError(await place(shop, undefined, id), 401, 'unauthorized');
    assertError(await place(shop, undefined, id, { authorization: 'Bearer x' }), 401, 'unauthorized');
    assertError(await place(shop, as, id, { authorization: 'Bearer x' }), 401, 'unauthorized');
    assertError(await place(shop, `${as}x`, id, session), 401, 'unauthorized');
    for (const key of [shop.reader, shop.writer, readsOrders]) {
      assertError(await place(shop, key, id), 403, 'forbidden');
      assertError(await place(shop, key, id, session), 403, 'forbidden');
    }
    assertError(await place(shop, undefined, id, session), 403, 'forbidden');
    assert.equal((await orderRows(shop)).length, 0);
    assert.equal((await place(shop, shop.admin, id)).status, 201);
  });

  test('POST /store/order assigns the order to the customer whose session is sent with the key', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await cheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const ada = await customer(shop);
    const own = await place(shop, as, id, ada.session);
    const anonymous = await place(shop, as, id);
    assert.deepEqual(statusesOf([own, anonymous]), [201, 201]);
    const [first, second] = await orderRows(shop);
    assert.deepEqual([first?.customer_id, second?.customer_id], [ada.id, null]);
    assert.match(first?.placed_by ?? '', /^key:\d+$/);
    assert.equal(second?.placed_by, first?.placed_by);
    await shop.request('POST', '/v2/customer/logout', { headers: ada.session });
    assertError(await place(shop, as, id, ada.session), 401, 'unauthorized');
    assert.equal((await orderRows(shop)).length, 2);
  });

  test('POST /store/order uses 0 for a missing price, and leaves the approval to an operator', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const unpriced = await cheese(shop, {});
    const free = await place(shop, shop.admin, await cheese(shop, { pricePerKg: 0 }));
    const alone = await place(shop, shop.admin, unpriced, {}, 100);
    const body = { items: [unpriced, await cheese(shop)].map((id) => ({ cheeseId: id, quantity: 2 })) };
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
    const response = await place(shop, shop.admin, await cheese(shop, {}));
    assertError(response, 422, 'validation_error');
    assert.deepEqual(
      response.json.errors.map(({ field }: { field: string }) => field),
      ['items[0].cheeseId'],
    );
    assert.equal((await place(shop, shop.admin, await cheese(shop, { pricePerKg: 0 }))).status, 201);
  });

  test('POST /store/order returns 429 above CURD_ORDERS_PER_HOUR, until the time in Retry-After', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_ORDERS_PER_HOUR: '2' } });
    const id = await cheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    assert.equal((await place(shop, as, id)).status, 201);
    clock.advance(10 * 60_000);
    const replayed = { 'idempotency-key': 'second' };
    assert.equal((await place(shop, as, id, replayed)).status, 201);
    clock.advance(10 * 60_000);
    const refused = await place(shop, as, id);
    assertError(refused, 429, 'rate_limit_exceeded');
    assert.equal(refused.headers['retry-after'], '2400');
    assert.equal((await place(shop, as, id, replayed)).status, 201, 'a replay is no order');
    const other = await shop.createKey({ scopes: ['write:orders'] });
    assert.equal((await place(shop, other, id)).status, 201, 'every key has its own hour');
    clock.advance(2_400_000 - 1001);
    assert.equal((await place(shop, as, id)).headers['retry-after'], '2', 'whole seconds, never too few');
    clock.advance(1000);
    assert.equal((await place(shop, as, id)).headers['retry-after'], '1');
    clock.advance(1);
    assert.equal((await place(shop, as, id)).status, 201);
    assert.equal((await place(shop, as, id)).headers['retry-after'], '600');
    assert.equal((await orderRows(shop)).length, 4);
  });

  test('POST /store/order returns 429 above CURD_ORDERS_PER_HOUR for concurrent orders', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_ORDERS_PER_HOUR: '2' } });
    const id = await cheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const responses = await Promise.all(Array.from({ length: 10 }, () => place(shop, as, id)));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 201, ...Array(8).fill(429)]);
  });

  test('POST /store/order places one order for 20 parallel requests with one Idempotency-Key', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await cheese(shop);
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const shops = [shop, await shop.another()];
    const once = { 'idempotency-key': 'once' };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => place(shops[index % 2] as Shop, as, id, once)),
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
    assert.ok(isReplay(await place(shop, as, id, once)));
    assertError(await place(shop, as, id, once, 2), 422, 'validation_error');
    assert.equal((await orderRows(shop)).length, 1);
  });

  test('POST /store/order separates the Idempotency-Keys of the customers of one API key', async (t) => {
    const shop = await openShop(t, { engine });
    const id = await cheese(shop);
    const once = { 'idempotency-key': 'once' };
    const ada = await customer(shop);
    const eve = await customer(shop);
    for (const session of [ada.session, eve.session, {}, ada.session]) {
      assert.equal((await place(shop, shop.admin, id, { ...once, ...session })).status, 201);
    }
    assert.deepEqual(
      (await orderRows(shop)).map(({ customer_id }) => customer_id),
      [ada.id, eve.id, null],
    );
  });

  test('POST /store/order accepts no order after its cheese was sold, also for concurrent requests', async (t) => {
    const shop = await openShop(t, { engine });
    for (let round = 0; round < 8; round += 1) {
      const id = await cheese(shop);
      const orders: Promise<TestResponse>[] = [];
      let selling: Promise<TestResponse> | undefined;
      // An order in every turn of the event loop, and the sale between two of them.
      for (let turn = 0; turn < 12; turn += 1) {
        orders.push(place(shop, shop.admin, id));
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
    const id = await cheese(shop);
    for (let round = 0; round < 8; round += 1) {
      const { username, session } = await customer(shop);
      const where = round % 2 === 0 ? shop : other;
      const orders = Array.from({ length: 6 }, () => place(shop, shop.admin, id, session));
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
