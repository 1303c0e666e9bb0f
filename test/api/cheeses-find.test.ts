/** GET /cheeses/findByStatus and GET /cheeses/findByTags. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { CheeseInput } from '../../src/cheeses/schemas.ts';
import type { Engine } from '../../src/database/sql.ts';
import { assertError, onBothEngines, openShop, type Shop, type TestResponse } from '../helper.ts';

const named = (...names: string[]) => names.map((name) => ({ name }));
const namesOf = ({ json }: TestResponse) => json.map(({ name }: { name: string }) => name);

/** Cheeses whose order by name differs from the order of their ids. */
const few: readonly CheeseInput[] = [
  { name: 'e', status: 'sold', tags: named('cow', 'raw milk') },
  { name: 'd', status: 'available', tags: named('goat', 'cow') },
  { name: 'c', status: 'pending', tags: named('Cow') },
  { name: 'b', status: 'sold' },
  { name: 'a', status: 'available', tags: named('goat', 'raw milk') },
];

async function openWith(t: TestContext, engine: Engine, cheeses: readonly CheeseInput[]) {
  const shop = await openShop(t, { engine });
  await shop.app.cheeses.service.import(shop.app.contextOf('test'), cheeses, new Set());
  const find = (query: string, headers: Record<string, string> = {}, method = 'GET') =>
    shop.request(method, `/v2/cheeses/${query}`, { as: shop.writer, headers });
  return { shop, find };
}

async function assertRefused(find: (query: string) => Promise<TestResponse>, query: string): Promise<void> {
  const response = await find(query);
  assert.equal(response.status, 400, query);
  assertError(response, 400, 'bad_request');
}

/** Follows the Link headers from page to page. */
async function follow(shop: Shop, url: string): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = url; next !== undefined; ) {
    const response: TestResponse = await shop.request('GET', next, { as: shop.writer });
    assert.equal(response.status, 200, `${next}: ${response.text}`);
    assert.ok(Array.isArray(response.json));
    found.push(...namesOf(response));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.link ?? '')?.[1];
    assert.ok(found.length <= few.length);
  }
  return found;
}

