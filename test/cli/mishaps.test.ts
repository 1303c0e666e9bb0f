/** Copies, restorations and resets as they go wrong: over another shop, onto itself, in the middle of work. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { create, extract } from 'tar';
import { loadConfig } from '../../src/config.ts';
import { sql } from '../../src/database/sql.ts';
import { openServices } from '../../src/services.ts';
import { formOf, picture } from '../files/photos.ts';
import { openShop, temporaryFolder } from '../helper.ts';
import { did, environmentOf, liveOn, orderOf } from './life.ts';
import { curd, curdJson, freshShop } from './run.ts';

const secret = 'a secret that is only good for tests';

test('a copy over another shop with other pictures and keys', async (t) => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const one = await liveOn(t, 'sqlite');
    const target = await openShop(t, { engine });
    const { id } = await did(target, 'POST', '/v2/cheeses', { as: target.writer, body: { name: 'X' } });
    await did(target, 'POST', `/v2/cheeses/${id}/uploadImage`, {
      as: target.writer,
      ...formOf(await picture(777)),
    });
    const to =
      target.config.database.engine === 'postgres'
        ? target.config.database.url
        : `sqlite:${target.config.database.file}`;
    const run = await curd(
      one.environment,
      'copy',
      '--to',
      to,
      '--to-images',
      `file:${target.config.dataDir}/images`,
      '--overwrite',
    );
    assert.equal(run.code, 0, `${engine} ${run.stderr}`);
  }
});
test('a copy over another shop with other accounts and keys', async (t) => {
  const one = await liveOn(t, 'sqlite');
  const data = await temporaryFolder(t);
  const s = await openServices(loadConfig({ CURD_DATA_DIR: data, CURD_SECRET: secret }));
  for (let i = 0; i < 10; i += 1) {
    const a = await s.keys.createAccount(s.contextOf('test'), `x${i}`);
    await s.keys.create(s.contextOf('test'), a.id, {});
  }
  await s.close();
  const run = await curd(one.environment, 'copy', '--to', `sqlite:${data}/curd.sqlite`, '--overwrite');
  assert.equal(run.code, 0, run.stderr);
});
for (const engine of ['sqlite', 'postgres'] as const)
  test(`a copy of a shop onto itself under another name is refused (${engine})`, async (t) => {
    const { shop, environment, orderer, cheeses } = await liveOn(t, engine);
    let to = '';
    if (shop.config.database.engine === 'sqlite') {
      const link = join(await temporaryFolder(t), 'link');
      symlinkSync(shop.config.dataDir, link);
      to = `sqlite:${link}/curd.sqlite`;
    } else to = `${shop.config.database.url}?max=5`;
    let over = false;
    const answered: number[] = [];
    const loop = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (!over) {
          const a = await shop.app.server.inject({
            method: 'POST',
            url: '/v2/store/order',
            headers: { 'x-api-key': orderer },
            payload: orderOf(cheeses[0]),
          });
          if (a.statusCode === 201) answered.push(a.json().id);
        }
      }),
    );
    const runs = [];
    for (let i = 0; i < 4; i += 1)
      runs.push(
        await curd(
          environment,
          'copy',
          '--to',
          to,
          '--to-images',
          `file:${shop.config.dataDir}/images`,
          '--overwrite',
        ),
      );
    over = true;
    await loop;
    const lost = [];
    for (const id of answered)
      if ((await shop.call('GET', `/v2/store/order/${id}`, { as: shop.admin })).status === 404) lost.push(id);
    assert.deepEqual(
      [lost.length, runs.map(({ code }) => code)],
      [0, [1, 1, 1, 1]],
      `${lost.length} of ${answered.length} orders lost; ${runs.map((r) => r.stdout + r.stderr).join('\n')}`,
    );
  });
test('a backup with a log beside its database is refused', async (t) => {
  const { environment } = await liveOn(t, 'sqlite');
  const dir = await temporaryFolder(t);
  const file = join(dir, 'a.tar');
  await curdJson(environment, 'backup', file);
  const content = join(dir, 'c');
  mkdirSync(content);
  await extract({ file, cwd: content });
  const work = join(dir, 'w');
  await cp(content, work, { recursive: true });
  const db = new DatabaseSync(join(work, 'curd.sqlite'));
  db.exec("pragma journal_mode=wal; pragma wal_autocheckpoint=0; update account set name = 'mallory ' || id");
  await cp(join(work, 'curd.sqlite-wal'), join(content, 'curd.sqlite-wal'));
  const dbdigest = hash('sha256', readFileSync(join(content, 'curd.sqlite')));
  assert.equal(JSON.parse(readFileSync(join(content, 'manifest.json'), 'utf8')).database, dbdigest);
  db.close();
  const evil = join(dir, 'evil.tar');
  await create({ file: evil, cwd: content }, readdirSync(content));
  const home = await freshShop(t, { CURD_SECRET: secret });
  const run = await curd(home, 'restore', evil);
  const names = run.code === 0 ? JSON.stringify(await curdJson(home, 'accounts', 'list')) : '';
  assert.equal(run.code, 1, run.stdout + names);
});
test('a manifest with a flipped bit in its date is refused', async (t) => {
  const { environment } = await liveOn(t, 'sqlite');
  const file = join(await temporaryFolder(t), 'a.tar');
  await curdJson(environment, 'backup', file);
  const bytes = readFileSync(file);
  const at = bytes.lastIndexOf('"createdAt":"') + 14;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const run = await curd(await freshShop(t, { CURD_SECRET: secret }), 'restore', file);
  assert.equal(run.code, 1, run.stdout);
});
test('a shop restored over a later one is healthy', async (t) => {
  const life = await liveOn(t, 'sqlite');
  const file = join(await temporaryFolder(t), 'a.tar');
  await curdJson(life.environment, 'backup', file);
  await did(life.shop, 'POST', `/v2/cheeses/1/uploadImage`, {
    as: life.shop.writer,
    ...formOf(await picture(778)),
  });
  await life.shop.app.close();
  await curdJson(life.environment, 'restore', file);
  const run = await curd(life.environment, 'doctor');
  assert.equal(run.code, 0, run.stdout);
});
test('the restored database and the one that is kept are as private as before', async (t) => {
  const life = await liveOn(t, 'sqlite');
  const file = join(await temporaryFolder(t), 'a.tar');
  await curdJson(life.environment, 'backup', file);
  await life.shop.app.close();
  const db = join(life.shop.config.dataDir, 'curd.sqlite');
  (await import('node:fs')).chmodSync(db, 0o600);
  await curdJson(life.environment, 'restore', file);
  assert.equal((statSync(db).mode & 0o777).toString(8), '600');
});
test('pictures of a reset shop that listens on IPv6 have an address', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret, CURD_HOST: '::1' });
  await curdJson(environment, 'reset', '--yes');
  const s = await openServices(loadConfig(environment));
  const row = await s.database.get<{ body: string }>(sql`select body from cheese order by id limit 1`);
  await s.close();
  const [url] = JSON.parse(String(row?.body)).photoUrls;
  assert.ok(URL.canParse(url), url);
});
test('a reset of a shop at work on PostgreSQL leaves it healthy', async (t) => {
  const life = await liveOn(t, 'postgres', { CURD_APPROVAL_DELAY: '0ms' });
  const { shop, environment, orderer } = life;
  let over = false;
  const bad: string[] = [];
  const statuses: Record<number, number> = {};
  const loop = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!over) {
        const list =
          (await shop.call('GET', '/v2/cheeses?status=available&limit=3', { as: orderer })).json?.items ?? [];
        for (const { id } of list) {
          const a = await shop.call('POST', '/v2/store/order', { as: orderer, body: orderOf(id) });
          statuses[a.status] = (statuses[a.status] ?? 0) + 1;
        }
      }
    }),
  );
  for (let i = 0; i < 6; i += 1) {
    const r = await curd(environment, 'reset', '--yes');
    if (r.code !== 0) bad.push(r.stderr);
    const d = await curd(environment, 'doctor');
    if (d.code !== 0) bad.push(d.stdout + d.stderr);
    const dangling = await shop.app.services.database.all(
      sql`select order_id from open_order_cheese where order_id not in (select id from orders) union select order_id from job where order_id not in (select id from orders)`,
    );
    if (dangling.length > 0) bad.push(`dangling ${dangling.length}`);
    const without = await shop.app.services.database.all(
      sql`select o.id from orders o where o.id > 10 and o.status in ('placed','approved','shipped') and not exists (select 1 from open_order_cheese c join cheese x on x.id = c.cheese_id where c.order_id = o.id)`,
    );
    if (without.length > 0) bad.push(`open orders of cheeses that are gone ${without.length}`);
  }
  over = true;
  await loop;
  assert.deepEqual(bad, [], JSON.stringify(statuses));
});
test('ids of categories go on after a reset', async (t) => {
  const { shop, environment } = await liveOn(t, 'sqlite');
  const make = async (name: string) =>
    (await did(shop, 'POST', '/v2/cheeses', { as: shop.writer, body: { name, category: { name } } })).category
      .id;
  await curdJson(environment, 'reset', '--yes');
  const before = await make('Zzz');
  await curdJson(environment, 'reset', '--yes');
  assert.notEqual(await make('Yyy'), before);
});
test('a server that starts while a backup is restored loses nothing', async (t) => {
  const shop = await openShop(t);
  const { id } = await did(shop, 'POST', '/v2/cheeses', { as: shop.writer, body: { name: 'X' } });
  for (let n = 0; n < 90; n += 1)
    await did(shop, 'POST', `/v2/cheeses/${id}/uploadImage`, {
      as: shop.writer,
      ...formOf(await picture(n)),
    });
  const file = join(await temporaryFolder(t), 'a.tar');
  await curdJson(environmentOf(shop), 'backup', file);
  const home = await freshShop(t, { CURD_SECRET: secret });
  const s = await openServices(loadConfig(home));
  const a = await s.keys.createAccount(s.contextOf('test'), 'x');
  const { key } = await s.keys.create(s.contextOf('test'), a.id, { scopes: ['write:cheeses'] });
  await s.close();
  const restoring = curd(home, 'restore', file);
  const dir = home.CURD_DATA_DIR ?? '';
  while (!readdirSync(dir).includes('images')) await new Promise((r) => setTimeout(r, 2));
  const opened = await openServices(loadConfig(home));
  const cheese = await opened.cheeses.create(opened.contextOf('test'), { name: 'answered' });
  const run = await restoring;
  t.diagnostic(run.stdout + run.stderr);
  await opened.close();
  const again = await openServices(loadConfig(home));
  const names = await again.database.all<{ name: string }>(sql`select name from cheese`);
  const k = (await again.keys.listAccounts()).map((x) => x.name);
  await again.close();
  assert.ok(
    run.code !== 0 || cheese === undefined,
    `restored under an open server: ${JSON.stringify(names)} ${k} ${readdirSync(dir)}`,
  );
  void key;
});
