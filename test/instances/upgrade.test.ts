/**
 * The newest release beside this version on one database, as during an upgrade without downtime. It is skipped where
 * the repository has no tag of a release from 1.0.0 on. CURD_TEST_UPGRADE_SECONDS=60 sets how long the load lasts, and
 * CURD_TEST_UPGRADE_FROM=<commit> takes another commit than that of the newest tag.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  curd,
  curdJson,
  type Environment,
  freshShop,
  inShop,
  type RunningServer,
  serve,
} from '../cli/run.ts';
import { createDatabase, secret, temporaryFolder, until } from '../context.ts';
import { newestRelease } from '../gates/migrations.ts';
import { startLoad } from './steady-load.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const loadMs = 1000 * Number(process.env.CURD_TEST_UPGRADE_SECONDS ?? 6);
const release = process.env.CURD_TEST_UPGRADE_FROM ?? newestRelease(root);
const skip = release === null && 'the repository has no release tag (v1.0.0 or later)';

/** Checks the release out. @returns what `serve` puts before its arguments to run that version */
async function checkOut(t: TestContext): Promise<string[]> {
  const folder = join(await temporaryFolder(t), 'release');
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', release ?? ''], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const lockOf = (path: string) => readFileSync(join(path, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(root)) {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  } else {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'ignore',
    });
  }
  const executable = join(folder, 'bin', 'curd.js');
  return ['sh', '-c', `node=$1; shift 2; exec "$node" '${executable}' "$@"`, 'sh'];
}

