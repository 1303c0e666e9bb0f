/** The event log: delay of a stream, lists of a long log, many open streams, and passes under an open snapshot. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ComposedShop, composeShop } from '../src/app/compose.ts';
import type { Engine } from '../src/database/sql.ts';
import { sql } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { type Running, startCurd } from './process.ts';
import type { Tools } from './store.ts';

const samples = 100;
/** Between two samples, so that each finds an idle server. */
const pauseMs = 50;
const fewEvents = 1000;
const manyEvents = 1_000_000;
const lists = 200;
const streams = 1000;
const watchedSeconds = 10;
/** CPU time of a second in which a server does nothing else. */
const quietSeconds = 0.05;
const numberedEvents = 100_000;
const singlePasses = 50;
const targets = {
  sqlite: { medianMs: 5, p99Ms: 50 },
  postgres: { medianMs: 40, p99Ms: 200 },
};

export async function benchEvents(
  engine: Engine,
  shop: { readonly environment: Record<string, string> },
  { record }: Tools,
): Promise<void> {
  const environment = {
    ...shop.environment,
    CURD_STREAMS_PER_ACCOUNT: String(streams),
    // The filled events are older than 90 days: their purge would run beside the second measurement.
    CURD_EVENT_RETENTION: 'forever',
  };
  const services = await composeShop(loadConfig(environment));
  const {
    auth: { keys },
    contextOf,
  } = services;
  const account = await keys.createAccount(contextOf('bench'), 'bench events');
  const { key } = await keys.create(contextOf('bench'), account.id, { scopes: ['admin'] });
  await fill(services, fewEvents);
  const server = await startCurd(environment);
  try {
    await benchDelay(server);
    const few = await listRate(server);
    await benchStreams(server);
    await fill(services, manyEvents);
    await quiet(server);
    const many = await listRate(server);
    record({
      engine,
      work: `GET /v2/events?limit=100 anywhere in a log of ${manyEvents} events, compared with one of ${fewEvents}`,
      measured: `${Math.round(many)}/s`,
      limit: `${Math.round(few)}/s`,
      ratio: many / few,
      target: '>= 0.8',
      isMet: many / few >= 0.8,
    });
  } finally {
    await server.stop();
  }
  if (engine === 'postgres') {
    await benchPasses(services);
  }
  await services.close();

  async function send(method: string, path: string, body?: unknown) {
    const response = await fetch(`http://127.0.0.1:${server.port}/v2${path}`, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = (await response.json()) as { readonly id: number; readonly next: string };
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${JSON.stringify(json)}`);
    }
    return json;
  }

  /** @param onText is called with everything that arrives */
  async function openStream(port: number, onText: (text: string) => void): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket
      .setEncoding('utf8')
      .on('data', onText)
      .on('error', () => {});
    const begun = new Promise((resolve) => socket.once('data', resolve));
    socket.write(`GET /v2/events/stream HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\n\r\n`);
    await begun;
    return socket;
  }

  async function benchDelay({ port }: Running): Promise<void> {
    let received = 0;
    let notify = () => {};
    const socket = await openStream(port, (text) => {
      received += text.split('event: ').length - 1;
      notify();
    });
    const delays: number[] = [];
    for (let count = 1; count <= samples; count += 1) {
      await sleep(pauseMs);
      await send('POST', '/cheeses', { name: `Cheese of a stream ${count}` });
      const respondedAt = performance.now();
      while (received < count) {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
      delays.push(performance.now() - respondedAt);
    }
    socket.destroy();
    const sorted = delays.toSorted((a, b) => a - b);
    const [median = Number.NaN, p99 = Number.NaN] = [sorted[samples / 2], sorted[samples - 2]];
    const target = targets[engine];
    record({
      engine,
      work: 'response of a change to its event in an open stream, p50 and p99, idle',
      measured: `${median.toFixed(1)} ms, ${p99.toFixed(1)} ms`,
      limit: 'none',
      ratio: null,
      target: `<= ${target.medianMs} ms, ${target.p99Ms} ms`,
      isMet: median <= target.medianMs && p99 <= target.p99Ms,
    });
  }

  /** Waits until webhooks and mails have followed the filled events: in a shop, these do not arrive at once. */
  async function quiet(running: Running): Promise<void> {
    let before = Number.NEGATIVE_INFINITY;
    while (running.cpuSeconds() - before > quietSeconds) {
      before = running.cpuSeconds();
      await sleep(1000);
    }
  }

  /** Pages a second, by the CPU time of the server on SQLite, which does all the work; by the clock on PostgreSQL. */
  async function listRate(running: Running): Promise<number> {
    const { next } = await send('GET', '/events?since=latest');
    const [, epoch = '', last = '0'] = next.split('_');
    let before = running.cpuSeconds();
    let startedAt = performance.now();
    for (let count = -20; count < lists; count += 1) {
      if (count === 0) {
        before = running.cpuSeconds();
        startedAt = performance.now();
      }
      const after = Math.floor(Math.random() * (Number(last) - 200));
      await send('GET', `/events?limit=100&since=evt_${epoch}_${after}`);
    }
    const seconds =
      engine === 'sqlite' ? running.cpuSeconds() - before : (performance.now() - startedAt) / 1000;
    return lists / seconds;
  }

  async function benchStreams(running: Running): Promise<void> {
    const memoryBefore = running.memoryMb();
    let received = 0;
    const sockets: Socket[] = [];
    for (let count = 0; count < streams; count += 1) {
      sockets.push(
        await openStream(running.port, (text) => {
          received += text.split('event: ').length - 1;
        }),
      );
    }
    const before = running.cpuSeconds();
    for (let second = 1; second <= watchedSeconds; second += 1) {
      await send('POST', '/cheeses', { name: `Cheese of many streams ${second}` });
      await sleep(1000);
    }
    const share = (running.cpuSeconds() - before) / watchedSeconds;
    const kilobytes = ((running.memoryMb() - memoryBefore) * 1024) / streams;
    for (const socket of sockets) {
      socket.destroy();
    }
    record({
      engine,
      work: `${streams} open streams, one change a second: CPU of the server, memory of a stream`,
      measured: `${(share * 100).toFixed(1)} % of a core, ${kilobytes.toFixed(0)} kB (${received} events received)`,
      limit: 'none',
      ratio: null,
      target: '<= 10 %, 40 kB',
      isMet: share <= 0.1 && kilobytes <= 40,
    });
  }

  /** Passes for one event each, while a snapshot from before 100,000 numbered events stays open. */
  async function benchPasses({ database: one }: ComposedShop): Promise<void> {
    const pass = () => one.get(sql`select numbered from number_events(1000, false)`);
    const insert = (count: number) =>
      one.run(sql`
        insert into event (type, subject, actor, data, created_at)
        select 'order.placed', 'order:11', 'bench', '{}', '2026-01-01T00:00:00.000Z' from generate_series(1, ${count}::integer)`);
    const durations: number[] = [];
    let backlogMs = 0;
    await one.snapshot(async (snapshot) => {
      await snapshot.get(sql`select last from event_log`);
      await insert(numberedEvents);
      const startedAt = performance.now();
      for (let count = 0; count < numberedEvents / 1000; count += 1) {
        await pass();
      }
      backlogMs = performance.now() - startedAt;
      for (let count = 0; count < singlePasses; count += 1) {
        await insert(1);
        await sleep(15);
        const before = performance.now();
        await pass();
        durations.push(performance.now() - before);
      }
    });
    const sorted = durations.toSorted((a, b) => a - b);
    const [median = Number.NaN, longest = Number.NaN] = [sorted[singlePasses / 2], sorted.at(-1)];
    record({
      engine,
      work: `pass for one event after ${numberedEvents} were numbered under an open snapshot, p50 and longest`,
      measured: `${median.toFixed(1)} ms, ${longest.toFixed(1)} ms (the ${numberedEvents}: ${(backlogMs / 1000).toFixed(1)} s)`,
      limit: 'none',
      ratio: null,
      target: '<= 10 ms',
      isMet: median <= 10,
    });
  }

  /** Makes the log longer, by SQL. */
  async function fill({ database: one }: ComposedShop, count: number): Promise<void> {
    const numbers =
      engine === 'sqlite'
        ? sql`with recursive n(value) as (select 1 union all select value + 1 from n where value < ${count}) select value from n`
        : sql`select value from generate_series(1, ${count}::integer) as value`;
    await one.exclusiveTransaction(async (tx) => {
      await tx.get(sql`select last from event_log where id = 1`);
      await tx.run(sql`
        insert into event (type, subject, actor, data, created_at, sequence)
        select 'order.placed', 'order:11', 'bench', '{"id":11,"status":"placed","total":10,"reason":null}',
          '2026-01-01T00:00:00.000Z', (select last from event_log) + value
        from (${numbers}) as numbers`);
      await tx.run(sql`update event_log set last = last + ${count}`);
      // The server does not count them for statistics while pages of the log are measured.
      await tx.run(sql`update statistic_position set sequence = (select last from event_log)`);
    });
    if (engine === 'postgres') {
      // Autovacuum is off here. Elsewhere it runs this within a minute.
      await one.run(sql`analyze event`);
    }
  }
}
