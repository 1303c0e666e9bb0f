/** Profiles of customers: reading, replacing and deleting them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Engine, sql } from '../../src/database/sql.ts';
import { contentsOf } from '../database/contents.ts';
import {
  assertError,
  errorFields,
  onBothEngines,
  openShop,
  type Shop,
  type TestResponse,
} from '../helper.ts';
import { sendLogin } from '../shop-verbs.ts';

const password = 'Roquefort 9';
const ada = { username: 'ada', email: 'ada@example.com', password };
const url = '/v2/customer/ada';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function registerWithEtag(shop: Shop, customer: object): Promise<TestResponse> {
  const response = await shop.request('POST', '/v2/customer', { body: { password, ...customer } });
  assert.equal(response.status, 201, response.text);
  return response;
}

/** A shop with two customers, and how to speak as one of them. */
async function openWithCustomers(t: TestContext, engine: Engine, more: object = {}) {
  const shop = await openShop(t, { engine });
  const { json: customer, headers } = await registerWithEtag(shop, { ...ada, ...more });
  await registerWithEtag(shop, { username: 'Bob', email: 'bob@example.com' });
  const token: string = (await sendLogin(shop, 'ada', password)).json.token;
  const put = (body: object, extra: Record<string, string> = {}, to = url) =>
    shop.request('PUT', to, { body, headers: { ...bearer(token).headers, ...extra } });
  const read = (as = shop.reader, from = url) => shop.request('GET', from, { as });
  return { shop, customer, etag: headers.etag ?? '', token, put, read };
}

async function eventsOf(shop: Shop): Promise<string[]> {
  const { database } = shop.app;
  const rows = await database.all<{ type: string }>(sql`select type from event order by id`);
  return rows.map(({ type }) => type).filter((type) => type.startsWith('customer.'));
}

/** All tables as text in lower case, except sealed responses. */
async function dump({ app }: Shop): Promise<string> {
  const { stored_response: _, ...tables } = await contentsOf(app.database);
  assert.ok('customer' in tables && 'orders' in tables && 'login_failure' in tables);
  return JSON.stringify(tables).toLowerCase();
}

onBothEngines('GET /customer/{username}', (engine) => {
  test('GET /customer/{username} shows any profile to any API key, in any case of its name', async (t) => {
    const { shop, customer, etag, read } = await openWithCustomers(t, engine);
    for (const as of [shop.reader, shop.writer, shop.admin]) {
      const response = await read(as);
      assert.deepEqual([response.status, response.json, response.headers.etag], [200, customer, etag]);
    }
    for (const username of ['ADA', 'Ada', encodeURIComponent('ａｄａ'), '%61da', 'ada/', 'ada%20']) {
      assert.deepEqual((await read(shop.reader, `/v2/customer/${username}`)).json, customer, username);
    }
    for (const username of ['adam', 'ad', 'ada@example.com', String(customer.id)]) {
      assertError(await read(shop.reader, `/v2/customer/${username}`), 404, 'not_found');
    }
  });

  test('GET /customer/{username} shows customers their own, 403 for those of others, 404 for none, 401 without a credential', async (t) => {
    const { shop, customer, token } = await openWithCustomers(t, engine);
    assert.deepEqual((await shop.request('GET', '/v2/customer/ADA', bearer(token))).json, customer);
    for (const method of ['GET', 'DELETE']) {
      assertError(await shop.request(method, '/v2/customer/bob', bearer(token)), 403, 'forbidden');
      assertError(await shop.request(method, '/v2/customer/carl', bearer(token)), 404, 'not_found');
      assertError(await shop.request(method, url), 401, 'unauthorized');
    }
  });

  test('GET /customer/{username} returns 304 for the current ETag, which changes with the profile', async (t) => {
    const { shop, etag, put, read } = await openWithCustomers(t, engine);
    const conditional = (tag: string) =>
      shop.request('GET', url, { as: shop.reader, headers: { 'if-none-match': tag } });
    const same = await conditional(etag);
    assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag]);
    assert.equal((await conditional(`"x", W/${etag}`)).status, 304);
    const { headers } = await put({ ...ada, phone: '1' });
    assert.notEqual(headers.etag, etag);
    assert.equal((await conditional(etag)).status, 200);
    assert.equal((await conditional((await read()).headers.etag ?? '')).status, 304);
  });
});

