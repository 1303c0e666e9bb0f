/** Transitions of orders by requests: every transition from every status. order-approval.test.ts tests automatic approvals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { type OrderStatus, orderStatuses } from '../../src/orders/transitions/order-status.ts';
import {
  assertError,
  bern,
  onBothEngines,
  openShop,
  type Shop,
  type ShopOptions,
  type TestClock,
  type TestResponse,
  testClock,
} from '../helper.ts';

const dayMs = 24 * 60 * 60_000;

/** How each status is reached from `placed`. */
const ways: Readonly<Record<OrderStatus, readonly Verb[]>> = {
  placed: [],
  approved: ['approve'],
  shipped: ['approve', 'ship'],
  delivered: ['approve', 'ship', 'deliver'],
  cancelled: ['DELETE'],
};
type Verb = 'approve' | 'ship' | 'deliver' | 'DELETE';
const verbs: readonly Verb[] = ['approve', 'ship', 'deliver', 'DELETE'];

/** The status after an allowed transition; `same` is success without a change. */
const allowed: Readonly<Record<OrderStatus, Partial<Record<Verb, OrderStatus | 'same'>>>> = {
  placed: { approve: 'approved', DELETE: 'cancelled' },
  approved: { ship: 'shipped', DELETE: 'cancelled' },
  shipped: { deliver: 'delivered' },
  delivered: {},
  cancelled: { DELETE: 'same' },
};
/** The message of a refusal names the allowed transitions. */
const saysOf: Readonly<Record<OrderStatus, RegExp>> = {
  placed: /\bplaced\b.*\bapproved or cancelled\b/,
  approved: /\bapproved\b.*\bshipped or cancelled\b/,
  shipped: /\bshipped\b.*\bdelivered\b/,
  delivered: /\bdelivered\b.*\bfinal\b/,
  cancelled: /\bcancelled\b.*\bfinal\b/,
};

interface Store {
  readonly shop: Shop;
  readonly clock: TestClock;
  readonly cheeseId: number;
  /** Places an order and brings it to a status. */
  reach(status?: OrderStatus): Promise<number>;
  take(verb: Verb, id: number | string, headers?: Record<string, string>): Promise<TestResponse>;
  read(id: number): Promise<TestResponse>;
  timeline(id: number): Promise<{ status: OrderStatus; at: string; by: string; reason: string | null }[]>;
  /** All stored rows of an order. */
  stored(id: number): Promise<unknown>;
}

async function openStore(t: Parameters<typeof openShop>[0], options: ShopOptions): Promise<Store> {
  const clock = testClock();
  const shop = await openShop(t, { ...options, clock });
  const { database } = shop.app;
  const body = { name: 'Comté', pricePerKg: 24.5 };
  const cheeseId = (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json.id;
  const placer = await shop.createKey({ scopes: ['write:orders'] });
  const store: Store = {
    shop,
    clock,
    cheeseId,
    async reach(status = 'placed') {
      const order = { items: [{ cheeseId, quantity: 2 }], shippingAddress: bern };
      const { json } = await shop.request('POST', '/v2/store/order', { as: placer, body: order });
      for (const verb of ways[status]) {
        assert.ok((await store.take(verb, json.id)).status < 300);
      }
      return json.id;
    },
    take: (verb, id, headers = {}) =>
      verb === 'DELETE'
        ? shop.request('DELETE', `/v2/store/order/${id}`, { as: shop.admin, headers })
        : shop.request('POST', `/v2/store/order/${id}/${verb}`, { as: shop.admin, headers }),
    read: (id) => shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader }),
    timeline: async (id) =>
      (await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.reader })).json.items,
    stored: async (id) =>
      JSON.stringify([
        await database.all(sql`select * from orders where id = ${id}`),
        await database.all(sql`select * from background_job where key = ${String(id)}`),
        await database.all(sql`select * from open_order_cheese where order_id = ${id}`),
        // Without the number, which an event of PostgreSQL gets after its commit.
        await database.all(
          sql`select id, type, data, actor, created_at from event where subject = ${`order:${id}`} order by id`,
        ),
      ]),
  };
  return store;
}

