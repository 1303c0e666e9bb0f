/** Recorded events: they are written in the transaction of the change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTypes } from '../../src/app/event-types.ts';
import { timestamp } from '../../src/clock.ts';
import { sql } from '../../src/database/sql.ts';
import type { NewEvent } from '../../src/event-log/define.ts';
import { recordEvents } from '../../src/event-log/record.ts';
import { orderEvents } from '../../src/orders/event-types.ts';
import { testImage, uploaded } from '../files/images.ts';
import {
  bern,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Shop,
  shared,
  type TestResponse,
  testClock,
} from '../helper.ts';

interface EventRow {
  readonly id: number;
  readonly type: string;
  readonly subject: string;
  readonly actor: string;
  readonly request_id: string | null;
  readonly trace_id: string | null;
  readonly data: string;
  readonly created_at: string;
}

/** Returns a function that reads the events recorded since this call. */
async function eventsFrom({ app }: Shop): Promise<() => Promise<EventRow[]>> {
  const all = () => app.database.all<EventRow>(sql`select * from event order by id`);
  const before = (await all()).length;
  return async () => (await all()).slice(before);
}

const confirmed = { 'x-confirm-delete': 'true' };
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';

async function actorOf({ app }: Shop, key: string): Promise<string> {
  const row = await app.database.get<{ id: number }>(
    sql`select id from api_key where last4 = ${key.slice(-4)} order by id desc`,
  );
  return `key:${row?.id}`;
}

function assertEvent(event: EventRow | undefined, type: string, subject: string, data: unknown): void {
  assert.deepEqual([event?.type, event?.subject], [type, subject]);
  assert.deepEqual(JSON.parse(event?.data ?? ''), data);
}

