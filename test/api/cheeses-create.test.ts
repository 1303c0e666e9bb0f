/** POST /cheeses: defaults, references, and the bounds of each field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertError,
  assertFields,
  onBothEngines,
  openShop,
  type Shop,
  type TestResponse,
} from '../helper.ts';

const strict = { prefer: 'handling=strict' };
let made = 0;

/** Sends a valid cheese with the given members. The name is new unless it is given. */
function create(shop: Shop, cheese: object, headers: Record<string, string> = {}): Promise<TestResponse> {
  made += 1;
  return shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: `Cheese ${made}`, ...cheese },
    headers,
  });
}

async function totalOf(shop: Shop): Promise<number> {
  return (await shop.request('GET', '/v2/cheeses?limit=1', { as: shop.reader })).json.total;
}

const url = (length: number) => 'https://example.com/'.padEnd(length, 'x');
const many = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

/** Values at the bounds of each field, which are returned unchanged. */
const edges: readonly (readonly [field: string, values: readonly unknown[]])[] = [
  ['name', ['C', 'x'.repeat(255), '🧀'.repeat(255), 'Com\u00a0 té', '0', 'null', '%_"\\\'', '👨‍👩‍👧']],
  ['origin', ['F', '🧀'.repeat(100), null, 'Côte d’Ivoire']],
  ['pricePerKg', [0, 1_000_000, 999_999.99, 0.1, 1e-7, 32.123456789]],
  ['ageMonths', [0, 1, 119, 120]],
  ['organic', [true, false]],
  ['status', ['available', 'pending', 'sold']],
  ['photoUrls', [[], ['x'], many(100, (index) => url(30 + index)), [url(2048)], ['/a.jpg', '/a.jpg']]],
];

/** Values just beyond the bounds, with the field that the error names if it is another one. */
const beyond: readonly (readonly [field: string, values: readonly unknown[], named?: string])[] = [
  ['name', ['', ' ', '\u3000 ', 'x'.repeat(256), '🧀'.repeat(256), null, 7, true, [], {}]],
  [
    'name',
    ['\t', 'Com\nté', 'Com\u0000té', 'Com\u001fté', 'Com\u007fté', 'Com\u0085té', 'Comté\n', '\ufeffComté'],
  ],
  ['name', ['Com\u202eté', 'Com\u00adté', 'Com\u200bté', 'Comté\u200d', 'C\u200d\u200dté', 'C\u2800']],
  ['origin', ['', '🧀'.repeat(101), 'Fra\nnce', 1, false, ['France']]],
  ['pricePerKg', [1_000_000.01, 1_000_001, -0.01, -1, '5', true, [5], {}]],
  ['ageMonths', [-1, 121, 12.5, '12', true, 1e300, [12]]],
  ['organic', ['true', 'false', 0, 1, [], {}]],
  ['status', ['', 'Available', 'AVAILABLE', 'available ', 'lost', 0, ['sold'], {}]],
  ['photoUrls', [many(101, () => url(30)), 'https://example.com', {}, 1]],
  ['photoUrls', [['', 'x'], [url(2049)], [7], [null], [['x']]], 'photoUrls[0]'],
  [
    'photoUrls',
    ['javascript:x', 'JavaScript:x', 'DATA:,x', 'data:,x', 'file:///x', 'File:x'].map((x) => [x]),
    'photoUrls[0]',
  ],
  ['category', [{}, { colour: 'blue' }, { name: null }, 'Hard', ['Hard'], 7]],
  [
    'category',
    ['', ' ', 'x'.repeat(101), 'Ha\trd', 'Ha\u00adrd', 7].map((name) => ({ name })),
    'category.name',
  ],
  ['category', [{ id: '1' }, { id: 1.5 }, { id: true }], 'category.id'],
  ['tags', [many(101, (index) => ({ name: `tag ${index}` })), 'cow', { name: 'cow' }]],
  ['tags', [[{}], ['cow'], [null], [{ name: null }]], 'tags[0]'],
  [
    'tags',
    ['', ' ', 'x'.repeat(101), 'raw,milk', ',', 'ra\u0000w', 'ra\u200bw', 7].map((name) => [{ name }]),
    'tags[0].name',
  ],
];

