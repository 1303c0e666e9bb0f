/** A reset is sent to every endpoint, whatever types it subscribed and however far it was behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentOf } from '../cli/filled-shop.ts';
import { curd } from '../cli/run.ts';
import { engines, openShop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver } from './receiver.ts';
import { deliver, findEndpoint, registerEndpoint } from './webhook-shop.ts';

for (const engine of engines) {
  test(`A reset is sent to an endpoint of other types, and ends none that was behind (${engine})`, async (t) => {
    const receiver = await openReceiver(t);
    const shop = await openShop(t, { engine });
    const { id } = await registerEndpoint(shop, receiver.url, ['order.*']);
    await newCheese(shop, { name: 'Brie' });
    await newCheese(shop, { name: 'Comté' });
    const { code, stderr } = await curd(environmentOf(shop), 'reset', '--yes');
    assert.deepEqual([code, stderr], [0, '']);
    await deliver(shop);
    assert.deepEqual(
      receiver.received.map(({ text }) => JSON.parse(text).type),
      ['shop.reset'],
    );
    assert.equal((await findEndpoint(shop, id)).status, 'enabled');
  });
}
