/** Deliveries of webhooks: what is sent, in which order, when again, and what a restart does. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { timestamp } from '../../src/clock.ts';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, testClock, until } from '../context.ts';
import { openShop, type Shop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver, type Received } from './receiver.ts';
import {
  changeCheese,
  deliver,
  findEndpoint,
  listAttempts,
  listDeliveries,
  loseServers,
  numbered,
  registerEndpoint,
} from './webhook-shop.ts';

/** From one attempt to the next, in seconds. */
const waits = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Events as the list shows them. */
async function listed(shop: Shop): Promise<string[]> {
  const { text } = await shop.request('GET', '/v2/events?limit=100', { as: shop.admin });
  return JSON.parse(text).items.map((item: unknown) => JSON.stringify(item));
}

/** Deliveries of the newest event, each with a subject of its own, that are due. */
async function addDueDeliveries(shop: Shop, endpointId: number, count: number): Promise<void> {
  const { database } = shop.app;
  const now = timestamp(shop.clock.now());
  await database.run(sql`
    insert into webhook_delivery (endpoint_id, sequence, event_id, type, subject, kind, status, created_at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
    select ${endpointId}, (select max(sequence) from event), 'evt_abcd_1', 'cheese.created',
      'cheese:' || cast(n + 1000 as text), 'replay', 'waiting', ${now} from numbers`);
  await database.run(sql`
    insert into background_job (kind, key, lane, due_at, attempts)
    select 'webhook.delivery', cast(id as text), cast(endpoint_id as text), created_at, 0 from webhook_delivery`);
}

