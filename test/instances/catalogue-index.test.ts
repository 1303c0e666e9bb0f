/** Lists of one instance show the changes that another one, or a command, has made before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeShop } from '../../src/app/compose.ts';
import { cleanUp, engines, openShop, type Shop, until } from '../helper.ts';
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

for (const engine of engines) {
  test(`A server without requests has the changes of another process within a second (${engine})`, async (t) => {
    const shop = await openShop(t, { engine });
    const services = await composeShop(shop.config);
    cleanUp(t, () => services.close());
    await shop.app.start(engine === 'sqlite');
    const { index } = shop.app.cheeses;
    for (const [round, wait] of [0, 1500].entries()) {
      await sleep(wait);
      const inputs = Array.from({ length: 500 }, (_, number) => ({ name: `Cheese ${round} ${number}` }));
      await services.cheeses.service.import(services.contextOf('cli'), inputs, new Set());
      const importedAt = performance.now();
      await until(async () => index.size === 500 * (round + 1));
      const waited = performance.now() - importedAt;
      assert.ok(waited < 1000, `${waited} ms`);
    }
  });

  test(`An index with more changes to follow than cheeses is loaded again, and lists are right (${engine})`, async (t) => {
    const shop = await openShop(t, { engine });
    const services = await composeShop(shop.config);
    cleanUp(t, () => services.close());
    const { index } = shop.app.cheeses;
    const importMany = (from: number, count: number) =>
      services.cheeses.service.import(
        services.contextOf('cli'),
        Array.from({ length: count }, (_, number) => ({ name: `Cheese ${from + number}` })),
        new Set(),
      );
    await importMany(0, 10);
    assert.equal(await totalOf(shop, shop.reader, ''), 10);
    const first = index.last?.index;
    await importMany(10, 900);
    assert.equal(await totalOf(shop, shop.reader, ''), 910);
    assert.ok(index.last?.index === first, 'few changes are followed');
    await importMany(910, 1600);
    assert.equal(await totalOf(shop, shop.reader, ''), 2510);
    assert.ok(index.last?.index !== first, 'many changes are not followed');
    // 25, 250 to 259, 2500 to 2509.
    assert.equal(await totalOf(shop, shop.reader, 'q=cheese%2025'), 21);
  });
}