onBothEngines('Events', (engine) => {
  test('Events record the creation, update and deletion of a cheese, with actor and request', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const events = await eventsFrom(shop);
    const send = (method: string, url: string, requestId: string, options: RequestOptions) =>
      shop.request(method, url, {
        as: shop.writer,
        ...options,
        headers: { 'x-request-id': requestId, traceparent: `00-${trace}-${parent}-01`, ...options.headers },
      });
    const body = { name: 'Brie', category: { name: 'Soft' }, tags: [{ name: 'cow' }] };
    const created = await send('POST', '/v2/cheeses', 'r-1', { body });
    const { id } = created.json;
    const url = `/v2/cheeses/${id}`;
    clock.advance(1000);
    await send('POST', url, 'r-2', { body: { status: 'sold' } });
    clock.advance(1000);
    const whole = { id, name: 'Edam', status: 'sold' };
    const replaced = await send('PUT', '/v2/cheeses', 'r-3', { body: whole });
    clock.advance(1000);
    await send('DELETE', url, 'r-4', { headers: confirmed });

    const rows = await events();
    const subject = `cheese:${id}`;
    assert.equal(rows.length, 4);
    assertEvent(rows[0], 'cheese.created', subject, created.json);
    const changes = { status: { from: 'available', to: 'sold' } };
    assertEvent(rows[1], 'cheese.updated', subject, { id, name: 'Brie', changes });
    assertEvent(rows[2], 'cheese.updated', subject, {
      id,
      name: 'Edam',
      changes: {
        name: { from: 'Brie', to: 'Edam' },
        category: { from: 'Soft', to: null },
        tags: { from: ['cow'], to: [] },
      },
    });
    assertEvent(rows[3], 'cheese.deleted', subject, replaced.json);
    const actor = await actorOf(shop, shop.writer);
    for (const [index, row] of rows.entries()) {
      assert.deepEqual([row.actor, row.request_id, row.trace_id], [actor, `r-${index + 1}`, trace]);
      assert.equal(row.created_at, timestamp(clock.now() - (3 - index) * 1000));
    }
    assert.equal(rows[2]?.created_at, replaced.json.updatedAt);
  });

  test('Events store only the changed fields of an update, also for a large cheese', async (t) => {
    const shop = await openShop(t, { engine });
    const photoUrls = Array.from(
      { length: 100 },
      (_, n) => `https://photos.example/${n}/${'x'.repeat(1900)}`,
    );
    const whole = { name: 'Brie', photoUrls, pricePerKg: 37, ageMonths: 3 };
    const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: whole });
    const events = await eventsFrom(shop);
    await shop.request('POST', `/v2/cheeses/${json.id}`, { as: shop.writer, body: { status: 'sold' } });
    const replacement = { ...whole, id: json.id, status: 'sold', pricePerKg: 38.5, ageMonths: undefined };
    await shop.request('PUT', '/v2/cheeses', { as: shop.writer, body: replacement });
    const [flipped, replaced] = await events();
    assert.ok(JSON.stringify(json).length > 190_000);
    assert.ok(flipped !== undefined && flipped.data.length < 200, String(flipped?.data));
    assert.deepEqual(JSON.parse(replaced?.data ?? '').changes, {
      pricePerKg: { from: 37, to: 38.5 },
      ageMonths: { from: 3, to: null },
    });
  });

  test('Events record the creation, rotation and revocation of a key, without its secret', async (t) => {
    const shop = await openShop(t, { engine });
    const admin = await shop.createKey({ scopes: ['admin'] });
    const events = await eventsFrom(shop);
    const created = await shop.request('POST', '/v2/api-keys', {
      as: admin,
      body: { scopes: ['read:orders'] },
    });
    const { key, ...shown } = created.json;
    const rotation = { as: admin, body: { overlap: '0s' } };
    const rotated = await shop.request('POST', `/v2/api-keys/${shown.id}/rotate`, rotation);
    const { key: newKey, ...newShown } = rotated.json;
    const revoked = await shop.request('DELETE', `/v2/api-keys/${newShown.id}`, { as: admin });
    assert.equal((await shop.request('DELETE', `/v2/api-keys/${newShown.id}`, { as: admin })).status, 204);

    const rows = await events();
    assert.deepEqual(
      rows.map(({ type, subject }) => [type, subject]),
      [
        ['api_key.created', `api_key:${shown.id}`],
        ['api_key.rotated', `api_key:${shown.id}`],
        ['api_key.revoked', `api_key:${newShown.id}`],
      ],
    );
    assert.equal(JSON.parse(rows[0]?.data ?? '').id, shown.id);
    assert.deepEqual(JSON.parse(rows[0]?.data ?? '').scopes, ['read:orders']);
    assert.ok(rows[1]?.data.includes(String(newShown.id)));
    const actor = await actorOf(shop, admin);
    for (const [index, response] of [created, rotated, revoked].entries()) {
      assert.equal(rows[index]?.actor, actor);
      assert.equal(rows[index]?.request_id, response.headers['x-request-id']);
      assert.match(rows[index]?.trace_id ?? '', /^[0-9a-f]{32}$/);
    }
    const text = JSON.stringify(rows);
    assert.ok(![key, newKey].some((secret) => text.includes(secret.slice(8, -6))));
  });

  test('Events are not written by failed requests, requests without a change, and replays', async (t) => {
    const shop = await openShop(t, { engine });
    const admin = await shop.createKey({ scopes: ['admin'] });
    const as = shop.writer;
    const headers = { 'idempotency-key': 'once' };
    const body = { name: 'Brie', status: 'available' };
    const { json: brie } = await shop.request('POST', '/v2/cheeses', { as, body, headers });
    const { json: edam } = await shop.request('POST', '/v2/cheeses', { as, body: { name: 'Edam' } });
    const keyIds = [];
    for (let count = 0; count < 2; count += 1) {
      keyIds.push((await shop.request('POST', '/v2/api-keys', { as: admin, body: {} })).json.id);
    }
    const events = await eventsFrom(shop);
    const url = `/v2/cheeses/${edam.id}`;
    const stale = { ...confirmed, 'if-match': '"99"' };
    const calls: [number, string, string, RequestOptions][] = [
      [201, 'POST', '/v2/cheeses', { as, body, headers }],
      [409, 'POST', '/v2/cheeses', { as, body }],
      [422, 'POST', '/v2/cheeses', { as, body: { name: '' } }],
      [403, 'POST', '/v2/cheeses', { as: shop.reader, body: { name: 'Gouda' } }],
      [409, 'POST', url, { as, body: { name: 'Brie' } }],
      [409, 'PUT', '/v2/cheeses', { as, body: { id: edam.id, name: 'Brie', status: 'sold' } }],
      [404, 'PUT', '/v2/cheeses', { as, body: { id: 999, name: 'Brie', status: 'sold' } }],
      [200, 'PUT', '/v2/cheeses', { as, body: { id: brie.id, ...body } }],
      [200, 'POST', url, { as, body: {} }],
      [412, 'POST', url, { as, body: { status: 'sold' }, headers: { 'if-match': '"99"' } }],
      [412, 'DELETE', url, { as, headers: stale }],
      [400, 'DELETE', url, { as }],
      [409, 'POST', '/v2/api-keys', { as: admin, body: {} }],
      [409, 'POST', `/v2/api-keys/${keyIds[0]}/rotate`, { as: admin, body: { overlap: '1h' } }],
      [404, 'DELETE', '/v2/api-keys/999', { as: admin }],
    ];
    for (const [status, method, path, options] of calls) {
      const response: TestResponse = await shop.request(method, path, options);
      assert.equal(response.status, status, `${method} ${path} ${response.text}`);
    }
    assert.deepEqual(await events(), []);
  });

  test('Events and changes are one transaction: if the event cannot be written, nothing is changed', async (t) => {
    const shop = await openShop(t, { engine });
    const admin = await shop.createKey({ scopes: ['admin'] });
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Brie' },
    });
    const { json: key } = await shop.request('POST', '/v2/api-keys', { as: admin, body: {} });
    const events = await eventsFrom(shop);
    const { exclusiveTransaction } = shop.app.database;
    await exclusiveTransaction((_sql, run) => run('alter table event rename to event_away'));
    const url = `/v2/cheeses/${cheese.id}`;
    for (const [method, path, payload] of [
      ['POST', '/v2/cheeses', { name: 'Edam' }],
      ['POST', url, { status: 'sold' }],
      ['PUT', '/v2/cheeses', { id: cheese.id, name: 'Gouda', status: 'sold' }],
      ['DELETE', url, undefined],
      ['POST', '/v2/api-keys', {}],
      ['POST', `/v2/api-keys/${key.id}/rotate`, { overlap: '0s' }],
      ['DELETE', `/v2/api-keys/${key.id}`, undefined],
    ] as const) {
      const headers = { ...confirmed, 'x-api-key': admin };
      const request = { method, url: path, headers, ...(payload === undefined ? {} : { payload }) };
      const response = await shop.app.server.inject(request);
      assert.equal(response.statusCode, 500, `${method} ${path}`);
    }
    await exclusiveTransaction((_sql, run) => run('alter table event_away rename to event'));

    assert.deepEqual(await events(), []);
    const list = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
    assert.deepEqual([list.json.total, list.json.items], [1, [cheese]]);
    const keys = await shop.request('GET', '/v2/api-keys', { as: admin });
    assert.equal(keys.json.items.length, 2);
    assert.equal((await shop.request('GET', '/v2/cheeses', { as: key.key })).status, 200);
    const { json: next } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Edam' },
    });
    assert.equal((await events()).length, 1);
    assert.ok(next.id > cheese.id);
  });
});

