/** PATCH of cheeses: JSON Merge Patch (RFC 7396). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assertError, assertFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const full = {
  category: { name: 'Hard' },
  photoUrls: ['https://example.com/comte.jpg'],
  tags: [{ name: 'cow' }, { name: 'raw milk' }],
  status: 'pending',
  origin: 'France',
  pricePerKg: 32.5,
  ageMonths: 12,
  organic: true,
};

async function add(shop: Shop, name: string, more: object = full) {
  const { json, headers } = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name, ...more },
  });
  const url = `/v2/cheeses/${json.id}`;
  const patch = (body: unknown, more: Record<string, string> = {}) =>
    shop.request('PATCH', url, { as: shop.writer, headers: { ...mergePatch, ...more }, body });
  const read = () => shop.request('GET', url, { as: shop.reader });
  return { cheese: json, etag: headers.etag ?? '', url, patch, read };
}

/** Without what each change sets. */
function content({ updatedAt: _, ...rest }: Record<string, unknown>): object {
  return rest;
}

onBothEngines('PATCH /cheeses/{cheeseId}', (engine) => {
  const open = shared((t) => openShop(t, { engine }));

  test('PATCH /cheeses/{cheeseId} changes the named fields only, and each optional field is removed by null', async () => {
    const { cheese, patch, read } = await add(open(), 'Named');
    const changes: [object, object][] = [
      [{ name: 'Renamed' }, { name: 'Renamed' }],
      [{ status: 'sold' }, { status: 'sold' }],
      [{ pricePerKg: 0 }, { pricePerKg: 0 }],
      [{ pricePerKg: null }, { pricePerKg: undefined }],
      [{ ageMonths: 3 }, { ageMonths: 3 }],
      [{ ageMonths: null }, { ageMonths: undefined }],
      [{ origin: 'Italy' }, { origin: 'Italy' }],
      [{ origin: null }, { origin: null }],
      [{ organic: null }, { organic: false }],
      [{ organic: true }, { organic: true }],
      [{ photoUrls: ['https://example.com/2.jpg'] }, { photoUrls: ['https://example.com/2.jpg'] }],
      [{ photoUrls: null }, { photoUrls: [] }],
      [{ tags: null }, { tags: [] }],
      [{ tags: [{ name: 'cow' }] }, { tags: [cheese.tags[0]] }],
      [{ category: null }, { category: undefined }],
    ];
    let expected = content(cheese);
    for (const [body, change] of changes) {
      expected = JSON.parse(JSON.stringify({ ...expected, ...change }));
      const response = await patch(body);
      assert.equal(response.status, 200, response.text);
      assert.deepEqual(content(response.json), expected, JSON.stringify(body));
      const stored = await read();
      assert.deepEqual([stored.json, stored.headers.etag], [response.json, response.headers.etag]);
    }
  });

  test('PATCH /cheeses/{cheeseId} selects a category by its id, although the cheese has another by name', async () => {
    const soft = await add(open(), 'Softest', { category: { name: 'Soft' } });
    const { patch } = await add(open(), 'Moving');
    const { json } = await patch({ category: { id: soft.cheese.category.id } });
    assert.deepEqual(json.category, soft.cheese.category);
    assert.equal((await patch({ category: { name: 'Fresh' } })).json.category.name, 'Fresh');
    assertFields(await patch({ category: { id: 4711 } }), ['category.id']);
    assertFields(await patch({ category: {} }), ['category']);
  });

  test('PATCH /cheeses/{cheeseId} without an effect changes nothing', async () => {
    const { cheese, etag, patch, read } = await add(open(), 'Unchanged');
    for (const body of [{}, { name: 'Unchanged' }, { id: 7, createdAt: 'x', updatedAt: null, colour: 1 }]) {
      const response = await patch(body);
      assert.deepEqual([response.status, response.json, response.headers.etag], [200, cheese, etag]);
    }
    assert.equal((await read()).headers.etag, etag);
    assertFields(await patch({ colour: 1 }, { prefer: 'handling=strict' }), ['colour']);
  });

  test('PATCH /cheeses/{cheeseId} returns 409 for a taken name, 412 for a stale ETag and 404 without the cheese', async () => {
    const shop = open();
    await add(shop, 'Taken');
    const { etag, url, patch, read } = await add(shop, 'Free');
    assertError(await patch({ name: 'Taken' }), 409, 'conflict');
    assertError(await patch({ name: 'Other' }, { 'if-match': '"77"' }), 412, 'precondition_failed');
    assert.equal((await read()).headers.etag, etag);
    assert.equal((await patch({ name: 'Freed' }, { 'if-match': etag })).status, 200);
    const missing = { as: shop.writer, headers: mergePatch, body: {} };
    assertError(await shop.request('PATCH', `${url}999`, missing), 404, 'not_found');
  });
});

