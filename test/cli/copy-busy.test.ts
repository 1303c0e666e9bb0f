/** A shop that is copied while it works hard, by a copy that is killed, and in a wrong direction. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { openServices } from '../../src/services.ts';
import { contentsOf } from '../database/contents.ts';
import { createLoad } from '../faults/load.ts';
import { createDatabase, engines, temporaryFolder } from '../helper.ts';
import { assertRefused, curd, curdJson, type Environment, freshShop, serve, start } from './run.ts';

const settings = {
  CURD_SECRET: 'a secret that is only good for tests',
  CURD_APPROVAL_DELAY: '100ms',
  CURD_LOG_LEVEL: 'warn',
};

async function stock(environment: Environment) {
  const { keys, cheeses, contextOf, close } = await openServices(loadConfig(environment));
  const context = contextOf('test');
  const ids = [];
  for (const name of ['Brie', 'Comté', 'Tilsiter']) {
    ids.push((await cheeses.create(context, { name, pricePerKg: 20 })).id);
  }
  const account = await keys.createAccount(context, 'load');
  const { key } = await keys.create(context, account.id, { scopes: ['write:orders'] });
  await close();
  return createLoad(key, ids);
}

for (const [from, to] of [engines, engines.toReversed()] as [Engine, Engine][]) {
  test(`A copy from ${from} to ${to} while a server works hard shows one moment; killed, it goes on`, async (t) => {
    const environment = await freshShop(t, {
      ...settings,
      ...(from === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {}),
    });
    const load = await stock(environment);
    const server = await serve(t, environment);
    const working = load.run(server.url);
    working.catch(() => {});
    while (load.memory.cancelled.size < 5) {
      await Promise.race([sleep(5), working]);
    }
    const place =
      to === 'postgres' ? await createDatabase(t) : `sqlite:${join(await temporaryFolder(t), 'curd.sqlite')}`;
    const target = { ...settings, CURD_DATA_DIR: await temporaryFolder(t), CURD_DATABASE: place };
    const args = ['copy', '--to', place, '--to-images', `file:${join(target.CURD_DATA_DIR, 'images')}`];
    const child = start(args, environment);
    const closed = once(child, 'close');
    await sleep(400 + Math.random() * 200);
    child.kill('SIGKILL');
    await closed;
    const known = new Set(load.memory.orders.keys());
    const cancelled = new Set(load.memory.cancelled);
    const report = await curdJson(environment, ...args, '--overwrite');
    assert.ok(load.memory.orders.size > known.size, 'the shop worked meanwhile');
    await server.stop('SIGKILL');
    await working;
    assert.deepEqual([report.images.missing], [[]]);
    const doctor = await curd(target, 'doctor');
    assert.deepEqual([doctor.code, doctor.stderr], [0, ''], doctor.stdout);
    const { database, close } = await openServices(loadConfig(target));
    const rows = await database.all<{ id: number; status: string }>(sql`select id, status from orders`);
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    assert.deepEqual(
      [...known].filter((id) => !statuses.has(id)),
      [],
    );
    assert.deepEqual(
      [...cancelled].filter((id) => statuses.get(id) !== 'cancelled'),
      [],
    );
    await close();

    // The rest follows when the shop is closed: then both are the same.
    const last = await curdJson(environment, ...args, '--overwrite');
    const orders = last.tables.find(({ name }: { name: string }) => name === 'orders');
    assert.ok(orders.written > 0 && orders.written < orders.rows, JSON.stringify(orders));
    const [one, other] = await Promise.all([
      openServices(loadConfig(environment)),
      openServices(loadConfig(target)),
    ]);
    assert.deepEqual(await contentsOf(other.database), await contentsOf(one.database));
    await Promise.all([one.close(), other.close()]);
  });
}

test('A copy in a wrong direction is refused, and changes nothing', async (t) => {
  const environment = await freshShop(t, settings);
  await stock(environment);
  const folder = environment.CURD_DATA_DIR ?? '';
  const url = await createDatabase(t);
  const link = join(await temporaryFolder(t), 'link');
  await symlink(folder, link);
  const runs: [RegExp, string[]][] = [
    [/same database/, ['--to', `sqlite:${link}/curd.sqlite`, '--overwrite']],
    [/same database/, ['--to', `sqlite:${folder}/curd.sqlite`]],
    [/same database/, ['--to', `sqlite:${folder}/../${folder.split('/').at(-1)}/curd.sqlite`, '--overwrite']],
    [/shop in the target already/, ['--from', url, '--to', `sqlite:${folder}/curd.sqlite`]],
    [/no database at/, ['--from', `sqlite:${folder}/nothing.sqlite`, '--to', url]],
    [/not understood/, ['--to', folder]],
  ];
  const { database, close } = await openServices(loadConfig(environment));
  const known = await contentsOf(database);
  for (const [says, args] of runs) {
    assertRefused(await curd(environment, 'copy', ...args), says);
  }
  assert.deepEqual(await contentsOf(database), known);
  await close();
});

test('A copy of a shop on PostgreSQL onto itself, by another address, is refused and loses nothing', async (t) => {
  const url = await createDatabase(t);
  const environment = await freshShop(t, { ...settings, CURD_DATABASE: url });
  await stock(environment);
  const { database, close } = await openServices(loadConfig(environment));
  const known = await contentsOf(database);
  assertRefused(await curd(environment, 'copy', '--to', `${url}?max=5`, '--overwrite'), /same database/);
  assert.deepEqual(await contentsOf(database), known);
  await close();
});
