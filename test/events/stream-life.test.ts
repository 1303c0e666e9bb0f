/** How streams stay open and end: heartbeats, credentials, clients that do not read, a history that was lost, a stop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { cheeseEvents } from '../../src/cheeses/event-types.ts';
import { Cheese } from '../../src/cheeses/schemas.ts';
import { sql } from '../../src/database/sql.ts';
import type { NewEvent } from '../../src/event-log/define.ts';
import { orderEvents } from '../../src/orders/event-types.ts';
import { cleanUp, onBothEngines, type Scope, shared, until } from '../context.ts';
import { assertError, type ListeningShop, openListeningShop } from '../helper.ts';
import { fillLog, openStream, untilNumbered } from './streams.ts';

const streamTimes = { heartbeatMs: 150, recheckMs: 200, stallMs: 400 };
const mebibyte = 1024 * 1024;

const placed = (count: number): NewEvent[] =>
  Array.from({ length: count }, () =>
    orderEvents.placed.of('order:77', { id: 77, status: 'placed', total: 1, reason: null }),
  );

/** Events of 190 kB. */
const large = (count: number): NewEvent[] => {
  const photoUrls = Array.from({ length: 100 }, (_, n) => `https://photos.example/${n}/${'x'.repeat(1900)}`);
  return Array.from({ length: count }, () =>
    cheeseEvents.created.of('cheese:42', { ...Cheese.examples[0], photoUrls }),
  );
};

/** Sends a request and never reads the response. */
async function openDeaf(
  t: Scope,
  shop: ListeningShop,
  query: string,
): Promise<{ client: Socket; server: Socket }> {
  const accepted = once(shop.app.server.server, 'connection');
  const client = connect(shop.port, '127.0.0.1');
  client.on('error', () => {}).pause();
  cleanUp(t, () => client.destroy());
  const [server] = await accepted;
  client.write(`GET /v2/events/stream${query} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${shop.admin}\r\n\r\n`);
  return { client, server };
}

/** Sends bytes and returns all that comes back. */
async function exchange(shop: ListeningShop, text: string): Promise<string> {
  const client = connect(shop.port, '127.0.0.1');
  client.end(text);
  let received = '';
  for await (const chunk of client) {
    received += chunk;
  }
  return received;
}

onBothEngines('An event stream', (engine) => {
  const opened = shared((t) => openListeningShop(t, { engine, streamTimes }));

  test('An event stream sends its position where no event matches, so that a client resumes near the end', async (t) => {
    const shop = opened();
    const stream = await openStream(t, shop, '?types=customer.deleted');
    await fillLog(shop, placed(1500));
    const { next } = (await shop.request('GET', '/v2/events?since=latest', { as: shop.admin })).json;
    await until(async () => stream.lastId() === next, 'no heartbeat has the position');
    assert.deepEqual(stream.blocks, []);
    assert.ok(stream.text().includes(`: ${next}\nid: ${next}\n\n`), stream.text());
    stream.close();
    const resumed = await openStream(t, shop, '', { 'last-event-id': next });
    await fillLog(shop, placed(1));
    await until(async () => resumed.blocks.length === 1, 'the event does not come');
    resumed.close();
  });

  test('An event stream ends when its key is revoked, also while events flow', async (t) => {
    const shop = opened();
    const [quietKey, busyKey] = [await shop.createKey(), await shop.createKey()];
    const quiet = await openStream(t, shop, '?types=customer.deleted', {}, quietKey);
    const busy = await openStream(t, shop, '', {}, busyKey);
    for (const key of [quietKey, busyKey]) {
      const {
        auth: { keys },
        contextOf,
        database,
      } = shop.app;
      const row = await database.get<{ id: number }>(
        sql`select id from api_key where last4 = ${key.slice(-4)} order by id desc`,
      );
      await keys.revoke(contextOf('test'), row?.id ?? 0);
    }
    await until(async () => {
      await fillLog(shop, placed(1));
      return quiet.isEnded() && busy.isEnded();
    }, 'a stream stays open');
    assert.equal((await openStream(t, shop, '', {}, busyKey)).status, 401);
  });

  test('An event stream ends where the log lost the events that it has sent, and the next attempt is 410', async (t) => {
    const shop = opened();
    const { database } = shop.app;
    const stream = await openStream(t, shop);
    await fillLog(shop, placed(5));
    await until(async () => stream.blocks.length === 5, 'events are missing');
    // As a standby that took over without the newest commits.
    await database.transaction(async (tx) => {
      await tx.run(sql`delete from event where sequence > (select last - 3 from event_log)`);
      await tx.run(sql`update event_log set last = last - 3`);
      await tx.run(sql`
        insert into event_epoch (name, first_sequence, cause, began_at)
        select 'lost', last + 1, 'restored', '' from event_log`);
    });
    await fillLog(shop, placed(4));
    await until(async () => stream.isEnded(), 'the stream stays open');
    assert.equal(stream.blocks.length, 5, 'it sent events of another history');
    const again = await openStream(t, shop, '', { 'last-event-id': stream.blocks[4]?.id ?? '' });
    assert.equal(again.status, 410);
    const before = await openStream(t, shop, '', { 'last-event-id': stream.blocks[1]?.id ?? '' });
    await until(async () => before.blocks.length === 4, 'the events of the new epoch do not come');
    before.close();
  });
});

