/** Copies of a shop from SQLite to PostgreSQL and back: while a server runs, interrupted, and refused. */
import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { buildApp } from '../../src/app/build-app.ts';
import { copyTables } from '../../src/database/copy/copy-tables.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { contentsOf } from '../database/contents.ts';
import { freshConfig, open } from '../database/notes.ts';
import { imagesFolder, nameOf, testImage, uploaded } from '../files/images.ts';
import { cleanUp, createDatabase, engines, openShop, temporaryFolder, until } from '../helper.ts';
import { newApplication, openBrowser, openListeningShop, password, tokensOf } from '../oauth/flow.ts';
import { newCheese, orderOf, registerCustomer } from '../shop-verbs.ts';
import { openFilledShop, requestOk } from './filled-shop.ts';
import { assertRefused, curd, curdJson, inShop } from './run.ts';

/** A running shop with data of every kind, and the credentials of its clients. */
async function openedShop(t: TestContext) {
  const shop = await openListeningShop(t, { settings: { CURD_APPROVAL_DELAY: '1h' } });
  await registerCustomer(shop, { username: 'ada' });
  await registerCustomer(shop, { username: 'bob' });
  const sessionOf = async (username: string) => {
    const { token } = await requestOk(shop, 'POST', '/v2/customer/login', { body: { username, password } });
    return { authorization: `Bearer ${token}` };
  };
  const session = await sessionOf('ada');
  const application = await newApplication(shop);
  const tokens = await tokensOf(shop, application, openBrowser(shop.url, 'ada'));
  const writer = await shop.createKey({ scopes: ['write:cheeses', 'write:orders'] });
  const cheese = { name: 'Gruyère', pricePerKg: 30 };
  const once = { as: writer, body: cheese, headers: { 'idempotency-key': 'once' } };
  const { id: cheeseId } = await requestOk(shop, 'POST', '/v2/cheeses', once);
  const { imageUrl } = await uploaded(shop, cheeseId, await testImage(1));
  const order = orderOf(cheeseId);
  const placed = await requestOk(shop, 'POST', '/v2/store/order', {
    as: writer,
    headers: session,
    body: order,
  });
  // The newest customer is deleted, and its id must not be used again.
  const lastCustomer = (await idOf(shop.app.database, 'bob')) ?? 0;
  await requestOk(shop, 'DELETE', '/v2/customer/bob', { headers: await sessionOf('bob') });
  const access = { authorization: `Bearer ${tokens.access_token}` };
  return { shop, session, access, writer, cheese, cheeseId, imageUrl, order, placed, lastCustomer };
}

test('A shop that is copied while a server runs', async (moving) => {
  const opened = await openedShop(moving);
  const { shop, session, access, writer, cheeseId, order, placed, lastCustomer } = opened;
  const empty = { CURD_DATA_DIR: await temporaryFolder(moving) };
  const url = await createDatabase(moving);
  const images = await temporaryFolder(moving);
  const source = `sqlite:${shop.config.dataDir}/curd.sqlite`;
  const there = ['--from', source, '--to', url, '--to-images', `file:${images}`];
  const report = await curdJson(empty, 'copy', ...there);
  const config = loadConfig({
    CURD_DATA_DIR: await temporaryFolder(moving),
    CURD_DATABASE: url,
    CURD_IMAGES: `file:${images}`,
    CURD_SECRET: shop.config.secret,
    CURD_LOG_LEVEL: 'silent',
    CURD_APPROVAL_DELAY: '1h',
  });
  const moved = await buildApp(config);
  cleanUp(moving, () => moved.close());
  const { database } = moved;

  await moving.test(
    'A shop that is copied while a server runs is complete on PostgreSQL, and the copy leaves no files',
    async () => {
      assert.deepEqual(report.images, { files: 2, written: 2, missing: [] });
      assert.deepEqual(await readdir(empty.CURD_DATA_DIR), []);
      assert.deepEqual(await contentsOf(database), await contentsOf(shop.app.database));
    },
  );

  await moving.test(
    'A shop that is copied while a server runs accepts the keys, sessions, tokens and idempotency keys, and continues the ids',
    async () => {
      const ask = (method: 'GET' | 'POST', at: string, headers: Record<string, string>, payload?: object) =>
        moved.server.inject({ method, url: at, headers, ...(payload === undefined ? {} : { payload }) });
      const key = { 'x-api-key': writer };
      assert.equal((await ask('GET', `/v2/cheeses/${cheeseId}`, key)).json().name, 'Gruyère');
      assert.equal((await ask('GET', '/v2/whoami', session)).json().customer, 'ada');
      assert.equal((await ask('GET', '/v2/whoami', access)).statusCode, 200);
      assert.equal((await ask('GET', `/v2/store/order/${placed.id}`, key)).json().total, placed.total);
      const replayed = await ask('POST', '/v2/cheeses', { ...key, 'idempotency-key': 'once' }, opened.cheese);
      assert.deepEqual([replayed.statusCode, replayed.json().id], [201, cheeseId], 'the stored response');
      const image = await ask('GET', new URL(opened.imageUrl).pathname, {});
      assert.deepEqual([image.statusCode, image.headers['content-type']], [200, 'image/png']);
      const next = await ask('POST', '/v2/store/order', key, order);
      assert.equal(next.json().id, placed.id + 1);
      const carl = { username: 'carl', email: 'carl@example.com', password };
      assert.equal((await ask('POST', '/v2/customer', {}, carl)).statusCode, 201);
      assert.equal(await idOf(database, 'carl'), lastCustomer + 1);
    },
  );

  await moving.test(
    'A shop that is copied while a server runs is copied back to SQLite with later additions, and continues the ids',
    async (t) => {
      const folder = await temporaryFolder(t);
      const back = ['--from', url, '--to', `sqlite:${folder}/curd.sqlite`, '--from-images', `file:${images}`];
      assert.equal((await curdJson(empty, 'copy', ...back)).images.written, 2);
      const home = { CURD_DATA_DIR: folder, CURD_SECRET: shop.config.secret };
      await inShop(home, async (services) => {
        assert.deepEqual(await contentsOf(services.database), await contentsOf(database));
        const dora = { username: 'dora', email: 'dora@example.com', password };
        await services.customers.service.register(services.contextOf('test'), dora);
        assert.equal(await idOf(services.database, 'dora'), lastCustomer + 2);
      });
    },
  );
});

