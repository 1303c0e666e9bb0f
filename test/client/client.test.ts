/** Requests of the client: credentials, errors, versions, and paths without a verb. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Curd, type CurdError, etagOf, isCurdError } from '../../client/src/index.ts';
import { errorCatalogue } from '../../src/errors.ts';
import { bern, shared } from '../context.ts';
import { read } from '../gates/sources.ts';
import { openListeningShop } from '../helper.ts';
import { openProxy } from './proxy.ts';

const shop = shared((t) => openListeningShop(t));

async function rejection(promise: PromiseLike<unknown>): Promise<CurdError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isCurdError(error), String(error));
    return error;
  }
  assert.fail('it did not reject');
}

suite('The client', () => {
  test('The client refuses options that cannot work', () => {
    const open = (options: object) => () => new Curd({ baseUrl: 'http://shop.example', ...options });
    assert.throws(
      open({ baseUrl: 'shop.example' }),
      /baseUrl is "shop\.example", but must be the URL of a shop/,
    );
    assert.throws(open({ token: 'a', session: 'b' }), /Give one of them/);
    assert.throws(open({ baseUrl: 'http://shop.example/v2/' }), /Leave out \/v2/);
    assert.throws(open({ apiKey: 'sk_test_€' }), /apiKey contains characters that no credential has/);
    assert.throws(() => new Curd(undefined as never), /baseUrl is ""/);
    open({ apiKey: undefined, token: undefined, session: undefined, maxRetries: undefined })();
    open({ apiKey: 'pk_test_1', session: undefined })();
    assert.throws(open({ apiKey: 'sk_test_1', session: undefined }), /ask the customer to log in/);
    const shop = new Curd({ baseUrl: 'http://shop.example', apiKey: 'sk_test_1' });
    for (const missing of [undefined, null]) {
      assert.throws(() => shop.as(missing as never), /as\(\) needs the token of a login/);
    }
  });

  test('The client says why no response arrived, and refuses a file that is not a Blob', async () => {
    const curd = new Curd({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
    const { message } = await rejection(curd.inventory.get());
    assert.match(
      message,
      /^No response from http:\/\/127\.0\.0\.1:9 after 1 attempt: fetch failed, \w[^.]*[^.]$|bad port/,
    );
    await assert.rejects(curd.cheeses.uploadImage(1, './brie.jpg' as never), /The image must be a Blob/);
  });

  test('The client reports a page of a proxy in place of the event stream', async (t) => {
    const refuse = { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>Log in</h1>' };
    const proxy = await openProxy(t, shop().url, () => ({ refuse }));
    const stream = new Curd({ baseUrl: proxy.url }).events.stream({ since: 'earliest' });
    const error = await rejection(stream.next());
    assert.match(error.message, /is not JSON: <h1>Log in/);
  });

  test('The client sends an API key and a session, and the key then acts for this customer', async () => {
    const server = new Curd({ baseUrl: `${shop().url}/`, apiKey: shop().admin });
    const login = { username: 'ada', password: 'a cheese a day' };
    const customer = await server.customers.register({ ...login, email: 'ada@example.com' });
    const { token: session } = await server.customers.login(login);
    const acting = new Curd({ baseUrl: shop().url, apiKey: shop().admin, session });
    assert.equal((await acting.credential.explain()).customer, 'ada');
    const cheese = await server.cheeses.create({ name: 'Brie', pricePerKg: 20 });
    const order = await acting.orders.place({
      items: [{ cheeseId: cheese.id, quantity: 2 }],
      shippingAddress: bern,
    });
    const orders = await Array.fromAsync(acting.customers.listOrders('ada'));
    assert.deepEqual(
      orders.map(({ id }) => id),
      [order.id],
    );
    assert.equal((await server.orders.getCustomer(order.id))?.id, customer.id);
    const alone = new Curd({ baseUrl: shop().url, session });
    assert.equal((await alone.customers.get('ada')).id, customer.id);
    await alone.customers.logoutSafely();
    assert.equal((await rejection(acting.credential.explain())).type, 'unauthorized');
  });

  test('The client imports text and files of cheeses, with a mapping, as a preview and in update mode', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().writer });
    const csv = 'NameFr,Price\nReblochon,30\n';
    const map = { name: ['NameFr'], pricePerKg: 'Price' };
    const preview = await curd.cheeses.import(csv, { map, preview: true });
    assert.deepEqual([preview.preview, preview.created], [true, 1]);
    const real = await curd.cheeses.import(new File([csv], 'shop.csv'), { map });
    assert.deepEqual([real.preview, real.created], [false, 1]);
    const json = new Blob(['[{"name":"Reblochon","pricePerKg":31,"stockKg":5}]'], {
      type: 'application/json',
    });
    const update = await curd.cheeses.import(json, { mode: 'update', setStock: true });
    assert.equal(update.updated, 1);
    const id = update.sample[0]?.cheese?.id ?? 0;
    assert.equal((await curd.cheeses.get(id)).pricePerKg, 31);
    assert.equal((await curd.stock.get(id)).onHand, 5);
    const lines = await curd.cheeses.import('{"name":"Reblochon"}', { format: 'ndjson', mode: 'update' });
    assert.equal(lines.unchanged, 1);
    assert.equal((await rejection(curd.cheeses.import(new Blob(['x'])))).type, 'unsupported_media_type');
  });

  test('The client reports errors in their classes, with the request id in brackets', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().writer });
    const missing = await rejection(curd.cheeses.get(4711));
    assert.equal(missing.name, 'NotFound');
    assert.match(missing.message, /^There is no cheese with the id 4711\.$/);
    assert.match(missing.requestId ?? '', /^[\w-]{20,}$/);
    const invalid = await rejection(curd.cheeses.create({ name: '', pricePerKg: -1 }));
    assert.equal(invalid.name, 'ValidationFailed');
    assert.deepEqual(
      invalid.errors.map(({ field }) => field),
      ['name', 'pricePerKg'],
    );
    assert.equal((await rejection(curd.orders.list({ limit: 1000 }))).status, 400);
    assert.equal((await rejection(curd.apiKeys.list())).name, 'Forbidden');
    await curd.cheeses.create({ name: 'Comté' });
    const conflict = await rejection(curd.cheeses.create({ name: 'Comté' }));
    assert.ok(isCurdError(conflict, 'conflict') && conflict.name === 'Conflict');
    const gone = await rejection(curd.events.list({ since: 'evt_AAAA_1' }));
    assert.deepEqual([gone.name, gone.type], ['Gone', 'log_rewound']);
  });

  test('The client knows every error type of the server', () => {
    const source = read('client/src/errors.ts');
    const known = [...source.matchAll(/^ {2}\| '(\w+)';?$/gm)].map(([, type]) => type);
    const expected = Object.values(errorCatalogue).map(({ type }) => type);
    assert.deepEqual(known.sort(), [...expected, 'connection_failed'].sort());
  });

  test('The client carries the version of a body without changing it', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().writer });
    const created = await curd.cheeses.create({ name: 'Feta' });
    const cheese = await curd.cheeses.get(created.id);
    const { json, headers } = await shop().request('GET', `/v2/cheeses/${cheese.id}`, { as: shop().reader });
    assert.deepEqual(cheese, json);
    assert.equal(etagOf(cheese), headers.etag);
    const ifMatch = etagOf(cheese);
    const changed = await curd.cheeses.update(cheese.id, { status: 'pending' }, { ifMatch });
    assert.notEqual(etagOf(changed), ifMatch);
    const error = await rejection(curd.cheeses.update(cheese.id, { status: 'sold' }, { ifMatch }));
    assert.deepEqual([error.name, error.attempts], ['PreconditionFailed', 1]);
    await curd.cheeses.delete(cheese.id, { ifMatch: etagOf(changed) });
    assert.equal(etagOf({}), undefined);
  });

  test('The client refuses an empty ifMatch and sends nothing, because items of a list have no version', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().writer });
    const { id } = await curd.cheeses.create({ name: 'Ricotta', pricePerKg: 10 });
    const { items } = await curd.cheeses.list({ q: 'ricotta' });
    const [item = assert.fail()] = items;
    const stale = { ifMatch: etagOf(item) };
    assert.deepEqual(stale, { ifMatch: undefined });
    const remedy = { name: 'TypeError', message: /Read the object with get\(\)/ };
    await assert.rejects(curd.cheeses.patch(id, { pricePerKg: 1 }, stale), remedy);
    await assert.rejects(curd.cheeses.patch(id, { pricePerKg: 1 }, { ifMatch: '' }), remedy);
    await assert.rejects(curd.cheeses.delete(id, stale), remedy);
    assert.equal((await curd.cheeses.get(id)).pricePerKg, 10);
    const ifMatch = etagOf(await curd.cheeses.get(item.id));
    assert.equal((await curd.cheeses.patch(id, { pricePerKg: 11 }, { ifMatch })).pricePerKg, 11);
    assert.equal((await curd.cheeses.patch(id, { pricePerKg: 12 })).pricePerKg, 12);
  });

  test('The client reaches every path with http, with its credentials, retries and errors', async (t) => {
    const refuse = { status: 503, headers: { 'Retry-After': '0' } };
    const proxy = await openProxy(t, shop().url, (number) => (number % 2 === 1 ? { refuse } : undefined));
    const { http, idempotency } = new Curd({ baseUrl: proxy.url, apiKey: shop().writer });
    const page = await http.get('/v2/cheeses', {
      query: { status: ['sold', 'pending'], q: undefined, limit: 1 },
    });
    assert.equal(page.items.length, 0);
    assert.equal(proxy.requests[0], 'GET /v2/cheeses?status=sold,pending&limit=1');
    const body = { name: 'Gouda & Käse', tags: [{ name: 'cow' }] };
    const created = await http.post('/v2/cheeses', { body }, { idempotencyKey: 'mine' });
    assert.deepEqual(await http.post('/v2/cheeses', { body }, { idempotencyKey: 'mine' }), created);
    const found = await http.get('/v2/cheeses', { query: { q: 'Käse', tags: ['goat'] } });
    assert.equal(found.total, 0);
    const path = { cheeseId: 4711 };
    assert.equal((await rejection(http.get('/v2/cheeses/{cheeseId}', { path }))).type, 'not_found');
    assert.equal(proxy.requests.length, 10);
    // A path segment that clients would remove.
    await http.post('/v2/cheeses', { body: { name: 'Dots' } }, { idempotencyKey: '..' });
    assert.equal((await idempotency.get('..')).items[0]?.status, 201);
  });

  test('The client says that a server without a path may be older', async (t) => {
    const edit = (text: string) => text;
    const proxy = await openProxy(t, `${shop().url}/unknown`, () => ({ edit }));
    const error = await rejection(new Curd({ baseUrl: proxy.url, apiKey: shop().reader }).cheeses.get(1));
    assert.match(
      error.message,
      /^There is nothing at this path\..* The server may be older than this client\.$/,
    );
  });

  test('The client shows the beginning of a response that is not JSON, and does not follow a redirect', async (t) => {
    const reply = async (status: number, body: string, headers: Record<string, string> = {}) => {
      const proxy = await openProxy(t, shop().url, () => ({ refuse: { status, headers, body } }));
      return rejection(new Curd({ baseUrl: proxy.url, maxRetries: 0 }).inventory.get());
    };
    const page = await reply(200, `<html>${'x'.repeat(300)}`);
    assert.deepEqual([page.status, page.type], [200, 'internal_error']);
    assert.equal(
      page.message,
      `GET /v2/store/inventory: the response with status 200 is not JSON: <html>${'x'.repeat(194)}`,
    );
    assert.equal((await reply(502, 'Bad gateway')).type, 'internal_error');
    const moved = await reply(308, '', { Location: 'https://shop.example/v2/store/inventory' });
    assert.equal(
      moved.message,
      'The server redirects to https://shop.example/v2/store/inventory. Use that host in baseUrl.',
    );
  });

  test('The client waits for a status of an order, and reports one that will not come', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().admin });
    const cheese = await curd.cheeses.create({ name: 'Tilsiter', pricePerKg: 20 });
    const place = () =>
      curd.orders.place({ items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern });
    const order = await place();
    const approved = curd.orders.wait(order.id, { until: 'approved' });
    const shipped = curd.orders.wait(order.id, { until: 'shipped' });
    await curd.orders.approve(order.id);
    assert.equal((await approved).status, 'approved');
    await curd.orders.ship(order.id);
    assert.equal((await shipped).status, 'shipped');
    assert.equal((await curd.orders.wait(order.id, { until: 'placed' })).status, 'shipped', 'a later one');

    const other = await place();
    const waiting = curd.orders.wait(other.id, { until: 'delivered' });
    await curd.orders.cancel(other.id);
    assert.equal((await rejection(waiting)).type, 'conflict');
    assert.equal((await curd.orders.wait(other.id, { until: 'cancelled' })).status, 'cancelled');
    await assert.rejects(curd.orders.wait(order.id, { until: 'delivered', timeoutMs: 50 }), {
      name: 'TimeoutError',
    });
  });

  test('The client refuses ids that would lead to another path, before any request', async () => {
    const curd = new Curd({ baseUrl: 'http://127.0.0.1:9' });
    for (const username of ['', '.', '..', undefined as unknown as string]) {
      await assert.rejects(curd.customers.delete(username), TypeError);
    }
    assert.equal(
      (await rejection(new Curd({ baseUrl: shop().url, apiKey: shop().admin }).customers.get('a/../b?c')))
        .status,
      404,
    );
  });
});
