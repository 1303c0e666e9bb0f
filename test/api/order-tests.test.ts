/** Orders 1 to 10, which exist for tests of clients. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Statement, sql } from '../../src/database/sql.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { curdJson, freshShop, serve } from '../cli/run.ts';
import {
  assertError,
  bern,
  onBothEngines,
  openShop,
  type Shop,
  secret,
  type TestClock,
  testClock,
} from '../helper.ts';

const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const statuses = ['placed', 'approved', 'shipped', 'delivered', 'cancelled'].flatMap((one) => [one, one]);
const stepsTo: Readonly<Record<string, readonly string[]>> = {
  placed: ['placed'],
  approved: ['placed', 'approved'],
  shipped: ['placed', 'approved', 'shipped'],
  delivered: ['placed', 'approved', 'shipped', 'delivered'],
  cancelled: ['placed', 'cancelled'],
};

interface Tests {
  readonly shop: Shop;
  readonly clock: TestClock;
  restore(): Promise<void>;
  /** The orders in responses, and the statuses of their timelines. */
  snapshot(): Promise<{ order: { status: string; shipDate: string | null }; steps: string[] }[]>;
  take(id: number, step?: string): Promise<number>;
}

async function openTests(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres'): Promise<Tests> {
  const clock = testClock();
  const shop = await openShop(t, { engine, clock });
  const restore = () => restoreTestOrders(shop.app.contextOf('system'));
  await restore();
  const get = async (path: string) => (await shop.request('GET', path, { as: shop.reader })).json;
  return {
    shop,
    clock,
    restore,
    snapshot: () =>
      Promise.all(
        ids.map(async (id) => ({
          order: await get(`/v2/store/order/${id}`),
          steps: (await get(`/v2/store/order/${id}/timeline`)).items.map(
            ({ status }: { status: string }) => status,
          ),
        })),
      ),
    take: async (id, step) =>
      (
        await shop.request(
          step === undefined ? 'DELETE' : 'POST',
          `/v2/store/order/${id}${step === undefined ? '' : `/${step}`}`,
          { as: shop.admin },
        )
      ).status,
  };
}

