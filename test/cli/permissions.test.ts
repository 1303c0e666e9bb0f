/** File permissions: other users of the machine can read nothing that a shop stores, also of files that existed before. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { secret } from '../context.ts';
import { type Environment, freshShop, inShop, resultOf, serve, start } from './run.ts';

const openToAll = ['sh', '-c', 'umask 000 && exec "$0" "$@"'];

/** Everything below a folder that users other than its owner can access, with its mode. */
function accessible(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .map((name) => [name, statSync(join(folder, name)).mode & 0o777] as const)
    .filter(([, mode]) => (mode & 0o077) !== 0)
    .map(([name, mode]) => `${name} ${mode.toString(8)}`);
}

/** A folder that everyone can access, as most data folders are that existed before the first start. */
async function openFolder(...[t]: Parameters<typeof freshShop>): Promise<[string, Environment]> {
  const shop = await freshShop(t);
  const folder = shop.CURD_DATA_DIR ?? '';
  chmodSync(folder, 0o777);
  return [folder, shop];
}

suite('Other users of the machine', { concurrency: 2 }, () => {
  test('Other users of the machine can read no file of a server, a backup or an export in a folder that they can enter', async (t) => {
    const [folder, shop] = await openFolder(t);
    const server = await serve(t, shop, openToAll);
    for (const args of [
      ['backup', 'shop.tar'],
      ['export', 'cheeses', 'cheeses.csv'],
    ]) {
      const { code, stderr } = await resultOf(start(args, shop, openToAll));
      assert.equal(code, 0, stderr);
    }
    assert.ok(readdirSync(folder, { recursive: true }).length > 20);
    assert.deepEqual(accessible(folder), []);
    await server.stop();
  });

  test('Other users of the machine lose access to database, secret and images that existed before, and a group keeps its access', async (t) => {
    const [folder, shop] = await openFolder(t);
    const path = (name: string) => join(folder, name);
    const mode = (name: string) => statSync(path(name)).mode & 0o777;
    await inShop(shop, () => {});
    writeFileSync(path('secret'), secret);
    mkdirSync(path('images'));
    for (const [name, before] of [
      ['curd.sqlite', 0o644],
      ['secret', 0o664],
      ['images', 0o755],
    ] as const) {
      chmodSync(path(name), before);
    }
    await inShop(shop, () => {});
    assert.deepEqual(accessible(folder), []);
    chmodSync(path('curd.sqlite'), 0o640);
    chmodSync(path('images'), 0o750);
    await inShop(shop, () => {});
    assert.deepEqual([mode('curd.sqlite'), mode('images'), mode('secret')], [0o640, 0o750, 0o600]);
  });

  test('Other users of the machine keep their access to a folder that they share, such as /tmp', async (t) => {
    const [folder, shop] = await openFolder(t);
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    await inShop({ ...shop, CURD_IMAGES: `file:${shared}` }, () => {});
    assert.equal(statSync(shared).mode & 0o7777, 0o1777);
  });

  test('Other users of the machine make a command refuse to run where it may not change their access', async (t) => {
    if (process.getuid?.() !== 0) {
      t.skip('only root can make a file of another user');
      return;
    }
    const [folder, shop] = await openFolder(t);
    await inShop(shop, () => {});
    const file = join(folder, 'curd.sqlite');
    chmodSync(file, 0o666);
    const asOther = ['setpriv', '--reuid=65534', '--clear-groups'];
    const { code, stderr } = await resultOf(
      start(['accounts', 'list'], { ...shop, CURD_SECRET: secret }, asOther),
    );
    assert.match(stderr, /Every user of this machine can access .*curd\.sqlite.*chmod 600 "[^"]+"\n$/);
    assert.equal(code, 1);
    assert.equal(statSync(file).mode & 0o777, 0o666);
  });
});
