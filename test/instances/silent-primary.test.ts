/** A database server that becomes silent, and names that cannot be resolved, delay requests for seconds at most. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, open as openFile, openSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionPool } from '../../src/database/postgres/pool.ts';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { isLost } from '../../src/database/postgres/postgres-errors.ts';
import { type PostgresServer, serversIn } from '../../src/database/postgres/url.ts';
import { rawSql, sql } from '../../src/database/sql.ts';
import { AppError, mayHaveBeenMade } from '../../src/errors.ts';
import { cleanUp, createDatabase, type Scope, temporaryFolder, until } from '../context.ts';
import { onConnection, queryPostgres } from '../postgres-client.ts';

const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;
/** When a silent server is noticed, and some time for a busy machine. */
const noticedMs = 6000;
const graceMs = 1500;

/** A proxy to a server, which can stop to pass anything on without closing a connection. */
async function startProxy(t: Scope, to: URL) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => isSilent || other.write(bytes));
      from.on('error', () => {});
      from.on('close', () => isSilent || other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    /** Connections of before stay silent. */
    becomeSilent(silent: boolean) {
      isSilent = silent;
    },
  };
}

suite('A database server that becomes silent without closing connections', { concurrency: true }, () => {
  test('A database server that becomes silent is replaced by the next one within six seconds, and a slow one is not', async (t) => {
    const url = new URL(await createDatabase(t));
    const proxy = await startProxy(t, url);
    const own = `127.0.0.1:${proxy.port}`;
    const database = openPostgres(url.href.replace(url.host, `${own},${url.host}`));
    cleanUp(t, () => database.close());
    const slowServer = openPostgres(url.href);
    cleanUp(t, () => slowServer.close());
    await queryPostgres(url.href, 'create table note (id bigint)');
    const insert = (id: number) => database.run(sql`insert into note values (${id})`);
    await Promise.all([1, 2, 3].map(insert));

    // Its statement runs longer than a server is silent.
    const slow = slowServer.get<{ seven: number }>(rawSql('select pg_sleep(6.5), 7 as seven'));
    proxy.becomeSilent(true);
    const startedAt = performance.now();
    const first = insert(4).then(
      () => assert.fail('there is no server'),
      (error) => {
        assert.ok(error instanceof AppError && error.message.includes(mayHaveBeenMade), String(error));
      },
    );
    // They wait for a connection, or are sent later.
    const later: Promise<unknown>[] = [];
    for (let id = 5; id < 25; id += 1) {
      later.push(insert(id).catch((error) => error));
      await sleep(100);
    }
    await first;
    const ms = performance.now() - startedAt;
    assert.ok(ms < noticedMs + graceMs, `${ms} ms`);
    await insert(25);
    for (const outcome of await Promise.all(later)) {
      assert.ok(outcome === 1 || outcome instanceof AppError, String(outcome));
    }
    assert.equal((await slow)?.seven, 7);
  });

  test('A database server that becomes silent is noticed where it is the only one, and used again when it responds', async (t) => {
    const url = new URL(await createDatabase(t));
    const proxy = await startProxy(t, url);
    const database = openPostgres(url.href.replace(url.host, `127.0.0.1:${proxy.port}`));
    cleanUp(t, () => database.close());
    await database.get(sql`select 1 as one`);
    proxy.becomeSilent(true);
    const startedAt = performance.now();
    await assert.rejects(database.get(sql`select 1 as one`), AppError);
    const ms = performance.now() - startedAt;
    assert.ok(ms < noticedMs + graceMs, `${ms} ms`);
    proxy.becomeSilent(false);
    assert.deepEqual(await database.get(sql`select 1 as one`), { one: 1 });
  });
});

test('One connection that is dead ends after the longest time of a statement, but none that runs without limits', async (t) => {
  const [server] = serversIn(await createDatabase(t));
  const pool = new ConnectionPool(server as PostgresServer, 3, 3);
  cleanUp(t, () => pool.end(0));
  const statement = pool.query('select pg_sleep(1)', [], undefined, false);
  const patient = pool.during((connection) => connection.query('select pg_sleep(1)'), true);
  const outcomes = Promise.allSettled([statement, patient]);
  await sleep(300);
  pool.destroySilent(performance.now() + 30_000, 40_000);
  pool.destroySilent(performance.now() + 60_000, 40_000);
  const [one, other] = await outcomes;
  assert.ok(one.status === 'rejected' && isLost(one.reason), String(one));
  assert.equal(other.status, 'fulfilled');
});

test('A new connection does not wait for other names that cannot be resolved', async (t) => {
  const url = new URL(await createDatabase(t));
  url.hostname = 'localhost';
  const database = openPostgres(url.href);
  cleanUp(t, () => database.close());
  await database.get(sql`select 1 as one`);
  const fifo = join(await temporaryFolder(t), 'fifo');
  execFileSync('mkfifo', [fifo]);
  await onConnection(url.href, async (query) => {
    // All threads that resolve names wait, as they do for a name server that is dead.
    const threads = 4;
    let opened = 0;
    for (let thread = 0; thread < threads; thread += 1) {
      openFile(fifo, 'r', (_error, file) => {
        opened += 1;
        closeSync(file);
      });
    }
    await query(terminate);
    await sleep(50);
    const startedAt = performance.now();
    await database.get(sql`select 1 as one`);
    const ms = performance.now() - startedAt;
    assert.equal(opened, 0, 'the threads were free');
    assert.ok(ms < 10_000, `${ms} ms`);
    const writer = openSync(fifo, 'w');
    await until(async () => opened === threads);
    closeSync(writer);
  });
});
