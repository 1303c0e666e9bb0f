/** /readyz is 503 when a disk is full, and the metrics show the free space. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, temporaryFolder } from '../helper.ts';

const ready = (shop: Shop) => shop.request('GET', '/readyz');
let written = 0;

function write(shop: Shop) {
  written += 1;
  return shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: `Brie ${written}` } });
}

function assertFull(response: Awaited<ReturnType<typeof ready>>, message: RegExp): void {
  assertError(response, 503, 'unavailable');
  assert.match(response.json.message, message);
  assert.equal(response.headers['retry-after'], '60');
}

/** Lets the database file grow by at most this many pages. */
async function limitGrowth({ app }: Shop, pages: number): Promise<void> {
  const { database } = app;
  const { count = 0 } =
    (await database.get<{ count: number }>(sql`select page_count as count from pragma_page_count()`)) ?? {};
  await database.exclusiveTransaction((_sql, run) => run(`pragma max_page_count = ${count + pages}`));
}

test('A server whose write found the disk full is not ready until a write succeeds', async (t) => {
  const shop = await openShop(t);
  assert.equal((await write(shop)).status, 201);
  await limitGrowth(shop, 5);
  let response = await write(shop);
  for (let more = 0; more < 2000 && response.status === 201; more += 1) {
    response = await write(shop);
  }
  assertError(response, 503, 'unavailable');
  assertFull(
    await ready(shop),
    /^A write failed: the disk or a quota is full, or the disk is faulty\. .* enlarge the disk\.$/,
  );
  assert.equal((await shop.request('GET', '/healthz')).status, 200);
  assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).status, 200, 'reads work');

  await limitGrowth(shop, 100_000);
  assert.equal((await write(shop)).status, 201);
  assert.equal((await ready(shop)).status, 200);
});

test('Writes that are committed together with one that found the disk full do not hide it from /readyz', async (t) => {
  const shop = await openShop(t);
  await limitGrowth(shop, 5);
  const { database } = shop.app;
  // SQLite rolls back only this statement, not the transaction of the group.
  const large = sql`
    insert into account (name, plan, created_at)
    with recursive row (number) as (select 1 union all select number + 1 from row where number < 1000)
    select number || hex(zeroblob(1000)), 'free', '2026-01-01T00:00:00.000Z' from row`;
  const small = sql`
    insert into account (name, plan, created_at) values ('small', 'free', '2026-01-01T00:00:00.000Z')`;
  const outcomes = await Promise.allSettled([database.run(large), database.run(small)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  assertFull(await ready(shop), /the disk or a quota is full/);
});

onBothEngines('A server with less free disk space than the setting', (engine) => {
  test('A server with less free disk space than the setting is not ready, and names the folder', async (t) => {
    const petabyte = { CURD_MIN_FREE_SPACE: '1000000000' };
    const images = { CURD_IMAGES: `file:${join(await temporaryFolder(t), 'not', 'there', 'yet')}` };
    for (const [settings, full] of [
      [petabyte, true],
      [{ ...petabyte, ...images }, true],
      [{ CURD_MIN_FREE_SPACE: '0' }, false],
      [{ CURD_MIN_FREE_SPACE: '1', ...images }, false],
    ] as const) {
      const shop = await openShop(t, { engine, settings });
      const response = await ready(shop);
      if (full) {
        assertFull(response, /^The disk of the data folder is full: less than 1000000000 MiB are free\./);
      } else {
        assert.deepEqual([response.status, response.json], [200, { status: 'ok' }]);
      }
    }
  });
});
