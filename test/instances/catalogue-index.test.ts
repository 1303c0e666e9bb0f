/** Lists of one instance show the changes that another one, or a command, has made before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeShop } from '../../src/app/compose.ts';
import { cleanUp, openShop, type Shop } from '../helper.ts';
import { openInstances } from './instances.ts';

/** `CURD_TEST_LISTS=10000` for more. */
const lists = Number(process.env.CURD_TEST_LISTS ?? 60);

async function totalOf(shop: Shop, as: string, query: string): Promise<number> {
  const { status, json, text } = await shop.request('GET', `/v2/cheeses?limit=1&${query}`, { as });
  assert.equal(status, 200, text);
  return json.total;
}

test('A change that one instance has confirmed is in every later list of another', async (t) => {
  const { all, writer, reader } = await openInstances(t, 2);
  const made: number[] = [];
  for (let round = 0; round < lists; round += 1) {
    const changing = all[round % 2] as Shop;
    const other = all[(round + 1) % 2] as Shop;
    const body = { name: `Cheese ${round}`, tags: [{ name: `t${round % 7}` }], status: 'available' };
    const { json } = await changing.request('POST', '/v2/cheeses', { as: writer, body });
    made.push(json.id);
    assert.equal(await totalOf(other, reader, ''), made.length);
    assert.equal(await totalOf(other, reader, `tags=t${round % 7}`), Math.floor(round / 7) + 1);
    await changing.request('PATCH', `/v2/cheeses/${json.id}`, { as: writer, body: { status: 'sold' } });
    const inventory = await other.request('GET', '/v2/store/inventory', { as: reader });
    assert.deepEqual(inventory.json, { available: 0, pending: 0, sold: made.length });
    if (round % 10 === 0) {
      await sleep(Math.random() * 20);
    }
  }
  const gone = made[0] as number;
  const headers = { 'x-confirm-delete': 'true' };
  await all[0].request('DELETE', `/v2/cheeses/${gone}`, { as: writer, headers });
  assert.equal(await totalOf(all[1], reader, ''), made.length - 1);
});

test('Cheeses that a command imports are in the lists of a server on the same SQLite file', async (t) => {
  const shop = await openShop(t);
  const services = await composeShop(shop.config);
  cleanUp(t, () => services.close());
  for (let round = 1; round <= 20; round += 1) {
    const inputs = Array.from({ length: 30 }, (_, index) => ({ name: `Cheese ${round} ${index}` }));
    await services.cheeses.service.import(services.contextOf('cli'), inputs, new Set());
    assert.equal(await totalOf(shop, shop.reader, ''), round * 30);
    assert.equal(
      await totalOf(shop, shop.reader, `q=cheese%20${round}`),
      await totalOf(shop, shop.reader, `q=${round}`),
    );
  }
});
