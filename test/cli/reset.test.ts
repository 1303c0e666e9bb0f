/** "curd reset": a shop is like new, its keys stay valid, and running servers notice it immediately. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { listTables } from '../../src/database/copy/tables.ts';
import type { Database } from '../../src/database/database.ts';
import { type Engine, rawSql, sql } from '../../src/database/sql.ts';
import { secret } from '../context.ts';
import { shown } from '../files/images.ts';
import { assertError, createDatabase, engines, type Shop } from '../helper.ts';
import { newApplication } from '../oauth/flow.ts';
import { orderOf } from '../shop-verbs.ts';
import { openFilledShop, requestOk } from './filled-shop.ts';
import {
  accountWithKey,
  assertEachRefused,
  assertRefused,
  cheesesIn,
  createStock,
  curd,
  curdJson,
  freshShop,
  inShop,
  runInProcess,
  storeEnvironmentOf,
} from './run.ts';

async function countsIn(database: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await listTables(database, database.engine)) {
    const row = await database.get<{ count: number }>(sql`select count(*) as count from ${rawSql(name)}`);
    counts[name] = row?.count ?? 0;
  }
  return counts;
}

/** The catalogue and test orders as a client reads them, without ids and times. */
async function seen(shop: Shop) {
  const { json } = await shop.request('GET', '/v2/cheeses?limit=100&withTotal=true', { as: shop.reader });
  const tests = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const order = await requestOk(shop, 'GET', `/v2/store/order/${index + 1}`, { as: shop.admin });
      return `${order.id} ${order.status} ${order.total}`;
    }),
  );
  return {
    names: json.items.map(({ name }: { name: string }) => name).sort() as string[],
    ids: json.items.map(({ id }: { id: number }) => id) as number[],
    photos: json.items.flatMap(({ photoUrls }: { photoUrls: string[] }) => photoUrls) as string[],
    tests,
  };
}

/** Requests before the reset, which fill the caches. */
const lists = [
  '/v2/cheeses',
  '/v2/cheeses?tags=cow',
  '/v2/cheeses?q=com',
  '/v2/cheeses?category=Hard&withTotal=true',
];
const emptied = [
  'customer',
  'session',
  'login_failure',
  'login_network',
  'open_order_cheese',
  'order_count',
  'order_count_change',
  'background_job',
  'oauth_object',
  'admin_approval',
  'stored_response',
];

async function resetLife(t: TestContext, engine: Engine) {
  const life = await openFilledShop(t, engine);
  const { shop, environment, cheeses, imageUrl } = life;
  const application = await newApplication(shop);
  for (const url of [...lists, `/v2/cheeses/${cheeses[0]}`, '/v2/store/inventory']) {
    await requestOk(shop, 'GET', url, { as: shop.reader });
  }
  assert.equal((await shown(shop, imageUrl)).status, 200);
  const tags: string[] = [];
  for (const pricePerKg of [1, 2, 3]) {
    const changed = await shop.request('PATCH', `/v2/cheeses/${cheeses[0]}`, {
      as: shop.writer,
      body: { pricePerKg },
    });
    tags.push(String(changed.headers.etag));
  }
  const known = await countsIn(shop.app.database);
  const run = await curd(environment, 'reset', '--yes');
  return { ...life, application, known, tags, run };
}

