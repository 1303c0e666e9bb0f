/** What an idempotency key adds to the CPU time of an order, and the latency of orders of one client. */
import type { Engine } from '../src/database/sql.ts';
import { httpRequest, runLoad } from './load.ts';
import { type Running, startCurd, startLimits } from './process.ts';
import { addStoredResponses, prepareOrders, type Shop, type Tools } from './store.ts';

const ratioMax = 1.25;
const latencyRatioMax = 1.5;
/** Of each side, in short turns: longer than CURD_APPROVAL_DELAY, so that approvals are part of both figures. */
const secondsMin = 20;
const turns = 10;
const storedResponses = 1_000_000;

/** Orders with and without a key in turns, with an empty table of stored responses and a million. */
export async function benchKeys(engine: Engine, shop: Shop, tools: Tools): Promise<void> {
  const { rounds, median, record } = tools;
  const seconds = Math.max(secondsMin, tools.seconds) / turns;
  const { key, ids, bodies } = await prepareOrders(shop);
  const server = await startCurd(shop.environment);
  let sent = 0;
  const nextOrder = (isKeyed: boolean) => () => {
    sent += 1;
    const headers = {
      'X-API-Key': key,
      ...(isKeyed ? { 'Idempotency-Key': `bench-${process.pid}-${sent}` } : {}),
    };
    return httpRequest('POST', '/v2/store/order', headers, bodies[sent % bodies.length]);
  };

  async function measure(connections: number, isKeyed: boolean) {
    const before = server.cpuSeconds();
    const requests = { next: nextOrder(isKeyed) };
    const load = await runLoad({ port: server.port, requests, connections, seconds, pauseMs: 0 });
    return { ...load, cpuMicroseconds: ((server.cpuSeconds() - before) * 1e6) / load.requests };
  }

  /** Returns the median latencies without and with a key. */
  async function compareAt(connections: number, table: string): Promise<number[]> {
    const ratios: number[] = [];
    const rows: Awaited<ReturnType<typeof measure>>[][] = [];
    for (let round = 0; round < rounds * turns; round += 1) {
      const plain = await measure(connections, false);
      const keyed = await measure(connections, true);
      ratios.push(keyed.cpuMicroseconds / plain.cpuMicroseconds);
      rows.push([plain, keyed]);
    }
    const ratio = median(ratios);
    const show = (side: number) => {
      const of = (value: 'cpuMicroseconds' | 'requestsPerSecond' | 'p50') =>
        median(rows.map((row) => row[side]?.[value] ?? Number.NaN));
      return `${of('cpuMicroseconds').toFixed(0)} us CPU, ${of('requestsPerSecond').toFixed(0)}/s, p50 ${of('p50').toFixed(1)} ms`;
    };
    record({
      engine,
      work: `CPU of an order with a key compared with one without, ${connections} connections, ${table}`,
      measured: show(1),
      limit: show(0),
      ratio,
      target: `<= ${ratioMax}`,
      isMet: ratio <= ratioMax,
    });
    return [0, 1].map((side) => median(rows.map((row) => row[side]?.p50 ?? Number.NaN)));
  }

  for (const connections of [8, 64]) {
    await compareAt(connections, 'empty table');
  }
  const [plain = Number.NaN, keyed = Number.NaN] = await compareAt(1, 'empty table');
  await recordLatency(engine, shop, tools, ids, plain, false);
  if (engine === 'postgres') {
    await recordLatency(engine, shop, tools, ids, keyed, true);
  }
  await addStoredResponses(shop, storedResponses, '2099-01-01T00:00:00.000Z');
  await compareAt(8, `${storedResponses} stored responses`);
  await server.stop();
}

async function recordLatency(
  engine: Engine,
  shop: Shop,
  tools: Tools,
  ids: number[],
  ours: number,
  isKeyed: boolean,
): Promise<void> {
  const limits = await startLimits({ databaseUrl: shop.databaseUrl, cheeseIds: ids });
  const perSecond = await ordersOfOneClient(limits, tools.seconds, isKeyed);
  const bare = 1000 / perSecond;
  tools.record({
    engine,
    work: `latency of an order${isKeyed ? ' with a key' : ''}, one client, compared with the same statements in as few round trips`,
    measured: `${ours.toFixed(2)} ms`,
    limit: `${bare.toFixed(2)} ms`,
    ratio: ours / bare,
    target: `<= ${latencyRatioMax}`,
    isMet: ours / bare <= latencyRatioMax,
  });
  await limits.stop();
}

async function ordersOfOneClient({ port }: Running, seconds: number, isKeyed: boolean): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/one-client?seconds=${seconds}&key=${isKeyed}`);
  return Number(await response.text());
}
