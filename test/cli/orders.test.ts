/** "curd orders" on a running server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { cleanUp, until } from '../helper.ts';
import { orderOf } from '../shop-verbs.ts';
import { accountWithKey, curdJson, type Environment, freshShop, serve } from './run.ts';

interface Counter {
  readonly shop: Environment;
  send(method: string, path: string, body?: object): Promise<CounterResponse>;
  place(): Promise<number>;
  /** Stops the server and asserts that it logged nothing. */
  close(): Promise<void>;
}

interface CounterResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
  readonly json: any;
}

/** A running server that approves no orders by itself, and a key with the scope admin. */
async function openCounter(t: TestContext): Promise<Counter> {
  const shop = await freshShop(t, { CURD_APPROVAL_DELAY: '1d' });
  const { key } = await accountWithKey(shop, ['admin']);
  const server = await serve(t, shop);

  async function send(method: string, path: string, body?: object): Promise<CounterResponse> {
    const response = await fetch(`${server.url}/v2${path}`, {
      method,
      headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    shop,
    send,
    async place() {
      const { json } = await send('GET', '/cheeses?status=available&limit=1');
      const response = await send('POST', '/store/order', orderOf(json.items[0].id));
      assert.equal(response.status, 201);
      return response.json.id;
    },
    async close() {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    },
  };
}

test('On a running server, curd', async (suite) => {
  const { shop, send, place, close } = await openCounter(suite);

  await suite.test(
    'curd orders approve, ship, deliver and cancel take effect immediately and print the order as JSON',
    async () => {
      const id = await place();
      for (const [verb, status] of [
        ['approve', 'approved'],
        ['ship', 'shipped'],
        ['deliver', 'delivered'],
      ] as const) {
        const printed = await curdJson(shop, 'orders', verb, String(id));
        assert.equal(printed.status, status);
        assert.deepEqual((await send('GET', `/store/order/${id}`)).json, printed);
      }
      const { items } = (await send('GET', `/store/order/${id}/timeline`)).json;
      assert.deepEqual(
        items.slice(1).map(({ status, by }: Record<string, string>) => [status, by]),
        [
          ['approved', 'cli'],
          ['shipped', 'cli'],
          ['delivered', 'cli'],
        ],
      );
      const cancelled = await place();
      assert.equal((await curdJson(shop, 'orders', 'cancel', String(cancelled))).status, 'cancelled');
      assert.equal((await send('GET', `/store/order/${cancelled}`)).json.status, 'cancelled');
      assert.equal((await curdJson(shop, 'orders', 'cancel', String(cancelled))).status, 'cancelled');
    },
  );

  await suite.test(
    'curd serve adds orders, and changes that commands make, to the counts of orders',
    async (t) => {
      const file = new DatabaseSync(join(shop.CURD_DATA_DIR ?? '', 'curd.sqlite'), { readOnly: true });
      cleanUp(t, () => file.close());
      const waiting = file.prepare('select id from order_count_change limit 1');
      await until(async () => waiting.get() === undefined);
      const counted = file.prepare("select * from order_count where owner = '*' and day = ''").get();
      const expected = { placed: 0, approved: 0, shipped: 0, delivered: 1, cancelled: 1 };
      assert.deepEqual({ ...counted }, { owner: '*', day: '', ...expected });
    },
  );

  await close();
});
