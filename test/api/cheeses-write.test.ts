/** PUT, POST and DELETE of cheeses. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fieldNames } from '../../src/cheeses/fields.ts';
import type { Engine } from '../../src/database/sql.ts';
import {
  assertError,
  assertFields,
  errorFields,
  onBothEngines,
  openShop,
  type Shop,
  type TestResponse,
  testClock,
} from '../helper.ts';

/** Ids that no cheese has. As numbers, the last ones would be rounded to other ids. */
const unknownIds = ['0', '-1', '4711', '9007199254740991', '9007199254740993', '9223372036854775807'];
const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data; boundary=cut';
const full = {
  name: 'Comté',
  category: { name: 'Hard' },
  photoUrls: ['https://example.com/comte.jpg'],
  tags: [{ name: 'cow' }, { name: 'raw milk' }],
  status: 'pending',
  origin: 'France',
  pricePerKg: 32.5,
  ageMonths: 12,
  organic: true,
  portions: [{ grams: 200 }, { grams: 8000, name: 'Half wheel' }],
};
type Headers = Record<string, string>;

/** A shop with one cheese, functions that change it, and a clock that each of them advances by a second. */
async function openWithCheese(t: TestContext, engine: Engine) {
  const clock = testClock();
  const shop = await openShop(t, { engine, clock });
  const write = (method: string, url: string, body?: unknown, headers: Headers = {}) => {
    clock.advance(1000);
    return shop.request(method, url, { as: shop.writer, headers, ...(body === undefined ? {} : { body }) });
  };
  const send = (url: string, raw: string, type = 'application/json', method = 'POST') =>
    shop.request(method, url, { as: shop.writer, raw, headers: { 'content-type': type } });
  const add = (body: object) => write('POST', '/v2/cheeses', body);
  const put = (body: object, headers?: Headers) => write('PUT', '/v2/cheeses', body, headers);
  const remove = (path: string, headers: Headers = {}) =>
    write('DELETE', path, undefined, { 'x-confirm-delete': 'true', ...headers });
  const { json: cheese, headers } = await add(full);
  const etag = headers.etag ?? '';
  const url = `/v2/cheeses/${cheese.id}`;
  const assertStored = async (...expected: [cheese: unknown, etag: string | undefined]) => {
    const now = await shop.request('GET', url, { as: shop.reader });
    assert.deepEqual([now.json, now.headers.etag], expected);
  };
  const assertUntouched = () => assertStored(cheese, etag);
  return { shop, write, send, add, put, remove, cheese, etag, url, assertStored, assertUntouched };
}

const assertMissing = (response: TestResponse) => assertError(response, 404, 'not_found');
const assertTaken = (response: TestResponse) => assertError(response, 409, 'conflict');
const assertStale = (response: TestResponse) => assertError(response, 412, 'precondition_failed');

/** All counters that the API returns: totals of lists, and the inventory. */
async function countersOf(shop: Shop): Promise<readonly unknown[]> {
  const counters: unknown[] = [];
  for (const query of ['', 'status=sold', 'category=Hard', 'category=Soft', 'tags=cow', 'q=com', 'q=tomme']) {
    const { json } = await shop.request('GET', `/v2/cheeses?${query}`, { as: shop.reader });
    assert.equal(json.items.length, json.total, query);
    counters.push(json.total);
  }
  return [...counters, (await shop.request('GET', '/v2/store/inventory', { as: shop.reader })).json];
}

