/**
 * Kills a primary while two instances place orders and send webhooks, promotes its standby, and prints what was lost: with
 * asynchronous and with synchronous replication. `node bench/failover.ts 2000` sets how many orders each instance confirms
 * before the kill.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  accountWithKey,
  createStock,
  curdJson,
  type Environment,
  freshShop,
  serve,
} from '../test/cli/run.ts';
import { cleanUp, type Scope, secret, until } from '../test/context.ts';
import {
  kill,
  lostOf,
  type Orders,
  openPrimary,
  ordersIn,
  type Pair,
  promote,
  replicateSynchronously,
  type SendOrder,
  startOrders,
} from '../test/instances/failover.ts';
import type { OwnPostgres } from '../test/instances/own-postgres.ts';
import { openReceiver, type Receiver } from '../test/webhooks/receiver.ts';

const confirmedMin = Number(process.argv[2] ?? 1000);
/** How long a failover tool would need to notice. */
const noticedAfterMs = 2000;

/** Of each instance. */
const clients = 4;
const clientsWithoutKey = 2;
const backgroundMs = 120_000;

/** A database server that is asked at the end. */
type Asked = Pick<OwnPostgres, 'ask'>;

interface Load {
  /** Waits until so many more orders are confirmed by each instance. */
  more(count: number): Promise<void>;
  /** Waits until all clients have finished their last order. */
  stop(): Promise<void>;
  /** @param faultAt when the primary failed @param promotedAt when a server accepted writes again */
  resultIn(server: Asked, faultAt: number, promotedAt: number): Promise<Record<string, unknown>>;
  /** Responses that no client should get. */
  faults(): readonly string[];
}

/** @param url of the database servers */
async function openLoad(t: Scope, url: string): Promise<Load> {
  const environment = await freshShop(t as never, {
    CURD_DATABASE: url,
    CURD_SECRET: secret,
    CURD_PLANS: '{"free":{"perHour":null,"burst":60000}}',
    CURD_APPROVAL_DELAY: '1s',
    CURD_LOG_LEVEL: 'silent',
  });
  const { cheeses } = await createStock(environment, { prices: [41.5], scopes: [] });
  const { key } = await accountWithKey(environment, ['write:orders', 'admin']);
  const all: Orders[] = [];
  // Their servers have been stopped by then, so the clients end.
  cleanUp(t, () => Promise.all(all.map((orders) => orders.stop())));
  const servers = [await serve(t as never, environment), await serve(t as never, environment)].map(
    (server) => server.url,
  );
  const receiver = await openReceiver(t);
  const registered = await post(`${servers[0]}/v2/webhook-endpoints`, key, {
    url: receiver.url,
    types: ['order.placed'],
  });
  if (registered.status !== 201) {
    throw new Error(`The webhook endpoint was not registered: ${await registered.text()}`);
  }
  const cheese = cheeses[0] ?? 0;
  const keyed = servers.map((server) => startOrders(sendTo([server], key, true), cheese, clients));
  const unkeyed = startOrders(sendTo(servers, key, false), cheese, clientsWithoutKey);
  all.push(...keyed, unkeyed);
  return {
    async more(count) {
      await Promise.all(keyed.map((orders) => orders.more(count)));
    },
    async stop() {
      await Promise.all(all.map((orders) => orders.stop()));
    },
    resultIn: async (server, faultAt, promotedAt) => ({
      ...(await judge({ keyed, unkeyed }, server, faultAt, promotedAt)),
      ...(await finishBackground(environment, server, receiver)),
    }),
    faults: () => all.flatMap(({ faults }) => faults),
  };
}

