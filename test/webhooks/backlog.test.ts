/** What waits for webhook endpoints: limits, repairs, expired events, and the deletion of old deliveries. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { checkWebhooks } from '../../src/webhooks/consistency-check.ts';
import { createEndpointSecrets } from '../../src/webhooks/secrets.ts';
import { onBothEngines, testClock, until } from '../context.ts';
import { openShop, type Shop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver } from './receiver.ts';
import {
  changeCheese,
  deliver,
  findEndpoint,
  listDeliveries,
  numbered,
  registerEndpoint,
} from './webhook-shop.ts';

/** Findings of doctor, as text. */
async function findings(shop: Shop, secret = shop.config.secret): Promise<string[]> {
  const secrets = createEndpointSecrets(shop.clock, secret);
  const found = await checkWebhooks(shop.app.database, secrets, shop.clock.now());
  return found.map(({ fault, examples }) => `${fault}: ${examples.join(', ')}`);
}

onBothEngines('What waits for an endpoint', (engine) => {
  test('The backlog of a webhook endpoint is at most 10,000 deliveries: then its position waits, and nothing is lost', async (t) => {
    const shop = await openShop(t, { engine });
    const { database } = shop.app;
    const receiver = await openReceiver(t);
    const { id } = await registerEndpoint(shop, receiver.url);
    await database.run(sql`
      insert into webhook_delivery (endpoint_id, sequence, event_id, type, subject, kind, status, created_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 9999)
      select ${id}, 0, 'evt_abcd_0', 'cheese.created', 'cheese:999999', 'replay', 'waiting', '' from numbers`);
    await newCheese(shop, { name: 'Brie' });
    await newCheese(shop, { name: 'Comté' });
    await deliver(shop);
    assert.deepEqual(
      receiver.received.map(({ body }) => body.data.name),
      ['Brie'],
    );
    assert.equal((await findEndpoint(shop, id)).position, receiver.received[0]?.body.sequence);
    await database.run(sql`
      update webhook_delivery set status = 'failed', ended_at = '2026-01-01T00:00:00.000Z' where kind = 'replay'`);
    await deliver(shop);
    assert.deepEqual(
      receiver.received.map(({ body }) => [body.data.name, body.previousId]),
      [
        ['Brie', null],
        ['Comté', receiver.received[0]?.id],
      ],
    );
  });

  test('The backlog of a webhook endpoint is examined by two instances at the same time, and sent once', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t);
    const { id } = await registerEndpoint(shop, receiver.url);
    const another = await shop.another();
    await Promise.all([shop.app.webhooks.worker.start(), another.app.webhooks.worker.start()]);
    const ids: number[] = [];
    for (let number = 1; number <= 10; number += 1) {
      const cheese = await newCheese(number % 2 === 0 ? shop : another, { name: `Cheese ${number}` });
      await changeCheese(number % 2 === 0 ? another : shop, cheese, 'pending');
      ids.push(cheese);
    }
    await until(async () => receiver.received.length >= 20);
    await until(async () => (await listDeliveries(shop, id)).every(({ status }) => status === 'delivered'));
    assert.equal(receiver.received.length, 20);
    for (const cheese of ids) {
      const types = receiver.received
        .filter(({ body }) => body.subject === `cheese:${cheese}`)
        .map(({ body }) => body.type);
      assert.deepEqual(types, ['cheese.created', 'cheese.updated']);
    }
    // Each names the one before it, in the order of the log.
    const sent = receiver.received.toSorted((a, b) => a.body.sequence - b.body.sequence);
    assert.deepEqual(
      sent.map(({ body }) => body.previousId),
      [null, ...sent.slice(0, -1).map((one) => one.id)],
    );
  });

  test('The backlog of a webhook endpoint gets missing jobs by maintenance, which deletes old and orphaned deliveries', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_DELIVERY_RETENTION: '7d' } });
    const { database } = shop.app;
    const receiver = await openReceiver(t);
    const { id } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    // A delivery whose job was lost.
    await database.run(sql`
      insert into webhook_delivery (endpoint_id, sequence, event_id, type, subject, kind, status, created_at)
      select endpoint_id, sequence, event_id, type, subject, 'replay', 'waiting', created_at from webhook_delivery`);
    assert.deepEqual(await findings(shop), [
      'webhook deliveries that are next for their subject and have no job, so that no server sends them: ' +
        `delivery 2 of endpoint ${id}`,
    ]);
    await deliver(shop);
    assert.equal(receiver.received.length, 1);
    await shop.app.webhooks.worker.maintain();
    assert.deepEqual(await findings(shop), []);
    await deliver(shop);
    assert.equal(receiver.received.length, 2);
    assert.equal(receiver.received[1]?.headers['curd-replay'], 'true');
    assert.equal(receiver.received[1]?.id, receiver.received[0]?.id);

    clock.advance(7 * 86_400_000);
    await shop.app.webhooks.worker.purge();
    assert.equal((await listDeliveries(shop, id)).length, 2, 'they are not older than the retention');
    clock.advance(1);
    await shop.app.webhooks.worker.purge();
    assert.equal((await listDeliveries(shop, id)).length, 0);
    assert.equal((await database.all(sql`select * from webhook_attempt`)).length, 0);

    // An endpoint that is deleted while deliveries wait.
    await changeCheese(shop, 1, 'sold').catch(() => {});
    await newCheese(shop, { name: 'Comté' });
    await numbered(shop);
    await database.run(sql`
      insert into webhook_delivery (endpoint_id, sequence, event_id, type, subject, kind, status, created_at)
      values (${id}, 1, 'evt_abcd_1', 'cheese.created', 'cheese:1', 'event', 'waiting', '')`);
    await shop.app.webhooks.worker.maintain();
    await database.run(sql`delete from webhook_endpoint where id = ${id}`);
    await deliver(shop);
    await shop.app.webhooks.worker.purge();
    assert.equal((await database.all(sql`select * from webhook_delivery`)).length, 0);
    const jobs = await database.all(sql`select key from background_job where kind = 'webhook.delivery'`);
    assert.equal(jobs.length, 0);
    assert.equal(receiver.received.length, 2);
  });
});

