/** A receiver that works again gets at once what waits for it, and deliveries say why they wait. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Engine, sql } from '../../src/database/sql.ts';
import { onBothEngines, type Scope, testClock, until } from '../context.ts';
import { assertError, openShop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver } from './receiver.ts';
import {
  changeCheese,
  deliver,
  findEndpoint,
  listDeliveries,
  loseServers,
  numbered,
  registerEndpoint,
} from './webhook-shop.ts';

const minuteMs = 60_000;

/** A shop with an endpoint whose receiver returns what tests choose. */
async function opened(t: Scope, engine?: Engine) {
  const clock = testClock();
  const shop = await openShop(t, { clock, ...(engine === undefined ? {} : { engine }) });
  let statusOf: (subject: string) => number = () => 204;
  const receiver = await openReceiver(t, (response, { body }) =>
    response.writeHead(statusOf(body.subject)).end(),
  );
  const { id } = await registerEndpoint(shop, receiver.url);
  const path = `/v2/webhook-endpoints/${id}`;
  const post = (verb: string, headers = {}) =>
    shop.request('POST', `${path}/${verb}`, { as: shop.admin, headers });
  return {
    clock,
    shop,
    id,
    path,
    receiver,
    post,
    respondWith: (next: number | typeof statusOf) => {
      statusOf = typeof next === 'number' ? () => next : next;
    },
    subjects: () =>
      receiver.received.filter(({ body }) => body.type !== 'webhook.test').map(({ body }) => body.subject),
    endpoint: async () => (await shop.request('GET', path, { as: shop.admin })).json,
    attempts: async () => (await listDeliveries(shop, id)).map(({ attempts }) => attempts),
  };
}

/** Creates cheeses whose events fail twice. They are due again after five minutes. */
async function failTwice({ shop, clock, respondWith }: Awaited<ReturnType<typeof opened>>, names: string[]) {
  respondWith(500);
  const ids: number[] = [];
  for (const name of names) {
    ids.push(await newCheese(shop, { name }));
  }
  await deliver(shop);
  clock.advance(6000);
  await deliver(shop);
  return ids;
}

