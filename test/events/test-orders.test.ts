/** Test orders leave nothing in the event log, and a log that lacks numbers is repaired. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type Statement, sql } from '../../src/database/sql.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { environmentOf, openFilledShop } from '../cli/filled-shop.ts';
import { accountWithKey, curd, freshShop, serve } from '../cli/run.ts';
import {
  cleanUp,
  createDatabase,
  onBothEngines,
  openShop,
  type Scope,
  type Shop,
  secret,
  until,
} from '../helper.ts';
import { orderOf } from '../shop-verbs.ts';

/** Rounds of requests against restores. */
const rounds = Number(process.env.CURD_TEST_RESTORES ?? 10);

interface LoggedEvent {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly subject: string;
}

/** All events of the log, page by page. */
async function readLog(
  get: (url: string) => Promise<{ items: LoggedEvent[]; next: string; hasMore: boolean }>,
) {
  const events: LoggedEvent[] = [];
  for (let since = 'earliest', hasMore = true; hasMore; ) {
    const page = await get(`/v2/events?limit=100&since=${since}`);
    events.push(...page.items);
    ({ next: since, hasMore } = page);
  }
  return events;
}

function assertNoGap(events: readonly LoggedEvent[]): void {
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index + 1),
  );
}

const isTestOrder = ({ subject }: { readonly subject: string }) => /^order:([1-9]|10)$/.test(subject);

/** All events of a shop. */
const loggedIn = (shop: Shop) =>
  readLog(async (url) => (await shop.request('GET', url, { as: shop.admin })).json);

/** Waits until all committed events have a number. */
const numbered = ({ app }: Shop) =>
  until(async () => (await app.database.all(sql`select id from event where sequence is null`)).length === 0);

onBothEngines('Transitions of test orders', (engine) => {
  test('Transitions of test orders write timelines and nothing in the log, across restarts and a kill', async (t) => {
    const database: Record<string, string> =
      engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t, 'template_curd') } : {};
    const environment = await freshShop(t, { CURD_SECRET: secret, ...database });
    const { key } = await accountWithKey(environment, ['admin']);
    let { url, stop } = await serve(t, environment);
    // biome-ignore lint/suspicious/noExplicitAny: the test knows what to expect in it.
    const request = async (method: string, path: string, status: number, body?: unknown): Promise<any> => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      assert.equal(response.status, status, `${method} ${path}`);
      return response.status === 204 ? null : response.json();
    };
    const moveTestOrders = async () => {
      await request('DELETE', '/v2/store/order/2', 204);
      await request('POST', '/v2/store/order/1/approve', 200);
      await request('POST', '/v2/store/order/3/ship', 200);
      await request('POST', '/v2/store/order/3/deliver', 200);
      await request('DELETE', '/v2/store/order/9', 204);
      const { items } = await request('GET', '/v2/store/order/3/timeline', 200);
      assert.equal(items.length, 4);
    };
    const { id: cheeseId } = await request('POST', '/v2/cheeses', 201, { name: 'Comté', pricePerKg: 30 });

    let last = 0;
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await moveTestOrders();
      const { id } = await request('POST', '/v2/store/order', 201, orderOf(cheeseId));
      await request('DELETE', `/v2/store/order/${id}`, 204);
      await stop(signal);
      ({ url, stop } = await serve(t, environment));
      last = (await request('POST', '/v2/store/order', 201, orderOf(cheeseId))).id;
      const { items } = await request('GET', '/v2/store/order/3/timeline', 200);
      assert.equal(items.length, 2, 'the order is restored');
    }
    const isLogged = ({ subject }: LoggedEvent) => subject === `order:${last}`;
    let events: LoggedEvent[] = [];
    await until(async () => {
      events = await readLog((path) => request('GET', path, 200));
      return events.some(isLogged);
    });
    assertNoGap(events);
    assert.deepEqual(events.filter(isTestOrder), []);
    assert.equal(events.filter(({ type }) => type === 'order.cancelled').length, 2);
    const { code, stdout } = await curd(environment, 'doctor');
    assert.equal(code, 0, stdout);
  });

  test('Transitions of test orders leave order and timeline in agreement when instances restore them at the same time', async (t) => {
    const shop = await openShop(t, { engine });
    const other = engine === 'postgres' ? await shop.another() : shop;
    const restore = ({ app }: Shop) => restoreTestOrders(app.contextOf('system'));
    await restore(shop);
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([
        shop.request('DELETE', '/v2/store/order/1', { as: shop.admin }),
        restore(other),
        shop.request('POST', '/v2/store/order/2/approve', { as: shop.admin }),
        other.request('POST', '/v2/store/order/3/ship', { as: shop.admin }),
        restore(shop),
        other.request('DELETE', '/v2/store/order/3', { as: shop.admin }),
      ]);
    }
    await numbered(shop);
    assertNoGap(await loggedIn(shop));
    const { code, stdout } = await curd(environmentOf(shop), 'doctor');
    assert.equal(code, 0, stdout);
  });

  test('Transitions of test orders that an earlier version has recorded in the log become shop.event_withdrawn', async (t) => {
    const shop = await openShop(t, { engine });
    const { database, contextOf } = shop.app;
    const restore = () => restoreTestOrders(contextOf('system'));
    await restore();
    await shop.request('DELETE', '/v2/store/order/1', { as: shop.admin });
    await shop.request('DELETE', '/v2/store/order/2', { as: shop.admin });
    const ofOrder = (id: number, sequence: Statement) =>
      database.run(sql`
        update event set sequence = ${sequence} where type = 'order.cancelled' and subject = ${`order:${id}`}`);
    await numbered(shop);
    await database.run(sql`update event_log set last = last + 1`);
    await ofOrder(1, sql`(select last from event_log)`);
    if (engine === 'postgres') {
      await ofOrder(2, sql`null`);
    }
    await restore();
    await numbered(shop);
    const events = await loggedIn(shop);
    assertNoGap(events);
    assert.deepEqual(events.filter(isTestOrder), []);
    assert.equal(
      events.filter(({ type }) => type === 'shop.event_withdrawn').length,
      engine === 'postgres' ? 2 : 1,
    );
    const { code, stdout } = await curd(environmentOf(shop), 'doctor');
    assert.equal(code, 0, stdout);
  });
});

