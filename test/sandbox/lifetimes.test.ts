/** What ends or begins again by the time of the shop: sessions, keys, quotas, throttles, stored responses. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { assertError, onBothEngines, openShop, shared, type TestResponse } from '../helper.ts';
import { newCheese, registerAndLogIn } from '../shop-verbs.ts';
import { advance } from './helper.ts';

onBothEngines('When the clock is moved', (engine) => {
  const opened = shared((t) =>
    openShop(t, {
      engine,
      settings: {
        CURD_LOGIN_LIMITS: '{"pair":10,"address":1000,"username":1000}',
        CURD_PLANS: '{"free":{"perHour":20,"burst":1000},"enterprise":{"perHour":null,"burst":60000}}',
      },
    }),
  );

  test('When the clock is moved, a session ends after 24 hours', async () => {
    const shop = opened();
    const { headers } = await registerAndLogIn(shop);
    const call = () => shop.request('GET', '/v2/whoami', { headers });
    await advance(shop, '1439m');
    assert.equal((await call()).status, 200);
    await advance(shop, '2m');
    const ended = await call();
    assertError(ended, 401, 'unauthorized');
    assert.match(ended.headers['www-authenticate'] ?? '', /error="invalid_token"/);
  });

  test('When the clock is moved, a key expires, and so does the old one of a rotation', async () => {
    const shop = opened();
    const { name: account } = await shop.app.auth.keys.createAccount(
      shop.app.contextOf('test'),
      randomUUID(),
    );
    const create = (body: object) =>
      shop.request('POST', '/v2/api-keys', { as: shop.admin, body: { account, ...body } });
    const call = async (as: string) => (await shop.request('GET', '/v2/whoami', { as })).status;
    const { key: short } = (await create({ expiresIn: '90d' })).json;
    const { key: old, id } = (await create({})).json;
    const rotated = await shop.request('POST', `/v2/api-keys/${id}/rotate`, {
      as: shop.admin,
      body: { overlap: '24h' },
    });
    await advance(shop, '23h');
    assert.deepEqual([await call(short), await call(old), await call(rotated.json.key)], [200, 200, 200]);
    await advance(shop, '90d');
    assert.deepEqual([await call(short), await call(old), await call(rotated.json.key)], [401, 401, 200]);
  });

  test('When the clock is moved, a quota that is used up permits requests again after Retry-After', async () => {
    const shop = opened();
    const { keys } = shop.app.auth;
    const account = await keys.createAccount(shop.app.contextOf('test'), `free-${randomUUID()}`, 'free');
    const { key } = await keys.create(shop.app.contextOf('test'), account.id, {});
    const call = (): Promise<TestResponse> => shop.request('GET', '/v2/whoami', { as: key });
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await call()).status, 200);
    }
    const refused = await call();
    assertError(refused, 429, 'rate_limit_exceeded');
    const seconds = Number(refused.headers['retry-after']);
    await advance(shop, `${seconds - 10}s`);
    assertError(await call(), 429, 'rate_limit_exceeded');
    await advance(shop, '10s');
    assert.equal((await call()).status, 200);
  });

  test('When the clock is moved, failed logins are forgotten after 15 minutes', async () => {
    const shop = opened();
    const body = { username: `bob-${randomUUID()}`, password: 'wrong' };
    const login = async () => (await shop.request('POST', '/v2/customer/login', { body })).status;
    const statuses = await Promise.all(Array.from({ length: 11 }, login));
    assert.equal(statuses.filter((status) => status === 401).length, 10, statuses.join(' '));
    assert.equal(await login(), 429);
    await advance(shop, '15m');
    assert.equal(await login(), 401);
  });

  test('When the clock is moved, a stored response is replayed for 24 hours, and then the request runs again', async () => {
    const shop = opened();
    const headers = { 'Idempotency-Key': randomUUID() };
    const cheeseId = await newCheese(shop);
    const adjust = () =>
      shop.request('PUT', `/v2/cheeses/${cheeseId}/stock`, { as: shop.admin, body: { onHand: 3 } });
    assert.equal((await adjust()).status, 201);
    const add = () =>
      shop.request('POST', `/v2/cheeses/${cheeseId}/stock/adjustments`, {
        as: shop.admin,
        headers,
        body: { deltaKg: 1, reason: 'received' },
      });
    assert.equal((await add()).json.onHand, 4);
    await advance(shop, '23h');
    const replayed = await add();
    assert.deepEqual([replayed.headers['idempotency-replayed'], replayed.json.onHand], ['true', 4]);
    await advance(shop, '2h');
    const again = await add();
    assert.deepEqual([again.headers['idempotency-replayed'], again.json.onHand], [undefined, 5]);
  });

  test('When the clock is moved, lists stay in the order of creation, and a cursor from before continues', async () => {
    const shop = opened();
    const ids: number[] = [];
    const list = async (query: string) =>
      (await shop.request('GET', `/v2/cheeses?sort=createdAt&limit=2${query}`, { as: shop.reader })).json;
    for (let count = 0; count < 3; count += 1) {
      ids.push(await newCheese(shop));
    }
    const first = await list('');
    await advance(shop, '10d');
    ids.push(await newCheese(shop));
    const all = (await shop.request('GET', '/v2/cheeses?sort=createdAt&limit=100', { as: shop.reader })).json;
    const created = all.items.map(({ createdAt }: { createdAt: string }) => createdAt);
    assert.deepEqual(created, created.toSorted());
    let found = first.items.map(({ id }: { id: number }) => id);
    for (let cursor = first.nextCursor; cursor !== null; ) {
      const page = await list(`&cursor=${cursor}`);
      found = [...found, ...page.items.map(({ id }: { id: number }) => id)];
      cursor = page.nextCursor;
    }
    assert.deepEqual(found.slice(-4), ids);
  });
});
