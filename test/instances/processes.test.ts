/** `curd serve --processes`: several processes on one port. The tests of a suite share one server. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireSupport } from '../../src/cli/server/processes.ts';
import { systemClock } from '../../src/clock.ts';
import { withShareOfConnections } from '../../src/database/postgres/url.ts';
import { sql } from '../../src/database/sql.ts';
import { limitConnections } from '../../src/http/connection-age.ts';
import { mergeMetrics } from '../../src/http/metrics/merged-metrics.ts';
import { ConfigError, parseProcesses } from '../../src/settings/parsers.ts';
import {
  accountWithKey,
  assertRefused,
  createStock,
  curdProcess,
  type Environment,
  freshShop,
  inShop,
  resultOf,
  runInProcess,
  serve,
  start,
} from '../cli/run.ts';
import { bern, cleanUp, createDatabase, secret, shared, until } from '../context.ts';

const processes = 3;
const connections = Number(process.env.CURD_TEST_CONNECTIONS ?? 300);
const skip = process.platform !== 'linux' && 'only Linux and FreeBSD share a port, and it reads /proc';

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** By default each request has a new connection. */
  readonly agent?: Agent;
  /** Called when the server has the headers. The rest of the body is sent when it resolves. */
  readonly pause?: () => Promise<unknown>;
}

interface Received {
  readonly status: number;
  readonly text: string;
  readonly connection: string | undefined;
}

async function send(url: string, key: string, sending: Sending = {}): Promise<Received> {
  const { method = 'GET', headers = {}, body, agent = false, pause } = sending;
  const json = body === undefined ? '' : JSON.stringify(body);
  const sent = request(url, {
    method,
    agent,
    headers: {
      'X-API-Key': key,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': json.length }),
      ...(pause === undefined ? {} : { Expect: '100-continue' }),
      ...headers,
    },
  });
  const response = once(sent, 'response');
  // Rejects before it is awaited where the connection breaks.
  response.catch(() => {});
  if (pause !== undefined) {
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.write(json.slice(0, json.length / 2));
    await pause();
  }
  sent.end(pause === undefined ? json : json.slice(json.length / 2));
  const [incoming] = await response;
  const text = Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>)).toString('utf8');
  return { status: incoming.statusCode, text, connection: incoming.headers.connection };
}

/** How often each status is returned to so many requests at once. */
async function statusesOf(count: number, url: string, key: string): Promise<Record<number, number>> {
  const all = await Promise.all(Array.from({ length: count }, () => send(url, key)));
  const byStatus = Map.groupBy(all, ({ status }) => status);
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, some.length]));
}

async function openProcesses(t: Parameters<typeof createDatabase>[0], howMany: number) {
  const environment: Environment = await freshShop(t as never, {
    CURD_DATABASE: await createDatabase(t, 'template_curd'),
    CURD_SECRET: secret,
    CURD_ENVIRONMENT: 'sandbox',
    CURD_PROCESSES: String(howMany),
    CURD_PLANS: JSON.stringify({
      free: { perHour: null, burst: 60_000 },
      pro: { perHour: 50, burst: 60_000 },
      enterprise: { perHour: null, burst: 20 },
    }),
  });
  const { cheeses, key } = await createStock(environment, {
    prices: [10],
    scopes: ['admin', 'write:orders'],
  });
  const server = await serve(t as never, environment);
  const order = (notes: string) => ({
    items: [{ cheeseId: cheeses[0], quantity: 1 }],
    shippingAddress: bern,
    notes,
  });
  return { environment, server, key, order };
}

