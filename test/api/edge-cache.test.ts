/** Responses that a cache in front of the server may keep: which ones, with which headers and tags. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newCustomer, newSession } from '../auth/holders.ts';
import { onBothEngines, openShop, type Shop, shared } from '../helper.ts';

const page = 'https://shop.example';

async function openCachedShop(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine, settings: { CURD_EDGE_CACHE: '60s' } });
  const key = await shop.createKey({ kind: 'publishable' });
  const category = { name: `Hard ${randomUUID()}` };
  const created = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: 'Comté', category, tags: [{ name: 'cow' }] },
  });
  assert.equal(created.status, 201);
  return { shop, key, cheese: created.json as { id: number; category: { id: number } } };
}

const isPublic = (headers: Readonly<Record<string, string>>) =>
  /\bpublic\b/.test(headers['cache-control'] ?? '');
const perRequest = ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-request-id', 'set-cookie'];

const paths = ({
  id,
  category,
}: {
  id: number;
  category: { id: number };
}): [path: string, tags: string[]][] => [
  [`/v2/cheeses/${id}`, ['shop', `cheese-${id}`]],
  [`/v2/cheeses/${id}/images`, ['shop', `cheese-${id}`]],
  ['/v2/cheeses?q=comt', ['shop', 'catalogue', `cheese-${id}`]],
  [`/v2/cheeses?categoryId=${category.id}`, ['shop', `category-${category.id}`, `cheese-${id}`]],
  [`/v2/cheeses?categoryId=${category.id}&facets=tags`, ['shop', `category-${category.id}`, `cheese-${id}`]],
  [`/v2/cheeses?categoryId=${category.id}&facets=category`, ['shop', 'catalogue', `cheese-${id}`]],
  ['/v2/categories', ['shop', 'catalogue']],
  ['/v2/tags', ['shop', 'catalogue']],
  ['/v2/cheeses/findByTags?tags=cow&limit=5', ['shop', 'catalogue', `cheese-${id}`]],
];

onBothEngines('With CURD_EDGE_CACHE, a read of the catalogue with a publishable key', (engine) => {
  const open = shared((t) => openCachedShop(t, engine));
  const read = (shop: Shop, path: string, headers: Readonly<Record<string, string>> = {}) =>
    shop.request('GET', path, { headers });

  test('A read of the catalogue with CURD_EDGE_CACHE is public, has tags and nothing of one request, and is the same for every key', async () => {
    const { shop, key, cheese } = open();
    const other = await shop.createKey({ kind: 'publishable' });
    for (const [path, tags] of paths(cheese)) {
      const { status, headers, text } = await read(shop, path, { 'x-api-key': key });
      assert.equal(status, 200, text);
      assert.equal(
        headers['cache-control'],
        'public, max-age=0, s-maxage=60, stale-while-revalidate=600',
        path,
      );
      assert.equal(headers['cache-tag'], tags.join(','), path);
      assert.equal(headers['surrogate-key'], tags.join(' '));
      assert.equal(headers.vary, 'Accept-Encoding, Accept, X-API-Key', path);
      assert.deepEqual(
        perRequest.filter((name) => name in headers),
        [],
        path,
      );
      assert.ok(!(headers.link ?? '').includes('pk_'));
      const again = await read(shop, `${path}${path.includes('?') ? '&' : '?'}key=${other}`);
      assert.equal(again.headers.vary, 'Accept-Encoding, Accept', path);
      const { date: _, vary: _vary, ...rest } = again.headers;
      const { date: _date, vary: _varyByKey, ...expected } = headers;
      assert.deepEqual([again.text, rest], [text, expected], path);
    }
  });

  test('A read of the catalogue with CURD_EDGE_CACHE is public as 304 too, and for HEAD', async () => {
    const { shop, key, cheese } = open();
    for (const [path] of paths(cheese).filter(([path]) => !path.includes('images'))) {
      const { headers } = await read(shop, path, { 'x-api-key': key });
      const known = await read(shop, path, { 'x-api-key': key, 'if-none-match': String(headers.etag) });
      assert.equal(known.status, 304, path);
      assert.equal(known.headers.vary, headers.vary, path);
      assert.ok(isPublic(known.headers) && known.headers['surrogate-key']?.startsWith('shop '), path);
      assert.deepEqual(
        perRequest.filter((name) => name in known.headers),
        [],
      );
      const head = await shop.request('HEAD', path, { headers: { 'x-api-key': key } });
      assert.deepEqual([head.status, isPublic(head.headers)], [200, true]);
    }
  });

  test('A read of the catalogue with CURD_EDGE_CACHE is not public with another credential, or where it changes by itself', async () => {
    const { shop, key, cheese } = open();
    const session = await newSession(
      shop,
      await newCustomer(shop, `ada-${randomUUID().slice(0, 8)}`, 'customer'),
    );
    const token = { authorization: `Bearer ${session}` };
    for (const [path] of paths(cheese)) {
      const urlKey = `${path}${path.includes('?') ? '&' : '?'}key=${key}`;
      for (const [url, headers] of [
        [path, { 'x-api-key': shop.admin }],
        [path, { authorization: `Bearer ${key}` }],
        [path, { 'x-api-key': key, ...token }],
        [urlKey, token],
        [urlKey, { 'x-api-key': shop.admin }],
        [path, { 'x-api-key': key, 'sandbox-simulate': 'slow=1ms' }],
        [path, {}],
      ] as const) {
        const response = await read(shop, url, headers);
        assert.ok(!isPublic(response.headers), `${url} ${JSON.stringify(headers)}`);
        assert.ok(!('surrogate-key' in response.headers) && 'x-request-id' in response.headers);
      }
    }
    for (const path of [
      `/v2/cheeses/${cheese.id}/prices`,
      `/v2/cheeses/${cheese.id}/availability`,
      `/v2/availability?cheeseIds=${cheese.id}`,
      '/v2/cheeses/changes',
      '/v2/cheeses/999999999',
      '/v2/cheeses?limit=x',
      '/v2/whoami',
    ]) {
      assert.ok(!isPublic((await read(shop, path, { 'x-api-key': key })).headers), path);
    }
  });

  test('A read of the catalogue with CURD_EDGE_CACHE differs by Origin for a key with origins, and is refused on pages of others', async () => {
    const { shop, cheese } = open();
    const key = await shop.createKey({ kind: 'publishable', origins: [page] });
    const own = await read(shop, `/v2/cheeses/${cheese.id}?key=${key}`, { origin: page });
    assert.ok(isPublic(own.headers));
    assert.equal(own.headers.vary, 'Origin, Accept-Encoding, Accept');
    assert.equal(own.headers['access-control-allow-origin'], page);
    const other = await read(shop, `/v2/cheeses/${cheese.id}?key=${key}`, {
      origin: 'https://other.example',
    });
    assert.deepEqual([other.status, isPublic(other.headers)], [403, false]);
  });

  test('A read of the catalogue without CURD_EDGE_CACHE is private', async (t) => {
    const shop = await openShop(t, { engine });
    const key = await shop.createKey({ kind: 'publishable' });
    const { headers } = await read(shop, '/v2/cheeses', { 'x-api-key': key });
    assert.equal(headers['cache-control'], 'private, no-cache');
    assert.ok('ratelimit' in headers && !('cache-tag' in headers));
  });
});
