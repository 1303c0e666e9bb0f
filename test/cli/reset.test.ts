/** "curd reset": a shop for trying things is as new, its keys go on, and whoever has it open sees that at once. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { plain, sql } from '../../src/database/sql.ts';
import { listTables } from '../../src/database/tables.ts';
import { openServices } from '../../src/services.ts';
import { shown } from '../files/photos.ts';
import { assertError, createDatabase, onBothEngines, type Shop } from '../helper.ts';
import { newApplication } from '../oauth/flow.ts';
import { did, environmentOf, liveOn, orderOf } from './life.ts';
import { assertRefused, curd, curdJson, freshShop } from './run.ts';

const secret = 'a secret that is only good for tests';

async function countsIn(database: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await listTables(database, database.engine)) {
    const row = await database.get<{ count: number }>(sql`select count(*) as count from ${plain(name)}`);
    counts[name] = row?.count ?? 0;
  }
  return counts;
}

/** What a client sees of the catalogue and of the test orders; ids and times aside. */
async function seen(shop: Shop) {
  const { json } = await shop.call('GET', '/v2/cheeses?limit=100&withTotal=true', { as: shop.reader });
  const tests = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const order = await did(shop, 'GET', `/v2/store/order/${index + 1}`, { as: shop.admin });
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

onBothEngines('A shop that is reset', (engine) => {
  test('is as new with the next request, but for accounts, keys and applications', async (t) => {
    const life = await liveOn(t, engine);
    const { shop, environment, orderer, session, orders, cheeses, imageUrl } = life;
    const { database } = shop.app.services;
    const application = await newApplication(shop);
    // Looked at, so that what is remembered would be seen.
    const lists = [
      '/v2/cheeses',
      '/v2/cheeses?tags=cow',
      '/v2/cheeses?q=com',
      '/v2/cheeses?category=Hard&withTotal=true',
    ];
    for (const url of [...lists, `/v2/cheeses/${cheeses[0]}`, '/v2/store/inventory']) {
      await did(shop, 'GET', url, { as: shop.reader });
    }
    assert.equal((await shown(shop, imageUrl)).status, 200);
    const known = await countsIn(database);
    const run = await curd(environment, 'reset', '--yes');
    assert.deepEqual([run.code, run.stderr], [0, '']);
    assert.equal(run.stdout, 'The shop is as new; accounts, keys and applications are kept.\n');

    const counts = await countsIn(database);
    for (const name of ['account', 'api_key', 'oauth_client', 'migration']) {
      assert.ok(counts[name] !== 0 && counts[name] === known[name], name);
    }
    const emptied = [
      'customer',
      'session',
      'login_failure',
      'open_order_cheese',
      'job',
      'oauth_object',
      'admin_approval',
      'idempotent_answer',
    ];
    assert.deepEqual(
      emptied.map((name) => [name, counts[name]]),
      emptied.map((name) => [name, 0]),
    );
    assert.equal(counts.orders, 10);

    for (const url of lists.slice(1)) {
      const { items } = await did(shop, 'GET', url, { as: shop.reader });
      assert.ok(items.length > 0 || url.includes('cow'), url);
      assert.ok(
        items.every(({ id }: { id: number }) => id > 5),
        url,
      );
    }
    for (const url of [
      `/v2/cheeses/${cheeses[0]}`,
      `/v2/store/order/${orders.shipped}`,
      '/v2/customer/ada',
    ]) {
      assertError(await shop.call('GET', url, { as: shop.admin }), 404, 'not_found');
    }
    assertError(await shop.call('GET', '/v2/whoami', { headers: session }), 401, 'unauthorized');
    assert.equal((await shown(shop, imageUrl)).status, 404);
    assert.equal(
      (await did(shop, 'GET', '/v2/whoami', { as: orderer })).scopes.includes('write:orders'),
      true,
    );
    assert.ok(
      (await shop.app.services.clients.list()).some(({ clientId }) => clientId === application.clientId),
    );

    // As a first start leaves a shop, and with ids that nobody has seen before.
    const now = await seen(shop);
    assert.ok(now.names.length > 50 && now.names.includes('Beaufort') && !now.names.includes('New name'));
    assert.ok(Math.min(...now.ids) > 5);
    assert.equal(now.photos.length, now.names.length);
    for (const url of new Set(now.photos)) {
      assert.equal((await shown(shop, url)).status, 200, url);
    }
    assert.deepEqual(
      now.tests.map((one) => one.split(' ')[1]),
      [
        'placed',
        'placed',
        'approved',
        'approved',
        'shipped',
        'shipped',
        'delivered',
        'delivered',
        'cancelled',
        'cancelled',
      ],
    );
    const again = { as: orderer, headers: { 'idempotency-key': 'once' }, body: orderOf(now.ids[0] ?? 0) };
    const placed = await did(shop, 'POST', '/v2/store/order', again);
    assert.ok(placed.id > Math.max(...Object.values(orders)), 'ids go on, and a key is free again');
    const doctor = await curd(environment, 'doctor');
    assert.deepEqual([doctor.code, doctor.stderr], [0, ''], doctor.stdout);
    const events = await database.all<{ type: string; actor: string }>(
      sql`select type, actor from event order by id limit 1`,
    );
    assert.deepEqual({ ...events[0] }, { type: 'shop.reset', actor: 'cli' });

    // And once more, by a machine: the same again.
    await did(shop, 'DELETE', '/v2/store/order/1', { as: shop.admin });
    assert.deepEqual(await curdJson(environment, 'reset', '--yes'), { reset: true });
    const last = await seen(shop);
    assert.deepEqual([last.names, last.tests, last.photos.length], [now.names, now.tests, now.photos.length]);
    assert.ok(Math.min(...last.ids) > Math.max(...now.ids));
  });
});

suite('A shop that is reset', () => {
  test('shows its pictures where it listens, be it on IPv6', async (t) => {
    const environment = await freshShop(t, { CURD_SECRET: secret, CURD_HOST: '::1' });
    await curdJson(environment, 'reset', '--yes');
    const { database, close } = await openServices(loadConfig(environment));
    const row = await database.get<{ body: string }>(sql`select body from cheese order by id limit 1`);
    await close();
    const [url] = JSON.parse(row?.body ?? '').photoUrls;
    assert.match(url, /^http:\/\/\[::1\]:8080\/images\//);
  });

  test('gives no category the id of another, not even after a second time', async (t) => {
    const { shop, environment } = await liveOn(t, 'sqlite');
    const newCategory = async (name: string): Promise<number> =>
      (await did(shop, 'POST', '/v2/cheeses', { as: shop.writer, body: { name, category: { name } } }))
        .category.id;
    await curdJson(environment, 'reset', '--yes');
    const before = await newCategory('Smoked');
    await curdJson(environment, 'reset', '--yes');
    assert.ok((await newCategory('Blue-veined')) > before);
  });

  test('while it is at work has no order without its cheeses, and no job without its order', async (t) => {
    const { shop, environment, orderer } = await liveOn(t, 'postgres', { CURD_APPROVAL_DELAY: '0ms' });
    let isOver = false;
    async function buy(): Promise<void> {
      while (!isOver) {
        const list = await shop.call('GET', '/v2/cheeses?status=available&limit=3', { as: orderer });
        for (const { id } of list.json.items) {
          const { status } = await shop.call('POST', '/v2/store/order', { as: orderer, body: orderOf(id) });
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
});

suite('A shop that is not to be reset', () => {
  test('is one in production, or one whose keeper has not said yes', async (t) => {
    const { shop, orders } = await liveOn(t, 'sqlite');
    const environment = environmentOf(shop);
    const { database } = shop.app.services;
    const known = await countsIn(database);
    const production = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' };
    const runs = await Promise.all([
      curd({ ...environment, ...production }, 'reset', '--yes'),
      curd({ ...environment, ...production }, 'reset'),
      curd(environment, 'reset'),
      curd({ ...environment, CURD_ENVIRONMENT: 'sandbox' }, 'reset', '--json'),
    ]);
    const says = [
      /production shop is not reset/,
      /production shop is not/,
      /\(local\).*say --yes/,
      /\(sandbox\).*say --yes/,
    ];
    for (const [place, run] of runs.entries()) {
      assertRefused(run, says[place] ?? /./);
    }
    assert.deepEqual(await countsIn(database), known);
    assert.equal(
      (await did(shop, 'GET', `/v2/store/order/${orders.placed}`, { as: shop.admin })).status,
      'placed',
    );
  });

  test('or rather, one in a sandbox is, and one that was never opened is as after its first start', async (t) => {
    const environment = await freshShop(t, {
      CURD_SECRET: secret,
      CURD_DATABASE: await createDatabase(t),
      CURD_ENVIRONMENT: 'sandbox',
    });
    assert.deepEqual(await curdJson(environment, 'reset', '--yes'), { reset: true });
    const { cheeses, close } = await openServices(loadConfig(environment));
    assert.ok((await cheeses.countByStatus()).available > 20);
    await close();
  });
});
