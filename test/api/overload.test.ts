/** When a server that falls behind refuses requests, and when it does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, openShop, type Shop, type TestResponse } from '../helper.ts';

/** Stops the whole process for a time, as a slow disk does. */
async function pause(milliseconds: number): Promise<void> {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  // Timers that were due fire.
  await sleep(2);
}

const change = (shop: Shop, name: string): Promise<TestResponse> =>
  shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name } });

test('Changes are refused after several pauses in a row, and not after one', async (t) => {
  const shop = await openShop(t);
  await pause(3500);
  assert.equal((await change(shop, 'Brie')).status, 201);
  await sleep(600);
  for (let count = 0; count < 3; count += 1) {
    await pause(1500);
  }
  const refused = await change(shop, 'Edam');
  assertError(refused, 503, 'unavailable');
  assert.equal(refused.headers['retry-after'], '2');
  assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).status, 200);
  assert.equal((await shop.request('GET', '/healthz')).status, 200);
  await sleep(600);
  assert.equal((await change(shop, 'Gouda')).status, 201);
});
