/** A shop that moves: from SQLite to PostgreSQL and back, while it is open, interrupted, and again. */
import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { beginCopy, copyTables } from '../../src/database/copy.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { openServices } from '../../src/services.ts';
import { bodyOf, boundary, filePart, pictureOf } from '../api/image-forms.ts';
import { contentsOf } from '../database/contents.ts';
import { freshConfig, open } from '../database/notes.ts';
import { imagesFolder, newCheese, picture, uploaded } from '../files/photos.ts';
import { cleanUp, createDatabase, engines, openShop, temporaryFolder } from '../helper.ts';
import {
  newApplication,
  openBrowser,
  openListeningShop,
  password,
  register,
  tokensOf,
} from '../oauth/flow.ts';
import { liveOn } from './life.ts';
import { assertRefused, curd, curdJson } from './run.ts';

const quietly = () => {};

suite('A shop', () => {
  test('goes to PostgreSQL and back, while it is open, with everything that is in it', async (t) => {
    const shop = await openListeningShop(t, { settings: { CURD_APPROVAL_DELAY: '1h' } });
    const { services } = shop.app;
    await register(shop, 'ada');
    await register(shop, 'bob');
    const login = await shop.call('POST', '/v2/customer/login', { body: { username: 'ada', password } });
    const session = { authorization: `Bearer ${login.json.token}` };
    const application = await newApplication(shop);
    const tokens = await tokensOf(shop, application, openBrowser(shop.url, 'ada'));
    const writer = await shop.newKey({ scopes: ['write:cheeses', 'write:orders'] });
    const as = writer;
    const make = { as, body: { name: 'Gruyère', pricePerKg: 30 }, headers: { 'idempotency-key': 'once' } };
    const made = await shop.call('POST', '/v2/cheeses', make);
    const cheeseId = made.json.id;
    const uploaded = await shop.call('POST', `/v2/cheeses/${cheeseId}/uploadImage`, {
      as,
      raw: bodyOf([filePart(await pictureOf('png'))]),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
    const picture = new URL(uploaded.json.imageUrl).pathname;
    const shippingAddress = { street: 'Gasse 1', city: 'Bern', zipCode: '3011', country: 'CH' };
    const order = { items: [{ cheeseId, quantity: 2 }], shippingAddress };
    const placed = await shop.call('POST', '/v2/store/order', { as, headers: session, body: order });
    assert.equal(placed.status, 201, placed.text);
    // The newest customer is gone, and nobody gets that number again.
    const bob = await shop.call('POST', '/v2/customer/login', { body: { username: 'bob', password } });
    const lastCustomer = (await idOf(services.database, 'bob')) ?? 0;
    await shop.call('DELETE', '/v2/customer/bob', { headers: { authorization: `Bearer ${bob.json.token}` } });

    const url = await createDatabase(t);
    const images = await temporaryFolder(t);
    const source = `sqlite:${shop.config.dataDir}/curd.sqlite`;
    const empty = { CURD_DATA_DIR: await temporaryFolder(t) };
    const report = await curdJson(
      empty,
      'copy',
      '--from',
      source,
      '--to',
      url,
      '--to-images',
      `file:${images}`,
    );
    assert.deepEqual(report.images, { files: 2, written: 2, missing: [] });
    assert.deepEqual(await readdir(empty.CURD_DATA_DIR), [], 'nothing is left where it ran');

    const config = loadConfig({
      CURD_DATA_DIR: await temporaryFolder(t),
      CURD_DATABASE: url,
      CURD_IMAGES: `file:${images}`,
      CURD_SECRET: shop.config.secret,
      CURD_LOG_LEVEL: 'silent',
      CURD_APPROVAL_DELAY: '1h',
    });
    const moved = await buildApp(config);
    cleanUp(t, () => moved.close());
    assert.deepEqual(await contentsOf(moved.services.database), await contentsOf(services.database));
    const ask = (method: 'GET' | 'POST', at: string, headers: Record<string, string>, payload?: object) =>
      moved.server.inject({ method, url: at, headers, ...(payload === undefined ? {} : { payload }) });
    const key = { 'x-api-key': writer };
    assert.equal((await ask('GET', `/v2/cheeses/${cheeseId}`, key)).json().name, 'Gruyère');
    assert.equal((await ask('GET', '/v2/whoami', session)).json().customer, 'ada');
    assert.equal(
      (await ask('GET', '/v2/whoami', { authorization: `Bearer ${tokens.access_token}` })).statusCode,
      200,
    );
    assert.equal(
      (await ask('GET', `/v2/store/order/${placed.json.id}`, key)).json().total,
      placed.json.total,
    );
    const replayed = await ask('POST', '/v2/cheeses', { ...key, 'idempotency-key': 'once' }, make.body);
    assert.deepEqual([replayed.statusCode, replayed.json().id], [201, cheeseId], 'the answer from before');
    const shown = await ask('GET', picture, {});
    assert.deepEqual([shown.statusCode, shown.headers['content-type']], [200, 'image/png']);
    const next = await ask('POST', '/v2/store/order', key, order);
    assert.equal(next.json().id, placed.json.id + 1, 'ids go on');
    const carl = { username: 'carl', email: 'carl@example.com', password };
    assert.equal((await ask('POST', '/v2/customer', {}, carl)).statusCode, 201);
    assert.equal(await idOf(moved.services.database, 'carl'), lastCustomer + 1);

    const back = join(await temporaryFolder(t), 'curd.sqlite');
    const again = ['copy', '--from', url, '--to', `sqlite:${back}`, '--from-images', `file:${images}`];
    assert.equal((await curdJson(empty, ...again)).images.written, 2);
    const config2 = loadConfig({ CURD_DATA_DIR: join(back, '..'), CURD_SECRET: shop.config.secret });
    const home = await openServices(config2);
    cleanUp(t, () => home.close());
    assert.deepEqual(await contentsOf(home.database), await contentsOf(moved.services.database));
    const dora = { username: 'dora', email: 'dora@example.com', password };
    await home.customers.register(home.contextOf('test'), dora);
    assert.equal(await idOf(home.database, 'dora'), lastCustomer + 2);
  });

  test('is not opened while it is being copied to, and the copy goes on where it was', async (t) => {
    const source = await filled(t, 'sqlite', 3000);
    const config = await freshConfig(t, 'postgres');
    const target = await open(t, config);
    await migrate(target);
    await beginCopy(target, 'here');
    const halfWay = new Error('half way');
    const interrupted = copyTables(source, 'sqlite', target, (done, total) => {
      if (done > total / 3) {
        throw halfWay;
      }
    });
    await assert.rejects(interrupted, halfWay);
    await assert.rejects(openServices(config), /has not finished: run the same/);
    const from = { CURD_DATA_DIR: await temporaryFolder(t) };
    const to = `sqlite:${from.CURD_DATA_DIR}/other.sqlite`;
    const url = (config.database as { url: string }).url;
    assertRefused(await curd(from, 'copy', '--from', url, '--to', to), /itself a copy that has not finished/);

    const before = await target.get<{ rows: number }>(sql`select count(*) as rows from account`);
    const tables = await copyTables(source, 'sqlite', target, quietly);
    const accounts = tables.find(({ name }) => name === 'account');
    assert.ok(before !== undefined && before.rows > 0);
    assert.equal(accounts?.written, 3000 - before.rows, 'what was there is not written again');
    assert.deepEqual(await contentsOf(target), await contentsOf(source));
  });

  test('that was copied before is copied again by what has changed, names that moved on included', async (t) => {
    const change = fc.record({
      kind: fc.constantFrom('add', 'rename', 'remove', 'pass on'),
      place: fc.nat(),
    });
    for (const [from, to] of [engines, engines.toReversed()] as [Engine, Engine][]) {
      const source = await filled(t, from, 20);
      const target = await filled(t, to, 0);
      let fresh = 0;
      const property = fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        for (const { kind, place } of changes) {
          const ids = await source.all<{ id: number; name: string }>(
            sql`select id, name from account order by id`,
          );
          const one = ids[place % Math.max(1, ids.length)];
          fresh += 1;
          const name = `new ${fresh} 🧀 é`;
          if (kind === 'add' || one === undefined) {
            await source.run(sql`insert into account (name, plan, created_at) values (${name}, 'free', '')`);
          } else if (kind === 'remove') {
            await source.run(sql`delete from account where id = ${one.id}`);
          } else {
            await source.run(sql`update account set name = ${name} where id = ${one.id}`);
            const next = ids[(place + 1) % ids.length];
            if (kind === 'pass on' && next !== undefined && next.id !== one.id) {
              await source.run(sql`update account set name = ${one.name} where id = ${next.id}`);
            }
          }
        }
        await copyTables(source, from, target, quietly);
        assert.deepEqual(await contentsOf(target), await contentsOf(source));
      });
      await fc.assert(property, { numRuns: 8 });
    }
  });

  test('is not overwritten by mistake, nor copied from where there is none', async (t) => {
    const shop = await filledFolder(t, 1);
    const other = await filledFolder(t, 1);
    const from = { CURD_DATA_DIR: shop };
    const to = `sqlite:${other}/curd.sqlite`;
    assertRefused(await curd(from, 'copy', '--to', to), /a shop in the target already: --overwrite/);
    assertRefused(await curd(from, 'copy', '--to', `sqlite:${shop}/curd.sqlite`), /the same database/);
    assertRefused(await curd(from, 'copy', '--to', 'mysql://here'), /^curd: --to is not understood/);
    assertRefused(await curd(from, 'copy', '--from', 'sqlite:/none', '--to', to), /no database at \/none/);
    const report = await curdJson(from, 'copy', '--to', to, '--overwrite');
    assert.deepEqual(report.images, { files: 0, written: 0, missing: [] });
  });

  for (const engine of engines) {
    test(`is put in the place of another with other accounts, keys and pictures (${engine})`, async (t) => {
      const { shop, environment } = await liveOn(t, 'sqlite');
      const other = await openShop(t, { engine });
      await uploaded(other, await newCheese(other), await picture(777));
      const place = other.config.database;
      const to = place.engine === 'postgres' ? place.url : `sqlite:${place.file}`;
      const images = `file:${imagesFolder(other)}`;
      await curdJson(environment, 'copy', '--to', to, '--to-images', images, '--overwrite');
      assert.deepEqual(
        await contentsOf(other.app.services.database),
        await contentsOf(shop.app.services.database),
      );
    });
  }

  test('whose pictures are not all there is copied, and says which are missing', async (t) => {
    const shop = await openListeningShop(t);
    const { writer } = shop;
    const { id } = (await shop.call('POST', '/v2/cheeses', { as: writer, body: { name: 'Brie' } })).json;
    await shop.call('POST', `/v2/cheeses/${id}/uploadImage`, {
      as: writer,
      raw: bodyOf([filePart(await pictureOf('jpeg'))]),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
    const images = join(shop.config.dataDir, 'images');
    const [lost = ''] = (await readdir(images, { recursive: true })).filter((name) => name.endsWith('.jpg'));
    await rm(join(images, lost));
    const to = `sqlite:${await temporaryFolder(t)}/curd.sqlite`;
    const run = await curd({ CURD_DATA_DIR: shop.config.dataDir }, 'copy', '--to', to);
    assert.equal(run.code, 2);
    assert.match(run.stdout, new RegExp(`Missing in the source: 1 picture \\(${lost.slice(3)}\\)`));
  });
});

async function idOf(database: Database, username: string): Promise<number | undefined> {
  const row = await database.get<{ id: number }>(sql`select id from customer where username = ${username}`);
  return row?.id;
}

/** A database with so many accounts. */
async function filled(t: TestContext, engine: Engine, accounts: number): Promise<Database> {
  const database = await open(t, await freshConfig(t, engine));
  await migrate(database);
  const rows = Array.from({ length: accounts }, (_, index) => [`account ${index}`, 'free', '']);
  await database.insert('account', ['name', 'plan', 'created_at'], rows);
  return database;
}

/** A data folder with a shop in it. */
async function filledFolder(t: TestContext, accounts: number): Promise<string> {
  const dataDir = await temporaryFolder(t);
  const services = await openServices(loadConfig({ CURD_DATA_DIR: dataDir }));
  for (let one = 0; one < accounts; one += 1) {
    await services.keys.createAccount(services.contextOf('test'), `account ${one}`);
  }
  await services.close();
  return dataDir;
}
