/** Ids after a restore: those that were given out after the backup are known to customers and never come back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { bern, secret, temporaryFolder } from '../context.ts';
import { assertRefused, createStock, curd, curdJson, freshShop, serve } from './run.ts';

const gap = 10_000;

test('A restore replaces a shop with data on demand only, and no id comes back, however often it is repeated', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret });
  const { key } = await createStock(environment, {
    prices: [20],
    scopes: ['write:cheeses', 'write:orders', 'admin'],
  });
  let made = 0;
  /** Creates a cheese, a category, an order and an account, and returns their ids. */
  async function create(): Promise<number[]> {
    const server = await serve(t, environment);
    const post = async (path: string, body: object) => {
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const json = (await response.json()) as { id: number; category: { id: number } };
      assert.ok(response.ok, JSON.stringify(json));
      return json;
    };
    made += 1;
    const name = `New ${made}`;
    const cheese = await post('/v2/cheeses', { name, category: { name } });
    const items = [{ cheeseId: cheese.id, quantity: 1 }];
    const order = await post('/v2/store/order', { items, shippingAddress: bern });
    const account = await post('/v2/accounts', { name });
    await server.stop();
    return [cheese.id, cheese.category.id, order.id, account.id];
  }
  let last = await create();
  const file = join(await temporaryFolder(t), 'backup.tar');
  await curdJson(environment, 'backup', file);
  last = await create();
  for (const _ of [1, 2]) {
    assertRefused(
      await curd(environment, 'restore', file),
      /has a shop with \d+ cheeses?, .*Add --yes to replace it/,
    );
    assert.equal((await curdJson(environment, 'restore', file, '--yes')).idGap, gap);
    const next = await create();
    for (const [index, id] of next.entries()) {
      assert.ok(id > (last[index] ?? 0) + gap, `${last} ${next}`);
    }
    last = next;
  }
  const { stdout } = await curd(environment, 'restore', file, '--yes', '--id-gap', '7');
  assert.match(stdout, /New ids begin 7 later/);
  assert.deepEqual(
    await create(),
    last.map((id) => id + 8),
  );
  assert.equal((await curd(environment, 'doctor')).code, 0);
});