suite('curd serve with three processes', { skip }, () => {
  const opened = shared((t) => openProcesses(t, processes));

  test('curd serve with three processes prints one line, spreads connections, and counts every request once in /metrics', async () => {
    const { server, key } = opened();
    assert.equal(server.greeting.match(/listening on/g)?.length, 1);
    assert.equal(childrenOf(server.pid).length, processes);
    assert.deepEqual(await statusesOf(connections, `${server.url}/healthz`, key), { 200: connections });
    const { text } = await send(`${server.url}/metrics`, key);
    const pattern =
      /^curd_http_request_duration_seconds_count\{worker="(\d)",.*route="\/healthz",.* (\d+)$/gm;
    const counts = [...text.matchAll(pattern)].map(([, , count]) => Number(count));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      connections,
    );
    // The kernel chooses by a hash: 4.5 standard deviations.
    const share = connections / processes;
    const tolerance = 4.5 * Math.sqrt(share * (1 - 1 / processes));
    assert.ok(
      counts.length === processes && counts.every((count) => Math.abs(count - share) < tolerance),
      `${counts}`,
    );
    assert.equal(text.match(/^# TYPE curd_orders /gm)?.length, 1);
  });

  test('curd serve with three processes counts the limits of an account over all processes', async () => {
    const { environment, server } = opened();
    const path = `${server.url}/v2/cheeses?limit=1`;
    const hourly = await accountWithKey(environment, [], { plan: 'pro' });
    assert.deepEqual(await statusesOf(90, path, hourly.key), { 200: 50, 429: 40 });
    const bursty = await accountWithKey(environment, [], { plan: 'enterprise' });
    const startedAt = performance.now();
    const { 200: passed = 0, 429: refused = 0 } = await statusesOf(90, path, bursty.key);
    const seconds = Math.floor((performance.now() - startedAt) / 1000) + 1;
    assert.ok(passed >= 20 && passed <= 20 * seconds && passed + refused === 90, `${passed} in ${seconds} s`);
  });

  test('curd serve with three processes makes one order of one idempotency key that reaches all processes at once', async () => {
    const { environment, server, key, order } = opened();
    const notes = randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 16 }, () =>
        send(`${server.url}/v2/store/order`, key, {
          method: 'POST',
          headers: { 'Idempotency-Key': notes },
          body: order(notes),
        }),
      ),
    );
    assert.deepEqual(
      new Set(responses.map(({ status }) => status)).difference(new Set([201, 409])),
      new Set(),
    );
    const made = await inShop(environment, ({ database }) =>
      database.all(sql`select id from orders where notes = ${notes}`),
    );
    assert.equal(made.length, 1);
  });

  test('curd serve with three processes refuses a revoked key in all processes from the next request on', async () => {
    const { environment, server } = opened();
    const { key } = await accountWithKey(environment, ['admin']);
    const path = `${server.url}/v2/api-keys`;
    assert.deepEqual(await statusesOf(12, path, key), { 200: 12 });
    const [{ id }] = JSON.parse((await send(path, key)).text).items;
    assert.equal((await send(`${path}/${id}`, key, { method: 'DELETE' })).status, 204);
    assert.deepEqual(await statusesOf(24, path, key), { 401: 24 });
  });

  test('curd serve with three processes starts a killed process again, and only its connections break', async () => {
    const { server, key } = opened();
    const [victim = 0] = childrenOf(server.pid);
    const statuses = new Set<number>();
    let broken = 0;
    let isDone = false;
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    const load = Promise.all(
      Array.from({ length: 12 }, async () => {
        while (!isDone) {
          try {
            statuses.add((await send(`${server.url}/v2/cheeses?limit=1`, key, { agent })).status);
          } catch {
            broken += 1;
          }
        }
      }),
    );
    await sleep(100);
    process.kill(victim, 'SIGKILL');
    const isBack = async () => {
      const children = childrenOf(server.pid);
      const { text } = await send(`${server.url}/metrics`, key).catch(() => ({ text: '' }));
      return children.length === processes && new Set(text.match(/worker="\d"/g)).size === processes;
    };
    await until(isBack, 'the process does not come back');
    isDone = true;
    await load;
    agent.destroy();
    assert.deepEqual([...statuses], [200]);
    assert.ok(broken <= 12, `${broken} requests failed`);
    assert.ok(!childrenOf(server.pid).includes(victim));
  });

  test('curd serve with three processes ends with status 1 and the reason when processes die six times within a minute', async () => {
    const { server } = opened();
    // One has died already.
    for (const number of [2, 3, 4, 5, 6]) {
      await until(async () => childrenOf(server.pid).length > 0, `no process for death ${number}`);
      const [victim = 0] = childrenOf(server.pid);
      process.kill(victim, 'SIGKILL');
      const isGone = async () => number === 6 || !childrenOf(server.pid).includes(victim);
      await until(isGone, 'a killed process stays');
    }
    // A signal that it ignores: it ends by itself.
    const { code, stderr } = await server.stop('SIGWINCH');
    assert.match(stderr, /^curd: Server processes ended 6 times within a minute, the last one by SIGKILL\./m);
    assert.equal(code, 1);
  });
});

