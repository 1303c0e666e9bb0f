/** Hostile and invalid bodies are refused, and never cause a failure of the server. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Engine } from '../../src/database/sql.ts';
import { assertError, assertFields, onBothEngines, openShop, type TestResponse } from '../helper.ts';

const mebibyte = 1024 * 1024;
type Raw = string | Uint8Array;

/** A shop with one cheese, which hostile requests must not change. */
async function openWithCheese(t: TestContext, engine: Engine) {
  const shop = await openShop(t, { engine });
  const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: 'Comté' },
  });
  const url = `/v2/cheeses/${cheese.id}`;
  const send = (raw: Raw, headers: Record<string, string> = {}, method = 'POST', to = '/v2/cheeses') =>
    shop.request(method, to, { as: shop.writer, raw, headers });
  const list = async () => (await shop.request('GET', '/v2/cheeses', { as: shop.reader })).json.items;
  /** Sends the body to every route with a body. Each must refuse it in the same way and change nothing. */
  const everywhere = async (
    raw: Raw,
    headers: Record<string, string>,
    check: (response: TestResponse) => void,
  ) => {
    check(await send(raw, headers));
    check(await send(raw, headers, 'PUT'));
    check(await send(raw, headers, 'POST', url));
    assert.deepEqual(await list(), [cheese]);
  };
  return { shop, cheese, url, send, list, everywhere };
}

function assertWhole(response: TestResponse, message: RegExp | string = ''): void {
  assertError(response, 422, 'validation_error');
  assert.equal(response.json.errors.length, 1);
  assert.equal(response.json.errors[0].field, '');
  assert.match(response.json.errors[0].message, new RegExp(message));
}