onBothEngines('An order', (engine) => {
  for (const from of orderStatuses) {
    test(`An order that is ${from} accepts the allowed transitions and refuses all others`, async (t) => {
      const { clock, reach, take, read, timeline, stored } = await openStore(t, { engine });
      for (const verb of verbs) {
        const id = await reach(from);
        const before = await read(id);
        const untouched = await stored(id);
        assert.equal(before.json.status, from);
        clock.advance(1000);
        const response = await take(verb, id);
        const after = await read(id);
        const to = allowed[from][verb];
        if (to === undefined || to === 'same') {
          if (to === 'same') {
            assert.equal(response.status, 204, verb);
          } else {
            assertError(response, 409, 'conflict');
            assert.match(
              response.json.message,
              verb === 'DELETE' ? /cannot be cancelled/ : saysOf[from],
              verb,
            );
          }
          assert.equal(await stored(id), untouched, `${verb} changed something`);
          assert.equal(after.headers.etag, before.headers.etag);
        } else {
          assert.equal(response.status, verb === 'DELETE' ? 204 : 200, response.text);
          if (verb !== 'DELETE') {
            assert.deepEqual([response.json, response.headers.etag], [after.json, after.headers.etag]);
          }
          assert.equal(after.json.status, to);
          assert.equal(Date.parse(after.json.updatedAt) - Date.parse(before.json.updatedAt), 1000);
          assert.equal(after.json.createdAt, before.json.createdAt);
          assert.notEqual(after.headers.etag, before.headers.etag);
          assert.equal((await timeline(id)).at(-1)?.status, to);
        }
      }
    });
  }

  test('An order has no job once it is approved or cancelled, and reserves no cheese once it is closed', async (t) => {
    const { shop, reach } = await openStore(t, { engine });
    const ids = new Map<OrderStatus, number>();
    for (const status of orderStatuses) {
      ids.set(status, await reach(status));
    }
    const { database } = shop.app;
    const jobs = await database.all<{ key: string }>(sql`select key from background_job`);
    assert.deepEqual(
      jobs.map(({ key }) => Number(key)),
      [ids.get('placed')],
    );
    const open = await database.all<{ order_id: number }>(
      sql`select order_id from open_order_cheese order by order_id`,
    );
    assert.deepEqual(
      open.map(({ order_id }) => order_id),
      [ids.get('placed'), ids.get('approved'), ids.get('shipped')],
    );
  });

  test('An order has no shipDate when placed, an estimate when approved, and the time of shipping afterwards', async (t) => {
    const settings = { CURD_SHIPPING_TIME: '3d' };
    const { clock, reach, take, read } = await openStore(t, { engine, settings });
    const id = await reach();
    assert.equal((await read(id)).json.shipDate, null);
    clock.advance(1000);
    await take('approve', id);
    assert.equal((await read(id)).json.shipDate, '2026-06-04T12:00:01.000Z');
    clock.advance(dayMs);
    await take('ship', id);
    assert.equal((await read(id)).json.shipDate, '2026-06-02T12:00:01.000Z');
    clock.advance(dayMs);
    await take('deliver', id);
    assert.equal((await read(id)).json.shipDate, '2026-06-02T12:00:01.000Z');
    const other = await reach('approved');
    assert.notEqual((await read(other)).json.shipDate, null);
    await take('DELETE', other);
    assert.equal((await read(other)).json.shipDate, null);
  });

  test('An order returns 304 for the current version, and 200 after a transition', async (t) => {
    const { shop, reach, take, read } = await openStore(t, { engine });
    const id = await reach();
    const tag = (await read(id)).headers.etag ?? '';
    const known = { as: shop.reader, headers: { 'if-none-match': tag } };
    const unchanged = await shop.request('GET', `/v2/store/order/${id}`, known);
    assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.etag], [304, '', tag]);
    await take('approve', id);
    assert.equal((await shop.request('GET', `/v2/store/order/${id}`, known)).status, 200);
  });

  test('An order has a timeline of its transitions with time, actor and reason', async (t) => {
    const { shop, clock, reach, take, timeline } = await openStore(t, { engine });
    const id = await reach();
    for (const verb of ['approve', 'ship', 'deliver'] as const) {
      clock.advance(1000);
      await take(verb, id);
    }
    const keys = (await shop.request('GET', '/v2/api-keys', { as: shop.admin })).json.items;
    const admin = keys.find(({ scopes }: { scopes: string[] }) => scopes.includes('admin'));
    const items = await timeline(id);
    const placer = items[0]?.by ?? '';
    const by = `key:${admin.id}`;
    assert.match(placer, /^key:\d+$/);
    assert.notEqual(placer, by);
    assert.deepEqual(items, [
      { status: 'placed', at: '2026-06-01T12:00:00.000Z', by: placer, reason: null, shipment: null },
      { status: 'approved', at: '2026-06-01T12:00:01.000Z', by, reason: null, shipment: null },
      { status: 'shipped', at: '2026-06-01T12:00:02.000Z', by, reason: null, shipment: null },
      { status: 'delivered', at: '2026-06-01T12:00:03.000Z', by, reason: null, shipment: null },
    ]);
  });

  test('An order is not approved and not changed while a cheese is not available', async (t) => {
    const { shop, cheeseId, reach, take, stored } = await openStore(t, { engine });
    const id = await reach();
    const before = await stored(id);
    const become = (status: string) =>
      shop.request('POST', `/v2/cheeses/${cheeseId}`, { as: shop.writer, body: { status } });
    for (const status of ['pending', 'sold']) {
      await become(status);
      const response = await take('approve', id);
      assertError(response, 409, 'conflict');
      assert.match(response.json.message, /Comté/);
      assert.equal(await stored(id), before);
    }
    await become('available');
    assert.equal((await take('approve', id)).status, 200);
  });

  test('An order is replayed by its Idempotency-Key, and changes once', async (t) => {
    const { reach, take, timeline } = await openStore(t, { engine });
    const id = await reach();
    const first: TestResponse[] = [];
    for (const verb of ['approve', 'ship', 'deliver'] as const) {
      first.push(await take(verb, id, { 'idempotency-key': 'once' }));
    }
    for (const [index, verb] of (['approve', 'ship', 'deliver'] as const).entries()) {
      const again = await take(verb, id, { 'idempotency-key': 'once' });
      assert.equal(again.headers['idempotency-replayed'], 'true');
      assert.deepEqual(
        [again.status, again.text, again.headers.etag],
        [200, first[index]?.text, `"${index + 2}"`],
      );
      assertError(await take(verb, id, { 'idempotency-key': 'twice' }), 409, 'conflict');
    }
    assert.equal((await timeline(id)).length, 4);
  });

  test('An order is 404 for every operation when the id is not valid', async (t) => {
    const { shop, take } = await openStore(t, { engine });
    const ids = [
      'abc',
      '0',
      '-1',
      '9223372036854775808',
      '9007199254740992',
      '1e3',
      '11.0',
      '011',
      '%31%32x',
    ];
    for (const id of [...ids, '999999', '11', '1']) {
      for (const path of ['', '/timeline']) {
        assertError(
          await shop.request('GET', `/v2/store/order/${id}${path}`, { as: shop.reader }),
          404,
          'not_found',
        );
      }
      for (const verb of verbs) {
        assertError(await take(verb, id), 404, 'not_found');
      }
    }
  });
});