onBothEngines('GET /cheeses/findByStatus', (engine) => {
  test('GET /cheeses/findByStatus returns every match once, sorted by id, for values with commas and repeated parameters', async (t) => {
    const { shop, find } = await openWith(t, engine, few);
    for (const [query, names] of [
      ['sold', 'eb'],
      ['pending', 'c'],
      ['available,sold', 'edba'],
      ['sold,available', 'edba'],
      ['sold&status=available', 'edba'],
      ['sold,sold&status=sold', 'eb'],
      ['available&status=pending,sold&status=sold', 'edcba'],
      ['available%2Cpending', 'dca'],
    ] as const) {
      const response = await find(`findByStatus?status=${query}`);
      assert.equal(response.status, 200);
      assert.deepEqual(namesOf(response), [...names], query);
    }
    const { json } = await find('findByStatus?status=pending');
    const one = await find(`${json[0].id}`);
    assert.deepEqual(json, [one.json]);
    await shop.request('DELETE', `/v2/cheeses/${one.json.id}`, {
      as: shop.writer,
      headers: { 'x-confirm-delete': 'true' },
    });
    assert.equal((await find('findByStatus?status=pending')).text, '[]');
  });

  test('GET /cheeses/findByStatus returns 400 when the status is missing, empty or not exactly one of the three', async (t) => {
    const { find } = await openWith(t, engine, few);
    for (const status of ['', '?status=', '?status', '?Status=sold', '?tags=cow', '?limit=1']) {
      await assertRefused(find, `findByStatus${status}`);
    }
    const values = [
      'Sold',
      'SOLD',
      'lost',
      'sold,lost',
      'lost,sold',
      'sold,',
      ',sold',
      'sold,,pending',
      'sold&status=',
    ];
    for (const value of [
      ...values,
      'sold%20',
      'sold,%20pending',
      '[]',
      'sold&status=lost',
      'sold%00',
      'null',
    ]) {
      await assertRefused(find, `findByStatus?status=${value}`);
    }
  });

  test('GET /cheeses/findByStatus returns 401 without a credential and 403 to an API key without the scope', async (t) => {
    const { shop } = await openWith(t, engine, few);
    for (const url of ['/v2/cheeses/findByStatus', '/v2/cheeses/findByTags']) {
      assertError(await shop.request('GET', url), 401, 'unauthorized');
      assertError(await shop.request('GET', url, { as: shop.reader }), 403, 'forbidden');
    }
  });

  test('GET /cheeses/findByStatus returns as many as limit says, and links to the next page until the last', async (t) => {
    const { shop, find } = await openWith(t, engine, few);
    for (const limit of [1, 2, 3, 4, 5, 100]) {
      const url = `/v2/cheeses/findByStatus?status=pending,sold&limit=${limit}`;
      assert.deepEqual(await follow(shop, url), ['e', 'c', 'b'], `limit ${limit}`);
    }
    const first = await find('findByStatus?status=sold,pending&limit=1');
    const cursor = /cursor=([^&>]+)/.exec(first.headers.link ?? '')?.[1] ?? '';
    assert.deepEqual(namesOf(await find(`findByStatus?status=pending,sold&cursor=${cursor}`)), ['c', 'b']);
    await assertRefused(find, `findByStatus?status=sold&cursor=${cursor}`);
    await assertRefused(find, `findByStatus?cursor=${cursor}`);
    await assertRefused(find, `findByTags?tags=cow&cursor=${cursor}`);
    for (const page of [
      'limit=0',
      'limit=101',
      'limit=',
      'limit=x',
      'cursor=',
      'cursor=x',
      `cursor=${cursor}x`,
    ]) {
      await assertRefused(find, `findByStatus?status=sold,pending&${page}`);
    }
  });

  test('GET /cheeses/findByStatus returns only the headers of GET for HEAD, and 304 when If-None-Match is current', async (t) => {
    const { shop, find } = await openWith(t, engine, few);
    for (const url of ['findByStatus?status=sold', 'findByTags?tags=cow', 'findByTags?tags=nobody']) {
      const get = await find(url);
      const head = await find(url, {}, 'HEAD');
      assert.deepEqual([head.status, head.text], [200, '']);
      for (const name of ['etag', 'content-type', 'cache-control', 'vary', 'link', 'deprecation']) {
        assert.equal(head.headers[name], get.headers[name], `${url} ${name}`);
      }
      assert.match(get.headers['content-type'] ?? '', /^application\/json/);
      const etag = get.headers.etag ?? '';
      const known = { 'if-none-match': etag, 'accept-encoding': 'gzip' };
      const unchanged = await find(url, known);
      assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.etag], [304, '', etag]);
      assert.equal(unchanged.headers.deprecation, get.headers.deprecation);
      await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: `new ${url}` } });
      assert.equal((await find(url, known)).status, 200);
    }
  });

  test('GET /cheeses/findByStatus returns 400 for invalid parameters, also when If-None-Match is current', async (t) => {
    const { find } = await openWith(t, engine, few);
    for (const query of [
      'status=x',
      'status=sold&limit=0',
      'status=sold&cursor=x',
      'status=sold&status[]=sold',
    ]) {
      assertError(await find(`findByStatus?${query}`, { 'if-none-match': '*' }), 400, 'bad_request');
    }
  });

  test('GET /cheeses/findByStatus streams more matches than fit on one page, complete, in order and as valid JSON', async (t) => {
    const cheeses = Array.from({ length: 1203 }, (_, index): CheeseInput => {
      const name = `${(index * 7919) % 1203} "Äpler" \\ ${index}`;
      // 500 fill one page of the stream exactly, 501 need a second one.
      const status = index < 500 ? 'sold' : index < 1001 ? 'pending' : 'available';
      return { name, status, tags: index % 2 ? named('cow', 'raw milk') : named('raw milk') };
    });
    const { shop, find } = await openWith(t, engine, cheeses);
    const names = cheeses.map(({ name }) => name);
    const odd = names.filter((_, index) => index % 2);
    const expectations = [
      ['findByStatus?status=sold', names.slice(0, 500)],
      ['findByStatus?status=pending', names.slice(500, 1001)],
      ['findByStatus?status=pending,sold,available', names],
      ['findByTags?tags=cow', odd],
      ['findByTags?tags=cow,raw%20milk', names],
    ] as const;
    for (const [url, expected] of expectations) {
      const response = await find(url);
      assert.deepEqual(namesOf(response), expected, url);
      const headers = { 'x-api-key': shop.writer, 'accept-encoding': 'gzip' };
      const zipped = await shop.app.server.inject({ url: `/v2/cheeses/${url}`, headers });
      assert.equal(zipped.headers['content-encoding'], 'gzip');
      assert.equal(zipped.headers.etag, response.headers.etag);
      assert.equal(gunzipSync(zipped.rawPayload).toString(), response.text);
      const head = await find(url, {}, 'HEAD');
      assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', response.headers.etag]);
      assert.equal((await find(url, { 'if-none-match': response.headers.etag ?? '' })).status, 304);
    }
  });
});

