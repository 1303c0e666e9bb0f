/** Replays of an Idempotency-Key: returned before costly work, and never instead of a check. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, type TestResponse, testClock } from '../helper.ts';
import { filePart, imageIn, openImageShop } from './image-forms.ts';

const password = 'Roquefort 9';
const key = (name: string) => ({ 'idempotency-key': name });

function assertReplayOf(first: TestResponse, again: TestResponse): void {
  assert.deepEqual([again.status, again.text], [first.status, first.text]);
  assert.equal(again.headers['idempotency-replayed'], 'true');
}

test('The replay of an upload decodes no image and writes no file', async (t) => {
  const { shop, upload } = await openImageShop(t, 'sqlite');
  const render = t.mock.method(shop.app.imageRenderer, 'render');
  const files = async () => (await readdir(shop.config.dataDir, { recursive: true })).sort();
  const send = async () => upload([filePart(await imageIn('png'))], key('photo'));
  const first = await send();
  assert.equal(first.status, 200, first.text);
  const before = await files();
  assertReplayOf(first, await send());
  assert.equal(render.mock.callCount(), 1);
  assert.deepEqual(await files(), before);
  assertError(await upload([filePart(await imageIn('jpeg'))], key('photo')), 422, 'validation_error');
  assert.equal(render.mock.callCount(), 1);
});

test('The replay of a registration, alone or in a batch, hashes no password', async (t) => {
  const shop = await openShop(t);
  const { passwords } = shop.app;
  const hashes = [t.mock.method(passwords, 'hash'), t.mock.method(passwords, 'hashAll')];
  const customers = Array.from({ length: 20 }, (_, index) => ({
    username: `user${index}`,
    email: `user${index}@example.com`,
    password,
  }));
  const [one, ...others] = customers;
  for (const [path, body] of [
    ['/v2/customer', one],
    ['/v2/customer/createMultiple', others],
  ] as const) {
    const send = (given: unknown) => shop.request('POST', path, { body: given, headers: key('once') });
    const first = await send(body);
    assert.ok(first.status < 300, first.text);
    const before = hashes.map(({ mock }) => mock.callCount());
    assertReplayOf(first, await send(body));
    assertError(await send(path.endsWith('r') ? others[0] : [one]), 422, 'validation_error');
    assert.deepEqual(
      hashes.map(({ mock }) => mock.callCount()),
      before,
    );
  }
  assert.deepEqual(
    hashes.map(({ mock }) => mock.callCount()),
    [1, 1],
  );
});

onBothEngines('A login under the Idempotency-Key of a successful one', (engine) => {
  const settings = { CURD_LOGIN_LIMITS: '{"pair":3,"address":6,"username":5}' };
  const open = async (t: Parameters<typeof openShop>[0]) => {
    const shop = await openShop(t, { engine, clock: testClock(), settings });
    const body = { username: 'ada', email: 'ada@example.com', password };
    assert.equal((await shop.request('POST', '/v2/customer', { body })).status, 201);
    const first = await logIn(shop, password);
    assert.equal(first.status, 200, first.text);
    return { shop, first };
  };
  const logIn = (shop: Shop, given: string, more: object = {}) =>
    shop.request('POST', '/v2/customer/login', {
      body: { username: 'ada', password: given, ...more },
      headers: key('login'),
    });

  test('A login with the Idempotency-Key of a successful one is replayed with the right password, and counted by the throttle', async (t) => {
    const { shop, first } = await open(t);
    assertReplayOf(first, await logIn(shop, password));
    for (let failures = 0; failures < 3; failures += 1) {
      assertError(await logIn(shop, 'wrong'), 401, 'unauthorized');
    }
    assertError(await logIn(shop, 'wrong'), 429, 'rate_limit_exceeded');
    assertError(await logIn(shop, password), 429, 'rate_limit_exceeded');
    assertError(await logIn(shop, password, { more: 1 }), 429, 'rate_limit_exceeded');
  });

  test('A login with the Idempotency-Key of a successful one counts as failed for another body, even with the right password', async (t) => {
    const { shop, first } = await open(t);
    for (let failures = 0; failures < 3; failures += 1) {
      assertError(await logIn(shop, password, { more: 1 }), 422, 'validation_error');
    }
    assertError(await logIn(shop, password), 429, 'rate_limit_exceeded');
    const { database } = shop.app;
    const sessions = await database.all<object>(sql`select token_hash from session`);
    assert.equal(sessions.length, 1);
    assert.equal(first.headers['idempotency-replayed'], undefined);
  });

  test('A login with the Idempotency-Key of a successful one is replayed to parallel requests, which open one session', async (t) => {
    const { shop } = await open(t);
    const send = () =>
      shop.request('POST', '/v2/customer/login', {
        body: { username: 'ada', password },
        headers: key('parallel'),
      });
    const responses = await Promise.all(Array.from({ length: 5 }, send));
    assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
    assert.equal(responses.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
  });
});
