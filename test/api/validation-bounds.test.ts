/** The size of a response to a request with many errors is bounded. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assertError, assertFields, openShop, shared, type TestResponse } from '../helper.ts';

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
