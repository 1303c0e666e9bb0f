/** The delivery log, retries, replays, test pings, and what an endpoint gets when it is enabled again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Engine, sql } from '../../src/database/sql.ts';
import { onBothEngines, type Scope, type TestClock, testClock, until } from '../context.ts';
import { assertError, assertFields, openShop, type Shop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver, type Receiver } from './receiver.ts';

// biome-ignore lint/suspicious/noExplicitAny: the response was already validated against its schema.
type Json = any;

const path = '/v2/webhook-endpoints';

const send = (shop: Shop, method: string, url: string, body?: object, headers = {}) =>
  shop.request(method, url, { as: shop.admin, headers, ...(body === undefined ? {} : { body }) });

async function registerEndpoint(
  shop: Shop,
  { url }: Pick<Receiver, 'url'>,
  types = ['cheese.*'],
): Promise<Json> {
  const response = await send(shop, 'POST', path, { url, types });
  assert.equal(response.status, 201, response.text);
  return response.json;
}

/** Creates cheeses and waits until their events have numbers. Returns the ids of the events. */
async function createEvents(shop: Shop, ...names: readonly string[]): Promise<string[]> {
  for (const name of names) {
    await newCheese(shop, { name });
  }
  let items: Json[] = [];
  await until(async () => {
    const list = await send(shop, 'GET', '/v2/events?types=cheese.created&limit=100');
    items = list.json.items.filter(({ data }: Json) => names.includes(data.name));
    return items.length === names.length;
  });
  return items.map(({ id }) => id);
}

const deliver = (shop: Shop) => shop.app.webhooks.worker.run();

async function logOf(shop: Shop, id: number, query = ''): Promise<Json[]> {
  const response = await send(shop, 'GET', `${path}/${id}/deliveries?${query}`);
  assert.equal(response.status, 200, response.text);
  return response.json.items;
}

interface Opened {
  readonly clock: TestClock;
  readonly shop: Shop;
  readonly receiver: Receiver;
  readonly id: number;
  readonly secret: string;
  /** The ids of the events that were received. */
  readonly ids: () => string[];
  readonly respondWith: (status: number) => void;
}

/** A shop, a receiver whose status tests choose, and an endpoint that leads to it. */
async function opened(t: Scope, engine: Engine, types?: string[]): Promise<Opened> {
  const clock = testClock();
  const shop = await openShop(t, { engine, clock });
  let status = 204;
  const receiver = await openReceiver(t, (response) => response.writeHead(status).end('noted'));
  const { id, secret } = await registerEndpoint(shop, receiver, types);
  return {
    clock,
    shop,
    receiver,
    id,
    secret,
    respondWith: (next) => {
      status = next;
    },
    ids: () => receiver.received.map(({ id }) => id),
  };
}

