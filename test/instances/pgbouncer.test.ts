/**
 * Instances that reach PostgreSQL through PgBouncer in transaction mode, with 5 connections to the database. Skipped
 * where it is not installed. CONTRIBUTING.md says how to run all tests of the API through it.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildApp } from '../../src/app/build-app.ts';
import { listMigrations } from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { postgresUrl } from '../context.ts';
import { toOwnerUrl } from '../global-setup.ts';
import {
  bern,
  cleanUp,
  createDatabase,
  type Scope,
  secret,
  shared,
  temporaryFolder,
  testClock,
  until,
} from '../helper.ts';
import { findPgBouncer, openPgBouncer, type PgBouncer } from '../pgbouncer.ts';
import { newCheese, placeOrder } from '../shop-verbs.ts';
import { openInstances, tally } from './instances.ts';

const program = findPgBouncer();
const plans = JSON.stringify({
  free: { perHour: 100, burst: 10 },
  enterprise: { perHour: null, burst: 60_000 },
});

suite('Through PgBouncer', { skip: program === undefined ? 'pgbouncer is not installed' : false }, () => {
  let bouncer: PgBouncer;
  before(async () => {
    bouncer = await openPgBouncer(program as string, toOwnerUrl(postgresUrl as string), 5);
    await bouncer.start();
  });
  after(async () => {
    await bouncer.stop();
    await bouncer.remove();
  });

  /** A database through it. */
  async function pooledDatabase(t: Scope, template?: string): Promise<string> {
    const { pathname } = new URL(await createDatabase(t, template));
    return `${bouncer.url}${pathname}?prepare=false`;
  }

  const instances = shared(async (t) =>
    openInstances(t, 3, {
      clock: testClock(),
      settings: {
        CURD_DATABASE: await pooledDatabase(t, 'template_curd'),
        CURD_PLANS: plans,
        CURD_APPROVAL_DELAY: '0ms',
      },
    }),
  );

  test('Through PgBouncer, orders are placed once by their keys, and approved once', async () => {
    const shops = instances();
    const id = await newCheese(shops);
    const responses = await shops.atOnce(90, (shop, index) =>
      placeOrder(shop, id, { headers: { 'idempotency-key': `order-${index % 30}` } }),
    );
    const placed = new Set(responses.filter(({ status }) => status === 201).map(({ json }) => json.id));
    assert.equal(placed.size, 30, tally(responses));
    await Promise.all(shops.all.map(({ app }) => app.worker.run()));
    const { database } = shops.all[0].app;
    const rows = await database.all<{ status: string; events: number }>(sql`
      select o.status, count(*) as events from orders o join event e on e.subject = 'order:' || o.id
      where o.id > 10 group by o.id, o.status`);
    assert.deepEqual(
      rows.map(({ status, events }) => `${status} ${events}`),
      Array(30).fill('approved 2'),
    );
  });

  test('Through PgBouncer, rate limits are exact', async () => {
    const shops = instances();
    const {
      auth: { keys },
      contextOf,
    } = shops.all[0].app;
    const { id } = await keys.createAccount(contextOf('test'), 'limited', 'free');
    const { key: as } = await keys.create(contextOf('test'), id, {});
    const responses = await shops.atOnce(60, (shop) => shop.request('GET', '/v2/cheeses', { as }));
    assert.equal(tally(responses), '10 x 200, 50 x 429');
  });

  test('Through PgBouncer, twenty instances start at once on an empty database', {
    timeout: 120_000,
  }, async (t) => {
    const url = await pooledDatabase(t);
    const apps = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const app = await buildApp(
          loadConfig({
            CURD_DATABASE: url,
            CURD_SECRET: secret,
            CURD_DATA_DIR: await temporaryFolder(t),
            CURD_LOG_LEVEL: 'silent',
          }),
        );
        cleanUp(t, () => app.close());
        return app;
      }),
    );
    // A server is not ready before it has read the catalogue, which takes twenty of them longer.
    const isReady = async ({ server }: (typeof apps)[number]) =>
      (await server.inject({ method: 'GET', url: '/readyz' })).statusCode === 200;
    await Promise.all(apps.map((app) => until(() => isReady(app), 'a server is not ready')));
    const rows = await apps[0]?.database.all(sql`select number from migration`);
    assert.equal(rows?.length, listMigrations('postgres').length);
  });

  test('Through PgBouncer, requests get 503 while it is down, and succeed when it runs again', async () => {
    const shops = instances();
    const id = await newCheese(shops);
    const body = { items: [{ cheeseId: id, quantity: 1 }], shippingAddress: bern };
    const statuses: number[] = [];
    let isOver = false;
    const shopping = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (!isOver) {
          const { status } = await shops.request('POST', '/v2/store/order', { as: shops.admin, body });
          statuses.push(status);
          await sleep(5);
        }
      }),
    );
    await until(async () => statuses.length > 20);
    await bouncer.stop();
    await until(async () => statuses.includes(503), 'no 503');
    await bouncer.start();
    const confirmed = () => statuses.filter((status) => status === 201).length;
    const before = confirmed();
    await until(async () => confirmed() > before + 20, 'it does not recover');
    isOver = true;
    await shopping;
    assert.deepEqual([...new Set(statuses)].sort(), [201, 503]);
    const { database } = shops.all[0].app;
    const rows = await database.all(sql`select id from orders where items like ${`%"cheeseId":${id},%`}`);
    // A commit may have succeeded although its response was lost.
    assert.ok(rows.length >= confirmed() && rows.length <= confirmed() + 18, `${rows.length}`);
  });
});
