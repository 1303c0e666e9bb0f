/** Automatic approvals, and concurrent transitions of an order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import {
  bern,
  onBothEngines,
  openShop,
  type Shop,
  type ShopOptions,
  type TestClock,
  testClock,
} from '../helper.ts';

const confirmed = { 'x-confirm-delete': 'true' };

interface Store {
  readonly shop: Shop;
  readonly clock: TestClock;
  cheese(name: string): Promise<number>;
  place(...cheeseIds: number[]): Promise<number>;
  statusOf(id: number): Promise<string>;
  /** The statuses of an order's timeline. */
  stepsOf(id: number): Promise<string[]>;
  countJobs(): Promise<number>;
  approve(id: number): Promise<number>;
  cancel(id: number): Promise<number>;
}

async function openStore(t: Parameters<typeof openShop>[0], options: ShopOptions): Promise<Store> {
  const clock = testClock();
  const shop = await openShop(t, { ...options, clock });
  const { database } = shop.app;
  const url = '/v2/store/order';
  return {
    shop,
    clock,
    cheese: async (name) =>
      (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name, pricePerKg: 24.5 } })).json
        .id,
    async place(...cheeseIds) {
      const items = cheeseIds.map((cheeseId) => ({ cheeseId, quantity: 2 }));
      const response = await shop.request('POST', url, {
        as: shop.admin,
        body: { items, shippingAddress: bern },
      });
      assert.equal(response.status, 201, response.text);
      return response.json.id;
    },
    statusOf: async (id) => (await shop.request('GET', `${url}/${id}`, { as: shop.reader })).json.status,
    stepsOf: async (id) =>
      (await shop.request('GET', `${url}/${id}/timeline`, { as: shop.reader })).json.items.map(
        ({ status }: { status: string }) => status,
      ),
    countJobs: async () =>
      (await database.get<{ jobs: number }>(sql`select count(*) as jobs from background_job`))?.jobs ??
      Number.NaN,
    approve: async (id) => (await shop.request('POST', `${url}/${id}/approve`, { as: shop.admin })).status,
    cancel: async (id) => (await shop.request('DELETE', `${url}/${id}`, { as: shop.admin })).status,
  };
}