onBothEngines('PUT /customer/{username}', (engine) => {
  test('PUT /customer/{username} replaces all: what is left out returns to its default, what the server owns stays', async (t) => {
    const more = { firstName: 'Ada', lastName: 'L', phone: '1', favouriteCheese: { name: 'Brie' } };
    const { customer, put, read } = await openWithCustomers(t, engine, more);
    const supplied = { id: 4711, customerStatus: 'gold', createdAt: '1999-01-01T00:00:00.000Z' };
    const response = await put({ ...ada, ...supplied, role: 'staff', email: 'new@example.com' });
    const { favouriteCheese: _, ...rest } = customer;
    assert.equal(response.status, 200, response.text);
    const cleared = { firstName: '', lastName: '', phone: null };
    assert.deepEqual(response.json, { ...rest, ...cleared, email: 'new@example.com' });
    assert.deepEqual((await read()).json, response.json);
    const back = await put({ ...ada, ...more });
    assert.deepEqual(back.json, customer);
    const missing = await put({ firstName: 'x'.repeat(101) });
    assertError(missing, 422, 'validation_error');
    assert.deepEqual(errorFields(missing), ['username', 'firstName', 'email', 'password']);
    assert.deepEqual((await read()).json, customer);
  });

  test('PUT /customer/{username} renames: the old username is free, and sessions stay open', async (t) => {
    const { shop, customer, token, put, read } = await openWithCustomers(t, engine);
    assert.equal((await put({ ...ada, username: 'ADA' })).json.username, 'ADA');
    const { status, json } = await put({ ...ada, username: 'Grace' });
    assert.deepEqual([status, json], [200, { ...customer, username: 'Grace' }]);
    assertError(await read(), 404, 'not_found');
    assertError(await shop.request('PUT', url, { body: ada, ...bearer(token) }), 404, 'not_found');
    assert.deepEqual((await shop.request('GET', '/v2/customer/grace', bearer(token))).json, json);
    assertError(await sendLogin(shop, 'ada', password), 401, 'unauthorized');
    assert.equal((await sendLogin(shop, 'grace', password)).status, 200);
    await registerWithEtag(shop, { username: 'ada', email: 'other@example.com' });
    assertError(await shop.request('GET', url, bearer(token)), 403, 'forbidden');
  });

  test('PUT /customer/{username} returns 422 that names username and email of another customer, and writes nothing', async (t) => {
    const { shop, customer, etag, put, read } = await openWithCustomers(t, engine);
    await registerWithEtag(shop, { username: 'carl', email: 'carl@example.com' });
    const taken = { username: 'BOB', email: 'CARL@example.com' };
    for (const fields of [['username'], ['email'], ['username', 'email']] as const) {
      const changes = Object.fromEntries(fields.map((field) => [field, taken[field]]));
      const response = await put({ ...ada, phone: '1', ...changes });
      assertError(response, 422, 'validation_error');
      assert.deepEqual(errorFields(response), fields);
    }
    for (const favouriteCheese of [{ id: 4711, name: 'Brie' }, {}]) {
      assert.deepEqual(errorFields(await put({ ...ada, favouriteCheese })), ['favouriteCheese']);
    }
    const { json, headers } = await read();
    assert.deepEqual([json, headers.etag], [customer, etag]);
  });

  test('PUT /customer/{username} with a new password ends all other sessions, and with the same one none', async (t) => {
    const { shop, token, put } = await openWithCustomers(t, engine);
    const other = (await sendLogin(shop, 'ada', password)).json.token;
    const bob = (await sendLogin(shop, 'bob', password)).json.token;
    const statuses = () =>
      Promise.all([token, other].map(async (one) => (await shop.request('GET', url, bearer(one))).status));
    assert.equal((await put({ ...ada, phone: '1' })).status, 200);
    assert.deepEqual(await statuses(), [200, 200]);
    assert.equal((await put({ ...ada, password: 'Stilton 4' })).status, 200);
    assert.deepEqual(await statuses(), [200, 401]);
    assert.equal((await shop.request('GET', '/v2/customer/bob', bearer(bob))).status, 200);
    assertError(await sendLogin(shop, 'ada', password), 401, 'unauthorized');
    assert.equal((await sendLogin(shop, 'ada', 'Stilton 4')).status, 200);
    await shop.request('PUT', url, { as: shop.admin, body: ada });
    assert.deepEqual(await statuses(), [401, 401]);
  });

  test('PUT /customer/{username} without a change keeps the ETag and records no event', async (t) => {
    const more = { firstName: 'Ada', favouriteCheese: { name: 'Brie' } };
    const { shop, customer, etag, put } = await openWithCustomers(t, engine, more);
    const same = { ...ada, ...more };
    for (const body of [same, { ...same, phone: null, id: 7 }]) {
      const { status, json, headers } = await put(body, { 'if-match': etag });
      assert.deepEqual([status, json, headers.etag], [200, customer, etag]);
    }
    assert.deepEqual(await eventsOf(shop), ['customer.created', 'customer.created']);
    await put({ ...ada, ...more, lastName: 'L' });
    assert.deepEqual(await eventsOf(shop), ['customer.created', 'customer.created', 'customer.updated']);
  });

  test('PUT /customer/{username} returns 412 for a profile that changed since If-Match, and one of two concurrent requests succeeds', async (t) => {
    const { etag, put, read } = await openWithCustomers(t, engine);
    const changed = await put({ ...ada, phone: '1' }, { 'if-match': etag });
    assert.equal(changed.status, 200);
    for (const tag of [etag, `W/${changed.headers.etag}`, '"nonsense"']) {
      assertError(await put({ ...ada, phone: '2' }, { 'if-match': tag }), 412, 'precondition_failed');
    }
    const tag = (await read()).headers.etag ?? '';
    const both = await Promise.all(['3', '4'].map((phone) => put({ ...ada, phone }, { 'if-match': tag })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
    assert.equal((await read()).json.phone, both.find(({ status }) => status === 200)?.json.phone);
    assert.equal((await put({ ...ada, phone: '5' }, { 'if-match': '*' })).status, 200);
  });

  test('PUT /customer/{username} is for the customer and admins: 403 for the profile of another customer, 404 for an unknown one', async (t) => {
    const { shop, customer, token, put, read } = await openWithCustomers(t, engine);
    const body = { ...ada, phone: '1' };
    assertError(await put(body, {}, '/v2/customer/bob'), 403, 'forbidden');
    assertError(await put(body, {}, '/v2/customer/carl'), 404, 'not_found');
    const profiles = await shop.createKey({ scopes: ['write:profile', 'read:profile'] });
    for (const as of [profiles, shop.reader]) {
      assertError(await shop.request('PUT', url, { as, body }), 403, 'forbidden');
      assertError(await shop.request('DELETE', url, { as }), 403, 'forbidden');
    }
    assertError(await shop.request('PUT', '/v2/customer/carl', { as: profiles, body }), 404, 'not_found');
    const bothForBob = { as: profiles, body, ...bearer(token) };
    assertError(await shop.request('PUT', '/v2/customer/bob', bothForBob), 403, 'forbidden');
    assert.deepEqual((await read()).json, customer);
    for (const [phone, options] of [
      ['2', { as: shop.admin }],
      ['3', { as: shop.reader, ...bearer(token) }],
      ['4', { as: profiles, ...bearer(token) }],
    ] as const) {
      const response = await shop.request('PUT', url, { ...options, body: { ...ada, phone } });
      assert.deepEqual([response.status, response.json.phone], [200, phone]);
    }
  });

  test('PUT /customer/{username} shows the favourite cheese as it is now, with another ETag, and its name when it is gone', async (t) => {
    const { shop, put, read } = await openWithCustomers(t, engine);
    const as = shop.writer;
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', { as, body: { name: 'Comté' } });
    const body = { ...ada, favouriteCheese: { id: cheese.id } };
    const first = await put(body);
    assert.deepEqual(first.json.favouriteCheese, cheese);
    const change = { as, body: { status: 'sold' } };
    const { json: sold } = await shop.request('POST', `/v2/cheeses/${cheese.id}`, change);
    const second = await read();
    assert.deepEqual(second.json.favouriteCheese, sold);
    assert.notEqual(second.headers.etag, first.headers.etag);
    assertError(await put(body, { 'if-match': first.headers.etag ?? '' }), 412, 'precondition_failed');
    assert.equal((await put(body)).headers.etag, second.headers.etag);
    const confirmed = { as, headers: { 'x-confirm-delete': 'true' } };
    assert.equal((await shop.request('DELETE', `/v2/cheeses/${cheese.id}`, confirmed)).status, 204);
    const third = await read();
    assert.deepEqual(third.json.favouriteCheese, { name: 'Comté' });
    assert.ok(![first, second].some(({ headers }) => headers.etag === third.headers.etag));
    assert.deepEqual(errorFields(await put(body)), ['favouriteCheese.id']);
  });
});

onBothEngines('DELETE /customer/{username}', (engine) => {
  test('DELETE /customer/{username} ends everything: sessions, profile and login; its names are free, its id is not', async (t) => {
    const { shop, customer, token } = await openWithCustomers(t, engine);
    await shop.request('DELETE', '/v2/customer/bob', { as: shop.admin });
    const { json: last } = await registerWithEtag(shop, { username: 'last', email: 'last@example.com' });
    const other = (await sendLogin(shop, 'last', password)).json.token;
    for (const [path, one] of Object.entries({ [url]: token, '/v2/customer/LAST': other })) {
      assert.equal((await shop.request('DELETE', path, bearer(one))).status, 204);
      assertError(await shop.request('GET', path, bearer(one)), 401, 'unauthorized');
      assertError(await shop.request('DELETE', path, bearer(one)), 401, 'unauthorized');
      assertError(await shop.request('DELETE', path, { as: shop.admin }), 404, 'not_found');
    }
    assertError(await sendLogin(shop, 'ada', password), 401, 'unauthorized');
    const { json: again } = await registerWithEtag(shop, ada);
    assert.ok(again.id > last.id && last.id > customer.id);
    assertError(await shop.request('GET', url, bearer(token)), 401, 'unauthorized');
  });

  test('DELETE /customer/{username} leaves no personal data in the database, also in orders', async (t) => {
    const username = 'Zaphod.Q';
    const mail = 'trillian@example.com';
    const names = { firstName: 'Vogonfirst', lastName: 'Vogonlast', phone: '+41 31 777' };
    const { shop, token: adas } = await openWithCustomers(t, engine);
    await registerWithEtag(shop, {
      username,
      email: mail,
      ...names,
      favouriteCheese: { name: 'Slartibart' },
    });
    const { token } = (await sendLogin(shop, username, password)).json;
    await sendLogin(shop, username, 'Wrongpass');
    const as = await shop.createKey({ scopes: ['write:orders'] });
    const body = { name: 'Comté', pricePerKg: 12.5 };
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
    const place = { street: 'Betelgeuse 7', city: 'Krikkit', state: 'Damogran', zipCode: 'Z4242' };
    const shippingAddress = { ...place, country: 'CH' };
    const items = [{ cheeseId: cheese.id, quantity: 2 }];
    const request = { as, body: { items, shippingAddress, notes: 'Magrathea' } };
    const buy = (holder: string) =>
      shop.request('POST', '/v2/store/order', { ...request, ...bearer(holder) });
    const orders: Record<string, { id: number; items: unknown; total: number }> = {};
    const steps = ['approve', 'ship', 'deliver'];
    for (const [index, status] of ['placed', 'approved', 'shipped', 'delivered'].entries()) {
      const { json: bought } = await buy(token);
      for (const step of steps.slice(0, index)) {
        await shop.request('POST', `/v2/store/order/${bought.id}/${step}`, { as: shop.admin });
      }
      orders[status] = bought;
    }
    const { json: adasOrder } = await buy(adas);
    const texts = [username, mail, ...Object.values({ ...names, ...place }), 'Slartibart', 'Magrathea'];
    const personal = texts.map((one) => one.toLowerCase());
    const foundIn = (text: string) => personal.filter((one) => text.includes(one));
    assert.deepEqual(foundIn(await dump(shop)), personal);
    await shop.request('DELETE', `/v2/store/order/${adasOrder.id}`, { as: shop.admin });
    assert.equal((await shop.request('DELETE', url, bearer(adas))).status, 204);
    assert.equal((await shop.request('DELETE', '/v2/customer/zaphod.q', bearer(token))).status, 204);
    assert.deepEqual(foundIn(await dump(shop)), []);
    for (const [status, { id, items: bought }] of Object.entries(orders)) {
      const { json } = await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin });
      const isOpen = status === 'placed' || status === 'approved';
      assert.deepEqual(json.shippingAddress, { street: '', city: '', state: null, country: 'CH' });
      assert.deepEqual([json.notes, json.items, json.total], [null, bought, 25]);
      assert.equal(json.status, isOpen ? 'cancelled' : status);
      const timeline = await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.admin });
      const last = timeline.json.items.at(-1);
      assert.deepEqual([last.status, last.reason], [json.status, isOpen ? 'the customer was deleted' : null]);
    }
  });
});
