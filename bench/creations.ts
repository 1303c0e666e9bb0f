/**
 * Creations of cheeses a second. All of them wait for one row, the catalogue, so a second instance does not double the
 * rate: the target is that it does not reduce it.
 */
import { randomUUID } from 'node:crypto';
import { composeShop } from '../src/app/compose.ts';
import type { Engine } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { cheeseAt } from './catalogue.ts';
import { httpRequest, runLoad } from './load.ts';
import { postgresCpuSeconds, type Running, startCurd } from './process.ts';
import type { Shop, Tools } from './store.ts';

const connections = 16;
/** A second on PostgreSQL through one instance: three times the rate of an earlier version on a slower machine. */
const rateMin = 420;

/** Creations a second, and the CPU time of the servers for each. */
interface CreationRate {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly requests: number;
}

/** Returns a function that creates cheeses through some servers of a shop, which never have the same name. */
async function prepareCreations(
  shop: Shop,
  firstIndex: number,
): Promise<(servers: readonly Running[], seconds: number) => Promise<CreationRate>> {
  const services = await composeShop(loadConfig(shop.environment));
  const context = services.contextOf('bench');
  const account = await services.auth.keys.createAccount(context, `bench ${randomUUID()}`);
  const { key } = await services.auth.keys.create(context, account.id, { scopes: ['write:cheeses'] });
  await services.close();
  let index = firstIndex;
  const next = () => {
    index += 1;
    return httpRequest('POST', '/v2/cheeses', { 'X-API-Key': key }, JSON.stringify(cheeseAt(index)));
  };
  return async (servers, seconds) => {
    const cpuSeconds = () => servers.reduce((sum, server) => sum + server.cpuSeconds(), 0);
    const before = cpuSeconds();
    const loads = await Promise.all(
      servers.map(({ port }) =>
        // With a pause the load sleeps while it waits, because PostgreSQL needs the cores.
        runLoad({
          port,
          requests: { next },
          connections: connections / servers.length,
          seconds,
          pauseMs: 1,
        }),
      ),
    );
    const requests = loads.reduce((sum, load) => sum + load.requests, 0);
    return {
      perSecond: loads.reduce((sum, load) => sum + load.requestsPerSecond, 0),
      cpuMicroseconds: ((cpuSeconds() - before) * 1e6) / requests,
      requests,
    };
  };
}

/** Creations through one instance and, on PostgreSQL, through two. */
export async function benchCreations(
  engine: Engine,
  shop: Shop,
  firstIndex: number,
  { rounds, seconds, median, record }: Tools,
): Promise<void> {
  const create = await prepareCreations(shop, firstIndex);
  const instances = [await startCurd({ ...shop.environment })];
  if (engine === 'postgres') {
    instances.push(await startCurd({ ...shop.environment }));
  }
  const rates: CreationRate[][] = instances.map(() => []);
  const postgresMicroseconds: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, measured] of rates.entries()) {
      const before = engine === 'postgres' ? postgresCpuSeconds() : 0;
      const rate = await create(instances.slice(0, index + 1), round < 0 ? 1 : seconds);
      const after = engine === 'postgres' ? postgresCpuSeconds() : 0;
      if (round >= 0) {
        measured.push(rate);
        if (index === 0) {
          postgresMicroseconds.push(((after - before) * 1e6) / rate.requests);
        }
      }
    }
  }
  const [one = [], two = []] = rates;
  const perSecond = (side: readonly CreationRate[]) => median(side.map((rate) => rate.perSecond));
  const cpu = Math.round(median(one.map(({ cpuMicroseconds }) => cpuMicroseconds)));
  const postgres =
    engine === 'postgres' ? `, ${Math.round(median(postgresMicroseconds))} us in PostgreSQL` : '';
  record({
    engine,
    work: `creations of cheeses, ${connections} connections, one instance`,
    measured: `${Math.round(perSecond(one))}/s, ${cpu} us CPU${postgres}`,
    limit: engine === 'postgres' ? `${rateMin}/s` : 'none',
    ratio: null,
    target: engine === 'postgres' ? `>= ${rateMin}/s` : 'none',
    isMet: engine === 'sqlite' || perSecond(one) >= rateMin,
  });
  if (engine === 'postgres') {
    const ratio = median(two.map((rate, round) => rate.perSecond / (one[round]?.perSecond ?? Number.NaN)));
    record({
      engine,
      work: `creations of cheeses, ${connections} connections, two instances compared with one`,
      measured: `${Math.round(perSecond(two))}/s`,
      limit: `${Math.round(perSecond(one))}/s`,
      ratio,
      target: '>= 1',
      isMet: ratio >= 1,
    });
  }
  for (const instance of instances) {
    await instance.stop();
  }
}
