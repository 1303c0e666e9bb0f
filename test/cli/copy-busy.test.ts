/** Copies of a busy shop, copies that are killed, and copies that are refused. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Engine, sql } from '../../src/database/sql.ts';
import { secret } from '../context.ts';
import { contentsOf } from '../database/contents.ts';
import { createLoad } from '../faults/load.ts';
import { createDatabase, engines, temporaryFolder } from '../helper.ts';
import {
  assertEachRefused,
  assertRefused,
  createStock,
  curd,
  curdJson,
  freshShop,
  inShop,
  runInProcess,
  serve,
  start,
} from './run.ts';

const settings = {
  CURD_SECRET: secret,
  CURD_APPROVAL_DELAY: '100ms',
  CURD_LOG_LEVEL: 'warn',
};

const stock = { prices: [20, 20, 20], scopes: ['write:orders'] } as const;
/** Enough to place orders during the whole copy. */
const placers = 4;

for (const [from, to] of [engines, engines.toReversed()] as [Engine, Engine][]) {
  test(`A copy from ${from} to ${to} of a busy server shows one moment, and can be made after one that was killed`, async (t) => {
    const environment = await freshShop(t, {
      ...settings,
      ...(from === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {}),
    });
    const { key, cheeses } = await createStock(environment, stock);
    const load = createLoad(key, cheeses, placers);
    const server = await serve(t, environment);
    const working = load.run(server.url);
    working.catch(() => {});
    while (load.memory.cancelled.size < 5) {
      await Promise.race([sleep(5), working]);
    }
    const targetUrl =
      to === 'postgres' ? await createDatabase(t) : `sqlite:${join(await temporaryFolder(t), 'curd.sqlite')}`;
    const target = { ...settings, CURD_DATA_DIR: await temporaryFolder(t), CURD_DATABASE: targetUrl };
    const args = ['copy', '--to', targetUrl, '--to-images', `file:${join(target.CURD_DATA_DIR, 'images')}`];
    const child = start(args, environment);
    const closed = once(child, 'close');
    await sleep(400 + Math.random() * 200);
    child.kill('SIGKILL');
    await closed;
    const known = new Set(load.memory.orders.keys());
    const cancelled = new Set(load.memory.cancelled);
    const report = await curdJson(environment, ...args);
    assert.ok(load.memory.orders.size > known.size, 'the shop processed orders meanwhile');
    await server.stop('SIGKILL');
    await working;
    assert.deepEqual([report.images.missing], [[]]);
    const doctor = await curd(target, 'doctor');
    assert.deepEqual([doctor.code, doctor.stderr], [0, ''], doctor.stdout);
    const rows = await inShop(target, ({ database }) =>
      database.all<{ id: number; status: string }>(sql`select id, status from orders`),
    );
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    assert.deepEqual(
      [...known].filter((id) => !statuses.has(id)),
      [],
    );
    assert.deepEqual(
      [...cancelled].filter((id) => statuses.get(id) !== 'cancelled'),
      [],
    );
  });
}

function withParts(url: string, parts: Partial<Pick<URL, 'password' | 'pathname'>>): string {
  return Object.assign(new URL(url), parts).href;
}

test('A copy to the wrong database is refused and changes nothing', async (t) => {
  const environment = await freshShop(t, settings);
  await createStock(environment, stock);
  const folder = environment.CURD_DATA_DIR ?? '';
  const own = `sqlite:${folder}/curd.sqlite`;
  const detour = `sqlite:${folder}/../${basename(folder)}/curd.sqlite`;
  const url = await createDatabase(t);
  const link = join(await temporaryFolder(t), 'link');
  await symlink(folder, link);
  const copy = (options: object) => () => runInProcess(environment, 'copy', [], { ...options });
  await inShop(environment, async ({ database }) => {
    const known = await contentsOf(database);
    const replacesNothing = /shop in the target already, and a copy replaces nothing/;
    await assertEachRefused(t, [
      ['onto itself', copy({ to: own }), /same database/],
      ['onto itself, by a link', copy({ to: `sqlite:${link}/curd.sqlite` }), replacesNothing],
      ['onto itself, by a detour', copy({ to: detour }), /same database/],
      ['onto a shop', copy({ from: url, to: own }), replacesNothing],
      [
        'from nothing',
        copy({ from: `sqlite:${folder}/nothing.sqlite`, to: url }),
        /no database at .*nothing/,
      ],
      ['to a folder', copy({ to: folder }), /--to is not understood/],
      ['to another engine', copy({ to: 'mysql://here' }), /--to is not understood/],
      [
        'with a password that is not escaped',
        copy({ to: 'postgres://curd:a/b@here/x' }),
        /written as %40, %3A/,
      ],
      [
        'with a wrong password',
        copy({ to: withParts(url, { password: 'wrong' }) }),
        /refuses the user or the password\. Correct them/,
      ],
      [
        'to no database',
        copy({ to: withParts(url, { pathname: '/nowhere' }) }),
        /no database of this name\. Create it/,
      ],
    ]);
    assertRefused(await curd(environment, 'copy', '--to', own), /same database/);
    assert.deepEqual(await contentsOf(database), known);
  });
});

test('A copy of a shop on PostgreSQL onto itself, by another URL, is refused and loses nothing', async (t) => {
  const url = await createDatabase(t);
  const environment = await freshShop(t, { ...settings, CURD_DATABASE: url });
  await createStock(environment, stock);
  const copy = () => runInProcess(environment, 'copy', [], { to: `${url}?max=5` });
  await inShop(environment, async ({ database }) => {
    const known = await contentsOf(database);
    await assertEachRefused(t, [['by other parameters', copy, /shop in the target already/]]);
    assert.deepEqual(await contentsOf(database), known);
  });
});
