/** The size of a response to a request with many errors, or many unknown members, is bounded. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  assertError,
  assertFields,
  openShop,
  type RequestOptions,
  shared,
  type TestResponse,
} from '../helper.ts';

const mebibyte = 1024 * 1024;
const strict = { prefer: 'handling=strict' };

/** A 422 that lists the maximum number of errors, and says that there are more. */
function assertBounded(response: TestResponse): void {
  assertError(response, 422, 'validation_error');
  assert.equal(response.json.errors.length, 100);
  assert.match(response.json.message, /There are more errors than the 100 that are listed/);
}

/** JSON of an object with almost as many unknown members as a body may have values. */
function unknownMembers(): string {
  return `{${Array.from({ length: 9900 }, (_, index) => `"u${index}":0`).join()}}`;
}

suite('The response to a request with many errors', () => {
  const shop = shared((t) => openShop(t));

  test('The response to a request with many errors lists 100 unknown members of a JSON body and says that there are more', async () => {
    const raw = unknownMembers();
    const response = await shop().request('POST', '/v2/customer/login', { raw, headers: strict });
    assertBounded(response);
    assert.equal(response.json.errors.at(-1).message, 'is not a known field');
    assert.ok(response.text.length < 20_000, `${response.text.length} characters`);
  });

  test('The response to a request with many errors lists all of exactly 100 errors without saying that there are more', async () => {
    const members = Array.from({ length: 100 }, (_, index) => `"u${index}":0`).join();
    const raw = `{"name": "Comté", ${members}}`;
    const response = await shop().request('POST', '/v2/cheeses', { as: shop().writer, raw, headers: strict });
    assertError(response, 422, 'validation_error');
    assert.equal(response.json.errors.length, 100);
    assert.doesNotMatch(response.json.message, /There are more/);
  });

  test('The response to a request with many errors lists 100 errors of known members', async () => {
    const items = Array.from({ length: 100 }, () => ({ cheeseId: 'x', quantity: 'x' }));
    const body = { items, address: {} };
    const as = await shop().createKey({ scopes: ['write:orders'] });
    assertBounded(await shop().request('POST', '/v2/store/order', { as, body }));
  });

  test('The response to a request with many errors shortens the names of unknown members', async () => {
    const raw = JSON.stringify({ name: 'Comté', ['x'.repeat(mebibyte / 2)]: 1 });
    const response = await shop().request('POST', '/v2/cheeses', { as: shop().writer, raw, headers: strict });
    assertFields(response, [`${'x'.repeat(200)}...`], 'the name is not shortened');
    assert.ok(response.text.length < 1000);
  });

  test('The response to a request with many errors lists 100 unknown parameters of a query', async () => {
    const query = Array.from({ length: 2000 }, (_, index) => `u${index}`).join('&');
    const response = await shop().request('GET', `/v2/cheeses?${query}`, {
      as: shop().reader,
      headers: strict,
    });
    assertError(response, 400, 'bad_request');
    assert.equal(response.json.message.match(/is not a known parameter/g)?.length, 100);
    assert.match(response.json.message, /There are more errors than the 100 that are listed/);
  });

  test('The response to a request with many errors stays short for each entry of a batch', async () => {
    const raw = `[${unknownMembers()}]`;
    const response = await shop().request('POST', '/v2/customer/createMultiple', {
      as: shop().admin,
      raw,
      headers: strict,
    });
    assert.match(response.json.errors[0].message, /There are more errors than the 100 that are listed/);
    assert.ok(response.text.length < 20_000, `${response.text.length} characters`);
  });
});

