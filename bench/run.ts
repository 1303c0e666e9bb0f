/**
 * `npm run bench -- [--engine sqlite|postgres|both] [--seconds 3] [--rounds 3] [--size 1000000] [--json]`
 *
 * Measures speed as a ratio of two programs on one machine. They are measured in turns, and the result is the median of
 * the ratios of all rounds, so that other load on the machine affects both.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { composeShop } from '../src/app/compose.ts';
import { type Engine, sql } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { startPostgres, stopPostgres } from '../test/global-setup.ts';
import { queryPostgres } from '../test/postgres-client.ts';
import { fillCatalogue } from './catalogue.ts';
import { benchClient } from './client.ts';
import { benchCreations } from './creations.ts';
import { benchCustomerSearch } from './customers.ts';
import { benchEvents } from './events.ts';
import { benchInstances } from './instances.ts';
import { benchKeys } from './keys.ts';
import { fetchText, get, lists, samePages } from './lists.ts';
import { httpRequest, runLoad } from './load.ts';
import { countedPaths, measureTotals } from './navigation.ts';
import { benchOrderKinds } from './order-kinds.ts';
import { postgresCpuSeconds, type Running, startCurd, startLimits } from './process.ts';
import { benchPurge } from './purge.ts';
import { benchSeries } from './statistics.ts';

import { benchLogin, benchPlacement } from './store.ts';
import { benchUploads } from './uploads.ts';
import { benchWebhooks } from './webhooks.ts';

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'both' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    size: { type: 'string', default: '1000000' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);
const smallSize = 1000;
/** Of lists: other load on the machine changes CPU times less when the turns are many and short. */
const shortTurns = { rounds: Math.max(5, rounds), seconds: Math.min(1.5, seconds) };
const secret = 'a secret that is only good for benches';

interface Row {
  readonly engine: Engine | 'none';
  readonly work: string;
  readonly measured: string;
  readonly limit: string;
  readonly ratio: number | null;
  readonly target: string;
  readonly isMet: boolean;
}

interface Target {
  readonly server: Running;
  readonly requests: readonly Buffer[];
}

const results: Row[] = [];

function record(row: Row): void {
  results.push(row);
  if (!options.json) {
    const ratio = row.ratio === null || Number.isNaN(row.ratio) ? '' : `  ratio ${row.ratio.toFixed(2)}`;
    console.log(
      `${row.isMet ? 'met   ' : 'MISSED'} ${row.engine.padEnd(8)} ${row.work}: ${row.measured} (limit ${row.limit})${ratio}  target ${row.target}`,
    );
  }
}