onBothEngines('PUT /cheeses', (engine) => {
  test('PUT /cheeses returns 200 and replaces the cheese: absent fields get their defaults, and portions stay', async (t) => {
    const { put, cheese, etag, assertStored } = await openWithCheese(t, engine);
    const { id, createdAt } = cheese;
    const response = await put({ id, name: 'Beaufort', status: 'sold' });
    assert.equal(response.status, 200);
    assert.equal('location' in response.headers, false);
    assert.notEqual(response.headers.etag, etag);
    const { updatedAt, ...rest } = response.json;
    const defaults = { photoUrls: [], tags: [], origin: null, organic: false };
    const { portions } = full;
    assert.deepEqual(rest, { portions, id, name: 'Beaufort', status: 'sold', ...defaults, createdAt });
    assert.equal(Date.parse(updatedAt), Date.parse(cheese.updatedAt) + 1000);
    await assertStored(response.json, response.headers.etag);
  });

  test('PUT /cheeses changes neither updatedAt nor any ETag when the cheese is the same', async (t) => {
    const { shop, put, cheese, etag, assertUntouched } = await openWithCheese(t, engine);
    const listTag = async () => (await shop.request('GET', '/v2/cheeses', { as: shop.reader })).headers.etag;
    const before = await listTag();
    const supplied = { createdAt: '1999-01-01T00:00:00.000Z', updatedAt: 'never' };
    const invented = {
      category: { id: 4711, name: 'Hard' },
      tags: full.tags.map((tag) => ({ id: 1, ...tag })),
    };
    for (const body of [cheese, { ...full, id: cheese.id }, { ...cheese, ...supplied, ...invented }]) {
      const response = await put(body);
      assert.deepEqual([response.status, response.json, response.headers.etag], [200, cheese, etag]);
    }
    await assertUntouched();
    assert.equal(await listTag(), before);
    const reordered = await put({ ...cheese, tags: cheese.tags.toReversed() });
    assert.notEqual(reordered.json.updatedAt, cheese.updatedAt);
    assert.equal(reordered.json.createdAt, cheese.createdAt);
  });

  test('PUT /cheeses accepts a whole Cheese as it was read, also with strict handling', async (t) => {
    const { put, cheese } = await openWithCheese(t, engine);
    const response = await put(cheese, { prefer: 'handling=strict' });
    assert.equal(response.status, 200, response.text);
  });

  test('PUT /cheeses returns 422 before 404, with every field that is not valid', async (t) => {
    const { put, send, cheese, assertUntouched } = await openWithCheese(t, engine);
    assertFields(await put({}), ['id', 'name', 'status']);
    assertFields(await put({ id: null, name: null, status: null }), ['id', 'name', 'status']);
    assertFields(await put({ id: 4711, name: '', status: 'lost' }), ['name', 'status']);
    assertFields(await put({ ...full, id: 4711, category: { id: 999_999 } }), ['category.id']);
    for (const id of [String(cheese.id), 1.5, true, {}, [cheese.id]]) {
      assertFields(await put({ ...full, id }), ['id']);
    }
    assertFields(await send('/v2/cheeses', '{"id": 4711', 'application/json', 'PUT'), ['']);
    await assertUntouched();
  });

  test('PUT /cheeses returns 404 when no cheese has the id, for ids of any size', async (t) => {
    const { send, assertUntouched } = await openWithCheese(t, engine);
    for (const id of [...unknownIds, '-9223372036854775808', '1e300']) {
      const raw = `{"id": ${id}, "name": "Comté", "status": "sold", "category": {"name": "Hard"}}`;
      assertMissing(await send('/v2/cheeses', raw, 'application/json', 'PUT'));
    }
    await assertUntouched();
  });

  test('PUT /cheeses returns 412 unless If-Match names the version that is stored', async (t) => {
    const { put, cheese, etag, assertUntouched } = await openWithCheese(t, engine);
    const body = { ...cheese, origin: 'Switzerland' };
    for (const stale of ['"0"', `W/${etag}`, '"0", "2"']) {
      assertStale(await put(body, { 'if-match': stale }));
    }
    await assertUntouched();
    assertMissing(await put({ ...body, id: 4711 }, { 'if-match': '"0"' }));
    assertFields(await put({ ...body, name: '' }, { 'if-match': '"0"' }), ['name']);
    assert.equal((await put(body, { 'if-match': `"0", ${etag}` })).status, 200);
    assertStale(await put(cheese, { 'if-match': etag }));
    assert.equal((await put(cheese, { 'if-match': '*' })).status, 200);
  });

  test('PUT /cheeses returns 409 when another cheese of the category has the name, and 412 before that', async (t) => {
    const { shop, add, put, cheese, assertUntouched } = await openWithCheese(t, engine);
    await add({ name: 'Tomme\u0301', category: { name: 'Soft' } });
    await add({ name: 'Tomme\u0301' });
    const counters = await countersOf(shop);
    for (const place of [{ category: { name: 'Soft' } }, { category: null }]) {
      assertTaken(await put({ ...cheese, name: 'Tomm\u00e9', ...place }));
      assertStale(await put({ ...cheese, name: 'Tomm\u00e9', ...place }, { 'if-match': '"0"' }));
    }
    await assertUntouched();
    assert.deepEqual(await countersOf(shop), counters);
    assert.equal((await put({ ...cheese, name: 'Tomm\u00e9' })).status, 200);
  });
});