/** Creates a cheese with the header and returns the trace id of its event. */
async function traceOf(shop: Shop, traceparent?: string): Promise<string> {
  const events = await eventsFrom(shop);
  const { app } = shop;
  const row = await app.database.get<{ last: number }>(sql`select max(id) as last from event`);
  const { status, text } = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: `Cheese ${row?.last}` },
    headers: traceparent === undefined ? {} : { traceparent },
  });
  assert.equal(status, 201, text);
  return (await events())[0]?.trace_id ?? '';
}

test('An event carries the trace of a valid traceparent', async (t) => {
  const shop = await openShop(t);
  for (const valid of [
    `00-${trace}-${parent}-01`,
    `00-${trace}-${parent}-00`,
    `cc-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01-what-the-future-will-be`,
  ]) {
    assert.equal(await traceOf(shop, valid), trace, valid);
  }
});

test('An event carries a fresh trace where traceparent is missing or invalid', async (t) => {
  const shop = await openShop(t);
  const invalid = [
    undefined,
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-${parent}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace.slice(1)}-${parent}-01`,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-1`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
    `0-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01.what`,
  ];
  const fresh = new Set<string>();
  for (const traceparent of invalid) {
    const made = await traceOf(shop, traceparent);
    assert.match(made, /^(?!0{32})[0-9a-f]{32}$/);
    assert.notEqual(made, trace, `${traceparent} is not valid`);
    fresh.add(made);
  }
  assert.equal(fresh.size, invalid.length);
});

