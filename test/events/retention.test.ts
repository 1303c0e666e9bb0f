/** Old events leave the log from its beginning; orders and cheeses keep their history. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { checkEventLog } from '../../src/event-log/consistency-check.ts';
import { recordEvents } from '../../src/event-log/record.ts';
import { removeExpiredEvents } from '../../src/event-log/retention.ts';
import { orderEvents } from '../../src/orders/event-types.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { assertError, bern, onBothEngines, openShop, type Shop, testClock, until } from '../helper.ts';
import { untilNumbered } from './streams.ts';

const dayMs = 24 * 60 * 60 * 1000;
const retentionMs = 90 * dayMs;

/** A copy of the catalogue, kept current by events. */
class Mirror {
  readonly names = new Map<number, string>();
  position = 'earliest';

  async follow(shop: Shop): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const url = `/v2/events?since=${this.position}&limit=100`;
      const { json } = await shop.request('GET', url, { as: shop.admin });
      for (const { type, data } of json.items) {
        if (type === 'cheese.created' || type === 'cheese.updated') {
          this.names.set(data.id, data.name);
        } else if (type === 'cheese.deleted') {
          this.names.delete(data.id);
        }
      }
      this.position = json.next;
      hasMore = json.hasMore;
    }
  }

  /** What the message of a 410 says. */
  async resynchronize(shop: Shop): Promise<void> {
    const { json } = await shop.request('GET', '/v2/events?since=latest', { as: shop.admin });
    const list = await shop.request('GET', '/v2/cheeses?limit=100', { as: shop.reader });
    this.names.clear();
    for (const { id, name } of list.json.items) {
      this.names.set(id, name);
    }
    this.position = json.next;
    await this.follow(shop);
  }
}

onBothEngines('The retention of events', (engine) => {
  test('The retention of events removes old events in blocks, and a client that was away continues by the recipe', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database, contextOf } = shop.app;
    const send = async (method: string, path: string, body?: object) => {
      const headers = { 'x-confirm-delete': 'true' };
      const response = await shop.request(method, path, {
        as: shop.admin,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      assert.ok(response.status < 300, response.text);
      return response.json;
    };
    const isNumbered = () =>
      until(async () => {
        const row = await database.get<{ waiting: number }>(
          sql`select count(*) as waiting from event where sequence is null`,
        );
        return row?.waiting === 0;
      });
    const brie = await send('POST', '/v2/cheeses', { name: 'Brie' });
    const feta = await send('POST', '/v2/cheeses', { name: 'Feta' });
    const order = { items: [{ cheeseId: brie.id, quantity: 1 }], shippingAddress: bern };
    const { id: orderId } = await send('POST', '/v2/store/order', order);
    await isNumbered();
    const [always, away] = [new Mirror(), new Mirror()];
    await always.follow(shop);
    await away.follow(shop);
    // More than two blocks.
    const data = { id: orderId, status: 'placed', total: 1, reason: null } as const;
    await database.transaction(async (tx) => {
      await tx.run(sql`update catalogue set version = version`);
      const events = Array.from({ length: 2500 }, () => orderEvents.placed.of('order:4711', data));
      await recordEvents(tx, contextOf('test').origin, new Date(clock.now()).toISOString(), events);
    });
    await send('DELETE', `/v2/cheeses/${feta.id}`);
    await isNumbered();

    clock.advance(retentionMs - 1000);
    await removeExpiredEvents(database, clock, retentionMs);
    assert.equal(
      (await shop.request('GET', '/v2/events?since=earliest', { as: shop.admin })).json.items[0].sequence,
      1,
    );
    await always.follow(shop);

    clock.advance(2000);
    await send('POST', '/v2/cheeses', { name: 'Gouda' });
    await isNumbered();
    await removeExpiredEvents(database, clock, null);
    assert.equal(
      (await shop.request('GET', `/v2/events?since=${away.position}`, { as: shop.admin })).status,
      200,
    );
    await removeExpiredEvents(database, clock, retentionMs);

    const gone = await shop.request('GET', `/v2/events?since=${away.position}`, { as: shop.admin });
    assertError(gone, 410, 'events_expired');
    assert.equal(gone.headers.link, '</v2/events?since=earliest>; rel="first"');
    assertError(
      await shop.request('GET', `/v2/events/${away.position}`, { as: shop.admin }),
      410,
      'events_expired',
    );
    const { items } = (await shop.request('GET', '/v2/events?since=earliest', { as: shop.admin })).json;
    assert.deepEqual(
      items.map(({ type }: { type: string }) => type),
      ['cheese.created'],
    );
    assert.ok(gone.json.message.includes(items[0].id), gone.json.message);

    await always.follow(shop);
    await away.resynchronize(shop);
    assert.deepEqual([...away.names].sort(), [...always.names].sort());
    assert.deepEqual([...away.names.values()].sort(), ['Brie', 'Gouda']);

    const timeline = await shop.request('GET', `/v2/store/order/${orderId}/timeline`, { as: shop.admin });
    assert.equal(timeline.json.items[0].status, 'placed');
    const left = await database.all<{ type: string }>(
      sql`select distinct type from event where sequence > 0 order by type`,
    );
    assert.deepEqual(
      left.map(({ type }) => type),
      ['cheese.created', 'cheese.deleted', 'order.placed'],
    );
    assert.deepEqual(await checkEventLog(database, clock.now()), []);
  });

  test('The retention of events never removes the newest event, and moves the beginning once for two instances', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database } = shop.app;
    await untilNumbered(shop);
    const { last } = (await database.get<{ last: number }>(sql`select last from event_log`)) ?? { last: 0 };
    assert.ok(last > 2);
    clock.advance(2 * retentionMs);
    await Promise.all([1, 2].map(() => removeExpiredEvents(database, clock, retentionMs)));
    const log = await database.get<{ first: number; last: number }>(sql`select first, last from event_log`);
    assert.deepEqual([log?.first, log?.last], [last, last]);
    const { items } = (await shop.request('GET', '/v2/events', { as: shop.admin })).json;
    assert.equal(items.length, 1);
  });
});

suite('CURD_EVENT_RETENTION', () => {
  test('CURD_EVENT_RETENTION is at least four days, because webhooks are repeated for three, or forever', () => {
    const config = (text: string) => loadConfig({ CURD_EVENT_RETENTION: text }).eventRetentionMs;
    assert.equal(config('4d'), 4 * dayMs);
    assert.equal(config('forever'), null);
    assert.equal(loadConfig({}).eventRetentionMs, retentionMs);
    for (const text of ['95h', '3d', '0s', 'never']) {
      assert.throws(() => config(text), /CURD_EVENT_RETENTION/, text);
    }
  });
});
