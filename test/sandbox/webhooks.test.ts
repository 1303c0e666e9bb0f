/** Webhooks are sent and repeated on the way, while the clock is moved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, openShop, until } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { deliver, listAttempts, listDeliveries, registerEndpoint } from '../webhooks/webhook-shop.ts';
import { advance, now } from './helper.ts';

const hourMs = 60 * 60_000;

onBothEngines('While the clock is moved', (engine) => {
  test('While the clock is moved, a failing webhook endpoint gets all attempts, and then the delivery is given up', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t, (response) => response.writeHead(500).end());
    const { id } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    const startedAt = await now(shop);
    const did = await advance(shop, '4d');
    assert.equal(did.deliveries, 10);
    assert.equal(receiver.received.length, 10);
    const [delivery, ...others] = await listDeliveries(shop, id);
    assert.deepEqual([delivery?.status, others.length], ['failed', 0]);
    const attempts = await listAttempts(shop, delivery?.id ?? 0);
    const hours = attempts.map(({ at }) => (Date.parse(at) - startedAt) / hourMs);
    assert.deepEqual(
      hours,
      hours.toSorted((a, b) => a - b),
    );
    assert.ok((hours[1] ?? 0) < 0.01 && (hours[2] ?? 0) > 0.07, hours.join(' '));
    assert.ok((hours.at(-1) ?? 0) > 65 && (hours.at(-1) ?? 0) < 90, hours.join(' '));
    const { json } = await shop.request('GET', `/v2/webhook-endpoints/${id}`, { as: shop.admin });
    assert.equal(json.status, 'disabled');
  });

  test('While the clock is moved, webhook events of what is done are sent, signed by the clock of the machine', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t);
    await registerEndpoint(shop, receiver.url, ['order.*']);
    const id = await newOrder(shop, [[await newCheese(shop), 30]]);
    const did = await advance(shop, '3d');
    assert.deepEqual([did.approved, did.deliveries], [1, 2]);
    assert.deepEqual(
      receiver.received.map(({ body }) => `${body.type} ${body.subject}`),
      [`order.placed order:${id}`, `order.approved order:${id}`],
    );
    for (const { headers } of receiver.received) {
      const seconds = Number(headers['webhook-timestamp']);
      assert.ok(Math.abs(seconds - Date.now() / 1000) < 60, String(seconds));
    }
  });

  test('While the clock is moved, a webhook receiver that does not respond delays it by a second', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t, () => {});
    const { id } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    const did = await advance(shop, '1s');
    assert.equal(did.deliveries, 1);
    const [delivery] = await listDeliveries(shop, id);
    assert.equal(delivery?.last_error, 'no complete response within 1 s');
  });

  test('While the clock is moved, a webhook attempt that began before delays it by a second, too', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t, () => {});
    const { id } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    const attempt = deliver(shop);
    await until(async () => receiver.received.length === 1, 'no attempt');
    const startedAt = performance.now();
    await advance(shop, '1s');
    const waitedMs = performance.now() - startedAt;
    assert.ok(waitedMs < 8000, `${waitedMs} ms`);
    await attempt;
    const [delivery] = await listDeliveries(shop, id);
    assert.equal(delivery?.last_error, 'no complete response within 1 s after the clock was moved');
  });
});