for (const engine of engines) {
  test(`A shop that is reset (${engine})`, async (reset) => {
    const life = await resetLife(reset, engine);
    const { shop, environment, orderer, session, orders, cheeses, imageUrl, known } = life;
    const {
      database,
      oauth: { clients },
    } = shop.app;

    await reset.test('A shop that is reset is reported as text and by an event', async () => {
      const stdout = 'The shop is reset. Accounts, keys, applications and webhook endpoints are kept.\n';
      assert.deepEqual(life.run, { code: 0, stdout, stderr: '' });
      const [first] = await database.all<object>(sql`select type, actor from event order by id limit 1`);
      assert.deepEqual({ ...first }, { type: 'shop.reset', actor: 'cli' });
    });

    await reset.test(
      'A shop that is reset keeps accounts, keys and applications, and nothing else',
      async () => {
        const counts = await countsIn(database);
        for (const name of ['account', 'api_key', 'oauth_client', 'migration']) {
          assert.ok(counts[name] !== 0 && counts[name] === known[name], name);
        }
        assert.deepEqual(
          emptied.map((name) => [name, counts[name]]),
          emptied.map((name) => [name, 0]),
        );
        assert.equal(counts.orders, 10);
        const unused = await freshShop(reset, { CURD_SECRET: secret });
        const rows = await inShop(unused, (fresh) => countsIn(fresh.database));
        for (const name of Object.keys(rows).filter((one) => rows[one] !== 0)) {
          assert.notEqual(counts[name], 0, `${name} has a row in every shop: add it to kept-tables.ts`);
        }
        const { scopes } = await requestOk(shop, 'GET', '/v2/whoami', { as: orderer });
        assert.ok(scopes.includes('write:orders'));
        const { clientId } = life.application;
        assert.ok((await clients.list()).some((client) => client.clientId === clientId));
      },
    );

    await reset.test(
      'A shop that is reset returns nothing of the old data from the next request on',
      async () => {
        for (const url of lists.slice(1)) {
          const { items } = await requestOk(shop, 'GET', url, { as: shop.reader });
          assert.ok(items.length > 0 || url.includes('cow'), url);
          assert.ok(
            items.every(({ name }: { name: string }) => name !== 'New name'),
            url,
          );
        }
        for (const url of [`/v2/store/order/${orders.shipped}`, '/v2/customer/ada']) {
          assertError(await shop.request('GET', url, { as: shop.admin }), 404, 'not_found');
        }
        assertError(await shop.request('GET', '/v2/whoami', { headers: session }), 401, 'unauthorized');
        assert.equal((await shown(shop, imageUrl)).status, 404);
      },
    );

    await reset.test(
      'A shop that is reset is like after a first start, with the same ids, and new ids continue',
      async () => {
        const now = await seen(shop);
        assert.ok(now.names.length > 50 && now.names.includes('Beaufort') && !now.names.includes('New name'));
        assert.deepEqual(
          now.ids.toSorted((a, b) => a - b),
          now.ids.map((_, index) => index + 1),
        );
        const { headers } = await shop.request('GET', `/v2/cheeses/${cheeses[0]}`, { as: shop.reader });
        assert.ok(!life.tags.includes(String(headers.etag)), 'no old ETag is valid for another content');
        assert.equal(now.photos.length, now.names.length);
        for (const url of new Set(now.photos)) {
          assert.equal((await shown(shop, url)).status, 200, url);
        }
        assert.deepEqual(
          now.tests.map((one) => one.split(' ')[1]),
          ['placed', 'approved', 'shipped', 'delivered', 'cancelled'].flatMap((status) => [status, status]),
        );
        const again = { as: orderer, headers: { 'idempotency-key': 'once' }, body: orderOf(now.ids[0] ?? 0) };
        const placed = await requestOk(shop, 'POST', '/v2/store/order', again);
        assert.ok(
          placed.id > Math.max(...Object.values(orders)),
          'ids continue, and the idempotency key can be used again',
        );
        const doctor = await curd(environment, 'doctor');
        assert.deepEqual([doctor.code, doctor.stderr], [0, ''], doctor.stdout);
      },
    );

    await reset.test(
      'A shop that is reset is reset again with --json: the same result, and the same ids',
      async () => {
        const before = await seen(shop);
        const category = await newCategory(shop, 'Smoked');
        const made = await requestOk(shop, 'POST', '/v2/cheeses', {
          as: shop.writer,
          body: { name: 'One more' },
        });
        await requestOk(shop, 'DELETE', '/v2/store/order/1', { as: shop.admin });
        assert.deepEqual(await curdJson(environment, 'reset', '--yes'), { reset: true });
        const now = await seen(shop);
        assert.deepEqual(
          [now.names, now.tests, now.photos.length],
          [before.names, before.tests, before.photos.length],
        );
        assert.deepEqual(now.ids, before.ids);
        const { id } = await requestOk(shop, 'POST', '/v2/cheeses', {
          as: shop.writer,
          body: { name: 'One more' },
        });
        assert.ok(id > made.id, 'a cheese gets no id of before the reset');
        assert.ok((await newCategory(shop, 'Blue-veined')) > category, 'no category gets the id of another');
      },
    );
  });
}