test('A traceparent of version 00 with something after its end is invalid', async (t) => {
  const shop = await openShop(t);
  assert.notEqual(await traceOf(shop, `00-${trace}-${parent}-01-more`), trace);
});

test('Without HTTP an event names who acted, and no request', async (t) => {
  const shop = await openShop(t);
  const events = await eventsFrom(shop);
  await shop.createKey();
  const [created] = await events();
  assert.equal(created?.type, 'account.created');
  assert.deepEqual([created?.actor, created?.request_id, created?.trace_id], ['test', null, null]);
});

test('Events of every type are recorded, and match the closed schema of the type', async (t) => {
  const shop = await openShop(t);
  const {
    customers: { administration: customerAdministration },
    orders: { service: orders },
    contextOf,
  } = shop.app;
  const all = await eventsFrom(shop);
  const admin = await shop.createKey({ scopes: ['admin'] });
  const send = async (method: string, path: string, options: RequestOptions = {}) => {
    const isCustomer = path.startsWith('/v2/customer');
    const response = await shop.request(method, path, { ...(isCustomer ? {} : { as: admin }), ...options });
    assert.ok(response.status < 300, `${method} ${path} ${response.text}`);
    return response.json;
  };

  const category = { name: 'Soft' };
  const whole = { name: 'Brie', category, tags: [{ name: 'cow' }], photoUrls: ['https://photos.example/1'] };
  const { id } = await send('POST', '/v2/cheeses', { body: { ...whole, pricePerKg: 5000, ageMonths: 2 } });
  await uploaded(shop, id, await testImage(1));
  const replacement = { id, name: 'Edam', status: 'sold', origin: 'NL', pricePerKg: 4000, photoUrls: [] };
  await send('PUT', '/v2/cheeses', { body: replacement });
  await send('POST', `/v2/cheeses/${id}`, { body: { status: 'available' } });

  const username = 'ada';
  const customer = { username, email: 'ada@example.com', password: 'good enough' };
  await send('POST', '/v2/customer', { body: customer });
  const { token } = await send('POST', '/v2/customer/login', { body: customer });
  const headers = { authorization: `Bearer ${token}` };
  await send('PUT', `/v2/customer/${username}`, {
    headers,
    body: { ...customer, firstName: 'Ada' },
  });
  const ada = await customerAdministration.idOf(username);
  await customerAdministration.changeRole(contextOf('test'), ada, 'staff');
  const order = { items: [{ cheeseId: id, quantity: 1 }], shippingAddress: bern };
  const { id: first } = await send('POST', '/v2/store/order', { headers, body: order });
  const { id: second } = await send('POST', '/v2/store/order', { headers, body: order });
  await orders.approve(contextOf('test'), first);
  await orders.ship(contextOf('test'), first);
  await send('PUT', `/v2/store/order/${first}/shipment`, { body: { carrier: 'Courier' } });
  await orders.deliver(contextOf('test'), first);
  await orders.cancel(contextOf('test'), second, null);
  await customerAdministration.endSessions(contextOf('test'), ada);
  const { token: reset } = await customerAdministration.createReset(contextOf('test'), ada);
  await customerAdministration.redeemReset(reset, 'better than good', '127.0.0.1');
  const again = await send('POST', '/v2/customer/login', {
    body: { username, password: 'better than good' },
  });
  await send('DELETE', `/v2/customer/${username}`, {
    headers: { authorization: `Bearer ${again.token}`, ...confirmed },
  });
  await send('DELETE', `/v2/cheeses/${id}`, { headers: confirmed });

  const key = await send('POST', '/v2/api-keys', { body: { expiresIn: '90d' } });
  const rotated = await send('POST', `/v2/api-keys/${key.id}/rotate`, { body: { overlap: '0s' } });
  await send('POST', `/v2/api-keys/${rotated.id}`, { body: { name: 'scanner' } });
  await send('DELETE', `/v2/api-keys/${rotated.id}`);
  const account = await send('POST', '/v2/accounts', { body: { name: 'diary', plan: 'free' } });
  await send('POST', `/v2/accounts/${account.id}/plan`, { body: { plan: 'pro' } });
  const client = { name: 'Diary', account: 'diary', scopes: ['read:cheeses'] };
  const { clientId } = await send('POST', '/v2/oauth-clients', { body: client });
  const request = await shop.app.oauth.approvals.request(clientId, null);
  for (const verb of ['deny', 'approve', 'revoke']) {
    await send('POST', `/v2/approvals/${request.id}/${verb}`);
  }
  await send('DELETE', `/v2/oauth-clients/${clientId}`);

  const rows = await all();
  const written = new Set(rows.map(({ type }) => type));
  // The tests of operators' resources, stock and webhooks record the others.
  const elsewhere =
    /^(webhook_endpoint|account|oauth_client|approval|stock|delivery_method|tax_rate|discount)\.|^shop\.changed$|^customer\.(sessions_ended|password_reset)|^api_key\.renamed$/;
  const missing = eventTypes.names.filter((type) => !written.has(type) && !elsewhere.test(type));
  assert.deepEqual(
    missing,
    ['shop.reset', 'shop.event_withdrawn'],
    'cause the new types in this test, so that their data is compared with their schemas',
  );
});