onBothEngines('Webhooks', (engine) => {
  test('Webhooks are the events of the list with previousId as the last member, signed', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t);
    const { secret } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    await newCheese(shop, { name: 'Comté' });
    await deliver(shop);
    const events = (await listed(shop)).filter((text) => JSON.parse(text).type === 'cheese.created');
    const sent = receiver.received.toSorted((a, b) => a.body.sequence - b.body.sequence);
    assert.deepEqual(
      sent.map(({ text }) => text),
      [
        `${events[0]?.slice(0, -1)},"previousId":null}`,
        `${events[1]?.slice(0, -1)},"previousId":"${sent[0]?.id}"}`,
      ],
    );
    for (const { id, headers, text, body } of sent) {
      assert.equal(id, body.id);
      assert.deepEqual(new Webhook(secret).verify(text, headers as Record<string, string>), body);
      assert.match(String(headers['user-agent']), /^Curd\/\d/);
      assert.match(String(headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      assert.equal(headers['curd-replay'], undefined);
    }
  });

  test('Webhooks of one subject wait for the one before them; those of other subjects do not', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const [failing, other] = [
      await newCheese(shop, { name: 'Brie' }),
      await newCheese(shop, { name: 'Comté' }),
    ];
    let isRefusing = true;
    const receiver = await openReceiver(t, (response, { body }) => {
      const isRefused = isRefusing && body.subject === `cheese:${failing}`;
      response.writeHead(isRefused && body.data.changes?.status?.to === 'sold' ? 500 : 204).end();
    });
    const { id } = await registerEndpoint(shop, receiver.url);
    for (const status of ['pending', 'sold', 'available']) {
      await changeCheese(shop, failing, status);
    }
    await changeCheese(shop, other, 'pending');
    await deliver(shop);
    const sent = () => receiver.received.map(({ body }) => `${body.subject} ${body.data.changes.status.to}`);
    assert.deepEqual(sent().sort(), [
      `cheese:${failing} pending`,
      `cheese:${failing} sold`,
      `cheese:${other} pending`,
    ]);
    assert.deepEqual(
      (await listDeliveries(shop, id)).map(({ status, last_error }) => [status, last_error]),
      [
        ['delivered', null],
        ['waiting', 'the response has status 500'],
        ['waiting', null],
        ['delivered', null],
      ],
    );
    isRefusing = false;
    clock.advance(5500);
    await deliver(shop);
    assert.deepEqual(sent().slice(3), [`cheese:${failing} sold`, `cheese:${failing} available`]);
  });

  test('Webhooks are sent again with the same id where a server died before the result', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const waiting: ServerResponse[] = [];
    let isAnswering = false;
    const receiver = await openReceiver(t, (response) => {
      if (isAnswering) {
        response.writeHead(204).end();
      } else {
        waiting.push(response);
      }
    });
    const { id } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    await numbered(shop);
    const first = shop.app.webhooks.worker.run();
    await until(async () => waiting.length === 1);
    // The first server does not get its response: another one takes over when the lease was ended.
    const survivor = await shop.another();
    clock.advance(3_600_000);
    isAnswering = true;
    await deliver(survivor);
    assert.equal(receiver.received.length, 1, 'the lease had not ended');
    await loseServers(shop);
    await deliver(survivor);
    assert.equal(receiver.received.length, 2);
    assert.equal(receiver.received[0]?.id, receiver.received[1]?.id);
    // The late result of the first attempt does not count.
    waiting[0]?.writeHead(500).end();
    await first;
    const [delivery] = await listDeliveries(shop, id);
    assert.deepEqual([delivery?.status, delivery?.attempts], ['delivered', 2]);
    assert.deepEqual(
      (await listAttempts(shop, delivery?.id ?? 0)).map(({ number, status, error }) => [
        number,
        status,
        error,
      ]),
      [
        [1, null, 'the server stopped before the result was known'],
        [2, 204, null],
      ],
    );
    assert.equal((await findEndpoint(shop, id)).failures_in_row, 0);
  });

  test('Webhooks run eight at a time for an endpoint, over all instances', async (t) => {
    const shop = await openShop(t, { engine });
    const waiting: ServerResponse[] = [];
    const receiver = await openReceiver(t, (response) => waiting.push(response));
    await registerEndpoint(shop, receiver.url);
    for (let number = 1; number <= 12; number += 1) {
      await newCheese(shop, { name: `Cheese ${number}` });
    }
    await numbered(shop);
    const another = await shop.another();
    const runs = [shop.app.webhooks.worker.run(), another.app.webhooks.worker.run()];
    await until(async () => waiting.length === 8);
    while (receiver.received.length < 12) {
      assert.ok(receiver.running() <= 8, `${receiver.running()} requests ran at once`);
      const before = receiver.received.length;
      waiting.shift()?.writeHead(204).end();
      await until(async () => receiver.received.length > before);
    }
    for (const response of waiting) {
      response.writeHead(204).end();
    }
    await Promise.all(runs);
    assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 12);
  });

  test('Webhooks are sent soon after the change; an endpoint that times out delays neither others nor approvals', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_APPROVAL_DELAY: '1s' } });
    const stalled = await openReceiver(t, () => {});
    const receiver = await openReceiver(t);
    const { id: stalledId } = await registerEndpoint(shop, stalled.url);
    await newCheese(shop, { name: 'Brie' });
    await numbered(shop);
    await addDueDeliveries(shop, stalledId, 9_000);
    await shop.app.webhooks.worker.start();
    shop.app.worker.start();
    await until(async () => stalled.running() === 8);
    const { id } = await registerEndpoint(shop, receiver.url, ['cheese.*', 'order.*']);
    shop.app.webhooks.worker.wake(id);
    const cheese = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Comté', pricePerKg: 20 },
    });
    const order = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: {
        items: [{ cheeseId: cheese.json.id, quantity: 1 }],
        shippingAddress: { street: 'Gasse 1', city: 'Bern', country: 'CH' },
      },
    });
    assert.equal(order.status, 201, order.text);
    // The requests to the other endpoint end after 15 s.
    const types = () => receiver.received.map(({ body }) => body.type);
    await until(async () => types().includes('order.approved'));
    assert.deepEqual(types().sort(), ['cheese.created', 'order.approved', 'order.placed']);
    assert.equal(stalled.running(), 8);
  });
});