onBothEngines('Test orders', (engine) => {
  test('Test orders are two of each status, with matching timelines and a shipDate once approved', async (t) => {
    const { snapshot } = await openTests(t, engine);
    const all = await snapshot();
    assert.deepEqual(
      all.map(({ order }) => order.status),
      statuses,
    );
    for (const { order, steps } of all) {
      assert.deepEqual(steps, stepsTo[order.status]);
      assert.equal(order.shipDate === null, order.status === 'placed' || order.status === 'cancelled');
    }
  });

  test('Test orders return every status that cancelling can have: 204, 204, 409, 409, 204', async (t) => {
    const { take } = await openTests(t, engine);
    const responses: number[] = [];
    for (const id of ids) {
      responses.push(await take(id));
    }
    assert.deepEqual(
      responses,
      [204, 204, 409, 409, 204].flatMap((one) => [one, one]),
    );
  });

  test('Test orders change by requests only, and are never approved automatically', async (t) => {
    const { shop, clock, snapshot, take } = await openTests(t, engine);
    const before = await snapshot();
    clock.advance(365 * 24 * 60 * 60_000);
    await shop.app.worker.run();
    assert.deepEqual(await snapshot(), before);
    assert.deepEqual(
      [await take(1, 'approve'), await take(1, 'ship'), await take(1, 'deliver'), await take(1, 'deliver')],
      [200, 200, 200, 409],
    );
    assert.equal((await snapshot())[0]?.order.status, 'delivered');
    assert.deepEqual(
      [await take(3, 'approve'), await take(3, 'ship'), await take(5, 'deliver')],
      [409, 200, 200],
    );
  });

  test('Test orders are restored by the next start, with their timelines', async (t) => {
    const { shop, restore, snapshot, take } = await openTests(t, engine);
    const before = await snapshot();
    const tagOf = async (id: number) =>
      (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader })).headers.etag;
    await take(1, 'approve');
    await take(3);
    await take(5, 'deliver');
    const moved = await tagOf(1);
    await restore();
    assert.deepEqual(await snapshot(), before);
    assert.notEqual(await tagOf(1), moved, 'what has changed has another ETag');
    await restore();
    assert.deepEqual(await snapshot(), before);
    const { database } = shop.app;
    const rows = await database.get<{ n: number }>(sql`
      select (select count(*) from background_job) + (select count(*) from open_order_cheese)
        + (select count(*) from orders where id > 10) as n`);
    assert.equal(rows?.n, 0);
  });

  test('Test orders are written by a start only if they were changed', async (t) => {
    const { shop, restore, take } = await openTests(t, engine);
    const { database } = shop.app;
    const rows = async (query: Statement) =>
      (await database.all<{ subject: string }>(query)).map((row) => ({ ...row }));
    const stored = async () => ({
      orders: await rows(sql`select * from orders order by id`),
      events: await rows(sql`select * from event where subject like 'order:%' order by id`),
    });
    // A row that is written with the same values has another version on PostgreSQL. A pass may number other events.
    const versions = () =>
      engine === 'sqlite'
        ? database.all(sql`select total_changes() as changes`)
        : database.all(sql`
            select xmin::text from orders union all
            select xmin::text from event where subject like 'order:%' union all
            select pg_sequence_last_value('event_id_seq')::text`);
    const before = await stored();
    const versionsBefore = await versions();
    assert.equal(before.events.length, 24);
    for (let start = 0; start < 10; start += 1) {
      await restore();
    }
    assert.deepEqual(await stored(), before);
    assert.deepEqual(await versions(), versionsBefore);
    await take(3);
    await restore();
    const after = await stored();
    // The event of the transition is deleted, and the original events are the same rows.
    assert.deepEqual(after.events, before.events);
    assert.deepEqual(
      after.orders.filter((order, index) => JSON.stringify(order) !== JSON.stringify(before.orders[index])),
      [{ ...before.orders[2], version: 3 }],
    );
    await database.run(sql`delete from event where subject = 'order:5'`);
    await database.run(sql`delete from orders where id = 6`);
    await database.run(sql`
      delete from event where id = (select min(id) from event where subject = 'order:7')`);
    await restore();
    const subjects = (await stored()).events.map(({ subject }) => subject);
    assert.deepEqual(subjects.toSorted(), before.events.map(({ subject }) => subject).toSorted());
    assert.equal((await stored()).orders.length, 10);
  });

  test('Test orders are in no list, and leave the first id of a real order at 11', async (t) => {
    const { shop } = await openTests(t, engine);
    for (const query of [
      '',
      '?status=placed,approved,shipped,delivered,cancelled',
      '?createdFrom=2020-01-01T00:00:00Z',
    ]) {
      const { json } = await shop.request('GET', `/v2/store/orders${query}`, { as: shop.reader });
      assert.deepEqual([json.items, json.total, json.hasMore], [[], 0, false]);
    }
    const cheese = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Comté' } });
    const order = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: {
        items: [{ cheeseId: cheese.json.id, quantity: 1 }],
        shippingAddress: bern,
      },
    });
    assert.equal(order.json.id, 11);
  });

  test('Test orders have cheeses that do not exist, and prevent no deletion of a cheese', async (t) => {
    const { shop } = await openTests(t, engine);
    const { json } = await shop.request('GET', '/v2/store/order/3', { as: shop.reader });
    assert.equal(json.total, 67);
    for (const { cheeseId, cheeseName } of json.items) {
      const url = `/v2/cheeses/${cheeseId}`;
      assertError(await shop.request('GET', url, { as: shop.reader }), 404, 'not_found');
      const made = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: cheeseName } });
      const headers = { 'x-confirm-delete': 'true' };
      const gone = await shop.request('DELETE', `/v2/cheeses/${made.json.id}`, { as: shop.writer, headers });
      assert.equal(gone.status, 204);
    }
  });
});

test('Test orders are restored when they have more events than a statement has values', async (t) => {
  const { shop, restore, snapshot } = await openTests(t, 'sqlite');
  const before = await snapshot();
  await shop.app.database.run(sql`
    insert into event (type, subject, actor, data, created_at)
    with recursive n (value) as (select 1 union all select value + 1 from n where value < 33000)
    select 'order.approved', 'order:1', 'key:1', '{"reason":null}', '2026-01-01T00:00:00.000Z' from n`);
  await restore();
  assert.deepEqual(await snapshot(), before);
});

suite('A server that was started', { concurrency: 3 }, () => {
  const environments: [name: string, more: Record<string, string>, status: number][] = [
    ['local', {}, 200],
    ['sandbox', { CURD_SECRET: secret }, 200],
    ['production', { CURD_SECRET: secret, CURD_PUBLIC_URL: 'https://cheese.example' }, 404],
  ];
  for (const [environment, more, status] of environments) {
    test(`A server that was started in ${environment} ${status === 200 ? 'has' : 'has no'} test orders`, async (t) => {
      const shop = await freshShop(t, { CURD_ENVIRONMENT: environment, ...more });
      const { url } = await serve(t, shop);
      await curdJson(shop, 'accounts', 'create', 'shop');
      const { key } = await curdJson(shop, 'keys', 'create', '--account', 'shop');
      for (const id of [1, 10]) {
        const response = await fetch(`${url}/v2/store/order/${id}`, { headers: { 'X-API-Key': key } });
        await response.arrayBuffer();
        assert.equal(response.status, status);
      }
    });
  }
});
