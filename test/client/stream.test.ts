/** The event stream of the client: every event once and in order, over connections that break. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import { Curd, type CurdEvent, isCurdError } from '../../client/src/index.ts';
import { bern, until } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { openProxy } from './proxy.ts';

/** Clients of a stream wait 2 s before they reconnect; here they need not. */
const reconnectSoon = (text: string) => text.replace('retry: 2000', 'retry: 20');

suite('A stream', { concurrency: true }, () => {
  test('An event stream of the client over a connection that is cut every 300 ms yields every event once, in order', async (t) => {
    const shop = await openListeningShop(t);
    const proxy = await openProxy(t, shop.url, (_, { url }) =>
      url?.includes('stream') ? { cutAfterMs: 300, edit: reconnectSoon } : undefined,
    );
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop.admin });
    const cheese = await curd.cheeses.create({ name: 'Brie', pricePerKg: 20 });
    const { signal } = t;
    const seen: CurdEvent[] = [];
    const ended = new AbortController();
    const reading = (async () => {
      const types = ['order.*', 'shop.reset'] as const;
      for await (const event of curd.events.stream({
        types,
        signal: AbortSignal.any([signal, ended.signal]),
      })) {
        seen.push(event);
      }
    })();
    // The stream begins with new events, so its position must be fixed before the first order.
    await until(async () => proxy.requests.some((one) => one.includes('/v2/events/stream')));
    let placed = 0;
    const streams = () => proxy.requests.filter((one) => one.includes('/v2/events/stream')).length;
    while (streams() < 6) {
      placed += 1;
      await curd.orders.place({ items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const isPlaced = ({ type }: CurdEvent) => type === 'order.placed';
    await until(async () => seen.filter(isPlaced).length >= placed);
    const all = await Array.fromAsync(curd.events.list({ types: ['order.*'] }));
    await until(async () => seen.length >= all.length);
    assert.deepEqual(seen.slice(0, all.length), all);
    ended.abort();
    await assert.rejects(reading, { name: 'AbortError' });
  });

  test('An event stream of the client continues after a given event, and narrows the data by its type', async (t) => {
    const shop = await openListeningShop(t);
    const curd = new Curd({ baseUrl: shop.url, apiKey: shop.admin });
    for (const name of ['Brie', 'Feta', 'Gouda']) {
      await curd.cheeses.create({ name });
    }
    const { items } = await curd.events.list({ types: ['cheese.created'] });
    const names: string[] = [];
    for await (const event of curd.events.stream({ types: ['cheese.*'], since: items[0]?.id })) {
      if (event.type === 'cheese.created') {
        names.push(event.data.name);
      }
      if (names.length === 2) {
        break;
      }
    }
    assert.deepEqual(names, ['Feta', 'Gouda']);
    assert.deepEqual(await curd.events.get(items[0]?.id ?? ''), items[0]);
  });

  test('An event stream of the client is read no further while the caller works, so that the server buffers little', async (t) => {
    const shop = await openListeningShop(t);
    const photoUrls = Array.from(
      { length: 100 },
      (_, index) => `https://example.com/${index}/${'x'.repeat(1990)}`,
    );
    const {
      cheeses: { service: cheeses },
      contextOf,
    } = shop.app;
    const inputs = Array.from({ length: 100 }, (_, index) => ({
      name: `Brie ${index}`,
      status: 'available' as const,
      photoUrls,
    }));
    await cheeses.import(contextOf('test'), inputs, new Set());
    const sockets: Socket[] = [];
    shop.app.server.server.on('connection', (socket) => sockets.push(socket));
    const curd = new Curd({ baseUrl: shop.url, apiKey: shop.reader });
    const numbers: number[] = [];
    for await (const { sequence } of curd.events.stream({ types: ['cheese.created'], since: 'earliest' })) {
      numbers.push(sequence);
      if (numbers.length === 1) {
        const written = () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
        let before = -1;
        await until(async () => {
          await new Promise((resolve) => setTimeout(resolve, 100));
          const now = written();
          const isStill = now === before;
          before = now;
          return isStill;
        });
        const waiting = sockets.reduce((sum, { writableLength }) => sum + writableLength, 0);
        assert.ok(waiting < 2 * 1024 * 1024, `${waiting} bytes wait in the server`);
        assert.ok(written() < 15_000_000, 'the rest was not read from the database yet');
      }
      if (numbers.length === 100) {
        break;
      }
    }
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
  });

  test('An event stream of the client resumes after a heartbeat, which moves the position', async (t) => {
    const shop = await openListeningShop(t);
    const body = 'retry: 20\n\n: evt_AAAA_7\nid: evt_AAAA_7\n\n';
    const headers = { 'Content-Type': 'text/event-stream' };
    const proxy = await openProxy(t, shop.url, (number) => ({
      refuse: number === 1 ? { status: 200, headers, body } : { status: 410, body: '{"type":"log_rewound"}' },
    }));
    const curd = new Curd({ baseUrl: proxy.url });
    const stream = curd.events.stream({ since: 'earliest', types: ['order.*', 'cheese.created'] });
    await assert.rejects(
      stream.next(),
      (error) => isCurdError(error, 'log_rewound') && error.name === 'Gone',
    );
    assert.deepEqual(proxy.requests, [
      'GET /v2/events/stream?types=order.*,cheese.created&since=earliest',
      'GET /v2/events/stream?types=order.*,cheese.created&since=evt_AAAA_7',
    ]);
  });

  test('An event stream of the client reconnects after refusals that pass, and not when the first connection fails', async (t) => {
    const shop = await openListeningShop(t);
    const headers = { 'Content-Type': 'text/event-stream' };
    const fates = [
      { status: 200, headers, body: 'retry: 20\n\n' },
      { status: 503, headers: { 'Retry-After': '0' } },
      { status: 429, headers: { 'Retry-After': '0' } },
      { status: 401, headers: {} },
    ];
    const proxy = await openProxy(t, shop.url, (number) => ({
      refuse: fates[number - 1] ?? { status: 500 },
    }));
    const stream = new Curd({ baseUrl: proxy.url, maxRetries: 0 }).events.stream({ since: 'earliest' });
    await assert.rejects(stream.next(), { name: 'Unauthorized' });
    assert.equal(proxy.requests.length, 4);
    const refused = new Curd({ baseUrl: proxy.url, maxRetries: 0 }).events.stream({ since: 'earliest' });
    await assert.rejects(refused.next(), { status: 500 });
  });
});
