/** Webhooks: deliveries a second to a receiver that responds at once, and the time from a response to its webhook. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { composeShop } from '../src/app/compose.ts';
import type { Engine } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { startCurd } from './process.ts';
import type { Tools } from './store.ts';

const events = 2000;
const samples = 100;
const senders = 16;
/** Between two samples, so that each finds an idle server. */
const pauseMs = 50;
const targets = {
  sqlite: { perSecond: 300, medianMs: 15, p99Ms: 100 },
  postgres: { perSecond: 200, medianMs: 60, p99Ms: 300 },
};

interface Received {
  readonly subject: string;
  readonly at: number;
}

/** Answers every request with 204. */
async function openReceiver() {
  const received: Received[] = [];
  let notify = () => {};
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const body = Buffer.concat(await Array.fromAsync(request)).toString('utf8');
    response.writeHead(204).end();
    received.push({ subject: JSON.parse(body).subject, at });
    notify();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    async waitFor(count: number): Promise<void> {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export async function benchWebhooks(
  engine: Engine,
  shop: { readonly environment: Readonly<Record<string, string>> },
  { record }: Tools,
): Promise<void> {
  const services = await composeShop(loadConfig(shop.environment));
  const account = await services.auth.keys.createAccount(services.contextOf('bench'), 'bench webhooks');
  const { key } = await services.auth.keys.create(services.contextOf('bench'), account.id, {
    scopes: ['admin'],
  });
  await services.close();
  const server = await startCurd(shop.environment);
  const receiver = await openReceiver();
  const target = targets[engine];

  async function send(method: string, path: string, body?: unknown): Promise<{ id: number; next: string }> {
    const response = await fetch(`http://127.0.0.1:${server.port}/v2${path}`, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = (await response.json()) as { id: number; next: string };
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${JSON.stringify(json)}`);
    }
    return json;
  }

  const { next: since } = await send('GET', '/events?since=latest');
  const ids: number[] = [];
  let created = 0;
  await Promise.all(
    Array.from({ length: senders }, async () => {
      while (created < events) {
        created += 1;
        ids.push((await send('POST', '/cheeses', { name: `Cheese of a webhook ${created}` })).id);
      }
    }),
  );
  // The events wait in the log, so the rate is that of the deliveries alone.
  const types = ['cheese.created', 'cheese.updated'];
  const endpoint = await send('POST', '/webhook-endpoints', { url: receiver.url, types, since });
  const before = server.cpuSeconds();
  await receiver.waitFor(events);
  const cpuMicroseconds = ((server.cpuSeconds() - before) * 1e6) / events;
  const [first, last] = [receiver.received[0]?.at ?? 0, receiver.received.at(-1)?.at ?? 0];
  const perSecond = ((events - 1) * 1000) / (last - first);
  record({
    engine,
    work: 'webhook deliveries to a receiver that responds at once',
    measured: `${Math.round(perSecond)}/s, ${Math.round(cpuMicroseconds)} us CPU`,
    limit: 'none',
    ratio: null,
    target: `>= ${target.perSecond}/s`,
    isMet: perSecond >= target.perSecond,
  });

  const delays: number[] = [];
  for (const id of ids.slice(0, samples)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await send('POST', `/cheeses/${id}?status=pending`);
    const respondedAt = performance.now();
    await receiver.waitFor(events + delays.length + 1);
    delays.push((receiver.received.at(-1)?.at ?? Number.NaN) - respondedAt);
  }
  const sorted = delays.toSorted((a, b) => a - b);
  const [median = Number.NaN, p99 = Number.NaN] = [sorted[samples / 2], sorted[samples - 2]];
  record({
    engine,
    work: 'response of a change to webhook received, p50 and p99, idle',
    measured: `${median.toFixed(1)} ms, ${p99.toFixed(1)} ms`,
    limit: 'none',
    ratio: null,
    target: `<= ${target.medianMs} ms, ${target.p99Ms} ms`,
    isMet: median <= target.medianMs && p99 <= target.p99Ms,
  });
  // Other benches fill the event log, which an endpoint would follow beside what they measure.
  await fetch(`http://127.0.0.1:${server.port}/v2/webhook-endpoints/${endpoint.id}`, {
    method: 'DELETE',
    headers: { 'X-API-Key': key },
  });
  receiver.close();
  await server.stop();
}
