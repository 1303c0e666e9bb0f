/** The life of API keys over HTTP: created, listed, replaced, revoked, and never more than three at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKey, typeOfKey } from '../../src/auth/keys/format.ts';
import { timestamp } from '../../src/clock.ts';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, type TestResponse, testClock } from '../helper.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A new account with one key, which has the scope admin. Two more keys are possible. */
const openAccount = (shop: Shop) => shop.createKey({ scopes: ['admin'] });

const create = (shop: Shop, as: string, body: unknown = {}, headers = {}) =>
  shop.request('POST', '/v2/api-keys', { as, body, headers });

const rotate = (shop: Shop, as: string, id: number, overlap: string) =>
  shop.request('POST', `/v2/api-keys/${id}/rotate`, { as, body: { overlap } });

const revoke = (shop: Shop, as: string, id: number) => shop.request('DELETE', `/v2/api-keys/${id}`, { as });

async function statusOf(shop: Shop, key: string): Promise<number> {
  return (await shop.request('GET', '/v2/cheeses?limit=1', { as: key })).status;
}

async function list(shop: Shop, as: string): Promise<Record<string, unknown>[]> {
  const response = await shop.request('GET', '/v2/api-keys', { as });
  assert.equal(response.status, 200, response.text);
  return response.json.items;
}

/** The random part of a key, without prefix and checksum. */
const randomPartOf = (key: string) => key.slice(8, -6);

const statuses = (responses: readonly TestResponse[]) => responses.map(({ status }) => status).sort();

/** Everything that could contain a secret, as text. Sealed responses are decoded from base64 too. */
async function everythingStored({ app }: Shop): Promise<string> {
  const { database } = app;
  const responses = await database.all<{ response: string }>(sql`select * from stored_response`);
  const tables = [
    responses,
    await database.all(sql`select * from event`),
    await database.all(sql`select * from api_key`),
    await database.all(sql`select * from account`),
  ];
  const unpacked = responses.map(({ response }) => Buffer.from(response, 'base64').toString('latin1'));
  return JSON.stringify(tables) + unpacked.join('\n');
}

