/** An SQLite database that lost its write-ahead log after a server was killed. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStock, curd, freshShop, serve } from '../cli/run.ts';

const older =
  /"level":"error".*The database is older than at the end of the last server: its event log ends at (\d+) and ended at (\d+)\..*curd\.sqlite-wal.*curd restore.*curd doctor/;

test('A server says that its database is older than it was, and what to do', async (t) => {
  const shop = await freshShop(t);
  const file = join(shop.CURD_DATA_DIR ?? '', 'curd.sqlite');
  const first = await serve(t, shop);
  await first.stop();
  const beforeKill = readFileSync(file);

  const killed = await serve(t, shop);
  await createStock(shop, { prices: [1, 2, 3, 4, 5], scopes: [] });
  await sleep(2500);
  await killed.stop('SIGKILL');
  const recovered = await serve(t, shop);
  const { stderr } = await recovered.stop();
  assert.doesNotMatch(stderr, older, 'nothing is missing after a kill');

  // The state of a database whose log was never written back.
  writeFileSync(file, beforeKill);
  for (const log of ['-wal', '-shm']) {
    rmSync(`${file}${log}`, { force: true });
  }
  const late = await serve(t, shop);
  await sleep(1500);
  const found = older.exec((await late.stop()).stderr);
  assert.ok(Number(found?.[2]) >= Number(found?.[1]) + 5, String(found));
  const next = await serve(t, shop);
  assert.doesNotMatch((await next.stop()).stderr, older, 'said once');
  assert.equal((await curd(shop, 'doctor')).code, 0);
});

test('A server does not call a restored backup or a reset shop older than it was', async (t) => {
  const shop = await freshShop(t);
  const first = await serve(t, shop);
  assert.equal((await curd(shop, 'backup', 'shop.tar')).code, 0);
  await createStock(shop, { prices: [1], scopes: [] });
  await sleep(1500);
  await first.stop();
  const restored = await curd(shop, 'restore', 'shop.tar', '--yes');
  assert.equal(restored.code, 0, restored.stderr);
  const second = await serve(t, shop);
  await sleep(1500);
  assert.doesNotMatch((await second.stop()).stderr, older);
  assert.equal((await curd(shop, 'reset', '--yes')).code, 0);
  assert.doesNotMatch((await (await serve(t, shop)).stop()).stderr, older);
});
