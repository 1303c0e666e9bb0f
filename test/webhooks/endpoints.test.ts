/** Webhook endpoints over HTTP: registration, changes, secrets, and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rawSql, sql } from '../../src/database/sql.ts';
import { onBothEngines, shared, testClock, until } from '../context.ts';
import { assertError, assertFields, openShop, type RequestOptions, type Shop } from '../helper.ts';

const path = '/v2/webhook-endpoints';
const url = 'https://receiver.example/hooks?token=in-the-url';

// biome-ignore lint/suspicious/noExplicitAny: the response was already validated against its schema.
type Json = any;

async function create(shop: Shop, body: object = {}, options: RequestOptions = {}): Promise<Json> {
  const response = await shop.request('POST', path, { as: shop.admin, body: { url, ...body }, ...options });
  assert.equal(response.status, 201, response.text);
  assert.equal(response.headers.location, `${path}/${response.json.id}`);
  assert.equal(response.headers['cache-control'], 'no-store');
  return response.json;
}

const post = (shop: Shop, id: number, verb: string, body?: object, options: RequestOptions = {}) =>
  shop.request('POST', `${path}/${id}${verb}`, {
    as: shop.admin,
    ...(body === undefined ? {} : { body }),
    ...options,
  });

async function eventsOf(shop: Shop, id: number): Promise<[string, Json][]> {
  const list = await shop.request('GET', `/v2/events?limit=100&subject=webhook_endpoint:${id}`, {
    as: shop.admin,
  });
  return list.json.items.map(({ type, data }: Json) => [type, data]);
}

onBothEngines('Webhook endpoints', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('Webhook endpoints are created with a secret that is shown once, and listed without it', async () => {
    const shop = opened();
    const created = await create(shop, {
      types: ['order.*', 'order.*', 'cheese.created'],
      description: 'one',
    });
    const { secret, ...endpoint } = created;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(Object.keys(created), [
      ...['id', 'account', 'url', 'types', 'description', 'status', 'disabledReason', 'position', 'waiting'],
      ...['waitingFor', 'dueAt', 'failingSince', 'createdAt', 'updatedAt', 'secrets', 'secret'],
    ]);
    assert.equal(endpoint.url, url);
    assert.deepEqual(endpoint.types, ['order.*', 'cheese.created']);
    assert.deepEqual(
      [
        endpoint.status,
        endpoint.disabledReason,
        endpoint.waiting,
        endpoint.waitingFor,
        endpoint.failingSince,
      ],
      ['enabled', null, 0, null, null],
    );
    assert.deepEqual(endpoint.secrets, [
      { last4: secret.slice(-5, -1), createdAt: endpoint.secrets[0].createdAt, endsAt: null },
    ]);
    assert.match(endpoint.position, /^evt_[0-9A-Za-z]{4}_\d+$/);
    const whoami = await shop.request('GET', '/v2/whoami', { as: shop.admin });
    assert.equal(endpoint.account, whoami.json.account);
    const read = await shop.request('GET', `${path}/${endpoint.id}`, { as: shop.admin });
    assert.deepEqual(read.json, endpoint);
    const list = await shop.request('GET', `${path}?account=${whoami.json.account}`, { as: shop.admin });
    assert.deepEqual(list.json.items.at(-1), endpoint);
    assert.ok(!list.text.includes(secret.slice(6)));
    await until(async () => (await eventsOf(shop, endpoint.id)).length > 0);
    assert.deepEqual(await eventsOf(shop, endpoint.id), [['webhook_endpoint.created', { id: endpoint.id }]]);
  });

  test('Webhook endpoints are created once for an Idempotency-Key, with the same secret', async () => {
    const shop = opened();
    const headers = { 'idempotency-key': `endpoint-${engine}` };
    const first = await create(shop, {}, { headers });
    const again = await shop.request('POST', path, { as: shop.admin, body: { url }, headers });
    assert.equal(again.status, 201);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.deepEqual(again.json, first);
    // Neither the endpoint nor the stored response has the secret in plain text.
    const { database } = shop.app;
    for (const table of ['webhook_endpoint', 'stored_response', 'event']) {
      const rows = await database.all(sql`select * from ${rawSql(table)}`);
      assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(first.secret.slice(6)), table);
    }
  });

  test('Webhook endpoints are changed, disabled, enabled and deleted, each with an event and a new version', async () => {
    const shop = opened();
    const { id, secret: _, ...before } = await create(shop, { description: 'before' });
    const changed = await post(shop, id, '', { description: null, types: ['order.placed'] });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(changed.json, {
      id,
      ...before,
      description: null,
      types: ['order.placed'],
      updatedAt: changed.json.updatedAt,
    });
    const same = await post(shop, id, '', { description: null, url });
    assert.deepEqual([same.json, same.headers.etag], [changed.json, changed.headers.etag]);

    const stale = { headers: { 'if-match': '"1"' } };
    for (const [verb, body] of [
      ['', { description: 'x' }],
      ['/rotate-secret', {}],
      ['/enable', {}],
      ['/disable', undefined],
    ] as const) {
      assertError(await post(shop, id, verb, body, stale), 412, 'precondition_failed');
    }
    const current = { headers: { 'if-match': changed.headers.etag ?? '' } };
    const disabled = await post(shop, id, '/disable', undefined, current);
    assert.deepEqual([disabled.json.status, disabled.json.disabledReason], ['disabled', 'on_request']);
    assert.deepEqual((await post(shop, id, '/disable')).json, disabled.json);
    const enabled = await post(shop, id, '/enable');
    assert.deepEqual([enabled.json.status, enabled.json.disabledReason], ['enabled', null]);
    assert.deepEqual((await post(shop, id, '/enable', { skip: true })).json, enabled.json);

    const one = `${path}/${id}`;
    assertError(await shop.request('DELETE', one, { as: shop.admin, ...stale }), 412, 'precondition_failed');
    assert.equal((await shop.request('DELETE', one, { as: shop.admin })).status, 204);
    for (const method of ['GET', 'DELETE']) {
      assertError(await shop.request(method, one, { as: shop.admin }), 404, 'not_found');
    }
    await until(async () => (await eventsOf(shop, id)).length >= 5);
    assert.deepEqual(await eventsOf(shop, id), [
      ['webhook_endpoint.created', { id }],
      ['webhook_endpoint.updated', { id }],
      ['webhook_endpoint.disabled', { id, reason: 'on_request' }],
      ['webhook_endpoint.updated', { id }],
      ['webhook_endpoint.deleted', { id }],
    ]);
  });

  test('Webhook endpoints have at most 20 in an account, also when they are created at once', async () => {
    const shop = opened();
    const account = `full-${engine}`;
    await shop.app.auth.keys.createAccount(shop.app.contextOf('test'), account);
    const responses = await Promise.all(
      Array.from({ length: 22 }, () =>
        shop.request('POST', path, { as: shop.admin, body: { url, account } }),
      ),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 2);
    for (const response of refused) {
      assertError(response, 409, 'conflict');
    }
    assert.match(refused[0]?.json.message, /20 webhook endpoints already\. Delete one first/);
    const list = await shop.request('GET', `${path}?account=${account}`, { as: shop.admin });
    assert.equal(list.json.items.length, 20);
    const [first] = list.json.items;
    await shop.request('DELETE', `${path}/${first.id}`, { as: shop.admin });
    assert.equal((await create(shop, { account })).account, account);
  });

  test('Webhook endpoints sign with two secrets during a rotation, and never with three', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { id, secret: first } = await create(shop);
    const last4 = (secret: string) => secret.slice(-5, -1);
    const rotated = await post(shop, id, '/rotate-secret');
    assert.equal(rotated.status, 200, rotated.text);
    const day = new Date(clock.now() + 86_400_000).toISOString();
    const shown = (json: Json) => json.secrets.map((one: Json) => [one.last4, one.endsAt]);
    assert.deepEqual(shown(rotated.json), [
      [last4(rotated.json.secret), null],
      [last4(first), day],
    ]);
    const third = await post(shop, id, '/rotate-secret', { overlap: '1h' });
    assertError(third, 409, 'conflict');
    assert.ok(third.json.message.includes(day));
    clock.advance(86_400_000);
    const read = await shop.request('GET', `${path}/${id}`, { as: shop.admin });
    assert.deepEqual(shown(read.json), [[last4(rotated.json.secret), null]]);
    assert.equal((await post(shop, id, '/rotate-secret', { overlap: '7d' })).json.secrets.length, 2);
    const now = await post(shop, id, '/rotate-secret', { overlap: '0s' });
    assert.match(now.json.secret, /^whsec_/);
    assert.deepEqual(shown(now.json), [[last4(now.json.secret), null]]);
    assertFields(await post(shop, id, '/rotate-secret', { overlap: '8d' }), ['overlap']);
    assertFields(await post(shop, id, '/rotate-secret', { overlap: 'soon' }), ['overlap']);
  });
});
