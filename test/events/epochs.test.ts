/** Positions in the log after a restored backup and after a reset: numbers that were lost are not given again unnoticed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { curdJson } from '../cli/run.ts';
import { createDatabase, secret, temporaryFolder } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { untilNumbered } from './streams.ts';

async function latest(shop: Shop): Promise<string> {
  return (await shop.request('GET', '/v2/events?since=latest', { as: shop.admin })).json.next;
}

/** Opens the shop of a folder, creates a cheese, closes the shop, and returns the position at the end. */
async function addCheeseBetweenStarts(t: TestContext, folder: string, name: string): Promise<string> {
  const shop = await openShop(t, { settings: { CURD_DATA_DIR: folder } });
  await newCheese(shop, { name });
  const position = await latest(shop);
  await shop.app.close();
  return position;
}

test('After a restored backup, positions from before it continue, and lost ones return 410', async (t) => {
  const folder = await temporaryFolder(t);
  const environment = { CURD_DATA_DIR: folder, CURD_SECRET: secret };
  const kept = await addCheeseBetweenStarts(t, folder, 'Brie');
  await curdJson(environment, 'backup', join(folder, 'shop.tar'));
  const lost = await addCheeseBetweenStarts(t, folder, 'Feta');
  await curdJson(environment, 'restore', '--yes', join(folder, 'shop.tar'));
  const shop = await openShop(t, { settings: { CURD_DATA_DIR: folder } });
  const list = (since: string) => shop.request('GET', `/v2/events?since=${since}`, { as: shop.admin });
  assert.equal((await list(kept)).status, 200);
  assertError(await list(lost), 410, 'log_rewound');
  assertError(await shop.request('GET', `/v2/events/${lost}`, { as: shop.admin }), 410, 'log_rewound');
  // The same number, given again, has another id.
  await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Gouda' } });
  const events = (await list(kept)).json.items as { readonly id: string; readonly sequence: number }[];
  assert.ok(!events.some(({ id }) => id === lost));
  const [, , number] = lost.split('_');
  assert.ok(events.some(({ sequence }) => sequence === Number(number)));
});

test('In a copy that PostgreSQL made, as pg_dump and pg_restore do, lost positions return 410', async (t) => {
  const url = await createDatabase(t, 'template_curd');
  const add = async (shop: Shop, name: string) => {
    await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name } });
    await untilNumbered(shop);
    return latest(shop);
  };
  const before = await openShop(t, { settings: { CURD_DATABASE: url } });
  const kept = await add(before, 'Brie');
  await before.app.close();
  const copy = await createDatabase(t, url.slice(url.lastIndexOf('/') + 1));
  const after = await openShop(t, { settings: { CURD_DATABASE: url } });
  for (const name of ['Feta', 'Gouda', 'Comté']) {
    await add(after, name);
  }
  const lost = await latest(after);
  const copied = await openShop(t, { settings: { CURD_DATABASE: copy } });
  const next = await add(copied, 'Sbrinz');
  assert.notEqual(next.split('_')[1], kept.split('_')[1], 'no epoch began');
  const list = (since: string) => copied.request('GET', `/v2/events?since=${since}`, { as: copied.admin });
  assert.equal((await list(kept)).status, 200);
  assertError(await list(lost), 410, 'log_rewound');
});

test('After a reset, the log begins behind its last event', async (t) => {
  const folder = await temporaryFolder(t);
  const environment = { CURD_DATA_DIR: folder, CURD_SECRET: secret };
  const before = await addCheeseBetweenStarts(t, folder, 'Brie');
  const older = before.replace(/\d+$/, '1');
  await curdJson(environment, 'reset', '--yes');
  const shop = await openShop(t, { settings: { CURD_DATA_DIR: folder } });
  const list = (since: string) => shop.request('GET', `/v2/events?since=${since}`, { as: shop.admin });
  assertError(await list(older), 410, 'events_expired');
  const first = (await list('earliest')).json.items[0];
  assert.equal(first.type, 'shop.reset');
  assert.deepEqual((await list(before)).json.items[0], first);
});
