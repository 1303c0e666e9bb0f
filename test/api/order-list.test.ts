/** GET /store/orders: pages, filters, cursors and ownership. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../src/access/access.ts';
import type { Principal } from '../../src/access/principal.ts';
import { createCursors } from '../../src/cursor.ts';
import { AppError } from '../../src/errors.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { assertError, bern, onBothEngines, openShop, type Shop, testClock } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';

const url = '/v2/store/orders';

/** Places orders one after another, of the first cheese of the catalogue. */
async function placeSome(shop: Shop, orders: number): Promise<number[]> {
  const cheeseId = await newCheese(shop);
  const ids: number[] = [];
  for (let index = 0; index < orders; index += 1) {
    ids.push(await newOrder(shop, cheeseId));
  }
  return ids;
}

interface Page {
  readonly ids: number[];
  readonly total: number;
  readonly cursor: string | null;
  readonly link: string | undefined;
}

async function page(shop: Shop, query = '', as = shop.reader): Promise<Page> {
  const { status, json, headers, text } = await shop.request('GET', `${url}${query}`, { as });
  assert.equal(status, 200, text);
  assert.equal(json.hasMore, json.nextCursor !== null);
  return {
    ids: json.items.map(({ id }: { id: number }) => id),
    total: json.total,
    cursor: json.nextCursor,
    link: headers.link,
  };
}

async function assertRefused(shop: Shop, query: string, names: string): Promise<void> {
  const response = await shop.request('GET', `${url}?${query}`, { as: shop.reader });
  assertError(response, 400, 'bad_request');
  assert.ok(response.json.message.includes(names), `${query}: ${response.json.message}`);
}