onBothEngines('The worker that approves orders', (engine) => {
  test('The worker that approves orders approves an order when CURD_APPROVAL_DELAY is over, and not before', async (t) => {
    const settings = { CURD_APPROVAL_DELAY: '7s' };
    const { shop, clock, cheese, place, statusOf, countJobs } = await openStore(t, { engine, settings });
    const comte = await cheese('Comté');
    const id = await place(comte);
    clock.advance(1000);
    const later = await place(comte);
    clock.advance(5999);
    await shop.app.worker.run();
    assert.equal(await statusOf(id), 'placed');
    clock.advance(1);
    await shop.app.worker.run();
    assert.deepEqual([await statusOf(id), await statusOf(later)], ['approved', 'placed']);
    assert.equal(await countJobs(), 1);
    const url = `/v2/store/order/${id}`;
    const { json, headers } = await shop.request('GET', url, { as: shop.reader });
    assert.deepEqual(
      [json.updatedAt, json.shipDate, headers.etag],
      ['2026-06-01T12:00:07.000Z', '2026-06-03T12:00:07.000Z', '"2"'],
    );
    const { items } = (await shop.request('GET', `${url}/timeline`, { as: shop.reader })).json;
    assert.deepEqual(items[1], {
      status: 'approved',
      at: json.updatedAt,
      by: 'system',
      reason: null,
      shipment: null,
    });
    await shop.app.worker.run();
    assert.equal((await shop.request('GET', url, { as: shop.reader })).headers.etag, '"2"');
  });

  test('The worker that approves orders cancels an order whose cheese is no longer available, and names the cheese', async (t) => {
    const { shop, clock, cheese, place, statusOf, countJobs } = await openStore(t, { engine });
    const there = await cheese('Abondance');
    const become: [name: string, change: (id: number) => Promise<unknown>][] = [
      ...['sold', 'pending'].map((status): [string, (id: number) => Promise<unknown>] => [
        `Brie ${status}`,
        (id) => shop.request('POST', `/v2/cheeses/${id}`, { as: shop.writer, body: { status } }),
      ]),
      [
        'Brie gone',
        (id) => shop.request('DELETE', `/v2/cheeses/${id}`, { as: shop.writer, headers: confirmed }),
      ],
    ];
    const orders = new Map<number, string>();
    for (const [name, change] of become) {
      const id = await cheese(name);
      orders.set(await place(there, id, id), name);
      await change(id);
    }
    const fine = await place(there);
    clock.advance(5000);
    await shop.app.worker.run();
    for (const [id, name] of orders) {
      assert.equal(await statusOf(id), 'cancelled', name);
      const { items } = (await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.reader }))
        .json;
      assert.equal(items.length, 2);
      assert.ok(items[1].reason.includes(name), items[1].reason);
      assert.ok(!items[1].reason.includes('Abondance'), items[1].reason);
    }
    assert.equal(await statusOf(fine), 'approved');
    assert.equal(await countJobs(), 0);
  });

  test('The worker that approves orders does not change orders that were cancelled, or approved by an operator', async (t) => {
    const { shop, clock, cheese, place, approve, cancel, stepsOf } = await openStore(t, { engine });
    const comte = await cheese('Comté');
    const approved = await place(comte);
    const cancelled = await place(comte);
    await approve(approved);
    await cancel(cancelled);
    clock.advance(5000);
    await shop.app.worker.run();
    assert.deepEqual(await stepsOf(approved), ['placed', 'approved']);
    assert.deepEqual(await stepsOf(cancelled), ['placed', 'cancelled']);
  });

  test('The worker that approves orders and a concurrent cancellation have one order of events', async (t) => {
    const { shop, clock, cheese, place, cancel, stepsOf, statusOf, countJobs } = await openStore(t, {
      engine,
    });
    const comte = await cheese('Comté');
    for (let round = 0; round < 5; round += 1) {
      const id = await place(comte);
      clock.advance(5000);
      const working = shop.app.worker.run();
      for (let turn = 0; turn < round; turn += 1) {
        await nextTurn();
      }
      const [status] = await Promise.all([cancel(id), working]);
      assert.equal(status, 204, 'what is approved can be cancelled still');
      assert.equal(await statusOf(id), 'cancelled');
      const steps = (await stepsOf(id)).join();
      assert.ok(['placed,cancelled', 'placed,approved,cancelled'].includes(steps), steps);
      assert.equal(await countJobs(), 0);
    }
  });

  test('The worker that approves orders and an operator who approves concurrently approve once', async (t) => {
    const { shop, clock, cheese, place, approve, stepsOf, countJobs } = await openStore(t, { engine });
    const comte = await cheese('Comté');
    for (let round = 0; round < 5; round += 1) {
      const id = await place(comte);
      clock.advance(5000);
      const [status] = await Promise.all([approve(id), shop.app.worker.run()]);
      assert.ok(status === 200 || status === 409, String(status));
      assert.deepEqual(await stepsOf(id), ['placed', 'approved']);
      assert.equal(await countJobs(), 0);
    }
  });
});

onBothEngines('Of concurrent transitions of an order', (engine) => {
  test('Of concurrent transitions of an order, one succeeds, and the others are 409 with the current status', async (t) => {
    const { shop, cheese, place, stepsOf } = await openStore(t, { engine });
    const shops = [shop, await shop.another()];
    const id = await place(await cheese('Comté'));
    for (const [index, step] of ['approve', 'ship', 'deliver'].entries()) {
      const responses = await Promise.all(
        Array.from({ length: 6 }, (_, caller) =>
          (shops[caller % 2] as Shop).request('POST', `/v2/store/order/${id}/${step}`, { as: shop.admin }),
        ),
      );
      assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409], step);
      assert.equal((await stepsOf(id)).length, index + 2);
    }
  });

  test('Of concurrent transitions of an order, either shipping or cancelling succeeds, and the other is refused', async (t) => {
    const { shop, cheese, place, approve, cancel, statusOf, stepsOf } = await openStore(t, { engine });
    const comte = await cheese('Comté');
    for (let round = 0; round < 6; round += 1) {
      const id = await place(comte);
      await approve(id);
      const ship = () => shop.request('POST', `/v2/store/order/${id}/ship`, { as: shop.admin });
      const early = round % 2 === 0 ? cancel(id) : undefined;
      const [shipped, cancelled] = await Promise.all([ship(), early ?? cancel(id)]);
      const status = await statusOf(id);
      const expected = status === 'shipped' ? [200, 409] : [409, 204];
      assert.deepEqual([shipped.status, cancelled], expected, `it is ${status}`);
      assert.deepEqual(await stepsOf(id), ['placed', 'approved', status]);
    }
  });
});
