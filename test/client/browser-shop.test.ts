/** `@curd/client/browser`: what a page reads with a publishable key, its login, and orders that are placed once. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type BrowserShopOptions, createShop, isCurdError } from '../../client/browser/index.ts';
import { Curd } from '../../client/src/index.ts';
import { bern, type Scope, shared } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { type Fate, openProxy } from './proxy.ts';

const password = 'a cellar full of wheels';

/** A shop with one cheese and two customers. */
const stage = shared(async (t) => {
  const server = await openListeningShop(t);
  const curd = new Curd({ baseUrl: server.url, apiKey: server.admin });
  const cheese = await curd.cheeses.create({ name: 'Brie', pricePerKg: 20, category: { name: 'Soft' } });
  for (const username of ['ada', 'bob']) {
    await curd.customers.register({ username, email: `${username}@example.com`, password });
  }
  const publishableKey = await server.createKey({ kind: 'publishable', scopes: ['write:orders'] });
  const orderOf = (quantity: number, cheeseId = cheese.id) => ({
    items: [{ cheeseId, quantity }],
    shippingAddress: bern,
  });
  const countOrders = async () => (await curd.customers.listOrders('ada')).total;
  return { server, curd, cheese, publishableKey, orderOf, countOrders };
});

/** A page at its own server URL: `load` opens it, and opens it again. sessionStorage is that of this process. */
async function openPage(t: Scope, decide?: (number: number, path: string) => Fate | undefined) {
  const { server, publishableKey } = stage();
  const proxy = await openProxy(t, server.url, (number, { method, url }) =>
    decide?.(number, `${method} ${url}`),
  );
  const load = (options: Partial<BrowserShopOptions> = {}) =>
    createShop({ url: proxy.url, publishableKey, maxRetries: 0, ...options });
  return { proxy, load };
}

const login = { username: 'ada', password };
const stored = () => JSON.stringify({ ...sessionStorage });