onBothEngines('GET /store/orders', (engine) => {
  test('GET /store/orders lists every order except test orders, newest first, with the same bodies as GET by id', async (t) => {
    const shop = await openShop(t, { engine });
    assert.deepEqual(await page(shop), { ids: [], total: 0, cursor: null, link: undefined });
    await restoreTestOrders(shop.app.contextOf('system'));
    assert.equal((await page(shop)).total, 0);
    const ids = await placeSome(shop, 3);
    await shop.request('DELETE', `/v2/store/order/${ids[1]}`, { as: shop.admin });
    const { json, headers } = await shop.request('GET', url, { as: shop.reader });
    assert.equal(headers.link, undefined);
    assert.deepEqual([json.total, json.hasMore, json.nextCursor], [3, false, null]);
    for (const [index, id] of ids.toReversed().entries()) {
      const read = await shop.request('GET', `/v2/store/order/${id}`, { as: shop.reader });
      assert.deepEqual(json.items[index], read.json);
    }
  });

  test('GET /store/orders pages through each order once while new orders are placed', async (t) => {
    const shop = await openShop(t, { engine });
    const ids = await placeSome(shop, 9);
    const seen: number[] = [];
    let next = await page(shop, '?limit=4');
    for (;;) {
      seen.push(...next.ids);
      if (next.cursor === null) {
        break;
      }
      const target = /^<([^>]+)>; *rel="next"$/.exec(next.link ?? '')?.[1] ?? '';
      const linked = new URL(target, 'http://curd.test');
      assert.equal(linked.pathname, url);
      assert.deepEqual(Object.fromEntries(linked.searchParams), { cursor: next.cursor, limit: '4' });
      ids.push(await newOrder(shop, 1));
      next = await page(shop, linked.search);
      assert.equal(next.total, ids.length);
    }
    assert.deepEqual(seen, ids.slice(0, 9).toReversed());
    assert.equal((await page(shop, '?limit=9')).ids.length, 9);
    assert.equal(
      (await page(shop, `?limit=${ids.length}`)).cursor,
      null,
      'a page that is just full is the last',
    );
  });

  test('GET /store/orders accepts limits of 1 to 100; the default is 20', async (t) => {
    const shop = await openShop(t, { engine });
    await placeSome(shop, 21);
    assert.deepEqual((await page(shop)).ids.length, 20);
    assert.equal((await page(shop, '?limit=1')).ids.length, 1);
    assert.equal((await page(shop, '?limit=100')).ids.length, 21);
    for (const limit of ['0', '101', '-1', 'abc', '', '1.5', '1e1', '99999999999999999999']) {
      await assertRefused(shop, `limit=${limit}`, 'limit');
    }
    await assertRefused(shop, 'limit=1&limit=1', 'limit');
  });

  test('GET /store/orders filters by one or several statuses', async (t) => {
    const shop = await openShop(t, { engine });
    const [placed, approved, cancelled] = await placeSome(shop, 3);
    await shop.request('POST', `/v2/store/order/${approved}/approve`, { as: shop.admin });
    await shop.request('DELETE', `/v2/store/order/${cancelled}`, { as: shop.admin });
    const expected: [query: string, ids: unknown[]][] = [
      ['?status=placed', [placed]],
      ['?status=shipped', []],
      ['?status=placed,cancelled', [cancelled, placed]],
      ['?status=approved&status=placed,placed', [approved, placed]],
      ['?status=placed,approved,shipped,delivered,cancelled', [cancelled, approved, placed]],
    ];
    for (const [query, ids] of expected) {
      const found = await page(shop, query);
      assert.deepEqual([found.ids, found.total], [ids, ids.length], query);
    }
    for (const status of ['lost', 'Placed', 'placed,lost', '', 'placed,,cancelled', 'placed%20']) {
      await assertRefused(shop, `status=${status}`, 'status');
    }
  });

  test('GET /store/orders filters by creation time, with any UTC offset', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const cheeseId = await newCheese(shop);
    const first = await newOrder(shop, cheeseId);
    clock.advance(1);
    const second = await newOrder(shop, cheeseId);
    const expected: [query: string, ids: number[]][] = [
      ['createdFrom=2026-06-01T12:00:00Z', [second, first]],
      ['createdFrom=2026-06-01T12:00:00.001Z', [second]],
      ['createdFrom=2026-06-01T12:00:00.002Z', []],
      ['createdBefore=2026-06-01T12:00:00.000Z', []],
      ['createdBefore=2026-06-01T12:00:00.001Z', [first]],
      ['createdBefore=2026-06-01T12:00:00.002Z', [second, first]],
      ['createdFrom=2026-06-01T14:00:00.001%2B02:00', [second]],
      ['createdBefore=2026-06-01T14:00:00.001%2B02:00', [first]],
      ['createdFrom=2026-06-01T06:30:00.001-05:30', [second]],
      ['createdFrom=2026-06-01t12:00:00.001z', [second]],
      ['createdFrom=2026-06-01T12:00:00Z&createdBefore=2026-06-01T12:00:00.001Z', [first]],
      ['createdFrom=2027-01-01T00:00:00Z&createdBefore=2026-01-01T00:00:00Z', []],
      ['createdFrom=2026-06-01T12:00:00Z&status=placed', [second, first]],
      ['createdFrom=2026-06-01T12:00:00Z&status=shipped', []],
    ];
    for (const [query, ids] of expected) {
      const found = await page(shop, `?${query}`);
      assert.deepEqual([found.ids, found.total], [ids, ids.length], query);
    }
    for (const moment of [
      ...['2026-06-01', '2026-06-01T12:00:00', '2026-13-01T00:00:00Z', '2026-06-32T00:00:00Z', 'yesterday'],
      ...[
        '',
        '1780000000',
        '2026-06-01T25:00:00Z',
        '2026-06-01T12:00:00+02:00',
        '2026-06-01T12:00:00%2B99:00',
      ],
    ]) {
      await assertRefused(shop, `createdFrom=${moment}`, 'createdFrom');
      await assertRefused(shop, `createdBefore=${moment}`, 'createdBefore');
    }
  });

  test('GET /store/orders continues with the filters of the cursor, which may be repeated but not changed', async (t) => {
    const shop = await openShop(t, { engine });
    const ids = await placeSome(shop, 4);
    await shop.request('DELETE', `/v2/store/order/${ids[1]}`, { as: shop.admin });
    const filters = 'status=placed&createdFrom=2020-01-01T00:00:00Z';
    const { cursor, ids: shown } = await page(shop, `?limit=1&${filters}`);
    assert.deepEqual(shown, [ids[3]]);
    for (const repeated of [
      '',
      `&${filters}`,
      '&status=placed',
      '&createdFrom=2020-01-01T01:00:00%2B01:00',
    ]) {
      const next = await page(shop, `?limit=5&cursor=${cursor}${repeated}`);
      assert.deepEqual([next.ids, next.total], [[ids[2], ids[0]], 3]);
    }
    for (const [changed, named] of [
      ['status=cancelled', 'status'],
      ['status=placed,cancelled', 'status'],
      ['createdFrom=2021-01-01T00:00:00Z', 'createdFrom'],
      ['createdBefore=2999-01-01T00:00:00Z', 'createdBefore'],
    ] as const) {
      await assertRefused(shop, `cursor=${cursor}&${changed}`, named);
    }
  });

  test('GET /store/orders sorts by creation time, then id, and continues cursors that have an id alone', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const cheeseId = await newCheese(shop);
    const ids: number[] = [];
    // Two orders each at 0, -1, 5 and 4 minutes: the clock is set back twice.
    for (const minutes of [0, 0, -1, 0, 6, 0, -1, 0]) {
      clock.advance(minutes * 60_000);
      ids.push(await newOrder(shop, cheeseId));
    }
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = ids;
    const ascending = [c, d, a, b, g, h, e, f];
    const cursors = createCursors(shop.config.secret, 'orders');
    for (const [sort, expected] of [
      ['createdAt', ascending],
      ['-createdAt', ascending.toReversed()],
    ] as const) {
      assert.deepEqual((await page(shop, `?sort=${sort}`)).ids, expected);
      for (const [index, before] of expected.entries()) {
        // As the versions before made it.
        const cursor = cursors.encode({ filters: { sort }, before });
        assert.deepEqual((await page(shop, `?cursor=${cursor}`)).ids, expected.slice(index + 1), `${before}`);
      }
      const { cursor } = await page(shop, `?sort=${sort}&limit=3`);
      assert.deepEqual((await page(shop, `?cursor=${cursor}`)).ids, expected.slice(3));
      const { before } = cursors.decode(cursor ?? '') as { before: number };
      assert.equal(before, expected[2], 'for instances of the version before');
    }
  });

  test('GET /store/orders returns 400 for a cursor with an invalid signature', async (t) => {
    const shop = await openShop(t, { engine });
    await placeSome(shop, 2);
    const cursor = (await page(shop, '?limit=1')).cursor ?? '';
    const [payload = '', signature = ''] = cursor.split('.');
    const forged = Buffer.from(JSON.stringify({ filters: {}, before: 99 })).toString('base64url');
    for (const text of [
      ...['', 'abc', 'null', '%00', cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}.`],
      ...[`${forged}.${signature}`, payload, `.${signature}`, 'x'.repeat(2001)],
    ]) {
      await assertRefused(shop, `cursor=${text}`, 'cursor');
    }
    await assertRefused(shop, `cursor=${cursor}&cursor=${cursor}`, 'cursor');
  });

  test('GET /store/orders returns all orders to any API key, and 401 without a credential', async (t) => {
    const shop = await openShop(t, { engine });
    const ids = await placeSome(shop, 2);
    const stranger = await shop.createKey();
    assert.deepEqual((await page(shop, '', stranger)).ids, ids.toReversed());
    assertError(await shop.request('GET', url), 401, 'unauthorized');
  });
});

/** The service answers in JSON. */
const idsIn = (items: string): number[] => JSON.parse(`[${items}]`).map(({ id }: { id: number }) => id);
const statusIn = (body: string): string => JSON.parse(body).status;

/** The owner of a token: a customer, or a client without a customer. */
function tokenOf(id: string, customerId: number | null, ...scopes: Scope[]): Principal {
  const account = {
    accountId: 1,
    plan: 'free',
    expiresAt: null,
    sessionHash: null,
    tokenHash: null,
    confinedTo: null,
    limits: null,
  };
  return { kind: 'oauth', id, customerId, scopes: new Set(scopes), audience: 'api', ...account };
}

const isForbidden = (error: unknown) => error instanceof AppError && error.code === 'forbidden';

onBothEngines('Orders', (engine) => {
  test('Orders belong to the customer, or the client without a customer, that placed them', async (t) => {
    const shop = await openShop(t, { engine });
    const {
      orders: { service: orders, reader: orderReader },
      customers: { service: customers },
      contextOf,
    } = shop.app;
    await restoreTestOrders(contextOf('system'));
    const cheeseId = await newCheese(shop);
    const context = contextOf('test');
    const register = async (username: string) => {
      const input = { username, email: `${username}@example.com`, password: 'good enough' };
      return JSON.parse((await customers.register(context, input)).body).id as number;
    };
    const scopes = ['read:orders', 'write:orders'] as const;
    const adaId = await register('ada');
    const ada = tokenOf(`customer:${adaId}`, adaId, ...scopes);
    const eve = tokenOf('client:e', await register('eve'), ...scopes);
    const program = tokenOf('client:x', null, ...scopes);
    const other = tokenOf('client:y', null, ...scopes);
    const admin = tokenOf('client:z', null, 'admin');
    const everybody = [ada, eve, program, other, admin];
    const input = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
    const owners = new Map<number, Principal>();
    const shopOfAda = tokenOf('client:s', adaId, ...scopes);
    for (const [placer, owner] of [
      [ada, ada],
      [eve, eve],
      [program, program],
      [shopOfAda, ada],
    ] as const) {
      owners.set((await orders.place(context, placer, input)).id, owner);
    }

    for (const [id, owner] of owners) {
      for (const principal of everybody) {
        const may = principal === owner || principal === admin;
        for (const verb of [
          () => orders.find(id, principal),
          () => orderReader.timeline(id, principal),
          ...(may ? [] : [() => orders.cancel(context, id, principal)]),
        ]) {
          await (may ? assert.doesNotReject(verb()) : assert.rejects(verb(), isForbidden));
        }
      }
    }
    for (const principal of everybody) {
      const mine = [...owners.keys()].filter((id) => principal === admin || owners.get(id) === principal);
      const { items, total, nextCursor } = await orderReader.list(principal, { limit: 1 });
      assert.equal(total, mine.length);
      assert.deepEqual(idsIn(items), mine.slice(-1));
      assert.equal(nextCursor === null, mine.length < 2);
      assert.equal(statusIn((await orders.find(1, principal)).body), 'placed');
      assert.equal((await orderReader.timeline(10, principal)).length, 2);
    }
    const { nextCursor } = await orderReader.list(ada, { limit: 1 });
    const stolen = await orderReader.list(eve, { limit: 10, cursor: nextCursor ?? '' });
    assert.ok(idsIn(stolen.items).every((id) => owners.get(id) === eve));
    const [first] = [...owners.keys()];
    assert.equal(statusIn((await orders.cancel(context, first ?? 0, ada)).body), 'cancelled');
    assert.equal(statusIn((await orders.cancel(context, 2, eve)).body), 'cancelled');
  });
});