onBothEngines('What waits for a receiver that works again', (engine) => {
  test('The backlog of a repaired receiver is sent at once after a successful test, and these attempts are not of the ten', async (t) => {
    const one = await opened(t, engine);
    const { shop, clock, receiver, post, respondWith, subjects, attempts } = one;
    const ids = await failTwice(one, ['Brie', 'Feta', 'Gouda']);
    for (const id of ids) {
      await changeCheese(shop, id, 'pending');
    }
    receiver.received.length = 0;
    assert.notEqual((await post('test')).json.error, null);
    await deliver(shop);
    assert.deepEqual(subjects(), [], 'a test that failed changed something');
    // The test is accepted, and the deliveries are not.
    respondWith((subject) => (subject.startsWith('cheese') ? 502 : 204));
    assert.equal((await post('test')).json.error, null);
    await deliver(shop);
    assert.deepEqual(
      subjects().sort(),
      ids.map((id) => `cheese:${id}`),
    );
    assert.deepEqual(await attempts(), [3, 3, 3, 0, 0, 0]);
    const waiting = await one.endpoint();
    assert.deepEqual([waiting.waiting, waiting.waitingFor], [6, 'retry']);
    const dueMs = Date.parse(waiting.dueAt) - clock.now();
    assert.ok(dueMs > 4 * minuteMs && dueMs < 6 * minuteMs, 'the wait is that after the second attempt');
    respondWith(204);
    receiver.received.length = 0;
    assert.equal((await post('test')).json.error, null);
    await deliver(shop);
    assert.deepEqual(
      subjects().sort(),
      ids.flatMap((id) => [`cheese:${id}`, `cheese:${id}`]),
    );
    assert.deepEqual((await one.endpoint()).waiting, 0);
  });

  test('The backlog of a repaired receiver is sent at once after an accepted delivery, but not where others are refused', async (t) => {
    const one = await opened(t, engine);
    const { shop, clock, respondWith, attempts } = one;
    const [refused, ...down] = await failTwice(one, ['Brie', 'Feta', 'Gouda']);
    respondWith((subject) => (subject === `cheese:${refused}` ? 500 : 204));
    clock.advance(10_000);
    await newCheese(shop, { name: 'Comté' });
    await deliver(shop);
    await deliver(shop);
    const rows = await listDeliveries(shop, one.id);
    assert.deepEqual(
      rows.map(({ subject, status, attempts: made }) => [subject, status, made]),
      [
        [`cheese:${refused}`, 'waiting', 3],
        ...down.map((id) => [`cheese:${id}`, 'delivered', 3]),
        [rows.at(-1)?.subject, 'delivered', 1],
      ],
    );
    // It refuses one event and accepts others, again and again.
    for (let round = 1; round <= 5; round += 1) {
      await newCheese(shop, { name: `Cheese ${round}` });
      await deliver(shop);
    }
    assert.equal((await attempts())[0], 3);
    // With ever so many successes after failures, its schedule is kept.
    for (let round = 1; round <= 12; round += 1) {
      clock.advance(6000);
      await newCheese(shop, { name: `Later ${round}` });
      await deliver(shop);
      await deliver(shop);
    }
    const [delivery] = await listDeliveries(shop, one.id);
    assert.ok((delivery?.attempts ?? 0) <= 2 + 10 + 1, `${delivery?.attempts} attempts`);
    assert.equal(delivery?.status, 'waiting');
  });

  test('The backlog of a repaired receiver is sent at once on request, which ends a pause and is possible five times a minute', async (t) => {
    const one = await opened(t, engine);
    const { shop, clock, id, receiver, post, respondWith, subjects, attempts } = one;
    const ids = await failTwice(one, ['Brie', 'Feta']);
    respondWith(429);
    clock.advance(6 * minuteMs);
    await deliver(shop);
    assert.notEqual((await findEndpoint(shop, id)).paused_until, null);
    receiver.received.length = 0;
    respondWith(500);
    const dry = await post('deliver', { 'dry-run': 'true' });
    assert.deepEqual([dry.status, dry.json], [202, { deliveries: 2 }]);
    await deliver(shop);
    assert.deepEqual(subjects(), []);
    for (let number = 1; number <= 5; number += 1) {
      const response = await post('deliver');
      assert.deepEqual([response.status, response.json], [202, { deliveries: 2 }]);
      await deliver(shop);
    }
    assert.equal(receiver.received.length, 10);
    assertError(await post('deliver'), 429, 'rate_limit_exceeded');
    assertError(await post('test'), 429, 'rate_limit_exceeded');
    assert.deepEqual(await attempts(), [8, 8]);
    respondWith(204);
    clock.advance(minuteMs);
    const before = receiver.received.length;
    assert.equal((await post('deliver')).status, 202);
    await deliver(shop);
    assert.deepEqual(
      subjects().slice(before).sort(),
      ids.map((one) => `cheese:${one}`),
    );
    await post('disable');
    assertError(await post('deliver'), 409, 'conflict');
    assert.equal((await listDeliveries(shop, id)).length, 2);
  });

  test('The backlog of a repaired receiver is sent to another URL at once', async (t) => {
    const one = await opened(t, engine);
    const { shop, path, receiver, subjects, respondWith } = one;
    const ids = await failTwice(one, ['Brie', 'Feta']);
    receiver.received.length = 0;
    respondWith(204);
    const change = (body: object) => shop.request('POST', path, { as: shop.admin, body });
    await change({ description: 'the same receiver' });
    await deliver(shop);
    assert.deepEqual(subjects(), []);
    assert.equal((await change({ url: `${receiver.url}moved` })).json.waitingFor, 'turn');
    await deliver(shop);
    assert.deepEqual(
      subjects().sort(),
      ids.map((id) => `cheese:${id}`),
    );
  });

  test('The backlog of a repaired receiver is sent at once when another secret repairs the endpoint', async (t) => {
    const one = await opened(t, engine);
    const ids = await failTwice(one, ['Brie', 'Feta']);
    const changed = await one.shop.another({ secret: 'another secret of at least 32 bytes' });
    await newCheese(changed, { name: 'Gouda' });
    await deliver(changed);
    assert.equal((await findEndpoint(changed, one.id)).disabled_reason, 'secret_unreadable');
    one.receiver.received.length = 0;
    await changed.request('POST', `${one.path}/rotate-secret`, { as: changed.admin });
    await deliver(changed);
    // The receiver accepts none of them, so no success makes them due.
    const subjects = one.subjects();
    assert.ok(ids.every((id) => subjects.includes(`cheese:${id}`)));
  });

  test('The backlog of a repaired receiver is sent at once by a resend, which ends a pause', async (t) => {
    const { shop, clock, id, receiver, respondWith, subjects } = await opened(t, engine);
    respondWith(502);
    const cheese = await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    const [delivery] = await listDeliveries(shop, id);
    assert.ok(Date.parse((await findEndpoint(shop, id)).paused_until ?? '') > clock.now());
    receiver.received.length = 0;
    respondWith(204);
    await shop.request('POST', `/v2/webhook-deliveries/${delivery?.id}/retry`, { as: shop.admin });
    await deliver(shop);
    assert.deepEqual(subjects(), [`cheese:${cheese}`]);
  });

  test('The backlog of a repaired receiver is sent at once on request after fifty early attempts too, which then are of the ten', async (t) => {
    const { shop, clock, id, path, post, respondWith, attempts } = await opened(t, engine);
    respondWith(500);
    await newCheese(shop, { name: 'Brie' });
    await deliver(shop);
    const [delivery] = await listDeliveries(shop, id);
    for (let number = 2; number <= 58; number += 1) {
      await shop.request('POST', `/v2/webhook-deliveries/${delivery?.id}/retry`, { as: shop.admin });
      await deliver(shop);
    }
    assert.deepEqual(await attempts(), [58]);
    clock.advance(minuteMs);
    await post('deliver');
    await deliver(shop);
    assert.deepEqual(await attempts(), [59]);
    await post('deliver');
    await deliver(shop);
    assert.deepEqual(
      (await listDeliveries(shop, id)).map(({ status, attempts: made }) => [status, made]),
      [['failed', 60]],
    );
    assert.equal((await shop.request('GET', path, { as: shop.admin })).json.disabledReason, 'failing');
  });

  test('The backlog of a repaired receiver says why it waits and when it is due', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const held: ServerResponse[] = [];
    const receiver = await openReceiver(t, (response) => held.push(response));
    const { id } = await registerEndpoint(shop, receiver.url);
    const path = `/v2/webhook-endpoints/${id}`;
    const shown = async () => {
      const { json } = await shop.request('GET', `${path}/deliveries`, { as: shop.admin });
      const rows = json.items.toReversed() as { id: number; waitingFor: string; dueAt: string }[];
      for (const { id: delivery, waitingFor, dueAt } of rows) {
        const { json: read } = await shop.request('GET', `/v2/webhook-deliveries/${delivery}`, {
          as: shop.admin,
        });
        assert.deepEqual([read.waitingFor, read.dueAt], [waitingFor, dueAt]);
      }
      const { json: endpoint } = await shop.request('GET', path, { as: shop.admin });
      return [endpoint, ...rows].map(({ waitingFor, dueAt }) => [
        waitingFor,
        dueAt === null ? null : Date.parse(dueAt) - clock.now(),
      ]);
    };
    assert.deepEqual(await shown(), [[null, null]]);
    const cheese = await newCheese(shop, { name: 'Brie' });
    await changeCheese(shop, cheese, 'pending');
    await numbered(shop);
    const run = shop.app.webhooks.worker.run();
    await until(async () => held.length === 1);
    const behind = ['earlier_delivery', null];
    assert.deepEqual(await shown(), [['lease', 10_000], ['lease', 10_000], behind]);
    await loseServers(shop);
    assert.deepEqual(await shown(), [['turn', 0], ['turn', 0], behind]);
    held.pop()?.writeHead(204).end();
    await until(async () => held.length === 1);
    held.pop()?.writeHead(500).end();
    await run;
    const [[, dueMs]] = (await shown()) as [[string, number]];
    assert.ok(dueMs >= 4500 && dueMs <= 5500);
    assert.deepEqual(await shown(), [
      ['retry', dueMs],
      [null, null],
      ['retry', dueMs],
    ]);
    clock.advance(6000);
    const second = shop.app.webhooks.worker.run();
    await until(async () => held.length === 1);
    held.pop()?.writeHead(429, { 'Retry-After': '10' }).end();
    await second;
    await loseServers(shop);
    await shop.app.database.run(sql`update background_job set due_at = '2026-01-01T00:00:00.000Z'`);
    assert.deepEqual((await shown()).at(-1), ['pause', 30_000]);
    await shop.request('POST', `${path}/disable`, { as: shop.admin });
    assert.deepEqual(await shown(), [
      ['enabling', null],
      [null, null],
      ['enabling', null],
    ]);
  });
});

suite('An endpoint with a long backlog', () => {
  test('A webhook endpoint with a long backlog is looked at seldom, and gets its new events all the same', async (t) => {
    const shop = await openShop(t);
    const { database } = shop.app;
    const receiver = await openReceiver(t);
    const { id } = await registerEndpoint(shop, receiver.url);
    await database.run(sql`
      insert into webhook_delivery (endpoint_id, sequence, event_id, type, subject, kind, status, created_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 9000)
      select ${id}, 0, 'evt_abcd_0', 'cheese.created', 'cheese:999999', 'replay', 'waiting', '' from numbers`);
    await shop.app.webhooks.worker.start();
    await newCheese(shop, { name: 'Brie' });
    await until(async () => receiver.received.length === 1);
    await newCheese(shop, { name: 'Feta' });
    await sleep(1000);
    assert.equal(receiver.received.length, 1, 'it was looked at for each event');
    await until(async () => receiver.received.length === 2);
    // What an operator does is not delayed.
    await newCheese(shop, { name: 'Gouda' });
    await numbered(shop);
    shop.app.webhooks.worker.wake(id);
    const wokenAt = performance.now();
    await until(async () => receiver.received.length === 3);
    assert.ok(performance.now() - wokenAt < 4000);
  });
});