onBothEngines('Deliveries', (engine) => {
  test('Webhook deliveries are listed newest first, page by page, by status and by event, with every attempt', async (t) => {
    const { shop, clock, id, receiver, respondWith } = await opened(t, engine);
    const events = await createEvents(shop, 'Brie', 'Feta', 'Gouda');
    await deliver(shop);
    respondWith(500);
    const [failing] = await createEvents(shop, 'Comté');
    await deliver(shop);

    const all = await logOf(shop, id);
    assert.deepEqual(
      all.map(({ eventId, status }) => [eventId, status]),
      [[failing, 'waiting'], ...events.toReversed().map((event) => [event, 'delivered'])],
    );
    const first = await send(shop, 'GET', `${path}/${id}/deliveries?limit=3`);
    assert.deepEqual([first.json.items, first.json.hasMore], [all.slice(0, 3), true]);
    const cursor = `cursor=${first.json.nextCursor}`;
    const second = await send(shop, 'GET', `${path}/${id}/deliveries?limit=3&${cursor}`);
    assert.deepEqual(second.json, { items: all.slice(3), nextCursor: null, hasMore: false });
    const changed = await send(shop, 'GET', `${path}/${id}/deliveries?status=failed&${cursor}`);
    assertError(changed, 400, 'bad_request');
    const other = await registerEndpoint(shop, receiver);
    assertError(await send(shop, 'GET', `${path}/${other.id}/deliveries?${cursor}`), 400, 'bad_request');
    assert.deepEqual(await logOf(shop, id, 'status=waiting'), all.slice(0, 1));
    assert.deepEqual(await logOf(shop, id, 'status=delivered'), all.slice(1));
    assert.deepEqual(await logOf(shop, id, `eventId=${events[1]}`), [all[2]]);
    assertError(await send(shop, 'GET', `${path}/${id}/deliveries?status=lost`), 400, 'bad_request');

    clock.advance(6000);
    respondWith(204);
    await deliver(shop);
    const { attempts, ...delivery } = (await send(shop, 'GET', `/v2/webhook-deliveries/${all[0].id}`)).json;
    assert.deepEqual(
      [delivery.status, delivery.attemptCount, delivery.lastStatus, delivery.lastError],
      ['delivered', 2, 204, null],
    );
    assert.deepEqual(
      attempts.map((one: Json) => [one.number, one.status, one.error, one.response]),
      [
        [1, 500, 'the response has status 500', 'noted'],
        [2, 204, null, ''],
      ],
    );
    assert.deepEqual((await logOf(shop, id))[0], delivery);
  });

  test('Webhook deliveries are sent again by retry, with the same id and previousId; one that waits is sent at once', async (t) => {
    const { shop, clock, id, receiver, respondWith, ids } = await opened(t, engine);
    const events = await createEvents(shop, 'Brie', 'Feta');
    await deliver(shop);
    const [feta] = await logOf(shop, id);
    const headers = { 'idempotency-key': 'retry-1' };
    const retried = await send(shop, 'POST', `/v2/webhook-deliveries/${feta.id}/retry`, undefined, headers);
    assert.equal(retried.status, 202, retried.text);
    const again = await send(shop, 'POST', `/v2/webhook-deliveries/${feta.id}/retry`, undefined, headers);
    assert.deepEqual(again.json, retried.json);
    for (const one of [feta.id, retried.json.deliveryId]) {
      const waiting = await send(shop, 'POST', `/v2/webhook-deliveries/${one}/retry`);
      assert.deepEqual([waiting.status, waiting.json], [202, retried.json]);
    }
    await deliver(shop);
    assert.deepEqual(ids(), [...events, events[1]]);
    const [, sent, resent] = receiver.received;
    assert.equal(resent?.text, sent?.text);
    assert.deepEqual([sent?.headers['curd-replay'], resent?.headers['curd-replay']], [undefined, 'true']);
    assert.deepEqual(
      (await logOf(shop, id, `eventId=${events[1]}`)).map(({ id: one, kind }) => [one, kind]),
      [
        [retried.json.deliveryId, 'replay'],
        [feta.id, 'event'],
      ],
    );
    respondWith(500);
    const last = await send(shop, 'POST', `/v2/webhook-deliveries/${feta.id}/retry`);
    await deliver(shop);
    const early = await send(shop, 'POST', `/v2/webhook-deliveries/${feta.id}/retry`);
    assert.deepEqual([early.status, early.json], [202, last.json]);
    await deliver(shop);
    const failed = await send(shop, 'GET', `/v2/webhook-deliveries/${last.json.deliveryId}`);
    assert.deepEqual([failed.json.attemptCount, failed.json.waitingFor], [2, 'retry']);
    await send(shop, 'POST', `${path}/${id}/disable`);
    await send(shop, 'POST', `${path}/${id}/enable`, { skip: true });
    const skipped = await send(shop, 'GET', `/v2/webhook-deliveries/${last.json.deliveryId}`);
    assert.deepEqual(
      [skipped.json.status, skipped.json.lastError],
      ['failed', 'skipped when the endpoint was enabled'],
    );
    clock.advance(3_600_000);
    await deliver(shop);
    assert.equal(receiver.received.length, 5, 'a skipped delivery has no job');

    const dry = await send(shop, 'POST', `/v2/webhook-deliveries/${feta.id}/retry`, undefined, {
      'dry-run': 'true',
    });
    assert.ok(dry.status === 202 && dry.json.deliveryId < 0);
    await shop.app.database.run(sql`update event_log set first = last + 1`);
    const expired = await send(shop, 'POST', `/v2/webhook-deliveries/${feta.id}/retry`);
    assertError(expired, 409, 'conflict');
    assert.match(expired.json.message, /has expired/);
  });

  test('Webhook deliveries are replayed for a range, with the same ids in order and only of the types of the endpoint', async (t) => {
    const { shop, id, receiver, ids } = await opened(t, engine, ['cheese.created', 'order.*']);
    const events = await createEvents(shop, 'Brie', 'Feta', 'Gouda', 'Comté');
    await shop.request('POST', '/v2/cheeses/1?status=pending', { as: shop.writer });
    await deliver(shop);
    receiver.received.length = 0;
    const replay = (body: object) => send(shop, 'POST', `${path}/${id}/replay`, body);
    const cases: [object, string[]][] = [
      [{ since: 'earliest' }, events],
      [{ since: events[1] }, events.slice(2)],
      [{ since: events[0], until: events[2] }, events.slice(1, 3)],
      [{ since: 'earliest', types: ['order.*', 'cheese.updated'] }, []],
      [{ since: new Date(shop.clock.now() + 60_000).toISOString() }, []],
    ];
    for (const [body, expected] of cases) {
      const response = await replay(body);
      assert.deepEqual([response.status, response.json], [202, { deliveries: expected.length }]);
      await deliver(shop);
      assert.deepEqual(ids().toSorted(), expected.toSorted(), JSON.stringify(body));
      assert.ok(receiver.received.every(({ headers }) => headers['curd-replay'] === 'true'));
      receiver.received.length = 0;
    }
    const dry = await send(
      shop,
      'POST',
      `${path}/${id}/replay`,
      { since: 'earliest' },
      { 'dry-run': 'true' },
    );
    assert.deepEqual(dry.json, { deliveries: 4 });
    assert.equal((await logOf(shop, id, 'status=waiting')).length, 0);

    assertFields(await replay({}), ['since']);
    assertFields(await replay({ since: 'yesterday' }), ['since']);
    assertFields(await replay({ since: events[1], until: events[0] }), ['until']);
    assertFields(await replay({ since: 'earliest', types: ['none.*'] }), ['types[0]']);
    assertError(await replay({ since: 'evt_zzzz_1' }), 410, 'log_rewound');
    await shop.app.database.run(sql`update event_log set first = last`);
    assertError(await replay({ since: events[0] }), 410, 'events_expired');
    await send(shop, 'POST', `${path}/${id}/disable`);
    assertError(await replay({ since: 'latest' }), 409, 'conflict');
  });

  test('Webhook deliveries that were missed come in order when the endpoint is enabled, and never with skip', async (t) => {
    const { shop, clock, id, respondWith, ids, receiver } = await opened(t, engine);
    respondWith(500);
    const [waiting] = await createEvents(shop, 'Brie');
    await deliver(shop);
    await send(shop, 'POST', `${path}/${id}/disable`);
    respondWith(204);
    const missed = await createEvents(shop, 'Feta', 'Gouda');
    clock.advance(60_000);
    await deliver(shop);
    assert.deepEqual(ids(), [waiting], 'nothing is sent to a disabled endpoint');
    const enabled = await send(shop, 'POST', `${path}/${id}/enable`);
    assert.deepEqual(
      [enabled.json.status, enabled.json.failingSince, enabled.json.waiting],
      ['enabled', null, 1],
    );
    await deliver(shop);
    assert.deepEqual(ids().toSorted(), [waiting, waiting, ...missed].toSorted());
    assert.deepEqual(
      receiver.received.filter(({ body }) => body.data.name === 'Gouda').map(({ body }) => body.previousId),
      [missed[0]],
    );

    receiver.received.length = 0;
    await send(shop, 'POST', `${path}/${id}/disable`);
    await createEvents(shop, 'Comté');
    await send(shop, 'POST', `${path}/${id}/enable`, { skip: true });
    const [next] = await createEvents(shop, 'Tilsiter');
    await deliver(shop);
    assert.deepEqual(ids(), [next]);

    await send(shop, 'POST', `${path}/${id}/disable`);
    await createEvents(shop, 'Sbrinz', 'Vacherin');
    await shop.app.database.run(sql`update event_log set first = last`);
    const refused = await send(shop, 'POST', `${path}/${id}/enable`);
    assertError(refused, 409, 'conflict');
    assert.match(refused.json.message, /"skip": true/);
    assert.equal((await send(shop, 'POST', `${path}/${id}/enable`, { skip: true })).json.status, 'enabled');
  });

  test('Webhook deliveries need no rotation but after a change of CURD_SECRET, which disables the endpoint', async (t) => {
    const { shop, id } = await opened(t, engine);
    const changed = await shop.another({ secret: 'another secret of at least 32 bytes' });
    await createEvents(changed, 'Brie');
    await deliver(changed);
    const one = await send(changed, 'GET', `${path}/${id}`);
    assert.deepEqual([one.json.status, one.json.disabledReason], ['disabled', 'secret_unreadable']);
    for (const verb of ['enable', 'test']) {
      const refused = await send(changed, 'POST', `${path}/${id}/${verb}`);
      assertError(refused, 409, 'conflict');
      assert.match(refused.json.message, /CURD_SECRET was changed.*rotate-secret/);
    }
    const repaired = await send(changed, 'POST', `${path}/${id}/rotate-secret`);
    assert.deepEqual(
      [repaired.json.status, repaired.json.disabledReason, repaired.json.secrets.length],
      ['enabled', null, 1],
    );
  });
});