suite('An endpoint', () => {
  test('A webhook endpoint of another instance or of a command is found within seconds', async (t) => {
    const shop = await openShop(t);
    const receiver = await openReceiver(t);
    await shop.app.webhooks.worker.start();
    // The instance that registers it does not send.
    const another = await shop.another();
    await registerEndpoint(another, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    await until(async () => receiver.received.length === 1, 'nothing was sent');
  });

  test('A webhook endpoint is disabled where its position has left the log, and a delivery fails where its event has', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    const { database } = shop.app;
    const receiver = await openReceiver(t, (response) => response.writeHead(500).end());
    const behind = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    await newCheese(shop, { name: 'Comté' });
    await numbered(shop);
    await database.run(sql`update event_log set first = last`);
    clock.advance(6000);
    await deliver(shop);
    assert.equal(receiver.received.length, 2);
    assert.deepEqual(
      (await listDeliveries(shop, behind.id)).map(({ status, attempts, last_error }) => [
        status,
        attempts,
        last_error,
      ]),
      [
        ['failed', 1, 'the event has expired'],
        ['waiting', 1, 'the response has status 500'],
      ],
    );
    const late = await registerEndpoint(shop, receiver.url);
    await database.run(sql`update webhook_endpoint set position = 0 where id = ${late.id}`);
    await newCheese(shop, { name: 'Feta' });
    await deliver(shop);
    const { status, disabled_reason, position } = await findEndpoint(shop, late.id);
    assert.deepEqual([status, disabled_reason, position], ['disabled', 'events_expired', 0]);
  });

  test('A webhook endpoint is disabled where CURD_SECRET was changed, and named by doctor', async (t) => {
    const shop = await openShop(t);
    const receiver = await openReceiver(t);
    const { id } = await registerEndpoint(shop, receiver.url);
    const stored = createEndpointSecrets(shop.clock, 'another secret with enough bytes').create(id).stored;
    await shop.app.database.run(
      sql`update webhook_endpoint set secrets = ${JSON.stringify([stored])} where id = ${id}`,
    );
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    assert.equal((await findEndpoint(shop, id)).disabled_reason, 'secret_unreadable');
    assert.equal(receiver.received.length, 0);
    assert.deepEqual(await findings(shop), [
      `webhook endpoints whose secret cannot be read, because CURD_SECRET was changed: endpoint ${id}`,
    ]);
  });

  test('A webhook endpoint appears in the metrics with its attempts', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    let status = 204;
    const receiver = await openReceiver(t, (response) => response.writeHead(status).end());
    const { id } = await registerEndpoint(shop, receiver.url);
    const sample = async (name: string) => {
      const { text } = await shop.request('GET', '/metrics', { as: shop.admin });
      return text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1);
    };
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    status = 500;
    await newCheese(shop, { name: 'Comté' });
    await deliver(shop);
    assert.equal(await sample('curd_webhook_attempts_total{outcome="delivered"}'), '1');
    assert.equal(await sample('curd_webhook_attempts_total{outcome="retried"}'), '1');
    assert.equal(await sample('curd_webhook_endpoints{status="enabled"}'), '1');
    assert.equal(await sample('curd_webhook_delivery_lag_seconds'), '0');
    clock.advance(65_500);
    assert.ok(Number(await sample('curd_webhook_delivery_lag_seconds')) >= 60);
    status = 410;
    await deliver(shop);
    assert.equal(await sample('curd_webhook_attempts_total{outcome="given_up"}'), '1');
    assert.equal(await sample('curd_webhook_endpoints{status="disabled"}'), '1');
    assert.equal((await findEndpoint(shop, id)).disabled_reason, 'gone');
    // Deliveries of a disabled endpoint are not late.
    await shop.app.database.run(sql`update background_job set due_at = ''`);
    assert.equal(await sample('curd_webhook_delivery_lag_seconds'), '0');
  });
});
