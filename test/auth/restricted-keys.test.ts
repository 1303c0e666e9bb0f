/** Restricted keys: only what their scopes say, within a budget that concurrent orders on several instances keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRequest } from '../../src/auth/keys/service.ts';
import { sql } from '../../src/database/sql.ts';
import { type Operation, operationsOf } from '../fuzz/openapi.ts';
import {
  assertError,
  assertFields,
  onBothEngines,
  openShop,
  type Shop,
  shared,
  testClock,
} from '../helper.ts';
import { newCheese, placeOrder } from '../shop-verbs.ts';
import { newCustomer, newSession } from './holders.ts';

const dayMs = 24 * 60 * 60_000;
const ordering = ['read:cheeses', 'read:orders', 'write:orders'];

const keyOf = (shop: Shop, request: KeyRequest = {}) =>
  shop.createKey({ kind: 'restricted', scopes: ordering, ...request });

let things = 0;

const countOrders = async ({ app }: Shop) =>
  (await app.database.get<{ n: number }>(sql`select count(*) as n from orders where id > 10`))?.n;

const todayOf = async (shop: Shop, as: string) =>
  (await shop.request('GET', '/v2/whoami', { as })).json.today;

onBothEngines('A restricted key', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('A restricted key of $50 a day places exactly five of 20 parallel orders of $10 on two instances, and five the next day', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_SIMULATE: 'off' } });
    const other = await shop.another();
    const key = await keyOf(shop, { dollarsPerDay: 50 });
    const cheese = await newCheese(shop, { pricePerKg: 10 });
    const twenty = async () => {
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          placeOrder(index % 2 === 0 ? shop : other, [cheese], { as: key }),
        ),
      );
      const placed = responses.filter(({ status }) => status === 201);
      const refused = responses.filter(({ status }) => status === 429);
      assert.deepEqual([placed.length, refused.length], [5, 15]);
      for (const { headers, json } of refused) {
        const seconds = Number(headers['retry-after']);
        const left = (dayMs - (clock.now() % dayMs)) / 1000;
        assert.ok(seconds >= 1 && Math.abs(seconds - left) <= 1, `${seconds} of ${left}`);
        assert.match(headers.ratelimit ?? '', /^"spend";r=0;t=\d+$/);
        assert.match(json.message, /\$50/);
      }
      return placed.map(({ json }) => json.id as number);
    };
    const ids = await twenty();
    for (const id of ids) {
      assert.equal(
        (await shop.request('DELETE', `/v2/store/order/${id}`, { as: key })).status,
        204,
        'its own order',
      );
    }
    assert.equal(
      (await placeOrder(shop, [cheese], { as: key })).status,
      429,
      'a cancelled order gives nothing back',
    );
    assert.deepEqual(await todayOf(shop, key), { dollars: 50, orders: 5, dollarsLeft: 0, ordersLeft: null });
    clock.advance(dayMs - (clock.now() % dayMs));
    await twenty();
    assert.equal(await countOrders(shop), 10);
    const owner = await shop.request('GET', '/v2/whoami', { as: key });
    const id = Number(owner.json.id.slice('key:'.length));
    const { json } = await shop.request('GET', `/v2/api-keys/${id}/spending`, { as: shop.admin });
    assert.deepEqual(
      json.items.map(({ dollars, orders }: { dollars: number; orders: number }) => [dollars, orders]),
      [
        [50, 5],
        [50, 5],
      ],
    );
  });

  test('A restricted key refuses orders outside of each limit, names the field, and places nothing; a dry run counts nothing', async () => {
    const shop = opened();
    const alpine = await newCheese(shop, { pricePerKg: 10, category: { name: 'Älpine' } });
    const blue = await newCheese(shop, { pricePerKg: 10, category: { name: 'Blue' } });
    const unpriced = await newCheese(shop, { pricePerKg: undefined });
    // Three kilograms cost $30.02: half a cent is rounded up in totals, and down in limits.
    const odd = await newCheese(shop, { pricePerKg: 10.005 });
    const before = await countOrders(shop);
    const refusals: readonly [KeyRequest, readonly number[], number, number, RegExp][] = [
      [{ dollarsPerOrder: 10 }, [alpine], 2, 403, /dollarsPerOrder/],
      [{ dollarsPerDay: 5 }, [alpine], 1, 429, /order of \$\d+\.\d\d .* \$5\.00, \$5\.00 left\./],
      [{ dollarsPerOrder: 30.015 }, [odd], 3, 403, /\$30\.01\./],
      [{ dollarsPerDay: 30.015 }, [odd], 3, 429, /\$30\.01, \$30\.01 left\./],
      [{ dollarsPerDay: 500 }, [unpriced], 1, 403, /no price/],
      [{ categories: ['alpine'] }, [alpine, blue], 1, 403, /items\[1\]\.cheeseId/],
      [{ categories: ['alpine'] }, [unpriced], 1, 403, /items\[0\]\.cheeseId/],
      [{ cheeseIds: [blue] }, [blue, alpine], 1, 403, /items\[1\]\.cheeseId/],
      [{ cheeseIds: [blue], categories: ['Alpine'] }, [blue], 1, 403, /items\[0\]\.cheeseId/],
      [{ addresses: ['203.0.113.0/24'] }, [alpine], 1, 403, /203\.0\.113\.0\/24/],
    ];
    for (const [limits, cheeses, quantity, status, message] of refusals) {
      const key = await keyOf(shop, limits);
      for (const headers of [{}, { 'dry-run': 'true' }]) {
        const refused = await placeOrder(
          shop,
          cheeses.map((cheese) => [cheese, quantity] as const),
          { as: key, headers },
        );
        assert.equal(refused.status, status, refused.text);
        assert.match(refused.json.message, message);
      }
    }
    assert.equal(await countOrders(shop), before);

    const few = await keyOf(shop, { ordersPerDay: 1, categories: ['ALPINE'], addresses: ['127.0.0.0/8'] });
    for (let more = 0; more < 3; more += 1) {
      assert.equal(
        (await placeOrder(shop, [alpine], { as: few, headers: { 'dry-run': 'true' } })).status,
        201,
      );
    }
    assert.equal((await placeOrder(shop, [alpine], { as: few })).status, 201);
    assert.equal((await placeOrder(shop, [alpine], { as: few, headers: { 'dry-run': 'true' } })).status, 429);
    assert.equal((await placeOrder(shop, [alpine], { as: few })).status, 429);
    assert.deepEqual(await todayOf(shop, few), { dollars: 10, orders: 1, dollarsLeft: null, ordersLeft: 0 });
  });

  test('A restricted key sees its own orders alone, those of a key that it replaced included, and shares the budget with it', async () => {
    const shop = opened();
    const cheese = await newCheese(shop, { pricePerKg: 10 });
    const admin = await shop.createKey({ scopes: ['admin'] });
    const body = { kind: 'restricted', scopes: ordering, dollarsPerDay: 30 };
    const { json: first, status } = await shop.request('POST', '/v2/api-keys', { as: admin, body });
    assert.equal(status, 201);
    assert.match(first.key, /^rk_test_/);
    const mine = await placeOrder(shop, [cheese], { as: first.key });
    const foreign = await placeOrder(shop, [cheese], {
      as: await shop.createKey({ scopes: ['write:orders'] }),
    });
    const { json: second } = await shop.request('POST', `/v2/api-keys/${first.id}/rotate`, { as: admin });
    assert.deepEqual(
      [second.kind, second.dollarsPerDay, second.actor, second.scopes],
      ['restricted', 30, first.actor, ordering],
    );
    assert.equal((await placeOrder(shop, [cheese], { as: second.key })).status, 201);
    const list = await shop.request('GET', '/v2/store/orders', { as: second.key });
    assert.equal(list.json.total, 2);
    assert.equal((await placeOrder(shop, [cheese], { as: first.key })).status, 201);
    for (const key of [first.key, second.key]) {
      assertError(await placeOrder(shop, [cheese], { as: key }), 429, 'rate_limit_exceeded');
      assert.equal((await shop.request('GET', `/v2/store/order/${mine.json.id}`, { as: key })).status, 200);
      for (const method of ['GET', 'DELETE']) {
        assertError(
          await shop.request(method, `/v2/store/order/${foreign.json.id}`, { as: key }),
          403,
          'forbidden',
        );
      }
    }
  });

  test('A restricted key does only what its scopes say: every other operation is 403, and it cannot be an admin', async () => {
    const shop = opened();
    const admin = await shop.createKey({ scopes: ['admin'] });
    const create = (body: object) =>
      shop.request('POST', '/v2/api-keys', { as: admin, body: { kind: 'restricted', ...body } });
    const operations = operationsOf(shop.app.describe()).filter(({ security }) => security.length > 0);
    const scopesOf = ({ operationId }: Operation) => {
      const access = shop.app.routes.find((one) => one.operationId === operationId)?.access ?? [];
      return typeof access === 'string'
        ? access
        : access.flatMap((one) => (one.kind === 'oauth' ? [one.scope as string] : []));
    };
    for (const scope of ['read:cheeses', 'read:orders', 'write:orders']) {
      const key = await keyOf(shop, { scopes: [scope] });
      for (const operation of operations) {
        const { method, path, operationId } = operation;
        const url = `${path.replace(/\{\w+\}/g, 'garbage')}?limit=none&status=none&tags=&since=garbage&cursor=%00`;
        const { status } = await shop.request(method, url, {
          as: key,
          ...(method === 'GET' ? {} : { raw: '{"' }),
        });
        const needed = scopesOf(operation);
        const isPermitted =
          needed === 'any credential' || (needed === 'open' ? method === 'GET' : needed.includes(scope));
        assert.equal(status !== 403, isPermitted, `${operationId} with ${scope}: ${status}`);
      }
    }
    for (const scope of ['admin', 'read:profile', 'write:profile']) {
      assert.equal((await create({ scopes: [scope] })).status, 422, scope);
    }
    assertFields(await create({}), ['scopes']);
    assertFields(await create({ scopes: ['read:orders'], expiresIn: '367d' }), ['expiresIn']);
    assertFields(await create({ scopes: ['read:orders'], origins: ['https://shop.example'] }), ['origins']);
    for (const [name, value] of Object.entries({
      addresses: ['203.0.113.0/33'],
      categories: [],
      cheeseIds: Array(1001).fill(1),
      dollarsPerOrder: 0,
      dollarsPerDay: -1,
      ordersPerDay: 1.5,
    })) {
      const refused = await create({ scopes: ['read:orders'], [name]: value });
      assert.equal(refused.status, 422, name);
      assert.match(refused.json.errors[0].field, new RegExp(`^${name}`));
    }
    assertFields(await shop.request('POST', '/v2/api-keys', { as: admin, body: { dollarsPerDay: 5 } }), [
      'dollarsPerDay',
    ]);
  });

  test('A restricted key is one of 20 of its account, expires after 90 days, and is stored as its digest', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const admin = await shop.createKey({ scopes: ['admin'] });
    const create = (body: object) => shop.request('POST', '/v2/api-keys', { as: admin, body });
    const body = { kind: 'restricted', scopes: ['read:cheeses'], cheeseIds: [1, 2], ordersPerDay: 3 };
    const { json: first } = await create(body);
    assert.equal(Date.parse(first.expiresAt), clock.now() + 90 * dayMs);
    for (let more = 2; more <= 20; more += 1) {
      assert.equal((await create(body)).status, 201);
    }
    const refused = await create(body);
    assertError(refused, 409, 'conflict');
    assert.match(refused.json.message, /^20 restricted API keys/);
    assert.deepEqual([(await create({})).status, (await create({})).status], [201, 201]);
    assertError(await create({}), 409, 'conflict');
    const { json: list } = await shop.request('GET', '/v2/api-keys', { as: admin });
    const shown = list.items.find(({ id }: { id: number }) => id === first.id);
    assert.deepEqual([shown.cheeseIds, shown.ordersPerDay, shown.key], [[1, 2], 3, undefined]);
    const { database } = shop.app;
    const tables = [
      await database.all(sql`select * from api_key`),
      await database.all(sql`select * from event`),
      await database.all(sql`select * from request`),
    ];
    assert.ok(!JSON.stringify(tables).includes(first.key.slice(8, -6)));
  });

  test('A restricted key with write:cheeses changes only cheeses of its categories and ids, before and after the change', async () => {
    const shop = opened();
    const category = { name: 'Soft' };
    const inside = await newCheese(shop, { pricePerKg: 10, category });
    const outside = await newCheese(shop, { pricePerKg: 10, category: { name: 'Hard' } });
    const key = await keyOf(shop, { scopes: ['write:cheeses'], categories: ['soft'] });
    const patch = (id: number, body: object, as = key) =>
      shop.request('POST', `/v2/cheeses/${id}`, { as, body });
    assert.equal((await patch(inside, { status: 'pending' })).status, 200);
    assertError(await patch(outside, { status: 'pending' }), 403, 'forbidden');
    const move = (id: number, name: string) =>
      shop.request('PUT', '/v2/cheeses', {
        as: key,
        body: { id, name: `Moved ${id}`, status: 'available', category: { name } },
      });
    assertError(await move(inside, 'Hard'), 403, 'forbidden');
    assertError(await move(outside, 'Soft'), 403, 'forbidden');
    const create = (name: string, as = key) => {
      things += 1;
      const body = { name: `New ${things}`, category: { name } };
      return shop.request('POST', '/v2/cheeses', { as, body });
    };
    assert.equal((await create('Soft')).status, 201);
    assertError(await create('Hard'), 403, 'forbidden');
    const headers = { 'x-confirm-delete': 'true' };
    assertError(
      await shop.request('DELETE', `/v2/cheeses/${outside}`, { as: key, headers }),
      403,
      'forbidden',
    );
    for (const id of [inside, outside]) {
      const { status } = await shop.request('PUT', `/v2/cheeses/${id}/stock`, {
        as: key,
        body: { onHand: 5 },
      });
      assert.equal(status === 403, id === outside, String(status));
    }
    const byId = await keyOf(shop, { scopes: ['write:cheeses'], cheeseIds: [inside] });
    assert.equal((await patch(inside, { status: 'sold' }, byId)).status, 200);
    assertError(await patch(outside, { status: 'sold' }, byId), 403, 'forbidden');
    assertError(await create('Soft', byId), 403, 'forbidden');
    const bulk = (ids: readonly number[], values: object, as: string) =>
      shop.request('POST', '/v2/cheeses/bulk', { as, body: { changes: [{ cheeseIds: ids, ...values }] } });
    const cheap = { price: { set: 0.01 } };
    assert.equal((await bulk([inside], { price: { set: 11 } }, key)).status, 200);
    assertError(await bulk([inside, outside], cheap, key), 403, 'forbidden');
    assertError(await bulk([inside], { category: { name: 'Hard' } }, key), 403, 'forbidden');
    assertError(await bulk([outside], { category: { name: 'Soft' } }, key), 403, 'forbidden');
    assert.equal((await bulk([inside], { price: { set: 12 } }, byId)).status, 200);
    assertError(await bulk([outside], cheap, byId), 403, 'forbidden');
    const { json } = await shop.request('GET', `/v2/cheeses/${inside}`, { as: shop.reader });
    assert.deepEqual([json.pricePerKg, json.category.name], [12, 'Soft']);
  });

  test('A restricted key sees in a dry run how many orders of others a deletion cancels, and none of them', async () => {
    const shop = opened();
    const id = await newCheese(shop, { category: { name: 'Soft' } });
    assert.equal((await placeOrder(shop, id)).status, 201);
    const key = await keyOf(shop, { scopes: ['write:cheeses'], categories: ['soft'] });
    const headers = { 'x-confirm-delete': 'true', 'dry-run': 'effects' };
    const effectsFor = async (as: string) =>
      (await shop.request('DELETE', `/v2/cheeses/${id}`, { as, headers })).json;
    const typesOf = ({ effects }: { effects: { type: string }[] }) => effects.map(({ type }) => type);
    assert.ok(typesOf(await effectsFor(shop.admin)).includes('order.cancelled'));
    const seen = await effectsFor(key);
    assert.deepEqual([typesOf(seen).filter((type) => !type.startsWith('cheese.')), seen.more], [[], 1]);
    const placing = await placeOrder(shop, id, { as: await keyOf(shop), headers: { 'dry-run': 'effects' } });
    assert.ok(typesOf(placing.json).includes('order.placed'), placing.text);
  });

  test('A restricted key previews an import of cheeses outside of its categories as the import itself: 403', async () => {
    const shop = opened();
    const key = await keyOf(shop, { scopes: ['write:cheeses'], categories: ['Soft'] });
    const send = async (preview: boolean, category: string) => {
      const data = new FormData();
      data.append(
        'file',
        new Blob([`name,category\nImported ${preview} ${category},${category}\n`]),
        'cheeses.csv',
      );
      data.append('preview', String(preview));
      const encoded = new Response(data);
      return shop.request('POST', '/v2/imports', {
        as: key,
        raw: new Uint8Array(await encoded.arrayBuffer()),
        headers: { 'content-type': encoded.headers.get('Content-Type') ?? '' },
      });
    };
    for (const preview of [true, false]) {
      assert.equal((await send(preview, 'Soft')).json?.created, 1);
      assertError(await send(preview, 'Hard'), 403, 'forbidden');
    }
  });

  test('A restricted key beside a session acts for that customer, within its own limits', async () => {
    const shop = opened();
    const cheese = await newCheese(shop, { pricePerKg: 10 });
    const customer = await newCustomer(shop, `limited${engine}`, 'customer');
    const headers = { authorization: `Bearer ${await newSession(shop, customer)}` };
    const key = await keyOf(shop, { ordersPerDay: 1 });
    const placed = await placeOrder(shop, [cheese], { as: key, headers });
    assert.equal(placed.status, 201, placed.text);
    assertError(await placeOrder(shop, [cheese], { as: key, headers }), 429, 'rate_limit_exceeded');
    const { json } = await shop.request('GET', '/v2/store/orders', { as: key, headers });
    assert.equal(json.total, 1);
    const own = await shop.request('GET', `/v2/store/orders?customerId=${customer}`, { as: shop.admin });
    assert.equal(own.json.total, 1);
  });
});

test('The client IP of a restricted key is that of the proxies which are trusted', async (t) => {
  const shop = await openShop(t, { settings: { CURD_TRUSTED_PROXIES: '127.0.0.1' } });
  const key = await keyOf(shop, { addresses: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] });
  const from = async (ip: string) =>
    (await shop.request('GET', '/v2/cheeses', { as: key, headers: { 'x-forwarded-for': ip } })).status;
  for (const ip of ['203.0.113.9', '2001:db8:1::7', '198.51.100.7', '::ffff:203.0.113.9']) {
    assert.equal(await from(ip), 200, ip);
  }
  for (const ip of ['203.0.114.9', '2001:db9::1', '198.51.100.8', '127.0.0.1']) {
    assert.equal(await from(ip), 403, ip);
  }
});
