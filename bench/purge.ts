/** The latency of reads and of orders while the maintenance deletes expired rows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../src/database/sql.ts';
import { httpRequest, runLoad } from './load.ts';
import { type Running, startCurd } from './process.ts';
import { addStoredResponses, prepareOrders, type Shop, type Tools } from './store.ts';

const expiredResponses = 300_000;
/** The maintenance runs for the first time a minute after the start. */
const firstMaintenanceMs = 62_000;
const secondsOfQuiet = 25;
const ratioMax = 1.5;
const msMax = 50;

/** p99 in milliseconds of 100 reads and 40 orders with an idempotency key a second. */
export async function benchPurge(engine: Engine, shop: Shop, { record }: Tools): Promise<void> {
  const { key, bodies } = await prepareOrders(shop);
  await addStoredResponses(shop, expiredResponses, '2026-06-02T12:00:00.000Z');
  const startedAt = performance.now();
  const server = await startCurd({ ...shop.environment, CURD_APPROVAL_DELAY: '1h' });
  await measure(server, key, bodies, 5);
  const quiet = await measure(server, key, bodies, secondsOfQuiet);
  await sleep(Math.max(0, startedAt + firstMaintenanceMs - performance.now()));
  const busy = await measure(server, key, bodies, secondsOfQuiet);
  for (const what of ['reads', 'orders'] as const) {
    const ratio = busy[what] / quiet[what];
    record({
      engine,
      work: `p99 of ${what} beside a purge of ${expiredResponses} stored responses compared with their quiet p99`,
      measured: `${busy[what].toFixed(1)} ms`,
      limit: `${quiet[what].toFixed(1)} ms`,
      ratio,
      target: `<= ${ratioMax} and ${msMax} ms`,
      isMet: ratio <= ratioMax && busy[what] <= msMax,
    });
  }
  await server.stop();
}

async function measure({ port }: Running, key: string, bodies: readonly string[], seconds: number) {
  let sent = 0;
  const nextOrder = () => {
    sent += 1;
    const headers = { 'X-API-Key': key, 'Idempotency-Key': `purge-${performance.now()}-${sent}` };
    return httpRequest('POST', '/v2/store/order', headers, bodies[sent % bodies.length]);
  };
  const read = httpRequest('GET', '/v2/cheeses/1', { 'X-API-Key': key });
  const [reads, orders] = await Promise.all([
    runLoad({ port, requests: [read], connections: 1, seconds, pauseMs: 9 }),
    runLoad({ port, requests: { next: nextOrder }, connections: 1, seconds, pauseMs: 22 }),
  ]);
  return { reads: reads.p99, orders: orders.p99 };
}