suite('The browser client', () => {
  test('The browser client reads the catalogue with the key in the URL, and refuses a key that is not publishable', async (t) => {
    const { server, cheese, publishableKey } = stage();
    const { proxy, load } = await openPage(t);
    const shop = load();
    const page = await shop.cheeses.list({ q: 'bri', facets: ['category'] });
    assert.deepEqual(page.facets.category?.values, [{ value: 'Soft', count: 1 }]);
    assert.equal((await shop.cheeses.get(cheese.id)).name, 'Brie');
    assert.deepEqual((await shop.cheeses.listAvailability({ cheeseIds: [`${cheese.id}`] })).items, [
      { cheeseId: cheese.id, orderable: true, kilograms: null },
    ]);
    assert.equal((await shop.cheeses.listPrices(cheese.id)).lowest30Days, 20);
    assert.equal((await shop.categories.list()).items[0]?.name, 'Soft');
    assert.equal(proxy.requests.filter((line) => line.includes(`key=${publishableKey}`)).length, 5);
    assert.throws(() => load({ publishableKey: server.reader }), /secret key.*Revoke it/);
    for (const wrong of ['key', undefined]) {
      assert.throws(() => load({ publishableKey: wrong as string }), /must begin with pk_/);
    }
    await assert.rejects(load({ publishableKey: 'pk_test_unknown' }).login(login), { status: 401 });
  });

  test('The browser client keeps a login in memory, or in sessionStorage if the page asks for it, until it ends', async (t) => {
    const { curd } = stage();
    const { load } = await openPage(t);
    const before = stored();
    const shop = load();
    await assert.rejects(shop.login({ ...login, password: 'wrong' }), { status: 401 });
    await shop.login(login);
    assert.equal(shop.username, 'ada');
    assert.equal((await shop.customers.get('ada')).email, 'ada@example.com');
    assert.equal(stored(), before, 'nothing is stored');
    assert.equal(load().username, null);

    await load({ storage: 'session' }).login(login);
    const reloaded = load({ storage: 'session' });
    assert.equal(reloaded.username, 'ada');
    assert.equal((await reloaded.orders.list()).total, await stage().countOrders());
    await reloaded.logout();
    assert.equal(load({ storage: 'session' }).username, null);
    assert.equal(stored(), before);

    const { items } = await curd.customers.list({ q: 'ada' });
    await curd.customers.endSessions(items[0]?.customer.id ?? 0);
    await assert.rejects(async () => shop.orders.list(), { status: 403 });
    assert.equal(shop.username, null, 'the page learns that the login has ended');
    assert.ok((await shop.cheeses.list()).total > 0, 'the catalogue needs no login');
    await shop.logout();
  });

  test('The browser client places, quotes, reads and cancels orders of the customer, and needs a login for that', async (t) => {
    const { orderOf, countOrders } = stage();
    const shop = (await openPage(t)).load();
    await assert.rejects(shop.orders.place(orderOf(1)), /Call login first/);
    assert.equal((await shop.orders.quote({ items: orderOf(2).items })).total, 40, 'without a login');
    await shop.login(login);
    const before = await countOrders();
    assert.equal((await shop.orders.quote(orderOf(2))).total, 40);
    assert.equal(await countOrders(), before);
    const { id } = await shop.orders.place(orderOf(2));
    assert.equal((await shop.orders.get(id)).total, 40);
    await shop.orders.cancel(id);
    const { items } = await shop.orders.getTimeline(id);
    assert.equal(items.at(-1)?.status, 'cancelled');
    await assert.rejects(shop.orders.place(orderOf(1000)), { status: 422 });
    assert.equal(shop.orders.unconfirmed, null, 'a refused order is not open');
    await shop.orders.place(orderOf(1));
  });

  test('The browser client places one order for a double click', async (t) => {
    const { orderOf, countOrders } = stage();
    const { proxy, load } = await openPage(t);
    const shop = load();
    await shop.login(login);
    const before = await countOrders();
    const [first, second] = await Promise.all([shop.orders.place(orderOf(1)), shop.orders.place(orderOf(1))]);
    assert.equal(first.id, second.id);
    assert.equal(proxy.requests.filter((line) => line.startsWith('POST /v2/store/order')).length, 1);
    assert.equal(await countOrders(), before + 1);
    assert.notEqual((await shop.orders.place(orderOf(1))).id, first.id, 'a later order is another one');
  });

  test('The browser client places one order when its response is lost, the page is loaded again and the cheese is sold out', async (t) => {
    const { curd, orderOf, countOrders } = stage();
    const cheese = await curd.cheeses.create({ name: 'Vacherin', pricePerKg: 20 });
    const order = orderOf(3, cheese.id);
    let isLost = true;
    const { load } = await openPage(t, (_, path) => ({
      loseResponse: isLost && path.startsWith('POST /v2/store/order'),
    }));
    const shop = load();
    await shop.login(login);
    const before = await countOrders();
    await curd.stock.replace(cheese.id, { onHand: 3 });
    await assert.rejects(shop.orders.place(order), (error) => isCurdError(error, 'connection_failed'));
    assert.deepEqual(shop.orders.unconfirmed, order);
    await assert.rejects(shop.orders.place(orderOf(1)), /Call orders\.resume/);

    const reloaded = load();
    assert.equal(reloaded.orders.unconfirmed, null, 'of no customer yet');
    assert.equal(await reloaded.orders.resume(), null);
    await reloaded.login({ ...login, username: 'bob' });
    assert.equal(reloaded.orders.unconfirmed, null, 'of another customer');
    await reloaded.login(login);
    assert.deepEqual(reloaded.orders.unconfirmed, order);
    await assert.rejects(reloaded.orders.resume(), { status: 0 });
    isLost = false;
    assert.equal((await curd.stock.get(cheese.id)).available, 0);
    const placed = await reloaded.orders.resume();
    assert.equal(placed?.total, 60);
    assert.equal(await countOrders(), before + 1);
    assert.equal(reloaded.orders.unconfirmed, null);
    assert.equal(await reloaded.orders.resume(), null);
  });
});