onBothEngines('GET /cheeses/findByTags', (engine) => {
  test('GET /cheeses/findByTags accepts thousands of tags, up to the length of the request line', async (t) => {
    const cheeses = Array.from(
      { length: 700 },
      (_, index): CheeseInput => ({
        name: `Cheese ${index}`,
        tags: index % 7 === 0 ? named('other') : named(`t${index % 300}`, `u${index % 11}`),
      }),
    );
    const { shop, find } = await openWith(t, engine, cheeses);
    const expected = cheeses.map(({ name }) => name).filter((_, index) => index % 7 !== 0);
    const tags = Array.from({ length: 2000 }, (_, index) => `t${index}`).join();
    assert.deepEqual(namesOf(await find(`findByTags?tags=${tags}`)), expected);
    assert.deepEqual(namesOf(await find(`findByTags?tags=${tags},u3,other`)), [
      ...cheeses.map(({ name }) => name),
    ]);

    const paged: string[] = [];
    for (let url: string | undefined = `/v2/cheeses/findByTags?tags=${tags}&limit=90`; url !== undefined; ) {
      assert.ok(url.length < 16_000, `a request line of ${url.length}`);
      const response: TestResponse = await shop.request('GET', url, { as: shop.writer });
      paged.push(...namesOf(response));
      url = /<([^>]+)>; rel="next"/.exec(response.headers.link ?? '')?.[1];
    }
    assert.deepEqual(paged, expected);

    const { headers } = await find(`findByTags?tags=${tags}&limit=1`);
    const cursor = /cursor=([^&>]+)/.exec(headers.link ?? '')?.[1] ?? '';
    const reversed = tags.split(',').reverse().join();
    assert.deepEqual(
      namesOf(await find(`findByTags?tags=${reversed}&limit=2&cursor=${cursor}`)),
      expected.slice(1, 3),
    );
    for (const query of [`findByTags?tags=${tags},more`, 'findByTags?tags=t1', '?limit=5', '?tags=t1,t2']) {
      await assertRefused(find, `${query}&cursor=${cursor}`);
    }
  });

  test('GET /cheeses/findByTags returns 200 with every cheese that has one of the tags, once and sorted by id', async (t) => {
    const { find } = await openWith(t, engine, few);
    for (const [query, names] of [
      ['cow', 'ed'],
      ['Cow', 'c'],
      ['cow,goat', 'eda'],
      ['goat&tags=cow,raw%20milk', 'eda'],
      ['goat,goat&tags=goat', 'da'],
      ['raw+milk,nobody', 'ea'],
      ['nobody', ''],
      ['e', ''],
      ['x'.repeat(100), ''],
      ['🧀'.repeat(100), ''],
    ] as const) {
      const response = await find(`findByTags?tags=${query}`);
      assert.equal(response.status, 200);
      assert.deepEqual(namesOf(response), [...names], query);
    }
  });

  test('GET /cheeses/findByTags returns 400 when a tag is missing, empty, too long or contains control characters', async (t) => {
    const { find } = await openWith(t, engine, few);
    for (const query of ['', '?tags=', '?tags', '?status=sold', '?tag=cow', '?limit=1']) {
      await assertRefused(find, `findByTags${query}`);
    }
    const values = ['cow,', ',cow', 'cow,,goat', 'cow&tags=', ',', 'co%00w', 'co%0Aw', 'cow,%1F', '%C2%85'];
    for (const value of [...values, 'x'.repeat(101), '🧀'.repeat(101), `cow,${'x'.repeat(101)}`]) {
      await assertRefused(find, `findByTags?tags=${value}`);
    }
  });

  test('GET /cheeses/findByTags returns Deprecation and a link to its successor, which finds the same cheeses', async (t) => {
    const { shop, find } = await openWith(t, engine, few);
    // RFC 9745: the date from which it is deprecated.
    const deprecatedSince = '2026-11-21';
    for (const url of ['findByTags?tags=cow', 'findByTags?tags=nobody', 'findByTags?tags=cow&limit=1']) {
      const { headers } = await find(url);
      assert.equal(headers.deprecation, `@${Date.parse(deprecatedSince) / 1000}`);
      assert.match(headers.link ?? '', /<[^>]+>; *rel="deprecation"/);
      assert.match(headers.link ?? '', /<\/v2\/cheeses>; *rel="successor-version"/);
      assert.equal('sunset' in headers, false);
    }
    assert.equal('deprecation' in (await find('findByStatus?status=sold')).headers, false);
    for (const query of ['tags=cow', 'tags=cow,goat', 'tags=raw+milk&tags=goat', 'tags=nobody']) {
      const { json } = await shop.request('GET', `/v2/cheeses?sort=createdAt&${query}`, { as: shop.reader });
      assert.deepEqual((await find(`findByTags?${query}`)).json, json.items, query);
    }
  });

  test('GET /cheeses/findByTags returns as many as limit says, and links to the next page until the last', async (t) => {
    const { shop } = await openWith(t, engine, few);
    for (const limit of [1, 2, 3, 100]) {
      const url = `/v2/cheeses/findByTags?tags=raw+milk,cow&limit=${limit}`;
      assert.deepEqual(await follow(shop, url), ['e', 'd', 'a'], `limit ${limit}`);
    }
  });
});
