/** Changes and revocations on one instance apply on all others with the next request. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assertError, shared } from '../helper.ts';
import { deleteCheese, newCheese, password, placeOrder, registerAndLogIn } from '../shop-verbs.ts';
import { type Instances, newCheeseWithEtag, newName, newUsername, openInstances } from './instances.ts';

const rounds = 5;

// Each test uses new names, so that all tests can share the instances.
const instances = shared((t) => openInstances(t, 3));

type Headers = Record<string, string>;

const statusesFor = ({ all }: Instances, as: { as?: string; headers?: Headers }) =>
  Promise.all(all.map(async (shop) => (await shop.request('GET', '/v2/whoami', as)).status));

suite('A credential that one instance has ended', () => {
  test('A credential that one instance has ended is refused by all: a revoked API key', async () => {
    const shops = instances();
    for (let round = 0; round < rounds; round += 1) {
      const as = await shops.next().createKey();
      assert.deepEqual(await statusesFor(shops, { as }), [200, 200, 200]);
      const last4 = as.slice(-4);
      const accounts = await shops.all[0].app.auth.keys.listAccounts();
      const name = accounts.at(-1)?.name ?? '';
      const { json } = await shops.request('GET', `/v2/api-keys?account=${name}`, { as: shops.admin });
      const { id } = json.items.find((one: { last4: string }) => one.last4 === last4);
      const revoked = await shops.request('DELETE', `/v2/api-keys/${id}`, { as: shops.admin });
      assert.equal(revoked.status, 204);
      assert.deepEqual(await statusesFor(shops, { as }), [401, 401, 401]);
    }
  });

  test('A credential that one instance has ended is refused by all: a session that ended by logout or by a new password', async () => {
    const shops = instances();
    const username = newUsername();
    const { headers: own } = await registerAndLogIn(shops, { username });
    let secret = password;
    for (let round = 0; round < rounds; round += 1) {
      const open = async () => {
        const body = { username, password: secret };
        const { json } = await shops.request('POST', '/v2/customer/login', { body });
        return { headers: { authorization: `Bearer ${json.token}` } };
      };
      const [one, other] = [await open(), await open()];
      assert.deepEqual(await statusesFor(shops, one), [200, 200, 200]);
      assert.equal((await shops.request('POST', '/v2/customer/logout', one)).status, 204);
      assert.deepEqual(await statusesFor(shops, one), [401, 401, 401]);
      assert.deepEqual(await statusesFor(shops, other), [200, 200, 200]);
      secret = newName('Another password');
      const body = { username, email: `${username}@example.com`, password: secret };
      assert.equal(
        (await shops.request('PUT', `/v2/customer/${username}`, { headers: own, body })).status,
        200,
      );
      assert.deepEqual(await statusesFor(shops, other), [401, 401, 401]);
      assert.deepEqual(await statusesFor(shops, { headers: own }), [200, 200, 200]);
    }
  });

  test('A credential that one instance has ended is refused by all: the session of a deleted customer', async () => {
    const shops = instances();
    const username = newUsername();
    const url = `/v2/customer/${username}`;
    const { headers } = await registerAndLogIn(shops, { username });
    assert.deepEqual(await statusesFor(shops, { headers }), [200, 200, 200]);
    assert.equal((await shops.request('DELETE', url, { headers })).status, 204);
    assert.deepEqual(await statusesFor(shops, { headers }), [401, 401, 401]);
    for (const shop of shops.all) {
      const body = { username, password };
      assertError(await shop.request('POST', '/v2/customer/login', { body }), 401, 'unauthorized');
      const shown = await shop.request('GET', url, { as: shops.reader });
      assertError(shown, 404, 'not_found');
    }
  });
});

suite('Data that was changed on one instance', () => {
  test('Data that was changed on one instance is current on all others: cheeses, lists and totals', async () => {
    const shops = instances();
    const as = shops.writer;
    const list = '/v2/cheeses?category=Soft';
    const totals = async () =>
      Promise.all(shops.all.map(async (shop) => (await shop.request('GET', list, { as })).json.total));
    for (let round = 1; round <= rounds; round += 1) {
      const { id, etag } = await newCheeseWithEtag(shops, { category: { name: 'Soft' } });
      assert.deepEqual(await totals(), [round, round, round]);
      const lists = await Promise.all(shops.all.map((shop) => shop.request('GET', list, { as })));
      assert.equal(new Set(lists.map(({ headers, text }) => headers.etag + text)).size, 1);
      const read = (path: string, tag = '') =>
        Promise.all(
          shops.all.map(
            async (shop) =>
              (await shop.request('GET', path, { as, headers: { 'if-none-match': tag } })).status,
          ),
        );
      assert.deepEqual(await read(`/v2/cheeses/${id}`, etag), [304, 304, 304]);
      assert.deepEqual(await read(list, lists[0]?.headers.etag), [304, 304, 304]);
      const body = { name: newName('Changed') };
      const changed = await shops.request('POST', `/v2/cheeses/${id}`, {
        as,
        body,
        headers: { 'if-match': etag },
      });
      assert.equal(changed.status, 200);
      assert.deepEqual(await read(`/v2/cheeses/${id}`, etag), [200, 200, 200]);
      assert.deepEqual(await read(list, lists[0]?.headers.etag), [200, 200, 200]);
      const gone = await newCheese(shops, { category: { name: 'Soft' } });
      assert.deepEqual(await totals(), [round + 1, round + 1, round + 1]);
      assert.equal((await deleteCheese(shops.next(), gone, as)).status, 204);
      assert.deepEqual(await totals(), [round, round, round]);
      assert.deepEqual(await read(`/v2/cheeses/${gone}`), [404, 404, 404]);
    }
  });

  test('Data that was changed on one instance can be paged on any other: cheeses and orders', async () => {
    const shops = instances();
    const cheeses: number[] = [];
    const orders: number[] = [];
    while (cheeses.length < 23) {
      cheeses.push(await newCheese(shops, { category: { name: 'In pages' } }));
      const order = await placeOrder(shops.next(), cheeses[0] ?? 0);
      orders.push(order.json.id);
    }
    const walk = async (path: string, filter = '') => {
      const ids: number[] = [];
      let query: string | null = filter;
      while (query !== null) {
        const { status, json, text } = await shops.request('GET', `${path}?limit=4${query}`, {
          as: shops.reader,
        });
        assert.equal(status, 200, text);
        ids.push(...json.items.map(({ id }: { id: number }) => id));
        query = json.nextCursor === null ? null : `&cursor=${encodeURIComponent(json.nextCursor)}`;
      }
      return ids;
    };
    assert.deepEqual(
      (await walk('/v2/cheeses', '&category=In+pages')).toSorted((a, b) => a - b),
      cheeses,
    );
    // No other test places orders here.
    assert.deepEqual(await walk('/v2/store/orders'), orders.toReversed());
  });
});
