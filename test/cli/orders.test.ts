import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, type TestContext, test } from 'node:test';
import { cleanUp } from '../helper.ts';
import {
  assertRefused,
  curd,
  curdJson,
  type Environment,
  freshShop,
  type RunningServer,
  serve,
} from './run.ts';

interface Counter {
  readonly shop: Environment;
  readonly server: RunningServer;
  send(method: string, path: string, body?: object, token?: string): Promise<Answer>;
  place(): Promise<number>;
  statusOf(id: number): Promise<string>;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what to expect in it.
  readonly json: any;
}

/** A running server whose orders wait, and a key that may do everything. */
async function openCounter(t: TestContext, more: Environment = {}): Promise<Counter> {
  const shop = await freshShop(t, { CURD_APPROVAL_DELAY: '1d', ...more });
  const server = await serve(t, shop);
  await curdJson(shop, 'accounts', 'create', 'shop');
  const { key } = await curdJson(shop, 'keys', 'create', '--account', 'shop', '--scope', 'admin');

  async function send(method: string, path: string, body?: object, token?: string): Promise<Answer> {
    const response = await fetch(`${server.url}/v2${path}`, {
      method,
      headers: {
        'X-API-Key': key,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    shop,
    server,
    send,
    async place() {
      const { json } = await send('GET', '/cheeses?status=available&limit=1');
      const answer = await send('POST', '/store/order', {
        items: [{ cheeseId: json.items[0].id, quantity: 1 }],
        shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' },
      });
      assert.equal(answer.status, 201);
      return answer.json.id;
    },
    statusOf: async (id) => (await send('GET', `/store/order/${id}`)).json.status,
  };
}

suite('curd orders', { concurrency: 2 }, () => {
  test('approve, ship and deliver hold at once on a running server, and are told in JSON', async (t) => {
    const { shop, send, place, statusOf, server } = await openCounter(t);
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
    assert.equal(await statusOf(cancelled), 'cancelled');
    assert.equal((await curdJson(shop, 'orders', 'cancel', String(cancelled))).status, 'cancelled');
    assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
  });

  test('say in words what the order is now', async (t) => {
    const { shop, place } = await openCounter(t);
    const id = String(await place());
    for (const [verb, status] of [
      ['approve', 'approved'],
      ['ship', 'shipped'],
      ['deliver', 'delivered'],
    ] as const) {
      const run = await curd(shop, 'orders', verb, id);
      assert.deepEqual(run, { code: 0, stdout: `Order ${id} is ${status}.\n`, stderr: '' });
    }
    const other = String(await place());
    const run = await curd(shop, 'orders', 'cancel', other);
    assert.deepEqual(run, { code: 0, stdout: `Order ${other} is cancelled.\n`, stderr: '' });
  });

  test('approve what has no price, and refuse what is not available', async (t) => {
    const { shop, send } = await openCounter(t);
    const cheese = (await send('POST', '/cheeses', { name: 'Nameless' })).json;
    const order = await send('POST', '/store/order', {
      items: [{ cheeseId: cheese.id, quantity: 1 }],
      shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' },
    });
    const id = String(order.json.id);
    await send('POST', `/cheeses/${cheese.id}`, { status: 'sold' });
    assertRefused(await curd(shop, 'orders', 'approve', id), /Nameless/);
    await send('POST', `/cheeses/${cheese.id}`, { status: 'available' });
    assert.equal((await curdJson(shop, 'orders', 'approve', id)).status, 'approved');
  });

  test('refuse in one sentence what cannot be', async (t) => {
    const { shop, place, statusOf } = await openCounter(t);
    const placed = await place();
    const over = await place();
    await curdJson(shop, 'orders', 'cancel', String(over));
    const refused: [args: string[], ...says: RegExp[]][] = [
      [['ship', String(placed)], /is placed/, /approved or cancelled/],
      [['deliver', String(placed)], /is placed/],
      [['approve', String(over)], /is cancelled/],
      [['cancel', '5'], /is shipped/],
      [['approve', '4711'], /no order with the id 4711/],
      [['cancel', '4711'], /no order with the id 4711/],
      [['approve', 'abc'], /"abc"/, /order id/],
      [['ship', '0'], /"0"/],
      [['deliver', '1e3'], /"1e3"/],
      [['approve', '9223372036854775808'], /"9223372036854775808"/],
    ];
    const runs = await Promise.all(
      refused.map(([[verb = '', id = '']], index) =>
        curd(shop, 'orders', verb, id, ...(index % 2 === 0 ? ['--json'] : [])),
      ),
    );
    for (const [index, [args, ...says]] of refused.entries()) {
      await t.test(args.join(' '), () => {
        const run = runs[index];
        assert.ok(run !== undefined);
        assertRefused(run, ...says);
      });
    }
    assert.deepEqual([await statusOf(placed), await statusOf(over)], ['placed', 'cancelled']);
  });
});

suite('curd customers set-role', () => {
  test('makes a customer staff and a customer again, and refuses anything else', async (t) => {
    const { shop, send } = await openCounter(t);
    const ada = { username: 'Ada', email: 'ada@example.com', password: 'good enough' };
    assert.equal((await send('POST', '/customer', ada)).status, 201);
    const file = new DatabaseSync(join(shop.CURD_DATA_DIR ?? '', 'curd.sqlite'), { readOnly: true });
    cleanUp(t, () => file.close());
    const stored = () => file.prepare('select role from customer').get()?.role;
    assert.equal(stored(), 'customer');
    const staff = await curdJson(shop, 'customers', 'set-role', 'Ada', 'staff');
    assert.deepEqual(staff, { username: 'Ada', role: 'staff' });
    assert.equal(stored(), 'staff');
    const again = await curd(shop, 'customers', 'set-role', 'ada', 'customer');
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.match(again.stdout, /^ada is (?:a )?customer .*\.\n$/);
    assert.equal(stored(), 'customer');
    assertRefused(await curd(shop, 'customers', 'set-role', 'Ada', 'king'), /king/, /customer, staff/);
    assertRefused(await curd(shop, 'customers', 'set-role', 'nobody', 'staff'), /no customer/);
    assertRefused(await curd(shop, 'customers', 'set-role', 'a/b', 'staff', '--json'), /no customer/);
    assert.equal((await send('GET', '/customer/Ada')).status, 200);
  });
});