suite('A waiting request', () => {
  const opened = shared((t) => openListeningShop(t));

  test('A waiting request for events is 401 when its key was revoked meanwhile', async () => {
    const shop = opened();
    const key = await shop.createKey();
    const waiting = shop.request('GET', '/v2/events?since=latest&types=order.*&wait=20', { as: key });
    const {
      auth: { keys },
      contextOf,
      database,
    } = shop.app;
    const row = await database.get<{ id: number }>(sql`select max(id) as id from api_key`);
    await keys.revoke(contextOf('test'), row?.id ?? 0);
    await fillLog(shop, placed(1));
    assertError(await waiting, 401, 'unauthorized');
  });
});

suite('A client that does not read', () => {
  test('A client that does not read its event stream costs at most 2 MiB, is disconnected, and its place is free again', async (t) => {
    const settings = { CURD_STREAMS_PER_ACCOUNT: '1' };
    const shop = await openListeningShop(t, { settings, streamTimes });
    await fillLog(shop, large(100));
    const { client, server } = await openDeaf(t, shop, '?since=earliest');
    let most = 0;
    await until(async () => {
      most = Math.max(most, server.writableLength);
      return server.destroyed;
    }, 'it stays connected');
    assert.ok(most > 0 && most < 2 * mebibyte, `${most} bytes wait in the socket`);
    client.destroy();
    const next = await openStream(t, shop);
    assert.equal(next.status, 200);
    next.close();
  });

  test('A client that does not read its event stream does not keep the server from stopping', async (t) => {
    const shop = await openListeningShop(t, { streamTimes: { ...streamTimes, stallMs: 60_000 } });
    await fillLog(shop, large(100));
    const { server } = await openDeaf(t, shop, '?since=earliest');
    await until(async () => server.writableLength > 0, 'it reads');
    const reading = await openStream(t, shop);
    const startedAt = performance.now();
    await shop.app.close();
    // Connections are closed by force after 10 seconds.
    assert.ok(performance.now() - startedAt < 5000);
    await until(async () => reading.isEnded());
  });
});

suite('GET /v2/events/stream', () => {
  const opened = shared((t) => openListeningShop(t, { settings: { CURD_STREAMS_PER_ACCOUNT: '1' } }));

  test('GET /v2/events/stream returns the headers alone for HEAD, and keeps no place', async () => {
    const shop = opened();
    for (let count = 0; count < 3; count += 1) {
      const response = await fetch(`${shop.url}/v2/events/stream`, {
        method: 'HEAD',
        headers: { 'x-api-key': shop.admin },
      });
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      assert.equal(response.headers.get('x-accel-buffering'), 'no');
    }
  });

  test('GET /v2/events/stream is 400 with HTTP/1.0, which has no end of a response but that of the connection', async () => {
    const shop = opened();
    const request = `GET /v2/events/stream HTTP/1.0\r\nX-API-Key: ${shop.admin}\r\n\r\n`;
    assert.match(await exchange(shop, request), /^HTTP\/1\.1 400 /);
  });

  test('GET /v2/events/stream begins with "retry" and sends events that were read once for all streams', async (t) => {
    const shop = await openListeningShop(t);
    const streams = [await openStream(t, shop), await openStream(t, shop), await openStream(t, shop)];
    await untilNumbered(shop);
    for (let count = 0; count < 3; count += 1) {
      await fillLog(shop, placed(400));
    }
    await until(async () => streams.every(({ blocks }) => blocks.length === 1200), 'events are missing');
    for (const stream of streams) {
      assert.match(stream.text(), /^retry: 2000\n\nid: evt_/);
      const [first = 0] = stream.blocks.map(({ data }) => data.sequence);
      assert.deepEqual(
        stream.blocks.map(({ data }) => data.sequence),
        stream.blocks.map((_, index) => first + index),
      );
      stream.close();
    }
  });
});