async function judge(
  { keyed, unkeyed }: { readonly keyed: readonly Orders[]; readonly unkeyed: Orders },
  server: Asked,
  faultAt: number,
  promotedAt: number,
): Promise<Record<string, unknown>> {
  const stored = await ordersIn(server);
  const all = [...keyed, unkeyed];
  const lost = all.flatMap((orders) => lostOf(orders, stored));
  const gaps = keyed.map((orders) => longestGap(orders, faultAt));
  const gap = gaps.reduce((one, other) => (one.ms > other.ms ? one : other));
  const twice = (orders: Orders) =>
    [...orders.confirmed.keys()].filter((key) => (stored.get(key)?.length ?? 0) > 1).length;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const statuses = new Map<string, number>();
  for (const [status, count] of all.flatMap((orders) => Object.entries(orders.statuses))) {
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  return {
    'confirmed orders': sum(all.map(({ confirmed }) => confirmed.size)),
    'lost orders': lost.length,
    'oldest lost, seconds before the fault': seconds(Math.max(0, ...lost.map(({ atMs }) => faultAt - atMs))),
    'seconds without writes': seconds(gap.ms),
    'of them after a server accepts them': seconds(Math.max(0, gap.endMs - promotedAt)),
    'slowest response, seconds': seconds(Math.max(...all.map((orders) => orders.slowestMs()))),
    'repeated keys': sum(keyed.map(({ repeated }) => repeated.size)),
    'keys with two orders': sum(keyed.map(twice)),
    'repeated without a key': unkeyed.repeated.size,
    'of them placed twice': twice(unkeyed),
    responses: [...statuses].map(([status, count]) => `${count} x ${status}`).join(', '),
  };
}

/** The longest time without a confirmation, after the fault, by an instance. */
function longestGap({ confirmed }: Orders, faultAt: number): { readonly ms: number; readonly endMs: number } {
  const times = [...confirmed.values()].map(({ atMs }) => atMs).sort((one, other) => one - other);
  let longest = { ms: 0, endMs: faultAt };
  for (const [index, endMs] of times.entries()) {
    const ms = endMs - (times[index - 1] ?? endMs);
    if (endMs > faultAt && ms > longest.ms) {
      longest = { ms, endMs };
    }
  }
  return longest;
}

/** Waits until each order is approved and its webhook was received, and asks `curd doctor`. */
async function finishBackground(
  environment: Environment,
  server: Asked,
  receiver: Receiver,
): Promise<Record<string, unknown>> {
  const startedAt = performance.now();
  const isApproved = async () =>
    (await server.ask(`select id from orders where id > 10 and status = 'placed' limit 1`)).length === 0;
  await until(isApproved, 'orders are not approved', backgroundMs);
  const approvedAt = performance.now();
  const stored = [...(await ordersIn(server)).values()].flat().map((id) => `order:${id}`);
  const isReceived = async () => {
    const received = new Set(receiver.received.map(({ body }) => String(body.subject)));
    return stored.every((subject) => received.has(subject));
  };
  await until(isReceived, 'webhooks are missing', backgroundMs);
  const receivedAt = performance.now();
  await curdJson(environment, 'doctor', '--no-record');
  return {
    'all approved, seconds after the load': seconds(approvedAt - startedAt),
    'all webhooks received, seconds after the load': seconds(receivedAt - startedAt),
  };
}

/** Sends orders to the servers in turns. */
function sendTo(servers: readonly string[], apiKey: string, hasKey: boolean): SendOrder {
  let turn = 0;
  return async (body, key) => {
    turn += 1;
    const url = `${servers[turn % servers.length]}/v2/store/order`;
    const response = await post(url, apiKey, body, hasKey ? { 'Idempotency-Key': key } : {}).catch(
      () => null,
    );
    if (response === null) {
      return { status: 0, retryAfter: 0, id: undefined };
    }
    const { id } = (await response.json()) as { id?: number };
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after') ?? 0), id };
  };
}

function post(
  url: string,
  apiKey: string,
  body: object,
  more: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
}

function seconds(milliseconds: number): number {
  return Number((milliseconds / 1000).toFixed(2));
}

/** A table in Markdown, with a line for each run. */
function tableOf(rows: readonly Record<string, unknown>[]): string {
  const [first = {}] = rows;
  const lines = [Object.keys(first), Object.keys(first).map(() => '---'), ...rows.map(Object.values)];
  return `${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
}

/** Runs `work` with a place for its cleanup, which follows in any case, also after Ctrl+C. */
async function withCleanUp<T>(work: (t: Scope) => Promise<T>): Promise<T> {
  const steps: (() => unknown)[] = [];
  const cleanUpNow = async () => {
    for (const step of steps.splice(0).reverse()) {
      await step();
    }
  };
  const interrupt = async () => {
    await cleanUpNow();
    process.exit(130);
  };
  process.once('SIGINT', interrupt);
  try {
    return await work({ after: (step) => steps.push(step) });
  } finally {
    await cleanUpNow();
    process.off('SIGINT', interrupt);
  }
}

function measure(replication: 'asynchronous' | 'synchronous'): Promise<Record<string, unknown>> {
  return withCleanUp(async (t) => {
    const { url, primary, makeStandby } = await openPrimary(t);
    const pair: Pair = { primary, standby: await makeStandby() };
    if (replication === 'synchronous') {
      await replicateSynchronously(pair);
    }
    const load = await openLoad(t, url);
    await load.more(confirmedMin);
    const killedAt = performance.now();
    await kill(pair);
    await sleep(noticedAfterMs);
    await promote(pair);
    const promotedAt = performance.now();
    await load.more(100);
    await load.stop();
    if (load.faults().length > 0) {
      throw new Error(load.faults().join('\n'));
    }
    return { replication, ...(await load.resultIn(pair.standby, killedAt, promotedAt)) };
  });
}

const rows: Record<string, unknown>[] = [];
for (const replication of ['asynchronous', 'synchronous'] as const) {
  rows.push(await measure(replication));
}
process.stdout.write(tableOf(rows));
