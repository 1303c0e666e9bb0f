/** Orders of cheeses whose stock is tracked, compared with orders of others. */
import { composeShop } from '../src/app/compose.ts';
import { type Engine, sql } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { runLoad } from './load.ts';
import { postgresCpuSeconds, startCurd } from './process.ts';
import { orderOf, postOrders, type Shop, type Tools } from './store.ts';

const connections = 64;
/** Each order has two cheeses that no other order has, as in a shop with many cheeses. */
const ordersOfEachKind = 100;

/** Requests that place orders of untracked cheeses, and others that place orders of tracked ones. */
async function prepare(shop: Shop): Promise<readonly [untracked: Buffer[], tracked: Buffer[]]> {
  const services = await composeShop(loadConfig(shop.environment));
  const context = services.contextOf('bench');
  const account = await services.auth.keys.createAccount(context, 'bench stock');
  const { key } = await services.auth.keys.create(context, account.id, { scopes: ['write:orders'] });
  const pairs = await services.database.all<{ id: number }>(sql`
    select a.id from cheese a join cheese b on b.id = a.id + 1
    where a.id % 2 = 0 and a.status = 'available' and b.status = 'available'
    order by a.id limit ${2 * ordersOfEachKind}`);
  const ids = pairs.map(({ id }) => id);
  const tracked = ids.slice(ordersOfEachKind);
  for (const id of tracked.flatMap((first) => [first, first + 1])) {
    await services.stock.service.replace(context, id, { onHand: 1_000_000_000 });
  }
  await services.close();
  const requests = (some: readonly number[]) =>
    postOrders('/v2/store/order', some.map(orderOf), { 'X-API-Key': key });
  return [requests(ids.slice(0, ordersOfEachKind)), requests(tracked)];
}

/** `POST /v2/store/order` by 64 clients, in turns. On PostgreSQL the CPU time of the database is part of it. */
export async function benchStock(engine: Engine, shop: Shop, tools: Tools): Promise<void> {
  const { rounds, seconds, median, record } = tools;
  const kinds = await prepare(shop);
  const server = await startCurd({ ...shop.environment, CURD_APPROVAL_DELAY: '1h' });
  const cpuSeconds = () => server.cpuSeconds() + (engine === 'postgres' ? postgresCpuSeconds() : 0);
  const costs: number[][] = [[], []];
  const rates: number[][] = [[], []];
  for (let round = -1; round < rounds; round += 1) {
    for (const [kind, requests] of kinds.entries()) {
      const before = cpuSeconds();
      const load = await runLoad({
        port: server.port,
        requests,
        connections,
        seconds: round < 0 ? 1 : seconds,
        ...(engine === 'postgres' ? { pauseMs: 0 } : {}),
      });
      if (round >= 0) {
        costs[kind]?.push(((cpuSeconds() - before) * 1e6) / load.requests);
        rates[kind]?.push(load.requestsPerSecond);
      }
    }
  }
  const [untracked = [], tracked = []] = costs;
  const ratio = median(untracked.map((cost, round) => cost / (tracked[round] ?? Number.NaN)));
  const words = (kind: number) =>
    `${Math.round(median(costs[kind] ?? []))} us CPU, ${Math.round(median(rates[kind] ?? []))}/s`;
  record({
    engine,
    work: 'POST /v2/store/order of tracked cheeses compared with untracked ones',
    measured: words(1),
    limit: words(0),
    ratio,
    target: '>= 0.9 by CPU time',
    isMet: ratio >= 0.9,
  });
  await server.stop();
}