suite('curd serve with processes', { skip }, () => {
  test('curd serve with processes finishes running requests after SIGTERM, and ends all processes', async (t) => {
    const { environment, server, key, order } = await openProcesses(t, 2);
    const children = childrenOf(server.pid);
    const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>();
    const notes = Array.from({ length: 10 }, () => randomUUID());
    let begun = 0;
    const pause = () => {
      begun += 1;
      return rest;
    };
    const running = notes.map((one) =>
      send(`${server.url}/v2/store/order`, key, { method: 'POST', body: order(one), pause }),
    );
    await until(async () => begun === notes.length, 'the requests do not begin');
    const stopped = server.stop();
    await until(
      () =>
        send(`${server.url}/healthz`, key).then(
          () => false,
          () => true,
        ),
      'it still listens',
    );
    sendRest();
    assert.deepEqual(
      (await Promise.all(running)).map(({ status }) => status),
      notes.map(() => 201),
    );
    assert.deepEqual(await stopped, { code: 0, stderr: '' });
    for (const child of children) {
      assert.throws(() => process.kill(child, 0), /ESRCH/);
    }

    await inShop(environment, ({ database }) =>
      database.run(sql`insert into migration (number, name, breaking) values (9999, 'of the future', 1)`),
    );
    assertRefused(await curdProcess(environment, 'serve', '--port', '0'), /9999/);
  });

  test('curd serve with processes finishes running requests when the first process is killed while metrics are read', async (t) => {
    const { environment, server, key, order } = await openProcesses(t, 2);
    const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>();
    let begun = 0;
    const pause = () => {
      begun += 1;
      return rest;
    };
    const running = Array.from({ length: 8 }, () =>
      send(`${server.url}/v2/store/order`, key, { method: 'POST', body: order(randomUUID()), pause }),
    );
    const { metrics } = await inShop(environment, ({ database }) =>
      database.transaction(async (tx) => {
        await tx.run(sql`lock table order_count in access exclusive mode`);
        // A worker that stops resets connections of requests that it has not read.
        let asked = 0;
        const ask = async () => {
          asked += 1;
        };
        const reading = Array.from({ length: 8 }, () => send(`${server.url}/metrics`, key, { pause: ask }));
        const waiting = sql`select pid from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%order_count%'`;
        await until(
          async () => begun === 8 && asked === 8 && (await database.get(waiting)) !== undefined,
          'the metrics do not wait',
        );
        process.kill(server.pid, 'SIGKILL');
        await sleep(200);
        return { metrics: Promise.all(reading) };
      }),
    );
    // Before the orders: the processes do not wait for each other's metrics.
    const read = (await metrics).map(({ status }) => status);
    assert.deepEqual(
      read,
      read.map(() => 200),
    );
    sendRest();
    const placed = (await Promise.all(running)).map(({ status }) => status);
    assert.deepEqual(
      placed,
      placed.map(() => 201),
    );
  });

  test('curd serve with processes starts no further process after SIGTERM during the start of the first', async (t) => {
    const environment: Environment = await freshShop(t, {
      CURD_DATABASE: await createDatabase(t, 'template_curd'),
      CURD_SECRET: secret,
      CURD_PROCESSES: '2',
      CURD_LOG_LEVEL: 'silent',
    });
    const { ended } = await inShop(environment, ({ database }) =>
      database.transaction(async (tx) => {
        // The last statement of the start waits.
        await tx.run(sql`lock table account in access exclusive mode`);
        const server = start(['serve', '--port', '0'], environment);
        cleanUp(t, () => server.kill('SIGKILL'));
        const waiting = sql`select pid from pg_stat_activity
          where wait_event_type = 'Lock' and query like 'select id, name, plan from account%'`;
        await until(async () => (await database.get(waiting)) !== undefined, 'the start does not wait');
        server.kill('SIGTERM');
        await sleep(200);
        // In an object: the result comes after the transaction.
        return { ended: resultOf(server) };
      }),
    );
    assert.deepEqual(await ended, { code: 0, stdout: '', stderr: '' });
  });

  test('curd serve with processes is refused on SQLite, and where processes cannot share a port', async (t) => {
    const environment = await freshShop(t, { CURD_PROCESSES: '2' });
    await assert.rejects(runInProcess(environment, 'serve'), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /^--processes is 2, but one process owns an SQLite database\. Set it to 1/);
      return true;
    });
    const database = { engine: 'postgres', file: null, url: 'postgres://db/curd' } as const;
    const given = [{ variable: 'CURD_PROCESSES', value: 'auto', origin: 'flag' }] as const;
    for (const platform of ['darwin', 'win32']) {
      assert.throws(
        () => requireSupport({ processes: 2, database, given }, platform),
        /--processes is auto, 2 on this machine, but .* only on Linux and FreeBSD\./,
      );
    }
    requireSupport({ processes: 2, database, given }, 'freebsd');
    assert.ok(parseProcesses('auto', 'x') >= 1 && parseProcesses('auto', 'x') <= 16);
    assert.throws(() => parseProcesses('0', 'CURD_PROCESSES'), ConfigError);
  });
});

