/** Dry runs: the response of the real request, and no trace of it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { fullPath, hasDryRun, isChange } from '../../src/http/route.ts';
import { assertError, onBothEngines, openShop, shared, type TestResponse } from '../helper.ts';
import { newCheese, placeOrder, registerAndLogIn, registerCustomer } from '../shop-verbs.ts';
import { assertConsistent, levelsOf, trackedCheese } from '../stock/stock.ts';

/** Dry runs beside real requests. `CURD_TEST_DRY_RUNS=1000` for more. */
const dryRuns = Number(process.env.CURD_TEST_DRY_RUNS ?? 100);
const dry = { 'dry-run': 'true' };
const listEffects = { 'dry-run': 'effects' };

onBothEngines('A dry run', (engine) => {
  const open = shared((t) => openShop(t, { engine }));

  test('A dry run of POST /cheeses returns 201 with a negative id, and changes neither the list nor the next id', async () => {
    const shop = open();
    const list = async () => {
      const { headers, json } = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
      return { etag: headers.etag, total: json.total };
    };
    const id = await newCheese(shop, { name: 'before' });
    const before = await list();
    const body = { name: 'Tried', category: { name: 'Dry' }, tags: [{ name: 'tried' }] };
    const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, headers: dry, body });
    assert.equal(response.status, 201);
    const { json, headers } = response;
    assert.ok(json.id < 0 && json.category.id < 0 && json.tags[0].id < 0);
    assert.equal(new Set([json.id, json.category.id, json.tags[0].id]).size, 3);
    assert.equal(json.name, 'Tried');
    assert.equal(headers['dry-run'], 'true');
    assert.equal(headers['cache-control'], 'no-store');
    assert.deepEqual(
      [headers.location, headers.etag, headers['idempotency-replayed']],
      Array(3).fill(undefined),
    );
    assert.deepEqual(await list(), before);
    assert.equal((await shop.request('GET', `/v2/cheeses/${json.id}`, { as: shop.reader })).status, 404);
    assert.equal(await newCheese(shop, { name: 'Tried' }), id + 1);
    const taken = { as: shop.writer, body: { name: 'Tried' } };
    const real = await shop.request('POST', '/v2/cheeses', taken);
    const refused = await shop.request('POST', '/v2/cheeses', { ...taken, headers: dry });
    assertError(refused, 409, 'conflict');
    assert.equal(refused.text, real.text);
    assert.equal(refused.headers['dry-run'], 'true');
  });

  test('A dry run uses up no id of an order, and no event or job remains', async () => {
    const shop = open();
    const cheeseId = await newCheese(shop, { name: 'Quoted', pricePerKg: 20 });
    const first = await placeOrder(shop, [[cheeseId, 2]]);
    const { database } = shop.app;
    const traces = () =>
      database.get(sql`
        select (select count(*) from event) as events, (select count(*) from background_job) as jobs,
          (select count(*) from open_order_cheese) as lines`);
    const before = await traces();
    const quotes: TestResponse[] = [];
    while (quotes.length < dryRuns) {
      quotes.push(
        ...(await Promise.all(
          Array.from({ length: 100 }, () => placeOrder(shop, [[cheeseId, 2]], { headers: dry })),
        )),
      );
    }
    for (const quote of quotes) {
      assert.equal(quote.status, 201);
      assert.equal(quote.json.total, 40);
      assert.ok(quote.json.id < 0);
    }
    assert.equal(new Set(quotes.map(({ json }) => json.id)).size, quotes.length);
    assert.deepEqual(await traces(), before);
    assert.equal((await placeOrder(shop, [[cheeseId, 2]])).json.id, first.json.id + 1);
  });

  test('A dry run of DELETE /cheeses/{id} lists the effects, in order', async () => {
    const shop = open();
    const cheeseId = await newCheese(shop, { name: 'Doomed' });
    const [first, second] = [
      await placeOrder(shop, [[cheeseId, 2]]),
      await placeOrder(shop, [[cheeseId, 2]]),
    ];
    await registerCustomer(shop, { username: 'fan', favouriteCheese: { id: cheeseId } });
    const url = `/v2/cheeses/${cheeseId}`;
    const confirmed = { as: shop.writer, headers: { ...listEffects, 'x-confirm-delete': 'true' } };
    assertError(await shop.request('DELETE', url, { as: shop.writer, headers: dry }), 400, 'bad_request');
    const response = await shop.request('DELETE', url, confirmed);
    assert.equal(response.status, 200);
    assert.equal(response.headers['dry-run'], 'effects');
    const { status, body, effects, more } = response.json;
    assert.deepEqual({ status, body, more }, { status: 204, body: null, more: 0 });
    assert.deepEqual(
      effects.map(({ type, subject, count }: { type: string; subject?: string; count?: number }) => [
        type,
        subject ?? count,
      ]),
      [
        ['favourites.detached', 1],
        ['order.cancelled', `order:${first.json.id}`],
        ['order.cancelled', `order:${second.json.id}`],
        ['cheese.deleted', `cheese:${cheeseId}`],
      ],
    );
    assert.equal(effects[1].data.reason, 'Doomed was taken out of the catalogue');
    const { json } = await shop.request('GET', `/v2/store/order/${first.json.id}`, { as: shop.admin });
    assert.equal(json.status, 'placed');
    const timeline = await shop.request('GET', `/v2/store/order/${first.json.id}/timeline`, {
      as: shop.admin,
    });
    assert.equal(timeline.json.items.length, 1);

    await shop.request('POST', `/v2/store/order/${first.json.id}/approve`, { as: shop.admin });
    const refused = await shop.request('DELETE', url, confirmed);
    const real = await shop.request('DELETE', url, { ...confirmed, headers: { 'x-confirm-delete': 'true' } });
    assertError(refused, 409, 'conflict');
    assert.equal(refused.text, real.text);
  });

  test('A dry run of DELETE /customer/{username} counts orders and sessions, and PUT with a new password ends the others', async () => {
    const shop = open();
    const {
      id,
      headers: session,
      ...customer
    } = await registerAndLogIn(shop, {
      username: 'leaving',
      firstName: 'Ada',
      lastName: 'Lovelace',
    });
    const as = (headers: object) => ({ headers: { ...session, ...headers } });
    await shop.request('POST', '/v2/customer/login', {
      body: { username: 'leaving', password: customer.password },
    });
    const order = await placeOrder(shop, [[await newCheese(shop, { name: 'Left behind' }), 2]], {
      headers: session,
    });
    assert.equal(order.status, 201);
    const gone = await shop.request('DELETE', '/v2/customer/leaving', as(listEffects));
    const [ended, cancelled, ...others] = gone.json.effects;
    assert.deepEqual(ended, { type: 'sessions.ended', count: 2 });
    assert.deepEqual([cancelled.type, cancelled.subject], ['order.cancelled', `order:${order.json.id}`]);
    assert.deepEqual(others, [
      { type: 'orders.anonymized', count: 1 },
      { type: 'customer.deleted', subject: `customer:${id}`, data: { id } },
    ]);
    const put = (password: string) =>
      shop.request('PUT', '/v2/customer/leaving', {
        ...as(listEffects),
        body: { ...customer, firstName: 'Changed', password },
      });
    assert.equal((await put('another cheese a day')).json.effects[0].type, 'sessions.ended');
    assert.deepEqual((await put(customer.password)).json.effects, [
      { type: 'customer.updated', subject: `customer:${id}`, data: { id } },
    ]);
    const { json } = await shop.request('GET', '/v2/customer/leaving', as({}));
    assert.equal(json.firstName, 'Ada');
  });

  test('A dry run among real orders leaves exactly those, and a dry cancellation never refuses a shipment', async () => {
    const shop = open();
    const cheeseId = await trackedCheese(shop, 10_000);
    const total = async () =>
      (await shop.request('GET', '/v2/store/orders?limit=1', { as: shop.admin })).json.total;
    const before = await total();
    const real: TestResponse[] = [];
    while (real.length < dryRuns / 2) {
      const both = [{}, dry].map((headers) =>
        Promise.all(Array.from({ length: 50 }, () => placeOrder(shop, [[cheeseId, 2]], { headers }))),
      );
      const [placed = []] = await Promise.all(both);
      real.push(...placed);
    }
    assert.ok(real.every(({ status }) => status === 201));
    assert.equal(await total(), before + real.length);
    assert.deepEqual(await levelsOf(shop, cheeseId), [10_000, 2 * real.length, 10_000 - 2 * real.length]);
    await assertConsistent(shop);
    for (const { json } of real.slice(0, 20)) {
      const url = `/v2/store/order/${json.id}`;
      await shop.request('POST', `${url}/approve`, { as: shop.admin });
      const [cancelled, shipped] = await Promise.all([
        shop.request('DELETE', url, { as: shop.admin, headers: dry }),
        shop.request('POST', `${url}/ship`, { as: shop.admin }),
      ]);
      assert.ok([204, 409].includes(cancelled.status), cancelled.text);
      assert.equal(shipped.status, 200, shipped.text);
    }
  });

  test('A dry run neither reads nor stores a response for its Idempotency-Key', async () => {
    const shop = open();
    const send = (key: string, name: string, headers: object = {}) =>
      shop.request('POST', '/v2/cheeses', {
        as: shop.writer,
        headers: { 'idempotency-key': key, ...headers },
        body: { name },
      });
    assert.equal((await send('first-dry', 'Dry with key', dry)).status, 201);
    const real = await send('first-dry', 'Another with key');
    assert.deepEqual([real.status, real.headers['idempotency-replayed']], [201, undefined]);
    const repeated = await send('first-dry', 'A third with key', dry);
    assert.deepEqual([repeated.status, repeated.headers['idempotency-replayed']], [201, undefined]);
  });

  const production = shared((t) =>
    openShop(t, {
      engine,
      settings: { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' },
    }),
  );
  for (const environment of ['local', 'production']) {
    test(`A dry run of createMultiple with a duplicate returns what the real request does (${environment})`, async () => {
      const shop = environment === 'local' ? open() : production();
      const entry = { username: 'twin', email: 'twin@example.com', password: 'a cheese a day' };
      const body = [entry, { ...entry, email: 'other@example.com' }, { username: '' }];
      const tried = await shop.request('POST', '/v2/customer/createMultiple', {
        as: shop.reader,
        headers: dry,
        body,
      });
      const unknown = await shop.request('GET', '/v2/customer/twin', { as: shop.reader });
      assertError(unknown, 404, 'not_found');
      const real = await shop.request('POST', '/v2/customer/createMultiple', { as: shop.reader, body });
      assert.equal(tried.status, 200, tried.text);
      assert.deepEqual(tried.json.errors, real.json.errors);
      const [{ id, createdAt: _, ...created }] = tried.json.created;
      const [{ id: _id, createdAt: _at, ...expected }] = real.json.created;
      assert.ok(id < 0);
      assert.deepEqual(created, expected);
    });
  }
});

