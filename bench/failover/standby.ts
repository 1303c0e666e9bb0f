/**
 * Kills a primary while two instances place orders, promotes its standby, and prints what was lost: with asynchronous
 * and with synchronous replication. `node bench/failover.ts 2000` sets how many orders are confirmed before the kill.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { accountWithKey, createStock, freshShop, serve } from '../test/cli/run.ts';
import { secret } from '../test/context.ts';
import {
  kill,
  lostOf,
  openPrimary,
  ordersIn,
  type Pair,
  promote,
  replicateSynchronously,
  type SendOrder,
  startOrders,
} from '../test/instances/failover.ts';

const confirmedMin = Number(process.argv[2] ?? 2000);
const clients = 8;
/** How long a failover tool would need to notice. */
const noticedAfterMs = 2000;

async function measure(replication: 'asynchronous' | 'synchronous'): Promise<Record<string, unknown>> {
  const steps: (() => unknown)[] = [];
  // The helpers of the tests need only a place for their cleanup.
  const t = { after: (step: () => unknown) => steps.push(step) } as never;
  try {
    const { url, primary, makeStandby } = await openPrimary(t);
    const environment = await freshShop(t, {
      CURD_DATABASE: url,
      CURD_SECRET: secret,
      CURD_PLANS: '{"free":{"perHour":null,"burst":60000}}',
      CURD_LOG_LEVEL: 'silent',
    });
    const { cheeses } = await createStock(environment, { prices: [41.5], scopes: [] });
    const { key } = await accountWithKey(environment, ['write:orders']);
    const pair: Pair = { primary, standby: await makeStandby() };
    if (replication === 'synchronous') {
      await replicateSynchronously(pair);
    }
    const servers = [await serve(t, environment), await serve(t, environment)];
    const orders = startOrders(
      sendTo(
        servers.map(({ url: server }) => server),
        key,
      ),
      cheeses[0] ?? 0,
      clients,
    );
    await orders.more(confirmedMin);
    const killedAt = performance.now();
    await kill(pair);
    await sleep(noticedAfterMs);
    await promote(pair);
    const promotedAt = performance.now();
    await orders.more(200);
    await orders.stop();
    if (orders.faults.length > 0) {
      throw new Error(orders.faults.join('\n'));
    }
    const stored = await ordersIn(pair.standby);
    const times = [...orders.confirmed.values()].map(({ atMs }) => atMs).sort((a, b) => a - b);
    const firstAfter = times.find((at) => at > promotedAt) ?? Number.POSITIVE_INFINITY;
    const lastBefore = times.findLast((at) => at <= promotedAt) ?? killedAt;
    const lost = lostOf(orders, stored);
    const seconds = (milliseconds: number) => Number((milliseconds / 1000).toFixed(2));
    return {
      replication,
      confirmed: orders.confirmed.size,
      'lost orders': lost.length,
      'oldest lost, seconds before the kill': seconds(
        Math.max(0, ...lost.map(({ atMs }) => killedAt - atMs)),
      ),
      'seconds without writes': seconds(firstAfter - lastBefore),
      'of them after the promotion': seconds(firstAfter - promotedAt),
      'repeated keys': orders.repeated.size,
      'keys with two orders': [...stored.values()].filter((ids) => ids.length > 1).length,
      responses: JSON.stringify(orders.statuses),
    };
  } finally {
    for (const step of steps) {
      await step();
    }
  }
}

/** Sends orders to the servers in turns. */
function sendTo(servers: readonly string[], apiKey: string): SendOrder {
  let turn = 0;
  return async (body, key) => {
    turn += 1;
    const response = await fetch(`${servers[turn % servers.length]}/v2/store/order`, {
      method: 'POST',
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body),
    });
    const { id } = (await response.json()) as { id?: number };
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after') ?? 0), id };
  };
}

const rows: Record<string, unknown>[] = [];
for (const replication of ['asynchronous', 'synchronous'] as const) {
  rows.push(await measure(replication));
}
const [first = {}] = rows;
const lines = [Object.keys(first), Object.keys(first).map(() => '---'), ...rows.map(Object.values)];
process.stdout.write(`${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`);
