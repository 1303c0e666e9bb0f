/** Which responses are compressed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { bern, openListeningShop, shared } from '../helper.ts';

const opened = shared(async (t) => {
  const shop = await openListeningShop(t);
  const send = async (method: string, url: string, body?: unknown) => {
    const { status, json } = await shop.request(method, url, { as: shop.admin, body });
    assert.ok(status < 300, `${method} ${url} ${status}`);
    return json;
  };
  const { id } = await send('POST', '/v2/cheeses', { name: 'Comté', status: 'available', pricePerKg: 20 });
  const tags = Array.from({ length: 20 }, (_, index) => ({ name: `${index} ${'t'.repeat(90)}` }));
  const long = await send('POST', '/v2/cheeses', { name: 'Brie', tags });
  for (let count = 0; count < 10; count += 1) {
    await send('POST', '/v2/store/order', { items: [{ cheeseId: id, quantity: 1 }], shippingAddress: bern });
  }
  return { shop, longId: long.id as number };
});

/** Not by `fetch`, which decompresses. */
async function get(path: string, method = 'GET', coding = 'gzip') {
  const { shop } = opened();
  const { headers, rawPayload, statusCode } = await shop.app.server.inject({
    method: method as 'GET',
    url: path,
    headers: { 'x-api-key': shop.admin, 'accept-encoding': coding },
  });
  assert.equal(statusCode, 200, path);
  return { headers, bytes: rawPayload };
}

for (const path of ['/v2/store/orders', '/v2/events?since=earliest', '/v2/status', '/v2/cheeses']) {
  test(`GET ${path} is compressed where the client accepts it`, async () => {
    const [plain, zipped] = [await get(path, 'GET', 'identity'), await get(path)];
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    for (const { headers } of [plain, zipped]) {
      assert.match(String(headers.vary), /^([^,]+, )?Accept-Encoding, Accept$/);
    }
    assert.ok(plain.bytes.length >= 2048);
    assert.ok(zipped.bytes.length < plain.bytes.length / 2);
    const [one, other] = [
      JSON.parse(gunzipSync(zipped.bytes).toString()),
      JSON.parse(plain.bytes.toString()),
    ];
    assert.deepEqual(Object.keys(one), Object.keys(other));
    const head = await get(path, 'HEAD');
    assert.equal(head.bytes.length, 0);
    assert.equal(head.headers['content-encoding'], 'gzip');
  });
}

test('Short responses are not compressed', async () => {
  const { headers } = await get('/v2/whoami');
  assert.equal(headers['content-encoding'], undefined);
});

test('A long resource with a strong ETag is not compressed: it promises the same bytes', async () => {
  const { headers, bytes } = await get(`/v2/cheeses/${opened().longId}`);
  assert.ok(bytes.length > 2048);
  assert.match(String(headers.etag), /^"/);
  assert.equal(headers['content-encoding'], undefined);
});

test('Event streams are not compressed: each event arrives at once', async () => {
  const { shop } = opened();
  const closing = new AbortController();
  const response = await fetch(`${shop.url}/v2/events/stream?since=earliest`, {
    headers: { 'x-api-key': shop.admin, 'accept-encoding': 'gzip' },
    signal: closing.signal,
  });
  assert.equal(response.status, 200);
  assert.match(String(response.headers.get('content-type')), /^text\/event-stream/);
  assert.equal(response.headers.get('content-encoding'), null);
  closing.abort();
});