onBothEngines('Tests fail for an event', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));
  const data = { id: 11, status: 'placed', total: 1, reason: null } as const;
  const record = (event: NewEvent, isEarly = false) => {
    const { database, contextOf } = opened().app;
    const { origin } = contextOf('test');
    return database.transaction(async (tx) => {
      if (!isEarly) {
        await tx.run(sql`update catalogue set version = version`);
      }
      await recordEvents(tx, origin, '2026-01-01T00:00:00.000Z', [event]);
    });
  };

  test('Tests fail for an event whose data has a field that its type does not have', async () => {
    await record(orderEvents.placed.of('order:11', data));
    const withNote = { ...data, notes: 'ring twice' };
    await assert.rejects(record(orderEvents.placed.of('order:11', withNote)), /order\.placed/);
  });

  test('Tests fail for an event whose data is of another type, which does not compile', async () => {
    // @ts-expect-error no order has this status
    await assert.rejects(record(orderEvents.placed.of('order:11', { ...data, status: 'eaten' })), /eaten/);
    // @ts-expect-error the reason is missing
    await assert.rejects(record(orderEvents.placed.of('order:11', { id: 1, status: 'placed', total: 1 })));
    // @ts-expect-error only a definition makes an event
    await assert.rejects(record({ type: 'order.eaten', subject: 'order:11', data: '{}' }), /order\.eaten/);
  });

  test('Tests fail for an event that is recorded before its change, which breaks the order on PostgreSQL', async () => {
    const early = record(orderEvents.placed.of('order:11', data), true);
    await (engine === 'postgres' ? assert.rejects(early, /before its change/) : early);
  });
});
