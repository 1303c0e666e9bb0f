/** DELETE /demo: the demo cheeses that are the shop's own are kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillDemoCatalogue } from '../../src/app/demo/demo.ts';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertError, bern, onBothEngines, openShop, until } from '../helper.ts';

onBothEngines('DELETE /demo', (engine) => {
  test('DELETE /demo deletes what was not changed and never ordered, and shows it before in a dry run', async (t) => {
    const shop = await openShop(t, { engine });
    const { admin } = shop;
    const { cheeses, contextOf, statistics } = shop.app;
    await fillDemoCatalogue(cheeses.service, contextOf('test'));
    await shop.request('POST', '/v2/cheeses', { as: admin, body: { name: 'My own' } });
    const { json: page } = await shop.request('GET', '/v2/cheeses?limit=100&status=available', { as: admin });
    const priced = page.items.filter(({ pricePerKg }: { pricePerKg?: number }) => pricePerKg !== undefined);
    const [changed, placed, delivered, cancelled, image] = priced;
    const order = async (cheese: { id: number }, ...verbs: string[]) => {
      const body = { items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern };
      const { json } = await shop.request('POST', '/v2/store/order', { as: admin, body });
      const path = `/v2/store/order/${json.id}`;
      for (const verb of verbs) {
        const { status } = await (verb === 'cancel'
          ? shop.request('DELETE', path, { as: admin })
          : shop.request('POST', `${path}/${verb}`, { as: admin }));
        assert.ok(status < 300);
      }
    };
    const patch = (cheese: { id: number }, body: object) =>
      shop.request('PATCH', `/v2/cheeses/${cheese.id}`, { as: admin, body });
    await patch(changed, { pricePerKg: 1.23 });
    await patch(image, { photoUrls: ['https://photos.example/mine.jpg'] });
    await order(placed);
    await order(delivered, 'approve', 'ship', 'deliver');
    await order(cancelled, 'cancel');
    await until(async () => {
      await statistics.counter.run();
      return (await statistics.service.listOrdered(shop.app.database, [cancelled.id])).length > 0;
    });

    const remove = (headers: Readonly<Record<string, string>> = {}, as = admin) =>
      shop.request('DELETE', '/v2/demo', { as, headers });
    const total = async (): Promise<number> =>
      (await shop.request('GET', '/v2/cheeses?limit=1', { as: admin })).json.total;
    const before = await total();
    const dry = await remove({ 'dry-run': 'true' });
    assert.equal(dry.status, 200, dry.text);
    assert.equal(await total(), before);
    const ada = await newCustomer(shop, 'ada', 'customer');
    const session = { authorization: `Bearer ${await newSession(shop, ada)}` };
    assertError(await remove(session), 403, 'forbidden');
    assertError(await remove({}, shop.writer), 403, 'forbidden');

    const removed = await remove();
    assert.deepEqual(removed.json, dry.json);
    const names = [placed, delivered, cancelled].map(({ name }) => name);
    assert.deepEqual(removed.json.kept.toSorted(), names.toSorted());
    assert.equal(await total(), 6);
    assert.equal(removed.json.removed.length, before - 6);
    for (const kept of [changed, placed, delivered, cancelled, image]) {
      assert.equal((await shop.request('GET', `/v2/cheeses/${kept.id}`, { as: admin })).status, 200);
    }
    assert.deepEqual((await remove()).json.removed, []);
  });
});