/** The id of the category of a new cheese. */
async function newCategory(shop: Shop, name: string): Promise<number> {
  const made = await requestOk(shop, 'POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name, category: { name } },
  });
  return made.category.id;
}

test('A reset of a shop on IPv6 creates images with URLs where it listens', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret, CURD_HOST: '::1' });
  await curdJson(environment, 'reset', '--yes');
  const [cheese] = await cheesesIn(environment);
  assert.match(cheese?.photoUrls[0] ?? '', /^http:\/\/\[::1\]:8080\/images\//);
});

test('A reset of a sandbox that was never started has the result of a first start', async (t) => {
  const environment = await freshShop(t, {
    CURD_SECRET: secret,
    CURD_DATABASE: await createDatabase(t),
    CURD_ENVIRONMENT: 'sandbox',
  });
  assert.deepEqual(await curdJson(environment, 'reset', '--yes'), { reset: true });
  assert.ok((await cheesesIn(environment)).length > 20);
});

test('A reset of a busy shop leaves no order without its cheeses, and no job without its order', async (t) => {
  const { shop, environment, orderer } = await openFilledShop(t, 'postgres', { CURD_APPROVAL_DELAY: '0ms' });
  let isOver = false;
  async function buy(): Promise<void> {
    while (!isOver) {
      const list = await shop.request('GET', '/v2/cheeses?status=available&limit=3', { as: orderer });
      for (const { id } of list.json.items) {
        const { status } = await shop.request('POST', '/v2/store/order', { as: orderer, body: orderOf(id) });
        assert.ok([201, 422].includes(status));
      }
    }
  }
  const working = Promise.all(Array.from({ length: 4 }, buy));
  for (let time = 0; time < 2; time += 1) {
    assert.deepEqual(await curdJson(environment, 'reset', '--yes'), { reset: true });
  }
  const { code, stdout, stderr } = await curd(environment, 'doctor');
  isOver = true;
  await working;
  assert.deepEqual([code, stderr], [0, ''], stdout);
});

test('A production shop is not reset, and no shop without --yes', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret });
  await createStock(environment, { prices: [41.5], scopes: ['admin'] });
  const counted = () => inShop(environment, ({ database }) => countsIn(database));
  const known = await counted();
  const production = {
    ...environment,
    CURD_ENVIRONMENT: 'production',
    CURD_PUBLIC_URL: 'https://shop.example',
  };
  const sandbox = { ...environment, CURD_ENVIRONMENT: 'sandbox' };
  await assertEachRefused(t, [
    ['local without a yes', () => runInProcess(environment, 'reset'), /\(local\).*Add --yes/],
    ['sandbox settings', () => runInProcess(sandbox, 'reset', [], { yes: true }), /This is a local shop/],
  ]);
  assertRefused(await curd(environment, 'reset', '--json'), /\(local\).*Add --yes/);
  await storeEnvironmentOf(environment, 'production');
  await assertEachRefused(t, [
    [
      'production',
      () => runInProcess(production, 'reset', [], { yes: true }),
      /production shop is not reset/,
    ],
    ['production without a yes', () => runInProcess(production, 'reset'), /production shop is not reset/],
    [
      'local settings',
      () => runInProcess(environment, 'reset', [], { yes: true }),
      /This is a production shop/,
    ],
  ]);
  await storeEnvironmentOf(production, 'local');
  assert.deepEqual(await counted(), known);

  await accountWithKey(environment, [], { type: 'live' });
  const withKey = await counted();
  await assert.rejects(
    runInProcess(environment, 'reset', [], { yes: true }),
    /has live keys, as production shops do/,
  );
  assert.deepEqual(await counted(), withKey);
});