onBothEngines('/v2/api-keys', (engine) => {
  test('POST /api-keys shows the key this once; it is stored as its SHA-256 and listed by its last four', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const admin = await openAccount(shop);
    const body = { type: 'live', scopes: ['write:cheeses', 'read:orders'], expiresIn: '90d' };
    const created = await create(shop, admin, body);
    assert.equal(created.status, 201);
    assert.equal(created.headers['cache-control'], 'no-store');
    const { key, ...shown } = created.json;
    assert.equal(typeOfKey(key), 'live');
    assert.deepEqual(shown, {
      id: shown.id,
      kind: 'secret',
      actor: `key:${shown.id}`,
      name: null,
      type: 'live',
      last4: key.slice(-4),
      scopes: ['write:cheeses', 'read:orders'],
      createdAt: timestamp(clock.now()),
      expiresAt: timestamp(clock.now() + 90 * 24 * hourMs),
      lastUsedAt: null,
    });
    const { key: plainKey, ...plain } = (await create(shop, admin)).json;
    assert.deepEqual([plain.type, plain.scopes, plain.expiresAt], ['test', [], null]);
    const items = await list(shop, admin);
    assert.equal(items.length, 3);
    assert.deepEqual(items.slice(1), [shown, plain]);

    const stored = await everythingStored(shop);
    const text = stored + JSON.stringify(items);
    for (const secret of [key, plainKey]) {
      assert.ok(stored.includes(hashKey(secret)));
      assert.ok(!text.includes(secret) && !text.includes(randomPartOf(secret)));
    }
    assert.equal(await statusOf(shop, key), 200);
  });

  test('POST /api-keys returns 409 for a fourth active key; expired and revoked keys do not count', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const admin = await openAccount(shop);
    const { json: revoked } = await create(shop, admin);
    assert.equal((await create(shop, admin, { expiresIn: '1h' })).status, 201);
    assertError(await create(shop, admin), 409, 'conflict');
    assert.equal((await list(shop, admin)).length, 3);
    assert.equal((await revoke(shop, admin, revoked.id)).status, 204);
    assert.equal((await create(shop, admin)).status, 201);
    clock.advance(hourMs - 1);
    assertError(await create(shop, admin), 409, 'conflict');
    clock.advance(1);
    assert.equal((await list(shop, admin)).length, 2);
    assert.equal((await create(shop, admin)).status, 201);
    assertError(await create(shop, admin), 409, 'conflict');
    assert.equal((await create(shop, await openAccount(shop))).status, 201);
  });

  test('Ten parallel creations of API keys by two servers leave three active keys, and eight get 409', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    const admin = await openAccount(shop);
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => create(index % 2 === 0 ? shop : other, admin)),
    );
    assert.deepEqual(statuses(responses), [201, 201, ...Array(8).fill(409)]);
    assert.equal((await list(shop, admin)).length, 3);
  });

  test('Rotation of an API key gives a key like the old one, and both work until the overlap ends', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const admin = await openAccount(shop);
    const { json: old } = await create(shop, admin, { type: 'live', scopes: ['write:cheeses'] });
    const { status, json: fresh } = await rotate(shop, admin, old.id, '15m');
    assert.equal(status, 201);
    assert.notEqual(fresh.key, old.key);
    assert.deepEqual([fresh.type, fresh.scopes, fresh.expiresAt], ['live', ['write:cheeses'], null]);
    const listed = (await list(shop, admin)).find(({ id }) => id === old.id);
    assert.equal(listed?.expiresAt, timestamp(clock.now() + 15 * minuteMs));
    assertError(await create(shop, admin), 409, 'conflict');
    clock.advance(15 * minuteMs - 1);
    assert.deepEqual([await statusOf(shop, old.key), await statusOf(shop, fresh.key)], [200, 200]);
    clock.advance(1);
    assert.deepEqual([await statusOf(shop, old.key), await statusOf(shop, fresh.key)], [401, 200]);
    assert.equal((await create(shop, admin)).status, 201);
  });

  test('Rotation of one of three active API keys is 409 and changes nothing, save with an overlap of 0s', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const admin = await openAccount(shop);
    const { json: old } = await create(shop, admin);
    await create(shop, admin);
    const before = await list(shop, admin);
    assertError(await rotate(shop, admin, old.id, '1ms'), 409, 'conflict');
    assertError(await shop.request('POST', `/v2/api-keys/${old.id}/rotate`, { as: admin }), 409, 'conflict');
    assert.deepEqual(await list(shop, admin), before);
    const { status, json: fresh } = await rotate(shop, admin, old.id, '0s');
    assert.equal(status, 201);
    assert.deepEqual([await statusOf(shop, old.key), await statusOf(shop, fresh.key)], [401, 200]);
    assert.equal((await list(shop, admin)).length, 3);
    assertError(await rotate(shop, admin, old.id, '0s'), 409, 'conflict');
  });

  test('Five parallel rotations replace an API key once', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    const admin = await openAccount(shop);
    const { json: old } = await create(shop, admin);
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => rotate(index % 2 === 0 ? shop : other, admin, old.id, '0s')),
    );
    assert.deepEqual(statuses(responses), [201, 409, 409, 409, 409]);
    assert.equal((await list(shop, admin)).length, 2);
  });

  test('Revocation of an API key counts from the next request on, on every server', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    const admin = await openAccount(shop);
    const { json: created } = await create(shop, admin);
    assert.deepEqual([await statusOf(shop, created.key), await statusOf(other, created.key)], [200, 200]);
    assert.equal((await revoke(shop, admin, created.id)).status, 204);
    assert.deepEqual([await statusOf(other, created.key), await statusOf(shop, created.key)], [401, 401]);
    assert.equal((await revoke(other, admin, created.id)).status, 204);
    assert.equal((await list(shop, admin)).length, 1);
    const own = (await list(shop, admin))[0]?.id as number;
    assert.equal((await revoke(shop, admin, own)).status, 204);
    assert.equal(await statusOf(other, admin), 401);
  });

  test('The same Idempotency-Key gives the same API key again, and stores no secret in clear', async (t) => {
    const shop = await openShop(t, { engine });
    const admin = await openAccount(shop);
    const headers = { 'idempotency-key': 'first-attempt' };
    const first = await create(shop, admin, {}, headers);
    const again = await create(shop, admin, {}, headers);
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.text, first.text);
    assert.equal(first.headers['idempotency-replayed'], undefined);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.equal(again.headers['cache-control'], 'no-store');
    assert.equal((await list(shop, admin)).length, 2);
    const stored = await everythingStored(shop);
    assert.ok(!stored.includes(randomPartOf(first.json.key)));
    const rotating = () =>
      shop.request('POST', `/v2/api-keys/${first.json.id}/rotate`, { as: admin, body: {}, headers });
    const [rotated, replayed] = [await rotating(), await rotating()];
    assert.equal(rotated.status, 201);
    assert.equal(replayed.json.key, rotated.json.key);
    assert.equal((await list(shop, admin)).length, 3);
  });
});