onBothEngines('Test pings', (engine) => {
  test('Test pings of webhooks are signed, report the result, and are limited to five a minute for an endpoint', async (t) => {
    const { shop, clock, id, secret, receiver, respondWith } = await opened(t, engine);
    const ping = (headers = {}) => send(shop, 'POST', `${path}/${id}/test`, undefined, headers);
    const key = { 'idempotency-key': 'ping' };
    const first = await ping(key);
    assert.deepEqual(
      { ...first.json, durationMs: 0 },
      { status: 204, durationMs: 0, error: null, response: '' },
    );
    assert.deepEqual((await ping(key)).json, first.json);
    const [request] = receiver.received;
    assert.ok(request !== undefined && receiver.received.length === 1);
    assert.match(request.id, /^evt_test_[0-9A-Za-z]{12}$/);
    const at = Number(request.headers['webhook-timestamp']);
    assert.equal(at, Math.floor(clock.now() / 1000));
    // The reference implementation refuses timestamps that differ from its own clock.
    t.mock.timers.enable({ apis: ['Date'], now: clock.now() });
    assert.deepEqual(new Webhook(secret).verify(request.text, request.headers as Record<string, string>), {
      id: request.id,
      type: 'webhook.test',
      timestamp: new Date(clock.now()).toISOString(),
      sequence: null,
      subject: `webhook_endpoint:${id}`,
      actor: request.body.actor,
      requestId: request.body.requestId,
      data: {},
      previousId: null,
    });
    t.mock.timers.reset();
    respondWith(302);
    const redirected = await ping();
    assert.deepEqual(
      [redirected.json.status, redirected.json.error, redirected.json.response],
      [302, 'the response has status 302', 'noted'],
    );
    await send(shop, 'POST', `${path}/${id}`, { url: 'http://127.0.0.1:1/' });
    const unreachable = await ping();
    assert.equal(unreachable.json.status, null);
    assert.equal(unreachable.json.error, 'the connection was refused');
    await send(shop, 'POST', `${path}/${id}/disable`);
    assert.equal((await ping()).status, 200, 'a disabled endpoint can be tested');
    assert.equal((await ping()).status, 200);
    const refused = await ping();
    assertError(refused, 429, 'rate_limit_exceeded');
    assert.equal(refused.headers['retry-after'], '60');
    const other = await registerEndpoint(shop, receiver);
    assert.equal((await send(shop, 'POST', `${path}/${other.id}/test`)).status, 200);
    clock.advance(60_000);
    assert.equal((await ping()).status, 200);
    assert.deepEqual(await logOf(shop, id), []);
  });
});