/** JSON of a cheese with brackets nested `levels` deep, in a member that is ignored. */
function nested(name: string, levels: number): string {
  return `{"name": "${name}", "status": "sold", "deep": ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

onBothEngines('A body', (engine) => {
  test('A request body is 422 with the position of the error when it is not JSON', async (t) => {
    const { everywhere } = await openWithCheese(t, engine);
    const broken = [
      ['{"name": "A"', 1, 13],
      ['{"name": "A",}', 1, 14],
      ['{"name": "A"} x', 1, 15],
      ["{'name': 'A'}", 1, 2],
      ['{"name": "A\nB"}', 1, 12],
      ['{"name": "A\u0000B"}', 1, 12],
      ['{"name": "\\x41"}', 1, 12],
      ['{"é": "é", "name": 01}', 1, 21],
      ['{\n  "name": "A",\n  "status" "sold"\n}', 3, 12],
      // V8 reports no position for an unexpected token.
      ['{"name": @}', 1, 10],
      ['{"name": tru}', 1, 13],
      ['{"name": "A", "ageMonths": NaN}', 1, 28],
      ['{\n  "name": "A",\n  "status": sold\n}', 3, 13],
      ['@', 1, 1],
    ] as const;
    for (const [raw, line, column] of broken) {
      await everywhere(raw, {}, (response) => assertWhole(response, `line ${line}, column ${column}$`));
    }
  });

  test('A request body is 422 when it is empty or not an object, but can be empty where no field is required', async (t) => {
    const { send, everywhere, list, cheese, url } = await openWithCheese(t, engine);
    for (const raw of ['null', '[]', '[{"name": "A"}]', '"A"', '7', 'true']) {
      await everywhere(raw, {}, (response) => assertWhole(response, 'object'));
    }
    for (const raw of ['', ' ', '\r\n\t ']) {
      assertWhole(await send(raw));
      assertWhole(await send(raw, {}, 'PUT'));
    }
    assert.deepEqual((await send('', {}, 'POST', url)).json, cheese);
    assert.deepEqual(await list(), [cheese]);
  });

  test('A request body is 422 when it is not UTF-8 or contains half of a surrogate pair', async (t) => {
    const { everywhere, send } = await openWithCheese(t, engine);
    const withBytes = (...bytes: number[]) =>
      Buffer.concat([Buffer.from('{"name": "A'), Buffer.from(bytes), Buffer.from('"}')]);
    // A Latin-1 letter, an overlong slash, half a surrogate pair, a number above Unicode, and a truncated letter.
    for (const raw of [[0xe9], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      await everywhere(withBytes(...raw), {}, (response) => assertWhole(response, 'UTF-8'));
    }
    await everywhere(Buffer.from('{"name": "A"}', 'utf16le'), {}, (response) => assertWhole(response));
    const halves = ['"\\ud800"', '"\\uDC00\\uD800"', '"A", "other": "\\udfff"', '"A", "x\\uD83E": [1]'];
    for (const half of [...halves, '"A", "other": [{"deep": ["\\ud83e\\u0041"]}]']) {
      await everywhere(`{"name": ${half}}`, {}, (response) => assertWhole(response, 'surrogate'));
    }
    assert.equal((await send('{"name": "\\ud83e\\uddc0"}')).json.name, '🧀');
    assert.equal((await send('{"name": "\\\\ud83e"}')).json.name, '\\ud83e');
    assert.equal((await send('\ufeff{"name": "with a byte order mark"}')).status, 201);
  });

  test('A request body is 422 for the field with a NUL in its text', async (t) => {
    const { send, list, cheese } = await openWithCheese(t, engine);
    const nul = '"A\\u0000B"';
    assertFields(await send(`{"name": ${nul}, "origin": ${nul}}`), ['name', 'origin']);
    const lists = `"photoUrls": [${nul}], "tags": [{"name": ${nul}}]`;
    const response = await send(`{"name": "A", "category": {"name": ${nul}}, ${lists}}`);
    assertFields(response, ['category.name', 'photoUrls[0]', 'tags[0].name']);
    assert.equal(
      (await send(`{"name": "with NUL in a member that is ignored", "other": ${nul}}`)).status,
      201,
    );
    assert.equal((await list()).length, 2);
    assert.deepEqual((await list())[0], cheese);
  });

  test('A request body is plain data when members have the names of prototype members', async (t) => {
    const { send } = await openWithCheese(t, engine);
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const raw = `{"name": "${key}", "${key}": {"status": "sold", "prototype": {"organic": true}}}`;
      const { status, json } = await send(raw);
      assert.deepEqual([status, json.status, json.organic], [201, 'available', false]);
      assertFields(await send(raw.replace(key, 'B'), { prefer: 'handling=strict' }), [key]);
    }
    assertFields(await send('{"__proto__": {"name": "A"}}'), ['name']);
    assertFields(await send('{"name": "A", "category": {"__proto__": {"name": "Hard"}}}'), ['category']);
    assertFields(await send('{"name": "A", "status": "constructor"}'), ['status']);
    const odd = await send(
      '{"name": "A", "category": {"name": "__proto__"}, "tags": [{"name": "toString"}]}',
    );
    assert.deepEqual([odd.json.category.name, odd.json.tags[0].name], ['__proto__', 'toString']);
    assert.equal('status' in {}, false);
  });

  test('A request body is 422 for the first member that its object has twice', async (t) => {
    const { send, everywhere, list, url } = await openWithCheese(t, engine);
    for (const [raw, field] of [
      ['{"name": "A", "name": "A"}', 'name'],
      ['{"name": "A", "n\\u0061me": "B"}', 'name'],
      ['{"name": "A", "category": {"name": "x", "id": 1, "name": "Hard"}}', 'category.name'],
      ['{"name": "A", "tags": [{"name": "a"}, {"name": "b:", "name": "c"}]}', 'tags[1].name'],
      ['{"other": [[1], {"__proto__": 1, "__proto__": 2}], "name": "A"}', 'other[1].__proto__'],
      ['{"name": "A", "": 1, "": 2}', ''],
    ] as const) {
      assertFields(await send(raw), [field], raw);
    }
    await everywhere('{"a": 1, "a": 2}', {}, (response) => assertFields(response, ['a']));
    assertFields(await send('{"status": "lost", "status": "sold"}', {}, 'POST', url), ['status']);
    assert.equal(
      (await send('{"name": "\\"name\\": {\\"a\\":1}", "tags": [{"name": "x:"}, {"name": "y"}]}')).status,
      201,
    );
    assert.equal((await list()).length, 2);
  });

  test('A request body is 422 when it is nested deeper than 64 levels', async (t) => {
    const { send, everywhere, url } = await openWithCheese(t, engine);
    for (const levels of [65, 66, 10_000, 500_000]) {
      await everywhere(nested('A', levels), {}, (response) => assertWhole(response, '64'));
    }
    await everywhere('['.repeat(mebibyte), {}, (response) => assertWhole(response, '64'));
    await everywhere('{"a":'.repeat(65), {}, (response) => assertWhole(response, '64'));
    assert.equal((await send(nested('A', 64))).status, 201);
    assert.equal((await send(nested('A', 64), {}, 'POST', url)).status, 409);
    const brackets = `{"name": "${'['.repeat(100)}", "other": "\\"${'{'.repeat(100)}"}`;
    assert.equal((await send(brackets)).status, 201);
  });

  test('A request body is 422 when it has more than 10,000 values', async (t) => {
    const { send, everywhere } = await openWithCheese(t, engine);
    // The body, its name, the array, and what is in it.
    const holding = (values: number) => `{"name": "A", "x": [${'{"a,":"["},'.repeat(values / 2)}0]}`;
    await everywhere(holding(9998), {}, (response) => assertWhole(response, '10000'));
    assert.equal((await send(holding(9996))).status, 201);
  });

  test('A request body is 413 from one byte above 1 MiB, with any content', async (t) => {
    const { shop, send, everywhere } = await openWithCheese(t, engine);
    const padded = (bytes: number) => '{"name": "A"}'.padEnd(bytes, ' ');
    const tooLarge = padded(mebibyte + 1);
    for (const raw of [tooLarge, 'x'.repeat(2 * mebibyte), new Uint8Array(mebibyte + 1).fill(0xff)]) {
      await everywhere(raw, {}, (response) => assertError(response, 413, 'payload_too_large'));
    }
    const headers = { 'x-api-key': shop.writer, 'content-type': 'application/json' };
    const payload = Readable.from([padded(mebibyte), ' ']);
    const chunked = await shop.app.server.inject({ method: 'POST', url: '/v2/cheeses', headers, payload });
    assert.deepEqual([chunked.statusCode, chunked.json().type], [413, 'payload_too_large']);
    assertError(await shop.request('POST', '/v2/cheeses', { raw: tooLarge }), 401, 'unauthorized');
    assertError(
      await shop.request('POST', '/v2/cheeses', { as: shop.reader, raw: tooLarge }),
      403,
      'forbidden',
    );
    assert.equal((await send(padded(mebibyte))).status, 201);
  });

  test('A request body is 404 or 405 at a path without a body, at any size', async (t) => {
    const { send } = await openWithCheese(t, engine);
    const tooLarge = ' '.repeat(mebibyte + 1);
    assertError(await send(tooLarge, {}, 'POST', '/v2/nowhere'), 404, 'not_found');
    assertError(await send(tooLarge, {}, 'PUT', '/v2/store/inventory'), 405, 'method_not_allowed');
  });
});

