/** The output of the example of a day in the shop, compared with the README. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from '../gates/sources.ts';
import { accountWithKey, freshShop, resultOf, serve, startExample } from './run.ts';

test('examples/shop-day.js prints the output in the README', async (t) => {
  const shop = await freshShop(t, { CURD_APPROVAL_DELAY: '300ms' });
  const { key } = await accountWithKey(shop, ['write:cheeses', 'write:orders', 'admin']);
  const server = await serve(t, shop);
  const { code, stdout, stderr } = await resultOf(
    startExample('shop-day.js', { KEY: key, CURD_PORT: new URL(server.url).port }),
  );
  assert.equal(code, 0, stderr);
  const promised = /```text\n(Ada registers.*?)```/s.exec(read('docs/getting-started.md'))?.[1];
  assert.equal(stdout, promised);
});