test('A replay of more deliveries than can wait is 422 and queues nothing', async (t) => {
  const shop = await openShop(t);
  const { database } = shop.app;
  const receiver = await openReceiver(t);
  const row = await database.get<{ last: number }>(sql`select last from event_log`);
  const last = row?.last ?? 0;
  await database.transaction(async (tx) => {
    await tx.insert(
      'event',
      ['type', 'subject', 'data', 'actor', 'created_at', 'sequence'],
      Array.from({ length: 10_001 }, (_, index) => [
        ...['customer.deleted', `customer:${index}`, `{"id":${index}}`, 'test', '2026-06-01T12:00:00.000Z'],
        last + 1 + index,
      ]),
    );
    await tx.run(sql`update event_log set last = last + 10001`);
  });
  const { id } = await registerEndpoint(shop, receiver, ['customer.deleted']);
  const replay = (since: number) =>
    send(shop, 'POST', `${path}/${id}/replay`, { since: epoch.replace(/\d+$/, String(since)) });
  const epoch = (await send(shop, 'GET', '/v2/events?since=latest')).json.next as string;
  const refused = await replay(last);
  assertFields(refused, ['since']);
  assert.match(refused.json.message, /more than 10000\. Begin later/);
  assert.deepEqual(await logOf(shop, id), []);
  assert.deepEqual((await replay(last + 1)).json, { deliveries: 10_000 });
  assertFields(await replay(last + 10_000), ['since']);
  assert.equal((await send(shop, 'GET', `${path}/${id}`)).json.waiting, 10_000);
  // Deleting it leaves its deliveries to maintenance. So many would take it several runs.
  await database.run(
    sql`delete from webhook_delivery where sequence > (select min(sequence) + 800 from webhook_delivery)`,
  );
  assert.equal((await send(shop, 'DELETE', `${path}/${id}`)).status, 204);
  await shop.app.webhooks.worker.purge();
  const left = await database.get<{ rows: number }>(sql`select count(*) as rows from webhook_delivery`);
  assert.equal(left?.rows, 0);
});
