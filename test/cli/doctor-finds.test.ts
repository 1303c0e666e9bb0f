/** Faults that are hard to find, and what only seems to be one. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Statement, sql } from '../../src/database/sql.ts';
import { formOf, picture } from '../files/photos.ts';
import { did, type Life, liveOn } from './life.ts';
import { curd } from './run.ts';

const cow = sql`(select id from term where kind = 'tag' and name = 'cow')`;
for (const [name, fault] of Object.entries<(life: Life) => Statement>({
  'a posting that moved to another cheese': () =>
    sql`update cheese_term set cheese_id = 2, name = 'Brie' where cheese_id = 1 and term_id = ${cow}`,
  'a placed order that nothing will approve': ({ orders }) =>
    sql`delete from job where order_id = ${orders.placed}`,
  'a cheese held by an order that is not there': () =>
    sql`insert into open_order_cheese (cheese_id, order_id) values (1, 777)`,
  'a cheese that is no JSON': () => sql`update cheese set body = '{' where id = 2`,
  'lines of an order that are no JSON': ({ orders }) =>
    sql`update orders set items = '[' where id = ${orders.placed}`,
  'a cheese that is filed under another category': () =>
    sql`update cheese set category_id = 999 where id = 2`,
  'a cheese with other words': () => sql`update cheese set search = ' bree', name_key = 'x' where id = 2`,
})) {
  test(`${name} is found`, async (t) => {
    const life = await liveOn(t, 'sqlite');
    await life.shop.app.services.database.run(fault(life));
    const run = await curd(life.environment, 'doctor');
    assert.equal(run.code, 2, run.stdout + run.stderr);
  });
}
test('a damaged page is found and named', async (t) => {
  const life = await liveOn(t, 'sqlite');
  await life.shop.app.close();
  const file = join(life.shop.config.dataDir, 'curd.sqlite');
  const db = new DatabaseSync(file);
  const rootpage = Number(
    db.prepare("select rootpage from sqlite_schema where name='cheese'").get()?.rootpage,
  );
  const page_size = Number(db.prepare('pragma page_size').get()?.page_size);
  db.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, randomFillSync(Buffer.alloc(page_size)), 0, page_size, (rootpage - 1) * page_size);
  closeSync(fd);
  const run = await curd(life.environment, 'doctor');
  assert.equal(run.code, 2, run.stdout + run.stderr);
  assert.match(run.stdout, /FAULT {3}database[\s\S]*restore a backup/);
});
test('a stray file among the pictures does not stop it', async (t) => {
  const life = await liveOn(t, 'sqlite');
  writeFileSync(join(life.shop.config.dataDir, 'images', '.DS_Store'), '');
  const run = await curd(life.environment, 'doctor');
  assert.notEqual(run.code, 1, run.stdout + run.stderr);
});
test('pictures that come meanwhile are no fault', async (t) => {
  const life = await liveOn(t, 'sqlite');
  const { shop } = life;
  let over = false;
  let n = 100;
  const loop = (async () => {
    while (!over) {
      n += 1;
      await did(shop, 'POST', `/v2/cheeses/${1 + (n % 2)}/uploadImage`, {
        as: shop.writer,
        ...formOf(await picture(n)),
      }).catch(() => {});
    }
  })();
  const bad: string[] = [];
  for (let one = 0; one < 4; one += 1) {
    const run = await curd(life.environment, 'doctor');
    if (run.code !== 0) bad.push(run.stdout + run.stderr);
  }
  over = true;
  await loop;
  assert.deepEqual(bad, []);
});