/** A receiver of webhooks, and the ids of the events that it got. */
async function openReceiver(t: Scope) {
  const types: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) {
      text += piece;
    }
    types.push(JSON.parse(text).type);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(t, () => server.close());
  return { types, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

onBothEngines('curd doctor --repair', (engine) => {
  test('curd doctor --repair completes a log that lacks numbers, while orders are placed, and every reader passes them', async (t) => {
    const { shop, environment, orderer, cheeses } = await openFilledShop(t, engine);
    const { database } = shop.app;
    await numbered(shop);
    const before = await loggedIn(shop);
    const last = before.length;
    await database.run(sql`
      delete from event where sequence in (1, 2, 5, 9, 10, 11, ${last - 1}, ${last}) and sequence > 0`);

    const found = await curd(environment, 'doctor', '--json');
    assert.equal(found.code, 2);
    const findings = JSON.parse(found.stdout).find(
      ({ check }: { check: string }) => check === 'events',
    ).findings;
    assert.deepEqual(
      findings.map(({ examples }: { examples: string[] }) => examples),
      [['1 to 2 are missing', '5 is missing', '9 to 11 are missing', `${last - 1} to ${last} are missing`]],
    );
    assert.match(findings[0].remedy, /doctor --repair/);

    const place = () => shop.request('POST', '/v2/store/order', { as: orderer, body: orderOf(cheeses[0]) });
    let isRepaired = false;
    let placed = 0;
    const placing = (async () => {
      while (!isRepaired) {
        assert.equal((await place()).status, 201);
        placed += 1;
      }
    })();
    await curd(environment, 'doctor', '--repair');
    isRepaired = true;
    await placing;
    await numbered(shop);
    const after = await loggedIn(shop);
    assertNoGap(after);
    assert.equal(after.length, last + placed);
    assert.deepEqual(
      after.filter(({ type }) => type === 'shop.event_withdrawn').map(({ sequence }) => sequence),
      [1, 2, 5, 9, 10, 11, last - 1, last],
    );
    const events = (await curd(environment, 'doctor', '--json')).stdout;
    const result = JSON.parse(events).find(({ check }: { check: string }) => check === 'events');
    assert.deepEqual(result.findings, []);

    await shop.app.webhooks.worker.start();
    const { types, url } = await openReceiver(t);
    const created = await shop.request('POST', '/v2/webhook-endpoints', {
      as: shop.admin,
      body: { url, since: after[0]?.id, types: ['shop.*', 'customer.*'] },
    });
    assert.equal(created.status, 201, created.text);
    const expected = after.slice(1).filter(({ type }) => /^(shop|customer)\./.test(type)).length;
    await until(async () => types.length === expected);
    assert.equal(types.filter((type) => type === 'shop.event_withdrawn').length, 7);

    await shop.app.statistics.counter.run();
    const query = 'measures=orders.placed&from=2026-01-01&to=2026-01-02&step=day';
    const { json } = await shop.request('GET', `/v2/statistics/series?${query}`, { as: shop.admin });
    assert.equal(json.asOf, (await loggedIn(shop)).at(-1)?.id);
  });
});
