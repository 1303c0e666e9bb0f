/**
 * Throughput of two instances on one PostgreSQL compared with one. The bench uses all cores of the machine, so a second
 * instance could add nothing. So each instance is limited to a share of a core by SIGSTOP and SIGCONT, as if each ran on
 * its own machine.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { httpRequest, type LoadResult, runLoad } from './load.ts';
import { cpuSecondsOf, type Running, startCurd } from './process.ts';
import { postOrders, prepareOrders, type Shop, type Tools } from './store.ts';

const connections = 64;
/** Share of a core for each instance. The rest is for PostgreSQL and the load. */
const share = 0.2;
const cycleMs = 25;

/** Reads and orders through one and two instances, and the CPU time of Curd and PostgreSQL for each request. */
export async function benchInstances(shop: Shop, tools: Tools): Promise<void> {
  const { key, bodies } = await prepareOrders(shop);
  const orders = postOrders('/v2/store/order', bodies, { 'X-API-Key': key });
  const environment = { ...shop.environment, CURD_APPROVAL_DELAY: '1h' };
  const instances = [await startCurd(environment), await startCurd(environment)];
  const reads = Array.from({ length: 1000 }, (_, index) =>
    httpRequest('GET', `/v2/cheeses/${index + 1}`, { 'X-API-Key': key }),
  );
  for (const [work, requests] of [
    ['GET /v2/cheeses/{id}', reads],
    ['POST /v2/store/order', orders],
  ] as const) {
    await benchWork(work, requests, instances, tools);
  }
  for (const instance of instances) {
    await instance.stop();
  }
}

async function benchWork(
  work: string,
  requests: readonly Buffer[],
  instances: readonly Running[],
  { rounds, seconds, median, record }: Tools,
): Promise<void> {
  const [first] = instances as [Running];
  const costs: { curd: number; postgres: number }[] = [];
  const rates: { one: number; two: number }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const before = { curd: first.cpuSeconds(), postgres: postgresSeconds() };
    const { requests: served } = await load([first], requests, round < 0 ? 1 : seconds);
    const cost = {
      curd: ((first.cpuSeconds() - before.curd) * 1e6) / served,
      postgres: ((postgresSeconds() - before.postgres) * 1e6) / served,
    };
    const release = instances.map(({ pid }) => limitCpu(pid));
    const one = await load([first], requests, seconds);
    const two = await load(instances, requests, seconds);
    for (const one of release) {
      one();
    }
    if (round >= 0) {
      costs.push(cost);
      rates.push({ one: one.requestsPerSecond, two: two.requestsPerSecond });
    }
  }
  const cost = (of: 'curd' | 'postgres') => Math.round(median(costs.map((one) => one[of])));
  record({
    engine: 'postgres',
    work: `${work} through two instances, each limited to ${share} of a core, compared with one`,
    measured: `${Math.round(median(rates.map(({ two }) => two)))}/s; without that limit ${cost('curd')} us CPU in Curd, ${cost('postgres')} us in PostgreSQL`,
    limit: `${Math.round(median(rates.map(({ one }) => one)))}/s`,
    ratio: median(rates.map(({ one, two }) => two / one)),
    target: 'none',
    isMet: true,
  });
}

/** Sends the same load to one or several instances. */
async function load(
  instances: readonly Running[],
  requests: readonly Buffer[],
  seconds: number,
): Promise<Pick<LoadResult, 'requests' | 'requestsPerSecond'>> {
  const results = await Promise.all(
    instances.map(({ port }) =>
      // With a pause the load sleeps while it waits, because cores are scarce here.
      runLoad({ port, requests, connections: connections / instances.length, seconds, pauseMs: 1 }),
    ),
  );
  return {
    requests: results.reduce((sum, one) => sum + one.requests, 0),
    requestsPerSecond: results.reduce((sum, one) => sum + one.requestsPerSecond, 0),
  };
}

/** Lets a process run for its share of every cycle, until the returned function is called. */
function limitCpu(pid: number): () => void {
  const stop = () => process.kill(pid, 'SIGSTOP');
  const go = () => process.kill(pid, 'SIGCONT');
  stop();
  const timer = setInterval(() => {
    go();
    setTimeout(stop, cycleMs * share);
  }, cycleMs);
  return () => {
    clearInterval(timer);
    setTimeout(go, cycleMs);
  };
}

/** CPU seconds of all PostgreSQL processes of this machine (Linux; 0 elsewhere). */
function postgresSeconds(): number {
  try {
    return readdirSync('/proc')
      .filter(
        (name) => /^\d+$/.test(name) && readFileSync(`/proc/${name}/comm`, 'utf8').trim() === 'postgres',
      )
      .reduce((sum, name) => sum + cpuSecondsOf(Number(name)), 0);
  } catch {
    return 0;
  }
}