suite('The parts of processes', () => {
  test('The parts of processes close a connection after a number of requests, and after a time', async (t) => {
    for (const [limits, before] of [
      [{ requests: 3, ageMs: 60_000 }, 2],
      [{ requests: 1000, ageMs: 0 }, 0],
    ] as const) {
      const server = createServer((_, response) => response.end('ok'));
      limitConnections(server, systemClock, limits);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      cleanUp(t, () => server.close());
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      for (let count = 0; count < before; count += 1) {
        assert.equal((await send(url, '', { agent })).connection, 'keep-alive');
      }
      assert.equal((await send(url, '', { agent })).connection, 'close');
      agent.destroy();
    }
  });

  test('The parts of processes share the connections to PostgreSQL', () => {
    assert.equal(withShareOfConnections('postgres://db/curd', 3), 'postgres://db/curd?max=4');
    assert.equal(
      withShareOfConnections('postgres://db/curd?max=40&sslmode=require', 8),
      'postgres://db/curd?max=5&sslmode=require',
    );
    assert.equal(withShareOfConnections('postgres://db/curd', 16), 'postgres://db/curd?max=2');
  });

  test('The parts of processes merge their metrics, each once', () => {
    const text = (value: number) =>
      `# HELP a About a.\n# TYPE a gauge\na{x="{}"} ${value}\n# HELP b About b.\n# TYPE b counter\nb ${value}\n`;
    const merged = mergeMetrics(
      new Map([
        [1, text(5)],
        [2, text(7)],
        [3, ''],
      ]),
    );
    assert.equal(
      merged,
      '# HELP a About a.\n# TYPE a gauge\na{worker="1",x="{}"} 5\na{worker="2",x="{}"} 7\n# HELP b About b.\n# TYPE b counter\nb{worker="1"} 5\nb{worker="2"} 7\n',
    );
  });
});