suite('This version and the newest release', { skip }, () => {
  test('This version and the newest release serve one PostgreSQL, and the release starts again', {
    timeout: 10 * loadMs + 120_000,
  }, async (t) => {
    const old = await checkOut(t);
    const settings = {
      CURD_DATABASE: await createDatabase(t),
      CURD_SECRET: secret,
      CURD_ENVIRONMENT: 'sandbox',
      CURD_PLANS: '{"free":{"perHour":null,"burst":60000}}',
      CURD_APPROVAL_DELAY: '100ms',
      CURD_LOG_LEVEL: 'error',
    };
    const environment = await freshShop(t, settings);
    const servers: RunningServer[] = [await serve(t, environment, old)];
    await curdJson(environment, 'migrate');
    const { key, cheeseIds } = await prepare(environment);
    servers.push(await serve(t, environment));
    let isOldOut = false;
    let turn = 0;
    const next = () => {
      turn += 1;
      return servers[isOldOut ? 1 : turn % 2]?.url ?? '';
    };
    const load = startLoad({ next, key, cheeseIds, shoppers: 4, restMs: 20, mayBreak: false });
    const operator = startOperator(next, key);
    for (let restart = 0; restart < 2; restart += 1) {
      await sleep(loadMs / 3);
      isOldOut = true;
      assert.deepEqual(await servers[0]?.stop(), { code: 0, stderr: '' });
      servers[0] = await serve(t, environment, old);
      isOldOut = false;
    }
    await sleep(loadMs / 3);
    await load.stop();
    await operator.stop();
    assert.deepEqual(load.faults, []);
    assert.deepEqual(operator.faults.slice(0, 5), []);
    assert.deepEqual(
      Object.keys(load.counts).filter((kind) => / 5\d\d/.test(kind)),
      [],
    );
    assert.ok(operator.shipped() > 0 && load.cancelled.size > 0);
    t.diagnostic(`${release}: ${JSON.stringify(load.counts)}, ${operator.shipped()} shipped`);

    await inShop(environment, async ({ database }) => {
      const { sql } = await import('../../src/database/sql.ts');
      const count = async (condition = sql`true`) =>
        (
          await database.get<{ n: number }>(
            sql`select count(*) as n from orders where id > 10 and ${condition}`,
          )
        )?.n;
      await until(async () => (await count(sql`status = 'placed'`)) === 0, 'orders wait for their approval');
      assert.equal(await count(), load.orders.size);
      for (const server of servers) {
        for (const status of ['approved', 'shipped', 'cancelled']) {
          const response = await fetch(`${server.url}/v2/store/orders?limit=1&status=${status}`, {
            headers: { 'X-API-Key': key },
          });
          const testOrders = (
            await database.all(sql`select 1 from orders where id <= 10 and status = ${status}`)
          ).length;
          const { total } = (await response.json()) as { total: number };
          const exact = (await count(sql`status = ${status}`)) ?? 0;
          assert.ok(total === exact || total === exact + testOrders, `${status}: ${total}, not ${exact}`);
        }
      }
    });
    for (const server of servers) {
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    }
    const doctor = await curd(environment, 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
  });

  test('This version and the newest release serve one SQLite database in turns, with the same lists', {
    timeout: 120_000,
  }, async (t) => {
    const old = await checkOut(t);
    const environment = await freshShop(t, { CURD_LOG_LEVEL: 'error' });
    let key: string | null = null;
    const lists: string[] = [];
    for (const within of [[], old, []]) {
      const server = await serve(t, environment, within);
      key ??= server.firstKey;
      const read = async (path: string) =>
        (await fetch(`${server.url}/v2${path}`, { headers: { 'X-API-Key': key ?? '' } })).text();
      lists.push(await read('/cheeses?limit=100'), await read('/store/order/7'));
      assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
    }
    assert.equal(new Set(lists).size, 2);
    const doctor = await curd(environment, 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
  });
});

function prepare(environment: Environment): Promise<{ key: string; cheeseIds: number[] }> {
  return inShop(environment, async ({ auth: { keys }, cheeses: { service: cheeses }, contextOf }) => {
    const context = contextOf('test');
    const cheeseIds: number[] = [];
    for (const pricePerKg of [41.5, 0.01, 19.999]) {
      cheeseIds.push((await cheeses.create(context, { name: `Cheese ${pricePerKg}`, pricePerKg })).id);
    }
    const account = await keys.createAccount(context, 'load');
    const scopes = ['admin', 'write:orders', 'write:cheeses', 'read:cheeses'] as const;
    return { key: (await keys.create(context, account.id, { scopes })).key, cheeseIds };
  });
}

interface Operator {
  readonly faults: readonly string[];
  shipped(): number;
  stop(): Promise<void>;
}

/** Ships approved orders, and creates, changes and deletes cheeses. */
function startOperator(next: () => string, key: string): Operator {
  const faults: string[] = [];
  let shipped = 0;
  let isStopping = false;

  // biome-ignore lint/suspicious/noExplicitAny: the caller knows its type.
  async function send(method: string, path: string, body?: object): Promise<any> {
    const response = await fetch(`${next()}/v2${path}`, {
      method,
      headers: {
        'X-API-Key': key,
        'X-Confirm-Delete': 'true',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    // An order may have been cancelled since it was listed.
    if (!response.ok && response.status !== 409) {
      faults.push(`${method} ${path}: ${response.status} ${text}`);
    }
    shipped += path.endsWith('/ship') && response.ok ? 1 : 0;
    return text === '' ? null : JSON.parse(text);
  }

  async function work(): Promise<void> {
    for (let round = 0; !isStopping; round += 1) {
      const { id } = await send('POST', '/cheeses', { name: `Round ${round}`, tags: [{ name: 'round' }] });
      await send('PATCH', `/cheeses/${id}`, { pricePerKg: 1 + (round % 50) });
      await send('GET', '/cheeses?tags=round');
      await send('DELETE', `/cheeses/${id}`);
      const orders = await send('GET', '/store/orders?status=approved&limit=2');
      for (const order of orders?.items ?? []) {
        await send('POST', `/store/order/${order.id}/ship`);
      }
      await sleep(50);
    }
  }
  const working = work();
  return {
    faults,
    shipped: () => shipped,
    async stop() {
      isStopping = true;
      await working;
    },
  };
}