onBothEngines('The media type of a body', (engine) => {
  test('The media type of a request body is 415 with Accept when it is not JSON', async (t) => {
    const { shop, send, everywhere, url } = await openWithCheese(t, engine);
    const body = '{"name": "A", "id": 1, "status": "sold"}';
    const types = [
      'text/plain',
      'text/json',
      'application/xml',
      'application/jsonx',
      'application/json5',
      'json',
      '*/*',
    ];
    for (const type of [
      ...types,
      'application/octet-stream',
      'application/+json',
      'image/svg+json',
      'application/json; charset=utf-16',
      'application/json;CHARSET="iso-8859-1"',
      'application/json; charset=utf-8; charset=utf-16',
      'application/json; charset=utf-8; charset=utf-8',
      'application/json;x=y;charset=utf-8 ; CharSet = "UTF8"',
      'application/json; charset="utf-8";q=1; charset=',
      'x'.repeat(500),
    ]) {
      await everywhere(body, { 'content-type': type }, (response) => {
        assertError(response, 415, 'unsupported_media_type');
        assert.match(response.headers.accept ?? '', /^application\/json, application\/\*\+json/, type);
      });
    }
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=cut']) {
      for (const method of ['POST', 'PUT']) {
        assertError(await send('name=A', { 'content-type': type }, method), 415, 'unsupported_media_type');
      }
    }
    const utf7 = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-7' };
    assertError(await send('name=B', utf7, 'POST', url), 415, 'unsupported_media_type');
    const form = await send(body, { 'content-type': 'text/plain' }, 'POST', url);
    assert.match(form.headers.accept ?? '', /multipart\/form-data/);
    // Credentials are checked first, then the media type, then the body.
    const headers = { 'content-type': 'text/plain' };
    assertError(await shop.request('POST', '/v2/cheeses', { raw: '{', headers }), 401, 'unauthorized');
    assertError(await send('{', headers), 415, 'unsupported_media_type');
  });

  test('The media type of a request body is accepted when it is any JSON type, or absent', async (t) => {
    const { shop, send } = await openWithCheese(t, engine);
    const types = [
      ...[
        'application/json',
        'APPLICATION/JSON',
        'application/json;charset=utf-8',
        'application/json ; charset="UTF-8"',
      ],
      ...[
        'application/merge-patch+json',
        'application/vnd.example.v2+json; profile="x;y"',
        'application/ld+JSON',
      ],
    ];
    for (const type of types) {
      const response = await send(`{"name": ${JSON.stringify(`é ${type}`)}}`, { 'content-type': type });
      assert.deepEqual([response.status, response.json.name], [201, `é ${type}`], type);
    }
    const headers = { 'x-api-key': shop.writer };
    const untyped = await shop.app.server.inject({
      method: 'POST',
      url: '/v2/cheeses',
      headers,
      payload: '{"name": "A"}',
    });
    assert.equal(untyped.statusCode, 201, untyped.payload);
  });

  test('The media type of a request body is 415 when the body is compressed', async (t) => {
    const { send, everywhere } = await openWithCheese(t, engine);
    for (const coding of ['gzip', 'GZIP', 'br', 'deflate', 'identity, gzip', 'nonsense']) {
      await everywhere(gzipSync('{"name": "A"}'), { 'content-encoding': coding }, (response) => {
        assertError(response, 415, 'unsupported_media_type');
        assert.equal(response.headers['accept-encoding'], 'identity');
      });
    }
    assert.equal((await send('{"name": "A"}', { 'content-encoding': 'Identity' })).status, 201);
  });

  test('The media type of a request body does not matter for GET and DELETE, which ignore a body', async (t) => {
    const { send, url, cheese } = await openWithCheese(t, engine);
    const odd = { 'content-type': 'text/odd', 'x-confirm-delete': 'true' };
    assert.deepEqual((await send('{', odd, 'GET', url)).json, cheese);
    assert.equal((await send('{"a":', odd, 'DELETE', url)).status, 204);
    assertError(await send('{', odd, 'DELETE', url), 404, 'not_found');
  });
});