onBothEngines('POST /cheeses', (engine) => {
  test('POST /cheeses returns 201 with the cheese, its Location and its ETag', async (t) => {
    const shop = await openShop(t, { engine });
    const response = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: {
        name: 'Comté',
        category: { name: 'Hard' },
        tags: [{ name: 'cow' }],
        pricePerKg: 32.5,
        ageMonths: 12,
      },
    });
    assert.equal(response.status, 201);
    assert.equal(response.headers.location, `/v2/cheeses/${response.json.id}`);
    assert.equal(response.headers.etag, '"1"');
    assert.equal(response.json.category.name, 'Hard');
    const read = await shop.request('GET', response.headers.location ?? '', { as: shop.reader });
    assert.deepEqual(read.json, response.json);
  });

  test('POST /cheeses returns 201 with defaults for absent and null fields, without fields that have no default', async (t) => {
    const shop = await openShop(t, { engine });
    const { json } = await create(shop, { name: 'Comté' });
    const { id, createdAt, updatedAt, ...rest } = json;
    const defaults = { photoUrls: [], tags: [], status: 'available', origin: null, organic: false };
    assert.deepEqual(rest, { name: 'Comté', ...defaults });
    assert.ok(Number.isSafeInteger(id) && id > 0);
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(updatedAt, createdAt);
    const absent = { photoUrls: null, tags: null, status: null, pricePerKg: null, ageMonths: null };
    const nulls = await create(shop, { ...absent, category: null, organic: null, origin: null });
    assert.equal(nulls.status, 201, nulls.text);
    assert.deepEqual({ ...nulls.json, name: 'Comté', id, createdAt, updatedAt }, json);
    const byName = await create(shop, { category: { id: null, name: 'Hard' } }, strict);
    assert.equal(byName.json.category.name, 'Hard');
  });

  test('POST /cheeses returns 201 at the bound of every field, and 422 with the field beyond it', async (t) => {
    const shop = await openShop(t, { engine });
    for (const [field, values] of edges) {
      for (const value of values) {
        const response = await create(shop, { [field]: value });
        const what = `${field}: ${JSON.stringify(value).slice(0, 60)}`;
        assert.equal(response.status, 201, what);
        assert.deepEqual(response.json[field], value, what);
        const read = await shop.request('GET', response.headers.location ?? '', { as: shop.reader });
        assert.deepEqual(read.json[field], value, what);
      }
    }
    const total = await totalOf(shop);
    for (const [field, values, named = field] of beyond) {
      for (const value of values) {
        const what = `${field}: ${JSON.stringify(value).slice(0, 60)}`;
        assertFields(await create(shop, { [field]: value }), [named], what);
      }
    }
    assert.equal(await totalOf(shop), total);
  });

  test('POST /cheeses reads numbers by their value: 2.0 is 2, 1e400 is above every limit', async (t) => {
    const shop = await openShop(t, { engine });
    const send = (raw: string) => shop.request('POST', '/v2/cheeses', { as: shop.writer, raw });
    const response = await send('{"name": "A", "ageMonths": 2.0, "pricePerKg": 1.5e1}');
    assert.equal(response.json.ageMonths, 2);
    assert.equal(response.json.pricePerKg, 15);
    assertFields(await send('{"name": "B", "pricePerKg": 1e400}'), ['pricePerKg']);
    assertFields(await send('{"name": "B", "pricePerKg": -1e400}'), ['pricePerKg']);
    assertFields(await send('{"name": "B", "ageMonths": 1e400}'), ['ageMonths']);
  });

  test('POST /cheeses returns 422 with all errors at once, in the order of the schema', async (t) => {
    const shop = await openShop(t, { engine });
    const response = await create(shop, {
      organic: 'no',
      ageMonths: 121,
      pricePerKg: -1,
      origin: '',
      status: 'lost',
      tags: [{ name: 'cow' }, { name: 'a,b' }, {}],
      photoUrls: ['x', '', 'data:,x'],
      category: { name: '' },
      name: ' ',
    });
    assertFields(response, [
      ...['name', 'category.name', 'photoUrls[1]', 'photoUrls[2]', 'tags[1].name', 'tags[2]', 'status'],
      ...['origin', 'pricePerKg', 'ageMonths', 'organic'],
    ]);
    for (const body of [[], 'Comté', 7, null, true]) {
      assertFields(await shop.request('POST', '/v2/cheeses', { as: shop.writer, body }), ['']);
    }
    assert.equal(await totalOf(shop), 0);
  });

  test('POST /cheeses returns 422 with every unknown reference, once the body is well-formed', async (t) => {
    const shop = await openShop(t, { engine });
    const references = { category: { id: 999_999 }, tags: [{ name: 'cow' }, { id: 999_999 }] };
    assertFields(await create(shop, references), ['category.id', 'tags[1].id']);
    assertFields(await create(shop, { ...references, name: '', ageMonths: 121 }), ['name', 'ageMonths']);
  });

  test('POST /cheeses returns 422 when the id of a reference is larger than any id', async (t) => {
    const shop = await openShop(t, { engine });
    for (const id of ['9007199254740993', '9223372036854775807', '1e300']) {
      const raw = `{"name": "B", "category": {"id": ${id}}, "tags": [{"id": ${id}}]}`;
      const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, raw });
      assertFields(response, ['category.id', 'tags[0].id'], id);
    }
  });

  test('POST /cheeses ignores unknown fields, and returns 422 for them with strict handling', async (t) => {
    const shop = await openShop(t, { engine });
    const odd = { colour: 'blue', category: { name: 'Hard', colour: 1 }, tags: [{ name: 'cow', colour: 1 }] };
    const response = await create(shop, odd);
    assert.deepEqual(Object.keys(response.json.category).sort(), ['id', 'name']);
    assert.equal('colour' in response.json, false);
    assert.equal((await create(shop, odd, { prefer: 'handling=lenient' })).status, 201);
    for (const prefer of ['handling=strict', 'respond-async, handling=strict', 'Handling="strict"']) {
      const refused = await create(shop, odd, { prefer });
      assertError(refused, 422, 'validation_error');
      assert.deepEqual(refused.json.errors.map(({ field }: { field: string }) => field).sort(), [
        'category.colour',
        'colour',
        'tags[0].colour',
      ]);
    }
  });

  test('POST /cheeses ignores fields that the server supplies, also with strict handling', async (t) => {
    const shop = await openShop(t, { engine });
    const supplied = { id: 4711, createdAt: '1999-01-01T00:00:00.000Z', updatedAt: 'never' };
    const response = await create(shop, supplied);
    assert.notEqual(response.json.id, 4711);
    assert.notEqual(response.json.createdAt, supplied.createdAt);
    assert.equal((await create(shop, { id: 'x', createdAt: {} })).status, 201);
    assert.equal((await create(shop, supplied, strict)).status, 201);
  });

  test('POST /cheeses accepts categories and tags by name, or by the id of an existing one', async (t) => {
    const shop = await openShop(t, { engine });
    const { json: first } = await create(shop, { category: { name: 'Hard' }, tags: [{ name: 'cow' }] });
    const { category, tags } = first;
    const { json: byName } = await create(shop, {
      category: { id: 999_999, name: 'Hard' },
      tags: [{ id: 0, name: 'cow' }],
    });
    assert.deepEqual([byName.category, byName.tags], [category, tags]);
    const { json: byId } = await create(shop, { category: { id: category.id }, tags: [{ id: tags[0].id }] });
    assert.deepEqual([byId.category, byId.tags], [category, tags]);
    const { json: other } = await create(shop, { category: { id: category.id, name: 'Soft' } });
    assert.equal(other.category.name, 'Soft');
    assert.notEqual(other.category.id, category.id);
    for (const id of [0, -1, 999_999, tags[0].id]) {
      assertFields(await create(shop, { category: { id } }), ['category.id'], `category ${id}`);
    }
    assertFields(await create(shop, { tags: [{ id: category.id }] }), ['tags[0].id']);
    await shop.request('DELETE', `/v2/cheeses/${other.id}`, {
      as: shop.writer,
      headers: { 'x-confirm-delete': 'true' },
    });
    const { json: again } = await create(shop, { category: { name: 'Soft' } });
    assert.deepEqual(again.category, other.category);
  });

  test('POST /cheeses removes duplicate tags and keeps their order', async (t) => {
    const shop = await openShop(t, { engine });
    const named = (...names: string[]) => ({ tags: names.map((name) => ({ name })) });
    const namesOf = ({ json }: TestResponse) => json.tags.map(({ name }: { name: string }) => name);
    const response = await create(shop, named('washed', 'cow', 'washed', 'alpine', 'cow', 'Cow'));
    assert.deepEqual(namesOf(response), ['washed', 'cow', 'alpine', 'Cow']);
    const cow = response.json.tags[1];
    assert.deepEqual((await create(shop, { tags: [{ id: cow.id }, { name: 'cow' }] })).json.tags, [cow]);
    const hundred = many(100, (index) => `${index}`.padEnd(100, 'x'));
    assert.deepEqual(namesOf(await create(shop, named(...hundred))), hundred);
  });

  test('POST /cheeses removes blanks at the ends of names, and keeps the blanks inside', async (t) => {
    const shop = await openShop(t, { engine });
    const { json } = await create(shop, {
      name: '\u3000Bleu \u00a0de Gex ',
      origin: ' Jura\u2003',
      category: { name: ' Blue' },
      tags: [{ name: 'raw  milk\u00a0' }],
      photoUrls: [' /a.jpg '],
    });
    assert.deepEqual(
      [json.name, json.origin, json.category.name, json.tags[0].name, json.photoUrls],
      ['Bleu \u00a0de Gex', 'Jura', 'Blue', 'raw  milk', ['/a.jpg']],
    );
    const found = await shop.request(
      'GET',
      '/v2/cheeses?category=blue%20&origin=%C2%A0jura&tags=raw%20milk',
      {
        as: shop.reader,
      },
    );
    assert.equal(found.json.total, 1);
  });

  test('POST /cheeses takes a category or tag that differs in blanks or joiners only for the one that exists', async (t) => {
    const shop = await openShop(t, { engine });
    const [hard, raw] = ['Semi hard', 'raw milk'];
    const first = (await create(shop, { category: { name: hard }, tags: [{ name: raw }] })).json;
    for (const spell of [
      (text: string) => text.replace(' ', '\u00a0'),
      (text: string) => ` ${text.replace(' ', '  ')}\u3000`,
      (text: string) => text.replace('r', 'r\u200d'),
    ]) {
      const { json } = await create(shop, {
        category: { name: spell(hard) },
        tags: [{ name: raw }, { name: spell(raw) }],
      });
      assert.deepEqual([json.category, json.tags], [first.category, first.tags]);
      const url = `/v2/cheeses?tags=${encodeURIComponent(spell(raw))}&category=${encodeURIComponent(spell(hard))}`;
      const { json: list } = await shop.request('GET', url, { as: shop.reader });
      assert.ok(list.items.some(({ id }: { id: number }) => id === json.id));
    }
    const names = await shop.request('GET', '/v2/categories', { as: shop.reader });
    assert.deepEqual(
      names.json.items.map(({ name, cheeses }: { name: string; cheeses: number }) => [name, cheeses]),
      [[hard, 4]],
    );
  });

  test('POST /cheeses returns 409 when the name exists in the category, and writes nothing', async (t) => {
    const shop = await openShop(t, { engine });
    for (const place of [{ category: { name: 'Hard' } }, {}]) {
      assert.equal((await create(shop, { name: 'Comt\u00e9', ...place })).status, 201);
      const total = await totalOf(shop);
      for (const name of ['Comt\u00e9', 'Comte\u0301', '\u00a0Comt\u00e9 ', 'Co\u200dmt\u00e9']) {
        assertError(await create(shop, { name, ...place, tags: [{ name: 'new' }] }), 409, 'conflict');
      }
      assert.equal(await totalOf(shop), total);
      for (const name of ['comt\u00e9', 'Comte']) {
        assert.equal((await create(shop, { name, ...place })).status, 201, name);
      }
    }
    const decomposed = await create(shop, { name: 'Comte\u0301', category: { name: 'Soft' } });
    assert.equal(decomposed.json.name, 'Comte\u0301');
    assertError(await create(shop, { name: 'Comt\u00e9', category: { name: 'Soft' } }), 409, 'conflict');
    const { json } = await shop.request('GET', '/v2/cheeses?tags=new', { as: shop.reader });
    assert.equal(json.total, 0);
  });

  test('POST /cheeses returns 201 once and 409 otherwise when the same cheese is sent many times concurrently', async (t) => {
    const shop = await openShop(t, { engine });
    const shops = [shop, await shop.another()];
    const cheeses = many(8, (index) => ({
      name: index % 2 ? 'Comt\u00e9' : 'Comte\u0301',
      tags: [{ name: 'cow' }],
    }));
    const responses = await Promise.all(
      cheeses.map((cheese, index) => create({ ...(shops[index % 2] as Shop), writer: shop.writer }, cheese)),
    );
    assert.deepEqual(responses.map(({ status }) => status).sort(), [201, ...many(7, () => 409)]);
    assert.equal(await totalOf(shop), 1);
  });
});
