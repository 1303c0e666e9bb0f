/**
 * How often a request waits for PostgreSQL: a proxy counts how often the server sends something after a response. The
 * table in docs/architecture.md has these figures.
 */
import assert from 'node:assert/strict';
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkEvents } from '../../src/event-log/record.ts';
import {
  bern,
  cleanUp,
  createDatabase,
  type ListeningShop,
  openListeningShop,
  type Scope,
} from '../helper.ts';

// The check of events in all tests is another statement before each event.
checkEvents(async () => {});

/** Requests of each kind. Each connection prepares its statements first, and events are numbered: the fewest count. */
const repetitions = 8;
/** On a busy machine, the event of the request can get its number before the response arrives, which is one more. */
const repetitionsMax = 40;
/** Of a statement to the database. The driver writes long statements in several pieces, which are one round trip. */
const networkMs = 3;
/** Until the event of the request before has its number. */
const pauseMs = 50;

const most: Readonly<Record<string, number>> = {
  // The credential, the rate limit, begin, two locks, all rows, commit.
  'statements of an order': 7,
  'place an order': 4,
  'place an order with a key': 4,
  'cancel an order': 7,
  'create a cheese': 8,
  'create a cheese with a key': 4,
  'change a price': 10,
  'read a cheese': 3,
};

interface Proxy {
  readonly url: string;
  roundTrips: number;
  statements: number;
}

/** Counts messages of some types in a stream of the protocol. @param hasStart whether the first message has no type */
function messageCounter(types: string, hasStart: boolean): (bytes: Buffer) => number {
  let rest = Buffer.alloc(0);
  let isStart = hasStart;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let count = 0;
    for (;;) {
      const head = isStart ? 0 : 1;
      const size = rest.length < head + 4 ? Infinity : head + rest.readUInt32BE(head);
      if (rest.length < size) {
        return count;
      }
      count += !isStart && types.includes(String.fromCharCode(rest[0] as number)) ? 1 : 0;
      isStart = false;
      rest = rest.subarray(size);
    }
  };
}

async function startProxy(t: Scope, url: string): Promise<Proxy> {
  const { hostname, port } = new URL(url);
  const proxy = { url: '', roundTrips: 0, statements: 0 };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const sent = messageCounter('QS', true);
    const ready = messageCounter('Z', false);
    // The start counts as one.
    let waiting = 1;
    client.on('data', (bytes: Buffer) => {
      proxy.roundTrips += waiting === 0 ? 1 : 0;
      const statements = sent(bytes);
      proxy.statements += statements;
      waiting += statements;
      setTimeout(() => upstream.write(bytes), networkMs);
    });
    upstream.on('data', (bytes: Buffer) => {
      waiting -= ready(bytes);
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => server.close());
  const { port: own } = server.address() as { port: number };
  proxy.url = url.replace(`:${port}/`, `:${own}/`);
  return proxy;
}

/** Sends the headers and the body in one write, as most clients do: then the credential is checked once. */
function sender(port: number) {
  const agent = new Agent({ keepAlive: true });
  return (method: string, path: string, key: string, body: unknown, headers: OutgoingHttpHeaders = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const all = { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers };
      const sending = request({ port, method, path: `/v2${path}`, agent, headers: all }, async (response) => {
        const chunks = await response.toArray();
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
      sending.on('error', reject);
      sending.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

for (const parameters of ['', '&prepare=false']) {
  test(`Each write waits for PostgreSQL as often as documented${parameters}`, async (t) => {
    const proxy = await startProxy(t, await createDatabase(t, 'template_curd'));
    // Few connections: each prepares its statements once.
    const settings = { CURD_DATABASE: `${proxy.url}?max=2${parameters}`, CURD_APPROVAL_DELAY: '1h' };
    const shop = await openListeningShop(t, { engine: 'postgres', settings });
    const counts = await countAll(shop, proxy);
    t.diagnostic(JSON.stringify(counts));
    for (const [name, limit] of Object.entries(most)) {
      assert.ok((counts[name] ?? Infinity) <= limit, `${name}: ${counts[name]}, not ${limit}`);
    }
  });
}

async function countAll(shop: ListeningShop, proxy: Proxy): Promise<Record<string, number>> {
  const send = sender(shop.port);
  const orderKey = await shop.createKey({ scopes: ['write:orders'] });
  const writer = shop.writer;
  const cheese = { name: 'Counted', pricePerKg: 20 };
  const { id } = JSON.parse((await send('POST', '/cheeses', writer, cheese)).text);
  const order = { items: [{ cheeseId: id, quantity: 1 }], shippingAddress: bern };
  const orders: number[] = [];
  const keyed = (index: number) => ({ 'Idempotency-Key': `key-${index}` });
  const requests: Record<string, (index: number) => Promise<{ status: number; text: string }>> = {
    'place an order': async () => {
      const placed = await send('POST', '/store/order', orderKey, order);
      orders.push(JSON.parse(placed.text).id);
      return placed;
    },
    'place an order with a key': (index) => send('POST', '/store/order', orderKey, order, keyed(index)),
    'cancel an order': () => send('DELETE', `/store/order/${orders.pop()}`, orderKey, undefined),
    'create a cheese': (index) => send('POST', '/cheeses', writer, { name: `Plain ${index}` }),
    'create a cheese with a key': (index) =>
      send('POST', '/cheeses', writer, { name: `Keyed ${index}` }, keyed(index)),
    'change a price': (index) =>
      send('PUT', '/cheeses', writer, {
        id,
        ...cheese,
        status: 'available',
        photoUrls: [],
        pricePerKg: index + 1,
      }),
    'read a cheese': () => send('GET', `/cheeses/${id}`, writer, undefined),
  };
  const counts: Record<string, number> = {};
  for (const [name, sendOne] of Object.entries(requests)) {
    const each: number[] = [];
    const statements: number[] = [];
    const isMore = () => Math.min(...each) > (most[name] ?? 0);
    for (let index = 0; index < repetitions || (index < repetitionsMax && isMore()); index += 1) {
      await sleep(pauseMs);
      const before = { ...proxy };
      const { status, text } = await sendOne(index);
      each.push(proxy.roundTrips - before.roundTrips);
      statements.push(proxy.statements - before.statements);
      assert.ok(status < 300, `${name}: ${status} ${text}`);
    }
    counts[name] = Math.min(...each);
    if (name === 'place an order') {
      counts['statements of an order'] = Math.min(...statements);
    }
  }
  return counts;
}
