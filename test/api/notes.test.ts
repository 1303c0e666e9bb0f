/** Notes of operators about orders and customers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { notesMax } from '../../src/notes/service.ts';
import { approve, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import { assertError, assertFields, bern, onBothEngines, openShop, shared } from '../helper.ts';

async function openWithNotes(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  const { admin } = shop;
  const { id: cheeseId } = (
    await shop.request('POST', '/v2/cheeses', { as: admin, body: { name: 'Comté', pricePerKg: 20 } })
  ).json;
  let customers = 0;
  return {
    shop,
    async newCustomer() {
      customers += 1;
      const id = await newCustomer(shop, `customer${customers}`, 'customer');
      return {
        id,
        username: `customer${customers}`,
        headers: { authorization: `Bearer ${await newSession(shop, id)}` },
      };
    },
    async place(headers: Readonly<Record<string, string>> = {}): Promise<string> {
      const body = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
      const { json } = await shop.request('POST', '/v2/store/order', { as: admin, headers, body });
      return `/v2/store/order/${json.id}/notes`;
    },
    add: (path: string, text: unknown, headers: Readonly<Record<string, string>> = {}) =>
      shop.request('POST', path, { as: admin, headers, body: { text } }),
    list: (path: string) => shop.request('GET', path, { as: admin }),
    texts: async (path: string): Promise<string[]> =>
      (await shop.request('GET', path, { as: admin })).json.items.map(({ text }: { text: string }) => text),
  };
}

onBothEngines('Notes', (engine) => {
  const opened = shared((t) => openWithNotes(t, engine));

  test('Notes are added with author and time, listed from the newest in pages, and deleted', async () => {
    const { shop, newCustomer, place, add, list, texts } = opened();
    const customer = await newCustomer();
    for (const path of [await place(customer.headers), `/v2/customers/${customer.id}/notes`]) {
      const first = await add(path, 'Ring\ttwice,\nthen wait');
      assert.equal(first.status, 201, first.text);
      assert.match(first.json.author, /^key:\d+$/);
      assert.ok(Math.abs(Date.parse(first.json.createdAt) - Date.now()) < 60_000);
      await add(path, 'second');
      await add(path, 'third');
      const page = await list(`${path}?limit=2`);
      assert.deepEqual(
        page.json.items.map(({ text }: { text: string }) => text),
        ['third', 'second'],
      );
      assert.equal(page.json.hasMore, true);
      const rest = await list(`${path}?limit=2&cursor=${page.json.nextCursor}`);
      assert.deepEqual(rest.json, { items: [first.json], nextCursor: null, hasMore: false });
      const remove = () => shop.request('DELETE', `/v2/notes/${first.json.id}`, { as: shop.admin });
      assert.equal((await remove()).status, 204);
      assertError(await remove(), 404, 'not_found');
      assert.deepEqual(await texts(path), ['third', 'second']);
      const other = await place();
      assertError(await list(`${other}?cursor=${page.json.nextCursor}`), 400, 'bad_request');
    }
  });

  test('Notes of staff with the scope admin name the customer who wrote them', async () => {
    const { shop, place } = opened();
    const client = await newClient(shop);
    const staff = await newCustomer(shop, 'staff', 'staff');
    await approve(shop, client, staff);
    const token = await newToken(shop, { client, customer: staff, scope: 'admin' });
    const headers = { authorization: `Bearer ${token}` };
    const { json } = await shop.request('POST', await place(), { headers, body: { text: 'Paid' } });
    assert.match(json.author, new RegExp(`^client:.*/customer:${staff}$`));
  });

  test('Notes are refused where the text is empty or too long, or the subject is unknown', async () => {
    const { place, add, list, texts } = opened();
    const path = await place();
    for (const text of ['', ' \n', 'x'.repeat(2001), 'a\u0000b', 7, null]) {
      assertFields(await add(path, text), ['text']);
    }
    assert.equal((await add(path, '🧀'.repeat(2000))).status, 201);
    assert.equal((await texts(path)).length, 1);
    for (const missing of [
      '/v2/store/order/999999/notes',
      '/v2/customers/999999/notes',
      '/v2/customers/x/notes',
    ]) {
      assertError(await list(missing), 404, 'not_found');
      assertError(await add(missing, 'text'), 404, 'not_found');
    }
    assertError(await list(`${path}?limit=101`), 400, 'bad_request');
    assertError(await list(`${path}?cursor=x`), 400, 'bad_request');
  });

  test('Notes are never shown to customers, and written by none', async () => {
    const { shop, newCustomer, place, add } = opened();
    const { id, username, headers } = await newCustomer();
    const order = await place(headers);
    const { json } = await add(order, 'a secret word');
    for (const acting of [{ headers }, { as: shop.admin, headers }]) {
      for (const path of [order, `/v2/customers/${id}/notes`]) {
        assertError(await shop.request('GET', path, acting), 403, 'forbidden');
        assertError(await shop.request('POST', path, { ...acting, body: { text: 'x' } }), 403, 'forbidden');
      }
      assertError(await shop.request('DELETE', `/v2/notes/${json.id}`, acting), 403, 'forbidden');
    }
    for (const as of [shop.reader, shop.writer]) {
      assertError(await shop.request('GET', order, { as }), 403, 'forbidden');
    }
    for (const path of ['', '/timeline', '/shipment']) {
      const orderPath = order.replace('/notes', '').replace('/store/order', `/customer/${username}/orders`);
      const { status, text } = await shop.request('GET', `${orderPath}${path}`, { headers });
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /secret/);
    }
    assert.deepEqual(
      await shop.app.database.all(sql`select id from event where data like '%a secret word%'`),
      [],
    );
  });

  test('Notes are deleted with their customer, and those of others are not', async () => {
    const { shop, newCustomer, place, add, texts } = opened();
    const [ada, bob] = [await newCustomer(), await newCustomer()];
    const [adas, bobs] = [await place(ada.headers), await place(bob.headers)];
    for (const path of [adas, bobs, `/v2/customers/${ada.id}/notes`, `/v2/customers/${bob.id}/notes`]) {
      await add(path, 'note');
    }
    await shop.request('DELETE', `/v2/customer/${ada.username}`, { headers: ada.headers });
    assert.deepEqual(await texts(adas), []);
    assert.deepEqual(await texts(bobs), ['note']);
    assert.deepEqual(await texts(`/v2/customers/${bob.id}/notes`), ['note']);
    assertError(await add(`/v2/customers/${ada.id}/notes`, 'late'), 404, 'not_found');
    assert.equal((await add(adas, 'The parcel came back')).status, 201);
    const left = sql`select id from staff_note where customer_id = ${ada.id}`;
    assert.deepEqual(await shop.app.database.all(left), []);
  });

  test(`Notes are ${notesMax} at most, also when they are added at the same time`, async () => {
    const { shop, newCustomer, add, place } = opened();
    const { id } = await newCustomer();
    await shop.app.database.run(sql`
      with recursive n (i) as (select 1 union all select i + 1 from n where i < ${notesMax - 3})
      insert into staff_note (customer_id, author, body, created_at)
      select cast(${id} as bigint), 'cli', 'x', '2026-01-01T00:00:00.000Z' from n`);
    const path = `/v2/customers/${id}/notes`;
    const added = await Promise.all(Array.from({ length: 8 }, () => add(path, 'one more')));
    assert.deepEqual(added.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409, 409, 409]);
    assert.match((await add(path, 'x')).json.message, /200 notes already.*DELETE \/v2\/notes/);
    assert.equal((await add(await place(), 'x')).status, 201);
  });

  test('Notes are added once with an Idempotency-Key, and not at all in a dry run', async () => {
    const { place, add, texts } = opened();
    const path = await place();
    const once = { 'idempotency-key': path };
    assert.equal((await add(path, 'x', once)).text, (await add(path, 'x', once)).text);
    assert.equal((await add(path, 'y', { 'dry-run': 'true' })).status, 201);
    assert.deepEqual(await texts(path), ['x']);
  });
});