suite('A shop', () => {
  for (const engine of engines) {
    test(`A shop whose copy fails half way leaves an empty database, to which it is then copied (${engine})`, async (t) => {
      const source = await filled(t, engine === 'sqlite' ? 'postgres' : 'sqlite', 3000);
      const target = await open(t, await freshConfig(t, engine));
      await migrate(target);
      const empty = await contentsOf(target);
      const halfWay = new Error('half way');
      const copy = (failsAfter: number) =>
        target.exclusiveTransaction((tx) =>
          copyTables(source, tx, (done) => {
            if (done > failsAfter) {
              throw halfWay;
            }
          }),
        );
      await assert.rejects(copy(1000), halfWay);
      assert.deepEqual(await contentsOf(target), empty);
      await copy(Number.POSITIVE_INFINITY);
      assert.deepEqual(await contentsOf(target), await contentsOf(source));
    });

    test(`A shop is not copied over another one (${engine})`, async (t) => {
      const { environment } = await openFilledShop(t, 'sqlite');
      const other = await openShop(t, { engine });
      const { database } = other.config;
      const to = database.engine === 'postgres' ? database.url : `sqlite:${database.file}`;
      // The server numbers its events a moment after their commit.
      const unnumbered = sql`select id from event where sequence is null`;
      await until(async () => (await other.app.database.get(unnumbered)) === undefined);
      const contents = await contentsOf(other.app.database);
      const refused = await curd(environment, 'copy', '--to', to);
      assertRefused(refused, /a shop in the target already, and a copy replaces nothing.*empty database/);
      assert.deepEqual(await contentsOf(other.app.database), contents);
    });
  }

  test('A shop with missing images is copied, and the missing images are listed', async (t) => {
    const shop = await openShop(t);
    const { imageUrl } = await uploaded(shop, await newCheese(shop), await testImage(1));
    const lost = nameOf(imageUrl);
    await rm(join(imagesFolder(shop), lost.slice(0, 2), lost));
    const to = `sqlite:${await temporaryFolder(t)}/curd.sqlite`;
    const run = await curd({ CURD_DATA_DIR: shop.config.dataDir }, 'copy', '--to', to);
    assert.equal(run.code, 2);
    assert.match(run.stdout, new RegExp(`Missing in the source: 1 image \\(${lost}\\)`));
  });
});

async function idOf(database: Database, username: string): Promise<number | undefined> {
  const row = await database.get<{ id: number }>(sql`select id from customer where username = ${username}`);
  return row?.id;
}

/** A database with this number of accounts. */
async function filled(t: TestContext, engine: Engine, accounts: number): Promise<Database> {
  const database = await open(t, await freshConfig(t, engine));
  await migrate(database);
  const rows = Array.from({ length: accounts }, (_, index) => [`account ${index}`, 'free', '']);
  await database.insert('account', ['name', 'plan', 'created_at'], rows);
  return database;
}