suite('PATCH /cheeses/{cheeseId}', () => {
  const open = shared((t) => openShop(t));

  test('PATCH /cheeses/{cheeseId} refuses what PUT refuses, with the same fields', async () => {
    const { cheese, patch, read } = await add(open(), 'Checked');
    for (const [body, fields] of [
      [{ name: null }, ['name']],
      [{ status: null, name: null }, ['name', 'status']],
      [{ name: '' }, ['name']],
      [{ status: 'eaten' }, ['status']],
      [{ pricePerKg: -1, ageMonths: 1.5 }, ['pricePerKg', 'ageMonths']],
      [{ tags: [null] }, ['tags[0]']],
      [{ tags: [{ name: 'a,b' }] }, ['tags[0].name']],
      [{ photoUrls: ['javascript:x'] }, ['photoUrls[0]']],
      [{ organic: 'yes' }, ['organic']],
      [[], ['']],
      [null, ['']],
      [7, ['']],
    ] as const) {
      assertFields(await patch(body), fields, JSON.stringify(body));
    }
    assert.deepEqual((await read()).json, cheese);
  });

  test('PATCH /cheeses/{cheeseId} takes two media types; any other is 415 with Accept-Patch', async () => {
    const { url, patch } = await add(open(), 'Typed');
    const types = 'application/merge-patch+json, application/json';
    for (const type of [
      'text/plain',
      'application/json-patch+json',
      'application/x-www-form-urlencoded',
      'application/merge-patch+json; charset=utf-16',
    ]) {
      const refused = await patch({ name: 'X' }, { 'content-type': type });
      assertError(refused, 415, 'unsupported_media_type');
      assert.deepEqual([refused.headers['accept-patch'], refused.headers.accept], [types, undefined]);
    }
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' };
    assert.equal((await patch({ ageMonths: 1 }, charset)).status, 200);
    const options = await open().request('OPTIONS', url);
    assert.match(options.headers.allow ?? '', /\bPATCH\b/);
  });

  test('PATCH /cheeses/{cheeseId} is what POST with a field that it cannot change names as the remedy', async () => {
    const shop = open();
    const { cheese, url } = await add(shop, 'Posted');
    const send = (path: string, raw: string, type: string) =>
      shop.request('POST', path, { as: shop.writer, raw, headers: { 'content-type': type } });
    const form = 'application/x-www-form-urlencoded';
    for (const refused of [
      await send(url, '{"pricePerKg": 5}', 'application/json'),
      await send(url, 'pricePerKg=5&name=Other', form),
      await send(`${url}?pricePerKg=5`, '{}', 'application/json'),
    ]) {
      assertFields(refused, ['pricePerKg']);
      assert.ok(refused.json.errors[0].message.endsWith(`send PATCH ${url}`), refused.text);
    }
    assert.equal((await send(url, '{"id": 7, "colour": "blue"}', 'application/json')).status, 200);
    assert.deepEqual((await shop.request('GET', url, { as: shop.reader })).json, cheese);
  });
});
