/** GET /idempotency/{key}: what became of a request with an Idempotency-Key. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { newCustomer, newSession } from '../auth/holders.ts';
import {
  assertError,
  assertFields,
  bern,
  onBothEngines,
  openListeningShop,
  openShop,
  type Shop,
  shared,
  type TestResponse,
  testClock,
  until,
} from '../helper.ts';

const dayMs = 24 * 60 * 60 * 1000;

const create = (shop: Shop, key: string, name: string, as = shop.writer): Promise<TestResponse> =>
  shop.request('POST', '/v2/cheeses', {
    as,
    body: { name, pricePerKg: 20 },
    headers: { 'idempotency-key': key },
  });

const lookUp = (shop: Shop, key: string, as = shop.writer, headers = {}): Promise<TestResponse> =>
  shop.request('GET', `/v2/idempotency/${encodeURIComponent(key)}`, { as, headers });

onBothEngines('GET /idempotency/{key}', (engine) => {
  const open = shared((t) => openShop(t, { engine }));

  test('GET /idempotency/{key} returns the stored response byte for byte, to its caller only', async () => {
    const shop = open();
    const first = await create(shop, 'made', 'Made');
    const found = await lookUp(shop, 'made');
    assert.equal(found.status, 200);
    assert.equal(found.headers['cache-control'], 'no-store');
    const [item] = found.json.items;
    assert.equal(found.json.items.length, 1);
    const { createdAt, expiresAt, ...rest } = item;
    assert.deepEqual(rest, {
      method: 'POST',
      path: '/v2/cheeses',
      state: 'done',
      status: 201,
      headers: { ETag: first.headers.etag, Location: first.headers.location },
      body: first.json,
      requestId: first.headers['x-request-id'],
    });
    assert.ok(found.text.includes(first.text));
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), dayMs);
    for (const other of [shop.admin, shop.reader, await shop.createKey({ scopes: ['admin'] })]) {
      assertError(await lookUp(shop, 'made', other), 404, 'not_found');
    }
    assertError(await lookUp(shop, 'unknown'), 404, 'not_found');
    assertError(await shop.request('GET', '/v2/idempotency/made'), 401, 'unauthorized');
  });

  test('GET /idempotency/{key} does not know a request that failed, and lists each path of a key, the newest first', async () => {
    const shop = open();
    assertFields(await create(shop, 'twice', ''), ['name']);
    assertError(await lookUp(shop, 'twice'), 404, 'not_found');
    const { json } = await create(shop, 'twice', 'Twice');
    await shop.request('POST', `/v2/cheeses/${json.id}?status=sold`, {
      as: shop.writer,
      headers: { 'idempotency-key': 'twice' },
    });
    const { items } = (await lookUp(shop, 'twice')).json;
    assert.deepEqual(
      items.map(({ path, status }: { path: string; status: number }) => [path, status]),
      [
        [`/v2/cheeses/${json.id}`, 200],
        ['/v2/cheeses', 201],
      ],
    );
  });

  test('GET /idempotency/{key} finds what was sent with a key and a session with both of them', async () => {
    const shop = open();
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const { json } = await create(shop, 'for-the-order', 'Ordered');
    const authorization = `Bearer ${await newSession(shop, await newCustomer(shop, 'ada', 'customer'))}`;
    const order = await shop.request('POST', '/v2/store/order', {
      as,
      headers: { authorization, 'idempotency-key': 'ordered' },
      body: { items: [{ cheeseId: json.id, quantity: 1 }], shippingAddress: bern },
    });
    assert.equal(order.status, 201, order.text);
    assert.deepEqual((await lookUp(shop, 'ordered', as, { authorization })).json.items[0].body, order.json);
    assertError(await lookUp(shop, 'ordered', as), 404, 'not_found');
  });

  test('GET /idempotency/{key} shows a created API key once more to its creator, and a partly failed batch', async () => {
    const shop = open();
    const headers = { 'idempotency-key': 'secret' };
    const made = await shop.request('POST', '/v2/api-keys', {
      as: shop.admin,
      headers,
      body: {
        account: (await shop.app.auth.keys.createAccount(shop.app.contextOf('test'), `of ${engine}`)).name,
      },
    });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual((await lookUp(shop, 'secret', shop.admin)).json.items[0].body, made.json);
    assertError(await lookUp(shop, 'secret', shop.writer), 404, 'not_found');
    const batch = [
      { username: 'bob', email: 'bob@example.com', password: 'a cheese a day' },
      { username: '' },
    ];
    const registered = await shop.request('POST', '/v2/customer/createMultiple', {
      as: shop.reader,
      headers,
      body: batch,
    });
    const [item] = (await lookUp(shop, 'secret', shop.reader)).json.items;
    assert.deepEqual([item.status, item.body], [200, registered.json]);
    assert.deepEqual([item.body.created.length, item.body.errors.length], [1, 1]);
  });

  test('GET /idempotency/{key} shows the same request to parallel duplicates, and it is running or done', async (t) => {
    const shop = open();
    const other = engine === 'sqlite' ? shop : await shop.another();
    const sent = Array.from({ length: 20 }, () => create(shop, 'parallel', 'Parallel'));
    const seen = await Promise.all(Array.from({ length: 20 }, () => lookUp(shop, 'parallel')));
    const [first] = (await Promise.all(sent)).filter(
      ({ status, headers }) => status === 201 && headers['idempotency-replayed'] === undefined,
    );
    for (const { json } of [...seen, await lookUp(other, 'parallel', shop.writer)]) {
      for (const { state, status, requestId } of json.items ?? []) {
        assert.deepEqual([state, status], state === 'done' ? ['done', 201] : ['running', null]);
        if (state === 'done') {
          assert.equal(requestId, first?.headers['x-request-id']);
        }
      }
    }
    assert.equal((await lookUp(other, 'parallel', shop.writer)).json.items[0].state, 'done');
    t.diagnostic(
      `${seen.filter(({ json }) => json.items?.[0].state === 'running').length} of 20 saw it running`,
    );
  });
});

suite('GET /idempotency/{key}', () => {
  test('GET /idempotency/{key} says running while the first request runs', async (t) => {
    const shop = await openShop(t, {});
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { database } = shop.app;
    const blocking = database.transaction(async () => gate);
    const sent = create(shop, 'slow', 'Slow');
    await until(async () => (await lookUp(shop, 'slow')).status === 200);
    const found = await lookUp(shop, 'slow');
    const { requestId, createdAt, ...rest } = found.json.items[0];
    assert.deepEqual(rest, {
      method: 'POST',
      path: '/v2/cheeses',
      state: 'running',
      status: null,
      headers: {},
      body: null,
      expiresAt: null,
    });
    assert.ok(Date.parse(createdAt) > 0);
    go();
    await blocking;
    assert.equal((await sent).headers['x-request-id'], requestId);
    assert.equal((await lookUp(shop, 'slow')).json.items[0].state, 'done');
  });

  test('GET /idempotency/{key} finds the outcome of a request whose connection was cut after the commit', async (t) => {
    const shop = await openListeningShop(t);
    const cut = new AbortController();
    const { database } = shop.app;
    const stop = database.onCommit(() => cut.abort());
    const options = {
      method: 'POST',
      headers: { 'x-api-key': shop.writer, 'content-type': 'application/json', 'idempotency-key': 'cut' },
      body: JSON.stringify({ name: 'Cut', pricePerKg: 20 }),
    };
    await assert.rejects(fetch(`${shop.url}/v2/cheeses`, { ...options, signal: cut.signal }));
    stop();
    await until(async () => (await lookUp(shop, 'cut')).json.items?.[0].state === 'done');
    const found = await lookUp(shop, 'cut');
    const repeated = await create(shop, 'cut', 'Cut');
    assert.equal(repeated.headers['idempotency-replayed'], 'true');
    assert.deepEqual(found.json.items[0].body, repeated.json);
  });

  test('GET /idempotency/{key} is 404 after 24 hours, and purges delete expired responses in slices', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    await create(shop, 'kept', 'Kept');
    clock.advance(dayMs - 1);
    assert.equal((await lookUp(shop, 'kept')).status, 200);
    const { database } = shop.app;
    const old = Array.from({ length: 1100 }, (_, index) => `old ${index}`);
    await database.insert(
      'stored_response',
      [
        'request',
        'owner',
        'fingerprint',
        'method',
        'path',
        'request_id',
        'response',
        'created_at',
        'expires_at',
      ],
      old.map((text) => [text, text, text, text, text, text, text, text, '2026-05-01T00:00:00.000Z']),
    );
    clock.advance(1);
    assertError(await lookUp(shop, 'kept'), 404, 'not_found');
    await shop.app.maintenance.run();
    assert.deepEqual(await database.all(sql`select id from stored_response`), []);
    const again = await create(shop, 'kept', 'Kept again');
    assert.equal(again.status, 201);
  });

  test('GET /idempotency/{key} accepts every key that the header accepts, and refuses longer ones', async (t) => {
    const shop = await openShop(t);
    const keys: [header: string, key: string][] = [
      ['x'.repeat(255), 'x'.repeat(255)],
      ['"with spaces"', 'with spaces'],
      ['a/b%2Fc', 'a/b%2Fc'],
      ['"say \\"x\\""', 'say "x"'],
      // Clients remove dot segments from paths: with quotes it is none.
      ['..', '".."'],
    ];
    for (const [index, [header, key]] of keys.entries()) {
      await create(shop, header, `Cheese ${index}`);
      const found = await lookUp(shop, key);
      assert.equal(found.json.items?.[0].body.name, `Cheese ${index}`, `${header} ${found.text}`);
    }
    assert.equal((await lookUp(shop, '"with spaces"')).status, 200);
    for (const key of ['x'.repeat(256), 'ä', '\n']) {
      assertError(await lookUp(shop, key), 400, 'bad_request');
    }
  });

  test('GET /idempotency/{key} says sealed after a change of CURD_SECRET, where the response was encrypted', async (t) => {
    const shop = await openShop(t);
    const created = await shop.request('POST', '/v2/webhook-endpoints', {
      as: shop.admin,
      body: { url: 'http://127.0.0.1:9/hook' },
      headers: { 'idempotency-key': 'sealed' },
    });
    assert.equal(created.status, 201, created.text);
    const cheese = await create(shop, 'plain', 'Plain');
    const other = await shop.another({ secret: 'another secret that is long enough for all' });
    const [item] = (await lookUp(other, 'sealed', shop.admin)).json.items;
    assert.deepEqual([item.state, item.status, item.body, item.sealed], ['done', null, null, true]);
    const [readable] = (await lookUp(other, 'plain', shop.writer)).json.items;
    assert.deepEqual([readable.status, readable.body, readable.sealed], [201, cheese.json, undefined]);
  });
});