suite('Attempts of a delivery', () => {
  test('Attempts of a webhook delivery are signed with both secrets during an overlap, and with the new one alone after it', async (t) => {
    const clock = testClock(Date.now());
    const shop = await openShop(t, { clock });
    const receiver = await openReceiver(t);
    const { id, secret } = await registerEndpoint(shop, receiver.url);
    const rotated = await shop.request('POST', `/v2/webhook-endpoints/${id}/rotate-secret`, {
      as: shop.admin,
      body: { overlap: '1m' },
    });
    assert.equal(rotated.status, 200, rotated.text);
    const secrets = [secret, rotated.json.secret];
    const accepting = async (name: string) => {
      await newCheese(shop, { name });
      await deliver(shop);
      const { text, headers } = receiver.received.at(-1) as Received;
      const isAccepted = (one: string, body: string) => {
        try {
          return new Webhook(one).verify(body, headers as Record<string, string>) !== undefined;
        } catch {
          return false;
        }
      };
      assert.ok(secrets.every((one) => !isAccepted(one, text.replace(name, `${name}!`))));
      return secrets.map((one) => isAccepted(one, text));
    };
    assert.deepEqual(await accepting('Brie'), [true, true]);
    clock.advance(60_000);
    assert.deepEqual(await accepting('Comté'), [false, true]);
  });

  test('Attempts of a webhook delivery are ten at the times of Standard Webhooks; then it has failed and the endpoint is disabled', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    const receiver = await openReceiver(t, (response) =>
      response.writeHead(500).end('no cheese today\u0007'),
    );
    const { id } = await registerEndpoint(shop, receiver.url);
    const cheese = await newCheese(shop, { name: 'Brie' });
    await changeCheese(shop, cheese, 'pending');
    await deliver(shop);
    for (const [index, seconds] of waits.entries()) {
      assert.equal(receiver.received.length, index + 1);
      clock.advance(seconds * 900 - 1);
      await deliver(shop);
      assert.equal(receiver.received.length, index + 1, `attempt ${index + 2} came too early`);
      clock.advance(seconds * 200 + 2);
      await deliver(shop);
    }
    assert.equal(receiver.received.length, 10, 'the second event was not sent');
    const [given, waiting] = await listDeliveries(shop, id);
    assert.deepEqual([given?.status, given?.attempts, given?.last_status], ['failed', 10, 500]);
    assert.equal(waiting?.status, 'waiting');
    const endpoint = await findEndpoint(shop, id);
    assert.deepEqual([endpoint.status, endpoint.disabled_reason], ['disabled', 'failing']);
    const [attempt] = await listAttempts(shop, given?.id ?? 0);
    assert.deepEqual(
      [attempt?.error, attempt?.response],
      ['the response has status 500', 'no cheese today\ufffd'],
    );
    const disabled = (await listed(shop)).map((text) => JSON.parse(text)).at(-1);
    assert.deepEqual(
      [disabled.type, disabled.subject, disabled.data],
      ['webhook_endpoint.disabled', `webhook_endpoint:${id}`, { id, reason: 'failing' }],
    );
    // A disabled endpoint queues nothing and keeps its position.
    await newCheese(shop, { name: 'Comté' });
    await deliver(shop);
    assert.equal((await findEndpoint(shop, id)).position, endpoint.position);
    assert.equal(receiver.received.length, 10);
  });

  test('Attempts of a webhook delivery are ten also where the server died during the last one; then the endpoint is disabled', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    const waiting: ServerResponse[] = [];
    const receiver = await openReceiver(t, (response) => {
      if (receiver.received.length < 10) {
        response.writeHead(500).end();
      } else {
        waiting.push(response);
      }
    });
    const { id } = await registerEndpoint(shop, receiver.url);
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    for (const seconds of waits.slice(0, -1)) {
      clock.advance(seconds * 1100 + 2);
      await deliver(shop);
    }
    clock.advance((waits.at(-1) ?? 0) * 1100 + 2);
    const last = shop.app.webhooks.worker.run();
    await until(async () => waiting.length === 1);
    const survivor = await shop.another();
    await loseServers(shop);
    await deliver(survivor);
    const [delivery] = await listDeliveries(shop, id);
    assert.deepEqual(
      [delivery?.status, delivery?.attempts, delivery?.last_error],
      ['failed', 10, 'the server stopped before the result was known'],
    );
    const endpoint = await findEndpoint(shop, id);
    assert.deepEqual([endpoint.status, endpoint.disabled_reason], ['disabled', 'failing']);
    assert.equal(survivor.app.webhooks.worker.stats.attempts.given_up, 1);
    assert.equal(JSON.parse((await listed(shop)).at(-1) ?? '{}').type, 'webhook_endpoint.disabled');
    // The result that comes late changes nothing.
    waiting[0]?.writeHead(204).end();
    await last;
    assert.equal((await listDeliveries(shop, id))[0]?.status, 'failed');
    assert.equal(receiver.received.length, 10);
  });

  test('Attempts of a webhook delivery that fail for one event do not disable an endpoint that accepts others', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    const refused = await newCheese(shop, { name: 'Brie' });
    const receiver = await openReceiver(t, (response, { body }) =>
      response.writeHead(body.subject === `cheese:${refused}` ? 500 : 204).end(),
    );
    const { id } = await registerEndpoint(shop, receiver.url);
    await changeCheese(shop, refused, 'pending');
    await deliver(shop);
    clock.advance(1000);
    await newCheese(shop, { name: 'Comté' });
    for (const seconds of waits) {
      clock.advance(seconds * 1100);
      await deliver(shop);
    }
    assert.deepEqual(
      (await listDeliveries(shop, id)).map(({ status }) => status),
      ['failed', 'delivered'],
    );
    assert.equal((await findEndpoint(shop, id)).status, 'enabled');
  });

  test('Attempts of a webhook delivery are judged by the status: redirects, Retry-After, pauses, a long response, a reset, 410', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { clock });
    const elsewhere = await openReceiver(t);
    let respond: (response: ServerResponse) => void = (response) =>
      response.writeHead(302, { Location: elsewhere.url }).end();
    const receiver = await openReceiver(t, (response) => respond(response));
    const { id } = await registerEndpoint(shop, receiver.url);
    const attempt = async (name: string) => {
      await newCheese(shop, { name });
      await deliver(shop);
      const delivery = (await listDeliveries(shop, id)).at(-1);
      const job = await shop.app.database.get<{ due_at: string }>(
        sql`select due_at from background_job where kind = 'webhook.delivery' and key = ${String(delivery?.id)}`,
      );
      const dueMs = job === undefined ? null : Date.parse(job.due_at) - clock.now();
      return { status: delivery?.status, code: delivery?.last_status, error: delivery?.last_error, dueMs };
    };
    const redirected = await attempt('Brie');
    assert.deepEqual([redirected.status, redirected.code], ['waiting', 302]);
    assert.ok((redirected.dueMs ?? 0) >= 4500 && (redirected.dueMs ?? 0) <= 5500);
    assert.equal(elsewhere.received.length, 0, 'the redirect was followed');

    respond = (response) => response.destroy();
    const reset = await attempt('Comté');
    assert.deepEqual(
      [reset.status, reset.code, reset.error],
      ['waiting', null, 'the connection was closed before the response was complete'],
    );

    let sentBytes = 0;
    respond = (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const write = () => {
        while (sentBytes < 10_000_000 && !response.destroyed) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    };
    assert.deepEqual(await attempt('Feta'), { status: 'delivered', code: 200, error: null, dueMs: null });
    assert.ok(sentBytes < 10_000_000, 'the whole response was read');
    assert.equal((await findEndpoint(shop, id)).failures_in_row, 0);

    respond = (response) => response.writeHead(429, { 'Retry-After': '120' }).end();
    const limited = await attempt('Gouda');
    assert.deepEqual([limited.status, limited.code, limited.dueMs], ['waiting', 429, 120_000]);
    const before = receiver.received.length;
    respond = (response) => response.writeHead(204).end();
    clock.advance(29_000);
    assert.equal((await attempt('Tilsiter')).status, 'waiting', 'the whole endpoint is paused');
    assert.equal(receiver.received.length, before);
    clock.advance(1000);
    await deliver(shop);
    assert.equal((await findEndpoint(shop, id)).paused_until, null, 'a success ends the pause');

    respond = (response) => response.writeHead(410).end();
    assert.deepEqual(
      [(await attempt('Manchego')).status, (await findEndpoint(shop, id)).disabled_reason],
      ['failed', 'gone'],
    );
  });

  test('Attempts of a webhook delivery never reach a private IP address in a shop that sends to public ones only', async (t) => {
    const shop = await openShop(t, { settings: { CURD_WEBHOOK_TARGETS: 'public' } });
    const receiver = await openReceiver(t);
    const { port } = new URL(receiver.url);
    const { id } = await registerEndpoint(shop, 'https://93.184.216.34/hook');
    // The target was public when it was registered.
    await shop.app.database.run(
      sql`update webhook_endpoint set url = ${`https://localhost:${port}/hook`} where id = ${id}`,
    );
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    const [delivery] = await listDeliveries(shop, id);
    assert.deepEqual([delivery?.status, delivery?.last_error], ['waiting', 'the IP address is not public']);
    assert.equal(receiver.connections(), 0);
  });
});
