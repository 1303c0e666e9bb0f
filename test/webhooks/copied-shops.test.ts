/** A copied or restored shop does not send the webhooks of the shop that it comes from, until an operator enables them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { environmentOf } from '../cli/filled-shop.ts';
import { curd, curdJson, runInProcess } from '../cli/run.ts';
import { createDatabase, openShop, type Shop, temporaryFolder } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { deliver, findEndpoint, registerEndpoint } from './webhook-shop.ts';

/** A shop with an event that was not sent yet. */
async function openSending(t: TestContext) {
  const shop = await openShop(t);
  const receiver = await openReceiver(t);
  const { id } = await registerEndpoint(shop, receiver.url, ['cheese.*']);
  await newCheese(shop, { name: 'Brie' });
  return { shop, receiver, id, environment: environmentOf(shop) };
}

async function assertQuietUntilEnabled(shop: Shop, receiver: Receiver, id: number): Promise<void> {
  await deliver(shop);
  assert.equal(receiver.received.length, 0);
  const { status, disabled_reason } = await findEndpoint(shop, id);
  assert.deepEqual([status, disabled_reason], ['disabled', 'on_request']);
  const list = await shop.request('GET', '/v2/events?types=webhook_endpoint.disabled', { as: shop.admin });
  assert.deepEqual(
    list.json.items.map(({ actor, data }: { actor: string; data: unknown }) => [actor, data]),
    [['cli', { id, reason: 'on_request' }]],
  );
  const path = `/v2/webhook-endpoints/${id}/enable`;
  assert.equal((await shop.request('POST', path, { as: shop.admin })).status, 200);
  await deliver(shop);
  assert.deepEqual(
    receiver.received.map(({ body }) => body.data.name),
    ['Brie'],
  );
}

test('A restored shop has its webhook endpoints disabled, and says so', async (t) => {
  const { shop, receiver, id, environment } = await openSending(t);
  const file = join(await temporaryFolder(t), 'shop.tar');
  await runInProcess(environment, 'backup', [file]);
  await shop.app.close();
  const folder = await temporaryFolder(t);
  const { stdout } = await curd({ ...environment, CURD_DATA_DIR: folder }, 'restore', file);
  assert.match(stdout, new RegExp(`1 webhook endpoint \\(${id}\\).*curd webhooks enable <id>`));
  const restored = await openShop(t, { settings: { CURD_DATA_DIR: folder } });
  await assertQuietUntilEnabled(restored, receiver, id);
});

test('A copied shop has its webhook endpoints disabled, and says so', async (t) => {
  const { shop, receiver, id, environment } = await openSending(t);
  const url = await createDatabase(t, 'template_curd');
  const { disabledEndpoints } = await curdJson(environment, 'copy', '--to', url);
  assert.deepEqual(disabledEndpoints, [id]);
  assert.equal((await findEndpoint(shop, id)).status, 'enabled', 'the source was changed');
  await shop.app.close();
  const copied = await openShop(t, { settings: { CURD_DATABASE: url } });
  await assertQuietUntilEnabled(copied, receiver, id);
});