onBothEngines('POST /cheeses/{id}', (engine) => {
  test('POST /cheeses/{id} returns 200 and changes the named fields only, from a query, JSON or a form', async (t) => {
    const { send, cheese, url, assertStored } = await openWithCheese(t, engine);
    const part = (name: string, value: string) =>
      `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const parts = `${part('name', 'Zürich')}${part('colour', 'x')}--cut--\r\n`;
    const ways: readonly (readonly [changes: object, query: string, body?: string, type?: string])[] = [
      [{ name: 'Gruyère' }, '?name=Gruy%C3%A8re'],
      [{ name: 'A+B & C', status: 'sold' }, '?status=sold&name=A%2BB+%26+C'],
      [{ status: 'available' }, '', '{"status": "available", "colour": "blue", "id": 4711}'],
      [{ name: 'Brebis' }, '', '{"name": "Brebis", "status": null}', 'application/merge-patch+json'],
      [{ name: 'Été', status: 'pending' }, '', 'name=%C3%89t%C3%A9&status=pending&colour=blue', form],
      [{ name: '🧀 A+B' }, '?name=%F0%9F%A7%80+A%2BB', 'name=%F0%9F%A7%80+A%2BB', form],
      [{ name: 'Zürich', status: 'sold' }, '?status=sold', parts, multipart],
    ];
    let expected = cheese;
    for (const [changes, query, body = '', type] of ways) {
      const response = await send(`${url}${query}`, body, type);
      expected = { ...expected, ...changes, updatedAt: response.json.updatedAt };
      assert.deepEqual([response.status, response.json], [200, expected], `${query} ${body}`);
      await assertStored(response.json, response.headers.etag);
    }
  });

  test('POST /cheeses/{id} returns 200 and changes nothing when no field is given, or nothing differs', async (t) => {
    const { write, url, cheese, etag, assertUntouched } = await openWithCheese(t, engine);
    const same = [`?status=${cheese.status}`, { name: cheese.name }] as const;
    const nothing = { name: null, status: null, colour: 'blue' };
    for (const [query, body] of [[''], ['', {}], ['', nothing], same]) {
      const response = await write('POST', `${url}${query}`, body);
      assert.deepEqual([response.status, response.json, response.headers.etag], [200, cheese, etag]);
    }
    await assertUntouched();
    const { json } = await write('POST', `${url}?status=sold`);
    assert.ok(json.updatedAt > cheese.updatedAt);
    assert.equal(json.createdAt, cheese.createdAt);
  });

  test('POST /cheeses/{id} returns 422 when a value is not valid, or differs between query and body', async (t) => {
    const { write, send, url, assertUntouched } = await openWithCheese(t, engine);
    const change = (query: string, body?: unknown, headers?: Headers) =>
      write('POST', `${url}?${query}`, body, headers);
    const long = encodeURIComponent('🧀'.repeat(256));
    for (const query of ['name=', 'name=%20', 'name=a%00b', `name=${long}`, 'name=A&name=B']) {
      assertFields(await change(query), ['name']);
    }
    for (const query of ['status=', 'status=Sold', 'status=lost', 'status=sold,sold']) {
      assertFields(await change(query), ['status']);
    }
    assertFields(await change('status=x&name='), ['name', 'status']);
    assertFields(await change('', { name: ' ', status: 'x' }), ['name', 'status']);
    assertFields(await send(url, 'status=x&name=', form), ['name', 'status']);
    assertFields(await change('name=A&status=sold', { name: 'B', status: 'sold' }), ['name']);
    assertFields(await change('name=A&status=sold', { name: 'B', status: 'pending' }), ['name', 'status']);
    assertFields(await send(`${url}?status=sold`, 'status=pending', form), ['status']);
    assertFields(await change('', []), ['']);
    assertFields(await send(url, 'status[]=sold&name=A', form), ['status[]']);
    assertFields(await send(url, 'no form', multipart), ['']);
    assertFields(await send(url, 'no form', 'multipart/form-data'), ['']);
    assertFields(await change('colour=blue', {}, { prefer: 'handling=strict' }), ['colour']);
    assertError(await send(url, 'name=A', 'text/plain'), 415, 'unsupported_media_type');
    await assertUntouched();
  });

  test('POST /cheeses/{id} returns 422 for each field of a cheese that it cannot change, and ignores unknown names', async (t) => {
    const { write, send, url, cheese, assertUntouched } = await openWithCheese(t, engine);
    const { id, name, status, createdAt } = cheese;
    const fields = fieldNames.filter((field) => field !== 'name' && field !== 'status').toSorted();
    const others = Object.fromEntries(fields.map((field) => [field, cheese[field] ?? 'any value']));
    for (const field of fields) {
      for (const response of [
        await write('POST', url, { name: 'Changed', [field]: others[field] }),
        await write('POST', url, { [field]: 'nonsense' }),
        await write('POST', `${url}?status=sold&${field}=1`),
        await send(url, `status=sold&${field}=1`, form),
      ]) {
        assertFields(response, [field]);
        assert.match(response.json.errors[0].message, /PATCH \/v2\/cheeses\/\d+$/);
      }
    }
    const all = await write('POST', url, { ...others, status: 'lost' }, { prefer: 'handling=strict' });
    assert.deepEqual(errorFields(all).toSorted(), [...fields, 'status'].toSorted());
    await assertUntouched();
    const harmless = { id: 4711, createdAt, updatedAt: 'never', colour: 'blue', pricePerKg: null };
    const changed = await write('POST', `${url}?colour=blue&id=1`, { ...harmless, name, status: 'sold' });
    assert.deepEqual([changed.status, changed.json.id, changed.json.status], [200, id, 'sold'], status);
  });

  test('POST /cheeses/{id} returns 404 for unknown ids, 422 before that, 412 by If-Match and 409 for a taken name', async (t) => {
    const { write, add, url, etag, assertUntouched } = await openWithCheese(t, engine);
    for (const id of [...unknownIds, '9223372036854775808', 'abc', '1.5', '1e0', '01', '%31%20']) {
      assertMissing(await write('POST', `/v2/cheeses/${id}?status=sold`));
    }
    assertFields(await write('POST', '/v2/cheeses/4711?status=x'), ['status']);
    await add({ name: 'Tomme', category: { name: 'Hard' } });
    assertTaken(await write('POST', `${url}?name=Tomme`));
    assertStale(await write('POST', `${url}?name=Tomme`, undefined, { 'if-match': '"0"' }));
    await assertUntouched();
    assert.equal((await write('POST', `${url}?name=A`, undefined, { 'if-match': etag })).status, 200);
  });
});

onBothEngines('DELETE /cheeses/{id}', (engine) => {
  test('DELETE /cheeses/{id} returns 204, frees the name, and never assigns the id again', async (t) => {
    const { shop, write, put, remove, cheese, url } = await openWithCheese(t, engine);
    const response = await remove(url, { 'x-confirm-delete': 'TRUE' });
    assert.deepEqual([response.status, response.text], [204, '']);
    assertMissing(await shop.request('GET', url, { as: shop.reader }));
    assertMissing(await write('POST', `${url}?status=sold`));
    assertMissing(await put(cheese));
    assertMissing(await remove(url));
    for (const list of ['findByStatus?status=pending', 'findByTags?tags=cow']) {
      assert.deepEqual((await write('GET', `/v2/cheeses/${list}`)).json, []);
    }
    const restarted = await shop.another();
    const again = await restarted.request('POST', '/v2/cheeses', { as: shop.writer, body: full });
    assert.equal(again.status, 201);
    assert.ok(again.json.id > cheese.id);
    assert.deepEqual(again.json.category, cheese.category);
    assertMissing(await shop.request('GET', url, { as: shop.reader }));
  });

  test('DELETE /cheeses/{id} returns 400 unless X-Confirm-Delete is true: after 401 and 403, before 404', async (t) => {
    const { shop, write, remove, url, etag, assertUntouched } = await openWithCheese(t, engine);
    for (const value of ['1', 'yes', 'false', 'FALSE', '', 'truee', 'true, true', '"true"']) {
      assertError(await remove(url, { 'x-confirm-delete': value }), 400, 'bad_request');
    }
    for (const path of [url, '/v2/cheeses/4711', '/v2/cheeses/abc']) {
      assertError(await write('DELETE', path, undefined, { 'if-match': '"0"' }), 400, 'bad_request');
      assertError(await shop.request('DELETE', path, { as: shop.reader }), 403, 'forbidden');
      assertError(await shop.request('DELETE', path), 401, 'unauthorized');
    }
    for (const id of [...unknownIds, 'abc']) {
      assertMissing(await remove(`/v2/cheeses/${id}`, { 'if-match': '"0"' }));
    }
    assertStale(await remove(url, { 'if-match': `W/${etag}` }));
    await assertUntouched();
    assert.equal((await remove(url, { 'if-match': etag })).status, 204);
  });
});

onBothEngines('Every write', (engine) => {
  test('Every write of a cheese is visible at once in the inventory and in the totals of lists', async (t) => {
    const { shop, add, put, write, remove, cheese, url } = await openWithCheese(t, engine);
    const { id } = cheese;
    /** Totals: all, sold, Hard, Soft, cow, com, tomme. Inventory: available, pending, sold. */
    const check = async (response: TestResponse, status: number, totals: number[], inventory: number[]) => {
      assert.equal(response.status, status);
      const [available, pending, sold] = inventory;
      assert.deepEqual(await countersOf(shop), [...totals, { available, pending, sold }], response.text);
    };
    const soft = { id, name: 'Com com', status: 'available', category: { name: 'Soft' } };
    const second = { ...full, name: 'Tomme comtoise' };
    await check(await add(second), 201, [2, 0, 2, 0, 2, 2, 1], [0, 2, 0]);
    await check(await write('POST', `${url}?status=sold`), 200, [2, 1, 2, 0, 2, 2, 1], [0, 1, 1]);
    await check(await write('POST', `${url}?name=Tommes`), 200, [2, 1, 2, 0, 2, 1, 2], [0, 1, 1]);
    await check(await put(soft), 200, [2, 0, 1, 1, 1, 2, 1], [1, 1, 0]);
    await check(await put({ id, name: 'Brie', status: 'available' }), 200, [2, 0, 1, 0, 1, 1, 1], [1, 1, 0]);
    await check(await put({ id, name: 'Brie', status: 'lost' }), 422, [2, 0, 1, 0, 1, 1, 1], [1, 1, 0]);
    await check(await add(second), 409, [2, 0, 1, 0, 1, 1, 1], [1, 1, 0]);
    await check(await remove(url), 204, [1, 0, 1, 0, 1, 1, 1], [0, 1, 0]);
    await check(await remove(`/v2/cheeses/${id + 1}`), 204, [0, 0, 0, 0, 0, 0, 0], [0, 0, 0]);
  });
});