test('An overlap of API keys never lets one live longer than it would have', async (t) => {
  const clock = testClock();
  const shop = await openShop(t, { clock });
  const admin = await openAccount(shop);
  const { json: old } = await create(shop, admin, { expiresIn: '1h' });
  const { json: fresh } = await rotate(shop, admin, old.id, '24h');
  clock.advance(hourMs);
  assert.equal(await statusOf(shop, old.key), 401);
  assert.equal(await statusOf(shop, fresh.key), 401, 'a key like the old one lives for an hour as well');
});

test('The scope admin cannot be given over HTTP', async (t) => {
  const shop = await openShop(t);
  const admin = await openAccount(shop);
  const response = await create(shop, admin, { scopes: ['read:cheeses', 'admin'] });
  assertError(response, 422, 'validation_error');
  assert.deepEqual(
    response.json.errors.map(({ field }: { field: string }) => field),
    ['scopes[1]'],
  );
  assert.equal((await list(shop, admin)).length, 1);
});

test('A key of a type that the environment does not take cannot be created', async (t) => {
  const settings = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' };
  const production = await openShop(t, { settings });
  const sandbox = await openShop(t, { settings: { CURD_ENVIRONMENT: 'sandbox' } });
  for (const [shop, type, own] of [
    [production, 'test', 'live'],
    [sandbox, 'live', 'test'],
  ] as const) {
    const admin = await openAccount(shop);
    assertError(await create(shop, admin, { type }), 409, 'conflict');
    assert.equal((await create(shop, admin)).json.type, own);
  }
});

test('POST /api-keys returns 422 for values out of bounds, and accepts values at the bounds', async (t) => {
  const shop = await openShop(t);
  const admin = await openAccount(shop);
  const refused: [field: string, body: unknown][] = [
    ...[1, 'Live', 'prod', ''].map((type): [string, unknown] => ['type', { type }]),
    ...['read:cheeses', {}, Array(11).fill('read:cheeses')].map((scopes): [string, unknown] => [
      'scopes',
      { scopes },
    ]),
    ...['read:everything', '', 1, null].map((scope): [string, unknown] => ['scopes[0]', { scopes: [scope] }]),
    ...[90, '', '90', 'd', '1y', '-1d', '1.5d', ' 1d', '1D', '36501d', '0000000000000001d'].map(
      (expiresIn): [string, unknown] => ['expiresIn', { expiresIn }],
    ),
    ...[1, '', ' ', 'a\nb', 'x'.repeat(101)].map((account): [string, unknown] => ['account', { account }]),
    ...[[], null, 'text', 7].map((body): [string, unknown] => ['', body]),
  ];
  for (const [field, body] of refused) {
    const response = await create(shop, admin, body);
    assertError(response, 422, 'validation_error');
    assert.equal(response.json.errors[0].field, field, JSON.stringify(body));
  }
  assertError(await create(shop, admin, { account: 'nobody' }), 404, 'not_found');
  assert.equal((await list(shop, admin)).length, 1);
  for (const body of [
    { expiresIn: '36500d' },
    { expiresIn: '500ms', scopes: [], type: 'live' },
    { type: null, scopes: null, expiresIn: null, account: null, name: 'unknown members do not matter' },
  ]) {
    const { status, json } = await create(shop, admin, body);
    assert.equal(status, 201, JSON.stringify(body));
    await revoke(shop, admin, json.id);
  }
});

test('API keys that do not exist are 404, and a bad overlap is 422', async (t) => {
  const shop = await openShop(t);
  const admin = await openAccount(shop);
  const { json } = await create(shop, admin);
  const ids = ['999', '0', '-1', '1.0', '01', 'abc', '%20', '9007199254740993', '9223372036854775808'];
  for (const id of ids) {
    assertError(await shop.request('DELETE', `/v2/api-keys/${id}`, { as: admin }), 404, 'not_found');
    const body = { overlap: '0s' };
    const rotated = await shop.request('POST', `/v2/api-keys/${id}/rotate`, { as: admin, body });
    assertError(rotated, 404, 'not_found');
  }
  for (const overlap of ['', '1', '-1s', '1w', '36501d', 5]) {
    const response = await rotate(shop, admin, json.id, overlap as string);
    assertError(response, 422, 'validation_error');
    assert.equal(response.json.errors[0].field, 'overlap');
  }
  assertError(await shop.request('GET', '/v2/api-keys?account=', { as: admin }), 400, 'bad_request');
  assertError(await shop.request('GET', '/v2/api-keys?account=nobody', { as: admin }), 404, 'not_found');
  assert.equal(await statusOf(shop, json.key), 200);
});
