/** "curd orders" and "curd customers set-role" on a running server: effect and refusals. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { cleanUp, until } from '../helper.ts';
import { orderOf } from '../shop-verbs.ts';
import {
  accountWithKey,
  assertEachRefused,
  assertRefused,
  curd,
  curdJson,
  type Environment,
  freshShop,
  runInProcess,
  serve,
} from './run.ts';

interface Counter {
  readonly shop: Environment;
  send(method: string, path: string, body?: object): Promise<CounterResponse>;
  place(): Promise<number>;
  statusOf(id: number): Promise<string>;
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
    statusOf: async (id) => (await send('GET', `/store/order/${id}`)).json.status,
    async close() {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    },
  };
}

test('On a running server, curd', async (suite) => {
  const { shop, send, place, statusOf, close } = await openCounter(suite);

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
      assert.equal(await statusOf(cancelled), 'cancelled');
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

  await suite.test('curd orders prints the new status as text', async () => {
    const id = String(await place());
    for (const [verb, status] of [
      ['approve', 'approved'],
      ['cancel', 'cancelled'],
    ] as const) {
      const run = await curd(shop, 'orders', verb, id);
      assert.deepEqual(run, { code: 0, stdout: `Order ${id} is ${status}.\n`, stderr: '' });
    }
  });

  await suite.test(
    'curd orders ship and orders track state carrier and tracking, or refuse them',
    async () => {
      const id = await place();
      await curdJson(shop, 'orders', 'approve', String(id));
      const invalid = await curd(shop, 'orders', 'ship', String(id), '--tracking-url', 'http://a.example');
      assertRefused(invalid, /--tracking-url is "http:\/\/a\.example"/, /https/);
      await curdJson(
        shop,
        'orders',
        'ship',
        String(id),
        '--carrier',
        'Swiss Post',
        '--tracking-number',
        '99.1',
      );
      const { json } = await send('GET', `/store/order/${id}/shipment`);
      assert.deepEqual([json.carrier, json.trackingNumber, json.trackingUrl], ['Swiss Post', '99.1', null]);
      const changed = await curdJson(shop, 'orders', 'track', String(id), '--carrier', 'Courier');
      assert.deepEqual([changed.carrier, changed.trackingNumber], ['Courier', null]);
      const shown = await curd(shop, 'orders', 'show', String(id));
      assert.match(shown.stdout, /shipped {2}cli {2}Courier$/m);
    },
  );

  await suite.test('curd orders cancel --dry-run prints the effects and changes nothing', async () => {
    const id = await place();
    const { effects, ...rest } = await curdJson(shop, 'orders', 'cancel', String(id), '--dry-run');
    assert.deepEqual(rest, { dryRun: true, more: 0 });
    assert.deepEqual(
      effects.map(({ type, subject }: Record<string, string>) => [type, subject]),
      [['order.cancelled', `order:${id}`]],
    );
    assert.deepEqual(await curd(shop, 'orders', 'approve', String(id), '--dry-run'), {
      code: 0,
      stdout: `Nothing was changed. The command has 1 effect:\norder.approved order:${id}\n`,
      stderr: '',
    });
    assert.equal(await statusOf(id), 'placed');
    assertRefused(await curd(shop, 'orders', 'deliver', String(id), '--dry-run'), /is placed/);
  });

  await suite.test(
    'curd orders approve approves an order without prices, and refuses an unavailable cheese',
    async () => {
      const cheese = (await send('POST', '/cheeses', { name: 'Nameless' })).json;
      const order = await send('POST', '/store/order', orderOf(cheese.id));
      const id = String(order.json.id);
      await send('POST', `/cheeses/${cheese.id}`, { status: 'sold' });
      assertRefused(await curd(shop, 'orders', 'approve', id), /Nameless/);
      await send('POST', `/cheeses/${cheese.id}`, { status: 'available' });
      assert.equal((await curdJson(shop, 'orders', 'approve', id)).status, 'approved');
    },
  );

  await suite.test('curd orders refuses an invalid transition or id in one sentence', async (t) => {
    const placed = await place();
    const over = await place();
    await send('DELETE', `/store/order/${over}`);
    const move = (verb: string, id: string | number) => () =>
      runInProcess(shop, `orders ${verb}`, [String(id)]);
    await assertEachRefused(t, [
      ['to ship what is placed', move('ship', placed), /is placed/, /approved or cancelled/],
      ['to deliver what is placed', move('deliver', placed), /is placed/],
      ['to approve what is cancelled', move('approve', over), /is cancelled/],
      ['to cancel what is shipped', move('cancel', 5), /is shipped/],
      ['to approve what is not there', move('approve', 4711), /no order with the id 4711/],
      ['to cancel what is not there', move('cancel', 4711), /no order with the id 4711/],
      ['an id of letters', move('approve', 'abc'), /"abc"/, /id of an order/],
      ['an id of 0', move('ship', '0'), /"0"/],
      ['an id with an exponent', move('deliver', '1e3'), /"1e3"/],
      ['an id that is too large', move('approve', '9223372036854775808'), /"9223372036854775808"/],
    ]);
    assertRefused(await curd(shop, 'orders', 'ship', String(placed), '--json'), /is placed/);
    assert.deepEqual([await statusOf(placed), await statusOf(over)], ['placed', 'cancelled']);
  });

  await suite.test(
    'curd customers set-role makes a customer staff and customer again, and refuses other roles',
    async (t) => {
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
      assert.match(again.stdout, /^ada is a customer .*\.\n$/);
      assert.equal(stored(), 'customer');
      await assertEachRefused(t, [
        [
          'another role',
          () => runInProcess(shop, 'customers set-role', ['Ada', 'king']),
          /king/,
          /customer, staff/,
        ],
        [
          'an unknown customer',
          () => runInProcess(shop, 'customers set-role', ['nobody', 'staff']),
          /no customer/,
        ],
        [
          'a name with a slash',
          () => runInProcess(shop, 'customers set-role', ['a/b', 'staff']),
          /no customer/,
        ],
      ]);
      assert.equal(stored(), 'customer');
      assert.equal((await send('GET', '/customer/Ada')).status, 200);
    },
  );

  await suite.test('curd orders note, customers note and demo remove change what the API shows', async () => {
    const id = String(await place());
    const note = await curdJson(shop, 'orders', 'note', id, 'Ring twice');
    assert.deepEqual([note.text, note.author], ['Ring twice', 'cli']);
    assert.deepEqual((await send('GET', `/store/order/${id}/notes`)).json.items, [note]);
    assert.deepEqual((await curdJson(shop, 'orders', 'notes', id)).items, [note]);
    assertRefused(await curd(shop, 'orders', 'note', id, ' '), /text: must contain/);
    assertRefused(await curd(shop, 'customers', 'note', 'nobody', 'x'), /customer/);
    await send('POST', '/customer', {
      username: 'noted',
      email: 'noted@example.com',
      password: 'correct horse battery',
    });
    const about = await curdJson(shop, 'customers', 'note', 'noted', 'Prefers young cheeses');
    assert.deepEqual((await curdJson(shop, 'customers', 'notes', 'noted')).items, [about]);
    const total = async () => (await send('GET', '/cheeses?limit=1')).json.total;
    const before = await total();
    assert.equal((await curdJson(shop, 'demo', 'remove', '--dry-run')).dryRun, true);
    assert.equal(await total(), before);
  });

  await close();
});