suite('The header Dry-Run', () => {
  const open = shared((t) => openShop(t));
  const send = (value: string, name: string) =>
    open().request('POST', '/v2/cheeses', {
      as: open().writer,
      headers: { 'dry-run': value },
      body: { name },
    });

  test('The header Dry-Run is true, effects or false in any case; anything else is 400 and nothing is done', async () => {
    const shop = open();
    for (const value of ['yes', '1', '', 'true, false', 'true,effects', 'tru']) {
      const response = await send(value, 'Refused');
      assertError(response, 400, 'bad_request');
      assert.equal(response.headers['dry-run'], undefined, value);
    }
    for (const [value, echo] of [
      [' TRUE ', 'true'],
      ['Effects', 'effects'],
      ['true, true', 'true'],
    ] as const) {
      const response = await send(value, 'Tried');
      assert.equal(response.headers['dry-run'], echo);
    }
    const { json } = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
    assert.equal(json.total, 0);
    const real = await send('False', 'Made');
    assert.deepEqual([real.status, real.headers['dry-run']], [201, undefined]);
  });

  test('The header Dry-Run is echoed in errors, for safe methods and for unknown paths, and is exposed to scripts', async () => {
    const shop = open();
    const body = { name: 'x' };
    const responses = await Promise.all([
      shop.request('GET', '/v2/whoami', {
        as: shop.reader,
        headers: { ...dry, origin: 'https://shop.example' },
      }),
      shop.request('POST', '/v2/cheeses', { headers: dry, body }),
      shop.request('POST', '/v2/cheeses', { as: shop.reader, headers: dry, body }),
      shop.request('POST', '/v2/nothing', { as: shop.reader, headers: dry }),
      shop.request('POST', '/v2/cheeses', { as: shop.writer, headers: dry, body: {} }),
    ]);
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers['dry-run']]),
      [200, 401, 403, 404, 422].map((status) => [status, 'true']),
    );
    assert.match(responses[0]?.headers['access-control-expose-headers'] ?? '', /\bDry-Run\b/);
    const preflight = await shop.request('OPTIONS', '/v2/cheeses', {
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'dry-run',
      },
    });
    assert.equal(preflight.headers['access-control-allow-headers'], 'dry-run');
  });

  test('The header Dry-Run is 400 for operations without a dry run, and nothing is done', async () => {
    const shop = open();
    const none = shop.app.routes.filter((route) => isChange(route) && !hasDryRun(route));
    assert.ok(none.length >= 6);
    for (const route of none) {
      const url = fullPath(route).replace(/:\w+/g, '1');
      const response = await shop.request(route.method, url, {
        as: shop.admin,
        headers: { ...dry, ...(route.operationId.startsWith('logout') ? { authorization: 'Bearer x' } : {}) },
      });
      assert.ok([400, 401].includes(response.status), `${route.operationId} ${response.text}`);
      assert.equal(response.headers['dry-run'], 'true');
    }
    const oauth = await shop.request('POST', '/oauth/token', { headers: dry, raw: 'grant_type=x' });
    assertError(oauth, 400, 'bad_request');
  });

  test('The header Dry-Run changes nothing about the refusal of an invalid body', async () => {
    const shop = open();
    const { headers: session } = await registerAndLogIn(shop, { username: 'someone' });
    const routes = shop.app.routes.filter((route) => hasDryRun(route) && route.body !== undefined);
    assert.ok(routes.length >= 6);
    for (const route of routes) {
      for (const raw of ['{', '7', '{"name":7,"items":"x","username":[]}', '[{"username":1}]']) {
        const url = fullPath(route).replace(':username', 'someone').replace(/:\w+/g, '1');
        const asCustomer = route.operationId === 'replaceCustomer';
        const request = (headers: object) =>
          shop.request(route.method, url, {
            raw,
            ...(asCustomer ? {} : { as: shop.admin }),
            headers: { ...headers, ...(asCustomer ? session : {}) },
          });
        const [tried, real] = [await request(dry), await request({})];
        assert.deepEqual([tried.status, tried.json], [real.status, real.json], `${route.operationId} ${raw}`);
      }
    }
  });

  test('The header Dry-Run counts for the hourly quota, and If-Match is checked', async () => {
    const shop = open();
    const id = await newCheese(shop, { name: 'Matched' });
    const put = (headers: object) =>
      shop.request('PUT', '/v2/cheeses', {
        as: shop.writer,
        headers: { ...dry, ...headers },
        body: { id, name: 'Matched again', status: 'sold' },
      });
    assertError(await put({ 'if-match': '"7"' }), 412, 'precondition_failed');
    assert.equal((await put({ 'if-match': '"1"' })).json.name, 'Matched again');
    const { json } = await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader });
    assert.equal(json.name, 'Matched');
  });

  test('The header Dry-Run obeys the limit of orders an hour, and does not count for it', async (t) => {
    const shop = await openShop(t, { settings: { CURD_ORDERS_PER_HOUR: '2' } });
    const cheeseId = await newCheese(shop, { name: 'Limited' });
    for (const [headers, status] of [
      [dry, 201],
      [dry, 201],
      [{}, 201],
      [dry, 201],
      [{}, 201],
      [dry, 429],
    ] as const) {
      const response = await placeOrder(shop, [[cheeseId, 2]], { headers });
      assert.equal(response.status, status);
      assert.equal(response.headers['dry-run'], 'dry-run' in headers ? 'true' : undefined);
    }
  });

  test('The header Dry-Run lets SQLite commit nothing', async () => {
    const shop = open();
    const cheeseId = await newCheese(shop, { name: 'Uncommitted' });
    await shop.request('GET', '/v2/whoami', { as: shop.admin });
    const before = shop.app.database.stats().done;
    await Promise.all(Array.from({ length: 50 }, () => placeOrder(shop, [[cheeseId, 2]], { headers: dry })));
    await placeOrder(shop, [[cheeseId, 2]], { headers: dry });
    // The one commit may be that of a quota.
    assert.ok(shop.app.database.stats().done <= before + 1);
  });
});
