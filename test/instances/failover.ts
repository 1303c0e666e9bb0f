/** A primary and a standby, orders that are placed while the primary is killed, and what became of them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bern, type Scope, until } from '../context.ts';
import { freePort } from '../global-setup.ts';
import { type OwnPostgres, ownPostgres } from './own-postgres.ts';
import { standbyName, standbyOf } from './standby-postgres.ts';

export interface Pair {
  readonly primary: OwnPostgres;
  readonly standby: OwnPostgres;
}

/** @returns the URL of a new primary and of the standby that `makeStandby` makes */
export async function openPrimary(
  t: Scope,
): Promise<{ readonly url: string; readonly primary: OwnPostgres; makeStandby(): Promise<OwnPostgres> }> {
  const primary = await ownPostgres(t);
  const port = await freePort();
  const url = primary.url.replace(
    `:${primary.port}/shop`,
    `:${primary.port},127.0.0.1:${port}/shop?target_session_attrs=read-write`,
  );
  return { url, primary, makeStandby: () => standbyOf(t, primary, port) };
}

/** Commits of the primary wait for the standby. */
export async function replicateSynchronously({ primary }: Pair): Promise<void> {
  await primary.ask(
    `alter system set synchronous_standby_names = '${standbyName}'`,
    'select pg_reload_conf()',
  );
  const synchronous = `select 1 from pg_stat_replication where sync_state = 'sync'`;
  await until(async () => (await primary.ask(synchronous)).length === 1, 'the standby is not synchronous');
}

/** Stops sending changes to the standby. @returns the process that sends them, for `kill` */
export async function stopReplication({ primary }: Pair): Promise<number> {
  const caughtUp = 'select pid from pg_stat_replication where replay_lsn >= pg_current_wal_lsn()';
  let pid = 0;
  await until(async () => {
    pid = Number((await primary.ask(caughtUp))[0]?.pid ?? 0);
    return pid > 0;
  }, 'the standby does not catch up');
  process.kill(pid, 'SIGSTOP');
  return pid;
}

/** The primary crashes. @param sender a stopped process, which would send the rest of the changes before it ends */
export async function kill({ primary }: Pair, sender?: number): Promise<void> {
  if (sender !== undefined) {
    process.kill(sender, 'SIGKILL');
  }
  await primary.stop('SIGQUIT');
}

/** Resolves when the standby accepts writes. */
export async function promote({ standby }: Pair): Promise<void> {
  await standby.ask('select pg_promote(true, 30)');
}

export interface OrderResponse {
  readonly status: number;
  readonly retryAfter: number;
  readonly id: number | undefined;
}

/** Sends an order, whose notes are the Idempotency-Key. */
export type SendOrder = (body: object, key: string) => Promise<OrderResponse>;

export interface Confirmation {
  readonly id: number;
  readonly atMs: number;
}

export interface Orders {
  /** By key. */
  readonly confirmed: ReadonlyMap<string, Confirmation>;
  /** How often each status was returned. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Keys that were sent more than once. */
  readonly repeated: ReadonlySet<string>;
  readonly faults: readonly string[];
  /** The longest time that a request took. */
  slowestMs(): number;
  /** Waits until so many more orders are confirmed. */
  more(count: number): Promise<void>;
  /** Waits until all clients have finished their last order. */
  stop(): Promise<void>;
}

const pauseMs = 25;

/** Clients that place one order after the other, and repeat each under its key until it is confirmed. */
export function startOrders(send: SendOrder, cheeseId: number, clients: number): Orders {
  const confirmed = new Map<string, Confirmation>();
  const statuses: Record<number, number> = {};
  const repeated = new Set<string>();
  const faults: string[] = [];
  let slowestMs = 0;
  let isStopping = false;

  async function place(key: string): Promise<void> {
    const body = orderBody(cheeseId, key);
    for (let attempts = 1; faults.length === 0; attempts += 1) {
      const startedAt = performance.now();
      const { status, retryAfter, id } = await send(body, key);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (attempts > 1) {
        repeated.add(key);
      }
      if (status === 201 && id !== undefined) {
        confirmed.set(key, { id, atMs: performance.now() });
        return;
      }
      if (![409, 503].includes(status) || !(retryAfter > 0)) {
        faults.push(`${status}, Retry-After ${retryAfter}`);
      }
      await sleep(pauseMs);
    }
  }

  async function client(): Promise<void> {
    while (!isStopping && faults.length === 0) {
      await place(randomUUID());
    }
  }
  const working = Promise.all(Array.from({ length: clients }, client));
  return {
    confirmed,
    statuses,
    repeated,
    faults,
    slowestMs: () => slowestMs,
    async more(count) {
      const enough = confirmed.size + count;
      await until(async () => confirmed.size >= enough || faults.length > 0, 'too few orders', 60_000);
    },
    async stop() {
      isStopping = true;
      await working;
    },
  };
}

export function orderBody(cheeseId: number, key: string): object {
  return { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern, notes: key };
}

/** The ids of the orders in a database by the keys of their requests. */
export async function ordersIn({ ask }: Pick<OwnPostgres, 'ask'>): Promise<Map<string, number[]>> {
  const rows = await ask('select id, notes from orders where id > 10');
  const byKey = Map.groupBy(rows, ({ notes }) => String(notes));
  return new Map([...byKey].map(([key, found]) => [key, found.map(({ id }) => Number(id))]));
}

/** Confirmed orders that a database does not have. */
export function lostOf(orders: Pick<Orders, 'confirmed'>, stored: ReadonlyMap<string, readonly number[]>) {
  return [...orders.confirmed].flatMap(([key, { id, atMs }]) =>
    stored.get(key)?.includes(id) ? [] : [{ key, id, atMs }],
  );
}