/** Throughput of a target, and the CPU time of its server and of PostgreSQL for each request. */
interface Rate {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

/** Measures several targets in turns. Returns the rates of each target by round. */
async function inTurns(
  engine: Engine,
  targets: readonly Target[],
  turns: { readonly rounds: number; readonly seconds: number } = { rounds, seconds },
): Promise<Rate[][]> {
  const rates: Rate[][] = targets.map(() => []);
  for (let round = -1; round < turns.rounds; round += 1) {
    for (const [index, { server, requests }] of targets.entries()) {
      const cpuSeconds = () => server.cpuSeconds() + (engine === 'postgres' ? postgresCpuSeconds() : 0);
      const before = cpuSeconds();
      const load = await runLoad({
        port: server.port,
        requests,
        connections: 64,
        seconds: round < 0 ? 1 : turns.seconds,
      });
      const cpuMicroseconds = ((cpuSeconds() - before) * 1e6) / load.requests;
      if (round >= 0) {
        rates[index]?.push({ perSecond: load.requestsPerSecond, cpuMicroseconds });
      }
    }
  }
  return rates;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Compares rates, or with `byCpu` what the rates would be if each request took only its CPU time. */
function compare(
  engine: Engine,
  work: string,
  [ours = [], limit = []]: readonly (readonly Rate[])[],
  least: number,
  byCpu = false,
): void {
  // The ratio of each round, because a disturbance of a round affects both sides.
  const ratioOf = (share: (one: Rate, other: Rate) => number) =>
    median(ours.map((one, round) => share(one, limit[round] ?? one)));
  const byRate = ratioOf((one, other) => one.perSecond / other.perSecond);
  const ratio = byCpu ? ratioOf((one, other) => other.cpuMicroseconds / one.cpuMicroseconds) : byRate;
  const words = (rates: readonly Rate[]) =>
    `${Math.round(median(rates.map(({ perSecond }) => perSecond)))}/s, ${Math.round(median(rates.map(({ cpuMicroseconds }) => cpuMicroseconds)))} us CPU`;
  record({
    engine,
    work,
    measured: words(ours),
    limit: `${words(limit)}${byCpu ? `; ratio of the rates ${byRate.toFixed(2)}` : ''}`,
    ratio,
    target: `>= ${least}`,
    isMet: ratio >= least,
  });
}

function atMost(engine: Engine, work: string, value: number, limit: number, unit: string): void {
  record({
    engine,
    work,
    measured: `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`,
    limit: `${limit} ${unit}`,
    ratio: null,
    target: `<= ${limit} ${unit}`,
    isMet: value <= limit,
  });
}

/** Creates a filled shop with a key. A server starts on it with `environment`. */
async function makeShop(engine: Engine, name: string, size: number) {
  const dataDir = await mkdtemp(join(tmpdir(), 'curd-bench-'));
  const database = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(name) } : {};
  const environment: Record<string, string> = {
    CURD_DATA_DIR: dataDir,
    CURD_SECRET: secret,
    // All limits are counted, but no request is refused.
    CURD_PLANS: '{"enterprise":{"perHour":1000000000,"burst":60000}}',
    ...database,
  };
  const services = await composeShop(loadConfig(environment));
  const startedAt = performance.now();
  await fillCatalogue(services, size, (done) => {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${engine}: ${done} of ${size} cheeses`);
    }
  });
  const fillSeconds = (performance.now() - startedAt) / 1000;
  const account = await services.auth.keys.createAccount(services.contextOf('bench'), 'bench');
  const { key } = await services.auth.keys.create(services.contextOf('bench'), account.id, {
    scopes: ['read:cheeses'],
  });
  if (engine === 'postgres') {
    // Autovacuum is off here. Elsewhere it runs this within a minute.
    await services.database.run(sql`analyze`);
  }
  await services.database.close();
  const databaseUrl = environment.CURD_DATABASE ?? null;
  return {
    environment,
    key,
    fillSeconds,
    databaseUrl,
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

async function createDatabase(name: string): Promise<string> {
  const url = process.env.CURD_TEST_POSTGRES;
  await queryPostgres(`${url}/postgres`, `create database ${name}`);
  return `${url}/${name}`;
}

/** Customers and statistics, in a shop of their own, so that the other measurements keep their size. */
async function benchCustomers(engine: Engine): Promise<void> {
  const shop = await makeShop(engine, `customers_${engine}`, 1);
  const services = await composeShop(loadConfig(shop.environment));
  const { ms, query, limitMs } = await benchCustomerSearch(services, Number(options.size));
  atMost(engine, `a page of ${options.size} customers, slowest query ${query}`, ms, limitMs, 'ms');
  atMost(engine, 'a series of 400 days', await benchSeries(services), 20, 'ms');
  await services.close();
  await shop.remove();
}

async function benchSmall(engine: Engine): Promise<void> {
  const shop = await makeShop(engine, `small_${engine}`, smallSize);
  // The first start fills the file cache, the second one is measured.
  await (await startCurd(shop.environment)).stop();
  const server = await startCurd(shop.environment);
  atMost(engine, 'start to first response', server.startMs, engine === 'sqlite' ? 500 : 700, 'ms');
  const idle = server.memoryMb();
  const ids = Array.from({ length: smallSize }, (_, index) => index + 1);
  const limits = await startLimits({
    one: await fetchText(server, '/v2/cheeses/1', shop.key),
    list: await fetchText(server, '/v2/cheeses?limit=20', shop.key),
    databaseUrl: shop.databaseUrl,
  });
  const bare = (name: string) =>
    engine === 'sqlite'
      ? [httpRequest('GET', `/${name}`)]
      : ids.map((id) => httpRequest('GET', `/${name}/${id}`));

  const one = await inTurns(engine, [
    { server, requests: ids.map((id) => get(`/v2/cheeses/${id}`, shop.key)) },
    { server: limits, requests: bare('one') },
  ]);
  compare(engine, 'GET /v2/cheeses/{id}', one, engine === 'sqlite' ? 0.6 : 0.7);
  const list = await inTurns(engine, [
    { server, requests: [get('/v2/cheeses?limit=20', shop.key)] },
    { server: limits, requests: bare('list') },
  ]);
  compare(engine, 'GET /v2/cheeses?limit=20, one page', list, engine === 'sqlite' ? 0.35 : 0.6);
  atMost(engine, 'memory idle', idle, 130, 'MB');
  atMost(engine, 'memory after the load', server.memoryMb(), 250, 'MB');
  await limits.stop();
  await server.stop();
  await benchPlacement(engine, shop, { rounds, seconds, median, record });
  await benchOrderKinds(engine, shop, { rounds, seconds, median, record });
  await benchKeys(engine, shop, { rounds, seconds, median, record });
  await benchPurge(engine, shop, { rounds, seconds, median, record });
  await benchLogin(engine, shop, { rounds, seconds, median, record });
  if (engine === 'postgres') {
    await benchInstances(shop, { rounds, seconds, median, record });
  }
  await benchWebhooks(engine, shop, { rounds, seconds, median, record });
  await benchEvents(engine, shop, { rounds, seconds, median, record });
  await benchUploads(engine, shop, { rounds, seconds, median, record });
  // The last one, because it makes the catalogue larger.
  await benchCreations(engine, shop, smallSize, { rounds, seconds, median, record });
  await shop.remove();
}

/** The cursor of a page far into the list. Reads all pages before it. */
async function cursorAt(server: Running, key: string, pages: number): Promise<string> {
  let cursor = '';
  for (let page = 0; page < pages; page += 1) {
    const text = await fetchText(
      server,
      `/v2/cheeses?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      key,
    );
    cursor = JSON.parse(text).nextCursor;
  }
  return cursor;
}

async function benchLarge(engine: Engine, size: number): Promise<void> {
  const large = await makeShop(engine, `large_${engine}`, size);
  atMost(engine, `building ${size} cheeses`, large.fillSeconds, 120, 's');
  const small = await makeShop(engine, `compare_${engine}`, smallSize);
  const sides = [
    {
      server: await startCurd(large.environment),
      key: large.key,
      deepPages: Math.min(2000, Math.floor(size / 200)),
    },
    // Page 10,000 of 20 cheeses starts after 2,000 pages of 100. With 1,000 cheeses, a page in the middle is used instead.
    { server: await startCurd(small.environment), key: small.key, deepPages: 5 },
  ];
  const deep = await Promise.all(sides.map(({ server, key, deepPages }) => cursorAt(server, key, deepPages)));
  const queries: Record<string, (side: number) => string> = {
    'page 10,000': (side) => `cursor=${deep[side]}`,
  };
  for (const [name, query] of Object.entries(lists)) {
    queries[name] = () => query;
  }
  for (const [name, queryOf] of Object.entries(queries)) {
    const requests = await samePages(sides, queryOf);
    const targets = sides.map(({ server }, side) => ({ server, requests: requests[side] ?? [] }));
    compare(
      engine,
      `list at ${size}, ${name}, by CPU time`,
      await inTurns(engine, targets, shortTurns),
      0.8,
      true,
    );
  }
  for (const [name, paths] of Object.entries(countedPaths)) {
    const targets = sides.map(({ server, key }) => ({
      server,
      requests: paths.map((path) => get(path, key)),
    }));
    compare(engine, `${name} at ${size}, by CPU time`, await inTurns(engine, targets, shortTurns), 0.8, true);
  }
  atMost(engine, `memory after the load at ${size}`, sides[0]?.server.memoryMb() ?? Number.NaN, 250, 'MB');
  for (const { server } of sides) {
    await server.stop();
  }
  if (engine === 'sqlite') {
    // On PostgreSQL, another process counts.
    for (const { query, ms, longestMs, pageMs } of await measureTotals(large.environment)) {
      atMost(engine, `page with total at ${size}, ${query}, CPU time`, ms, 150, 'ms');
      atMost(engine, `its longest block of the event loop, ${query}`, longestMs, 50, 'ms');
      atMost(engine, `a page with a cached total, ${query}`, pageMs, query.includes(' ') ? 2 : 10, 'ms');
    }
  }
  await large.remove();
  await small.remove();
}

const engines = (['sqlite', 'postgres'] as const).filter(
  (engine) => options.engine === 'both' || options.engine === engine,
);
const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.versions.node}`;
if (!options.json) {
  console.log(`${machine}; ${rounds} rounds of ${seconds} s in turns, 64 connections\n`);
}
if (engines.includes('postgres')) {
  // A usual value is a quarter of the memory. The default is 128 MB.
  await startPostgres(['shared_buffers=1GB', 'max_wal_size=4GB']);
}
for (const engine of engines) {
  await benchSmall(engine);
  await benchCustomers(engine);
  if (Number(options.size) > 0) {
    await benchLarge(engine, Number(options.size));
  }
}
if (engines.includes('postgres')) {
  await stopPostgres();
}
const { bareUs, addedUs, limitUs } = await benchClient();
record({
  engine: 'none',
  work: 'CPU of a request that the client package adds to fetch',
  measured: `${addedUs.toFixed(0)} us`,
  limit: `fetch ${bareUs.toFixed(0)} us`,
  ratio: null,
  target: `<= ${limitUs} us`,
  isMet: addedUs <= limitUs,
});
if (options.json) {
  console.log(JSON.stringify({ machine, seconds, rounds, results }, null, 2));
}
