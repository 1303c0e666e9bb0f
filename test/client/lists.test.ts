/** Lists of the client: a page when awaited, all items in a loop. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Curd, isCurdError } from '../../client/src/index.ts';
import { shared } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { openProxy } from './proxy.ts';

const size = 5000;

const shop = shared(async (t) => {
  const opened = await openListeningShop(t);
  const {
    cheeses: { service: cheeses },
    contextOf,
  } = opened.app;
  const inputs = Array.from({ length: size }, (_, index) => ({
    name: `Tomme ${String(index).padStart(4, '0')}`,
    status: index % 2 === 0 ? ('available' as const) : ('sold' as const),
  }));
  await cheeses.import(contextOf('test'), inputs, new Set());
  return opened;
});

suite('A list', () => {
  test('A list of the client has catch and finally, as a promise has', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().reader });
    let ends = 0;
    const page = await curd.cheeses.list({ limit: 1 }).finally(() => {
      ends += 1;
    });
    assert.equal(page.total, size);
    const refused = new Curd({ baseUrl: shop().url }).orders.list();
    assert.equal(await refused.catch((error: unknown) => isCurdError(error, 'unauthorized')), true);
    await assert.rejects(
      refused.finally(() => undefined),
      { status: 401 },
    );
    assert.equal(ends, 1);
  });

  test('A list of 5,000 cheeses of the client is iterated page by page, and a loop that ends sends no further request', async (t) => {
    const proxy = await openProxy(t, shop().url);
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().reader });
    const names: string[] = [];
    for await (const { name } of curd.cheeses.list()) {
      names.push(name);
      assert.ok(names.length > proxy.requests.length * 100 - 200, 'at most one page ahead of the loop');
    }
    assert.equal(new Set(names).size, size);
    assert.equal(proxy.requests.length, size / 100);
    assert.ok(proxy.maxAtOnce() <= 2);

    for await (const { name } of curd.cheeses.list()) {
      if (name === names[150]) {
        break;
      }
    }
    assert.equal(proxy.requests.length, size / 100 + 2);
  });

  test('A list of the client is one page when awaited, with its etag', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().reader });
    const page = await curd.cheeses.list({ limit: 3, status: ['sold', 'pending'], sort: '-name' });
    assert.deepEqual(
      page.items.map(({ name, status }) => [name, status]),
      [4999, 4997, 4995].map((number) => [`Tomme ${number}`, 'sold']),
    );
    assert.deepEqual([page.total, page.hasMore, typeof page.nextCursor], [size / 2, true, 'string']);
    assert.match(page.etag ?? '', /^(W\/)?"/);
    const next = await curd.cheeses.list({
      limit: 3,
      status: ['sold', 'pending'],
      sort: '-name',
      cursor: page.nextCursor ?? '',
    });
    assert.equal(next.items[0]?.name, 'Tomme 4993');
    assert.equal((await curd.cheeses.list({ q: 'Brie' })).items.length, 0);
  });

  test('A list of the client takes some items, and iterates pages', async (t) => {
    const proxy = await openProxy(t, shop().url);
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().reader });
    const list = curd.cheeses.list({ status: ['available'] });
    const namesOf = async (count: number) =>
      (await Array.fromAsync(list.take(count))).map(({ name }) => name);
    assert.equal((await namesOf(250)).length, 250);
    assert.equal(proxy.requests.length, 3);
    assert.deepEqual(await namesOf(2), ['Tomme 0000', 'Tomme 0002']);
    assert.match(proxy.requests[3] ?? '', /limit=2$/);
    assert.deepEqual(await namesOf(0), []);
    assert.equal(proxy.requests.length, 4);
    for await (const page of curd.cheeses.list({ limit: 7 }).pages()) {
      assert.equal(page.items.length, 7);
      if (page.items[0]?.name === 'Tomme 0014') {
        break;
      }
    }
    assert.equal(proxy.requests.length, 7);
  });

  test('A list of the client in one response is sent no limit', async (t) => {
    const proxy = await openProxy(t, shop().url);
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().admin });
    const keys = await Array.fromAsync(curd.apiKeys.list());
    assert.equal(keys.length, 3);
    assert.deepEqual(proxy.requests, ['GET /v2/api-keys']);
  });

  test('A list of catalogue changes of the client continues with its token', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().writer });
    const mirror = new Map<number, string>();
    let since: string | undefined;
    const follow = async (stopAfter: number) => {
      const changes = curd.cheeses.listChanges({ since });
      for await (const change of changes.take(stopAfter)) {
        if (change.cheese === undefined) {
          mirror.delete(change.id);
        } else {
          mirror.set(change.id, change.cheese.name);
        }
        since = changes.token;
      }
    };
    await follow(150);
    assert.equal(mirror.size, 150);
    await follow(Number.POSITIVE_INFINITY);
    assert.equal(mirror.size, size);
    const [id = 0] = mirror.keys();
    await curd.cheeses.delete(id);
    const { id: added } = await curd.cheeses.create({ name: 'Brie' });
    await follow(Number.POSITIVE_INFINITY);
    assert.deepEqual([mirror.has(id), mirror.get(added), mirror.size], [false, 'Brie', size]);
    await curd.cheeses.delete(added);
  });

  for (const [title, pattern, replacement] of [
    ['without a position', /"nextCursor":"[^"]*"/, '"nextCursor":null'],
    ['with the same cursor again', /"nextCursor":"[^"]*"/, '"nextCursor":"same"'],
  ] as const) {
    test(`A list of the client ends with an error when the server says that there are more items, ${title}`, async (t) => {
      const edit = (text: string) => text.replace(pattern, replacement);
      const page = await (
        await fetch(`${shop().url}/v2/cheeses?limit=1`, { headers: { 'X-API-Key': shop().reader } })
      ).text();
      const body = edit(page);
      const proxy = await openProxy(t, shop().url, () => ({
        refuse: { status: 200, headers: { 'Content-Type': 'application/json' }, body },
      }));
      const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().reader });
      const seen: string[] = [];
      await assert.rejects(async () => {
        for await (const { name } of curd.cheeses.list()) {
          seen.push(name);
          assert.ok(seen.length < 5);
        }
      }, /has more items, but the server sent no new position/);
      assert.ok(proxy.requests.length <= 2);
    });
  }

  test('A list of the client reports an error to the loop', async () => {
    const curd = new Curd({ baseUrl: shop().url });
    await assert.rejects(Array.fromAsync(curd.cheeses.list()), { name: 'Unauthorized' });
    await assert.rejects(async () => curd.cheeses.list(), { name: 'Unauthorized' });
  });
});
