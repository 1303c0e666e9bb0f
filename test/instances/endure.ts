/**
 * Three servers on one PostgreSQL under load while a fault is injected. No confirmed change is lost, none is made twice,
 * and the servers recover soon afterwards. Each fault occurs once in a run of the tests; CURD_TEST_FAULTS=20 sets how
 * often, and CURD_TEST_WORKERS=3 how many processes the first server has.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeShop } from '../../src/app/compose.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { type Environment, freshShop, type RunningServer, serve } from '../cli/run.ts';
import { secret, temporaryFolder, until } from '../context.ts';
import { type OwnPostgres, ownPostgres } from './own-postgres.ts';
import { type SteadyLoad, startLoad } from './steady-load.ts';

export const times = Number(process.env.CURD_TEST_FAULTS ?? 1);
const quietMs = 400;
/** Few shoppers in an ordinary run; more where many faults are requested. */
const crowd = times === 1 ? { shoppers: 4, restMs: 20 } : { shoppers: 12, restMs: 0 };
/** Counted from the time when the database accepts connections again. */
const recoveryMs = 3000;

export interface Fleet {
  readonly t: TestContext;
  readonly database: OwnPostgres;
  readonly environments: readonly Environment[];
  readonly servers: RunningServer[];
  readonly key: string;
  readonly cheeseIds: readonly number[];
  /** Instances that the load balancer has taken out. */
  readonly gone: Set<number>;
}

export async function openFleet(t: TestContext): Promise<Fleet> {
  const database = await ownPostgres(t);
  const shared = {
    CURD_DATABASE: database.url,
    CURD_SECRET: secret,
    CURD_ENVIRONMENT: 'sandbox',
    CURD_PLANS: '{"free":{"perHour":null,"burst":60000}}',
    CURD_APPROVAL_DELAY: '100ms',
    CURD_LOG_LEVEL: 'silent',
    CURD_IMAGES: `file:${await temporaryFolder(t)}`,
  };
  const environments = await Promise.all(
    [process.env.CURD_TEST_WORKERS ?? '1', '1', '1'].map((workers) =>
      freshShop(t, { ...shared, CURD_PROCESSES: workers }),
    ),
  );
  const {
    auth: { keys },
    cheeses: { service: cheeses },
    contextOf,
    close,
  } = await composeShop(loadConfig(environments[0] ?? {}));
  const context = contextOf('test');
  const cheeseIds: number[] = [];
  for (const pricePerKg of [41.5, 0.01, 19.999, 100]) {
    cheeseIds.push((await cheeses.create(context, { name: `Cheese ${pricePerKg}`, pricePerKg })).id);
  }
  const account = await keys.createAccount(context, 'load');
  const { key } = await keys.create(context, account.id, { scopes: ['write:orders'] });
  await close();
  const servers = await Promise.all(environments.map((environment) => serve(t, environment)));
  return { t, database, environments, servers, key, cheeseIds, gone: new Set() };
}

/** Round robin over the instances that are not taken out. */
function balancer({ servers, gone }: Fleet): () => string {
  let turn = 0;
  return () => {
    do {
      turn += 1;
    } while (gone.has(turn % servers.length));
    return servers[turn % servers.length]?.url ?? '';
  };
}

/** Load before, during and after a fault. @param strike resolves when the servers could work again */
export async function endure(fleet: Fleet, strike: () => Promise<void>, mayBreak = false): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const load = startLoad({ ...fleet, ...crowd, next: balancer(fleet), mayBreak });
    let before = 0;
    let after = 0;
    let failed = {};
    try {
      await sleep(quietMs);
      before = load.good();
      await strike();
      failed = { ...load.counts };
      await allAnswer(fleet);
      const recovered = load.good();
      await sleep(quietMs);
      after = load.good() - recovered;
    } finally {
      await load.stop();
    }
    assert.deepEqual(load.faults.slice(0, 5), []);
    assert.ok(before > 0 && after > before / 5, `${before} good responses before, ${after} after`);
    await requireWhole(fleet, load);
    fleet.t.diagnostic(`${JSON.stringify(load.counts)}; until it was over ${JSON.stringify(failed)}`);
  }
}

async function allAnswer({ servers, key }: Fleet): Promise<void> {
  for (const server of servers) {
    await requireAlive(server);
    const isWell = async (path: string) =>
      (await fetch(`${server.url}${path}`, { headers: { 'X-API-Key': key } })).status === 200;
    await until(() => isWell('/v2/cheeses?limit=1'), `${server.url} does not recover`, recoveryMs);
    assert.ok(await isWell('/readyz'));
  }
}

export async function requireAlive(server: RunningServer): Promise<void> {
  const response = await fetch(`${server.url}/healthz`).catch(() => null);
  assert.equal(
    response?.status,
    200,
    response === null ? `it has died: ${(await server.stop()).stderr}` : '',
  );
}

/** Each confirmed change exists once, and each order reaches its final status without help. */
async function requireWhole({ database: { ask } }: Fleet, load: SteadyLoad): Promise<void> {
  await until(async () => (await ask('select 1 from background_job')).length === 0, 'orders wait');
  const rows = await ask('select id, status, notes, total_cents from orders where id > 10');
  const byId = new Map(rows.map((row) => [Number(row.id), row]));
  for (const [id, { total, notes }] of load.orders) {
    const row = byId.get(id);
    assert.ok(row !== undefined, `order ${id} was confirmed and is not there`);
    assert.deepEqual([row.notes, Number(row.total_cents)], [notes, Math.round(total * 100)]);
    assert.equal(row.status, load.cancelled.has(id) ? 'cancelled' : 'approved', `order ${id}`);
  }
  assert.equal(new Set(rows.map(({ notes }) => notes)).size, rows.length, 'a request made two orders');
  const unknown = rows.filter(({ id }) => !load.orders.has(Number(id)));
  assert.deepEqual(unknown, [], 'orders were made, and no client got a response');
  const ways = await ask(`
    select o.status, string_agg(e.type, ' ' order by e.id) as way from orders o
    left join event e on e.subject = 'order:' || o.id where o.id > 10 group by o.id, o.status`);
  const allowed = [
    'approved: order.placed order.approved',
    'cancelled: order.placed order.cancelled',
    'cancelled: order.placed order.approved order.cancelled',
  ];
  const wrong = ways.map(({ status, way }) => `${status}: ${way}`).filter((one) => !allowed.includes(one));
  assert.deepEqual(wrong, []);
  const open = await ask(`
    select 1 from open_order_cheese c full join (select id from orders where id > 10 and status = 'approved') o
      on o.id = c.order_id where (c.order_id > 10 or c.order_id is null) and (c.order_id is null or o.id is null)`);
  assert.equal(open.length, 0, 'open_order_cheese');
  await ask('delete from open_order_cheese', 'delete from orders where id > 10');
}