suite('A form', () => {
  const shop = shared((t) => openShop(t));

  const send = async (raw: string, type: string) => {
    const { json } = await shop().request('POST', '/v2/cheeses', {
      as: shop().writer,
      body: { name: `Cheese ${Math.random()}` },
    });
    return shop().request('POST', `/v2/cheeses/${json.id}`, {
      as: shop().writer,
      raw,
      headers: { 'content-type': type },
    });
  };
  const asMultipart = (fields: readonly string[]) =>
    `${fields.map((field) => `--cut\r\nContent-Disposition: form-data; name="${field.replace('=', '"\r\n\r\n')}\r\n`).join('')}--cut--\r\n`;

  test('A form has at most 100 fields, of the same name or of different ones', async () => {
    for (const fields of [
      Array.from({ length: 101 }, () => 'status=sold'),
      Array.from({ length: 101 }, (_, index) => `f${index}=1`),
      Array.from({ length: 10_000 }, (_, index) => `f${index % 5000}=${index}`),
    ]) {
      for (const response of [
        await send(fields.join('&'), 'application/x-www-form-urlencoded'),
        await send(asMultipart(fields), 'multipart/form-data; boundary=cut'),
      ]) {
        assertFields(response, [''], `${fields.length} fields: ${response.status}`);
        assert.match(response.json.errors[0].message, /at most 100 fields/);
      }
    }
  });

  test('A form may repeat a field with the same value, and names each field that has several values once', async () => {
    const repeated = Array.from({ length: 100 }, () => 'status=sold');
    const differing = Array.from({ length: 99 }, (_, index) => `f${index % 33}=${index}`);
    for (const [type, toText] of [
      ['application/x-www-form-urlencoded', (fields: readonly string[]) => fields.join('&')],
      ['multipart/form-data; boundary=cut', asMultipart],
    ] as const) {
      const same = await send(toText(repeated), type);
      assert.equal(same.json.status, 'sold', same.text);
      assertFields(
        await send(toText(['status=sold', ...differing]), type),
        Array.from({ length: 33 }, (_, index) => `f${index}`),
      );
    }
  });
});

suite('The header Curd-Ignored', () => {
  const shop = shared((t) => openShop(t));
  const send = (body: object, options: RequestOptions = {}) =>
    shop().request('POST', '/v2/cheeses', { as: shop().writer, body, ...options });

  test('The header Curd-Ignored names unknown members in responses of success, of errors, of replays and of dry runs', async () => {
    const headers = { 'idempotency-key': 'ignored-1' };
    const body = { name: 'Vacherin', colour: 'blue', tags: [{ name: 'cow', spots: 3 }] };
    const names = 'colour, tags[0].spots';
    const tried = await send(body, { headers: { 'dry-run': 'effects' } });
    assert.equal(tried.headers['curd-ignored'], names);
    assert.equal('Curd-Ignored' in tried.json.headers, false);
    for (const replayed of [undefined, 'true']) {
      const response = await send(body, { headers });
      assert.equal(response.status, 201);
      assert.equal(response.headers['idempotency-replayed'], replayed);
      assert.equal(response.headers['curd-ignored'], names);
    }
    const taken = await send(body);
    assert.deepEqual([taken.status, taken.headers['curd-ignored']], [409, names]);
    const invalid = await send({ ...body, name: '' });
    assert.deepEqual([invalid.status, invalid.headers['curd-ignored']], [422, names]);
  });

  test('The header Curd-Ignored is absent without unknown members, for members that only the server sets, and with strict handling', async () => {
    const body = { id: 1, name: 'Reblochon', createdAt: 'x', updatedAt: 'x', category: null };
    assert.equal((await send(body)).headers['curd-ignored'], undefined);
    const refused = await send({ ...body, colour: 1 }, { headers: strict });
    assert.deepEqual([refused.status, refused.headers['curd-ignored']], [422, undefined]);
  });

  test('The header Curd-Ignored has at most 10 whole paths and 500 bytes, percent-encoded', async () => {
    const all = await send(JSON.parse(unknownMembers()));
    assert.equal(
      all.headers['curd-ignored'],
      Array.from({ length: 10 }, (_, index) => `u${index}`).join(', '),
    );
    const long = 'l'.repeat(300);
    const odd = {
      [long]: 1,
      [`${long}2`]: 1,
      'é, "\r\n%20!\'()*~': 1,
      '': 1,
      __proto: 1,
      ['x'.repeat(mebibyte / 2)]: 1,
    };
    const response = await send({ name: '', ...odd });
    assert.equal(
      response.headers['curd-ignored'],
      `${long}, %C3%A9%2C%20%22%0D%0A%2520%21%27%28%29%2A%7E, __proto`,
    );
    const { headers } = await send({}, { raw: '{"__proto__": {"a": 1}, "constructor": 1}' });
    assert.equal(headers['curd-ignored'], '__proto__, constructor');
  });

  test('The header Curd-Ignored names the entry of a list of customers, and members of a form', async () => {
    const batch = [
      { username: 'vreni' },
      { username: 'urs', pet: 'dog', favouriteCheese: { name: 'Brie', age: 1 } },
    ];
    const registered = await shop().request('POST', '/v2/customer/createMultiple', {
      as: shop().admin,
      body: batch,
    });
    assert.equal(registered.headers['curd-ignored'], '[1].pet, [1].favouriteCheese.age');
    const raw = 'name=Tomme&colour=blue&id=3';
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const changed = await shop().request('POST', '/v2/cheeses/1', { as: shop().writer, raw, headers: form });
    assert.equal(changed.headers['curd-ignored'], 'colour', changed.text);
  });
});
