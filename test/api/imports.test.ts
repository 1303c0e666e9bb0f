/** POST /imports: files of cheeses over HTTP, as a preview, in create mode and in update mode. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Cheese } from '../../src/cheeses/schemas.ts';
import {
  assertError,
  assertFields,
  onBothEngines,
  openListeningShop,
  openShop,
  type Scope,
  type Shop,
  shared,
  type TestResponse,
  until,
} from '../helper.ts';

interface Form {
  readonly name?: string;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a file as browsers do. */
async function send(shop: Shop, text: string | Uint8Array, form: Form = {}): Promise<TestResponse> {
  const { name = 'cheeses.csv', type = '', fields = {}, headers = {} } = form;
  const data = new FormData();
  data.append('file', new Blob([text as string], { type }), name);
  for (const [field, value] of Object.entries(fields)) {
    data.append(field, value);
  }
  const encoded = new Response(data);
  return shop.request('POST', '/v2/imports', {
    as: shop.writer,
    raw: new Uint8Array(await encoded.arrayBuffer()),
    headers: { ...headers, 'content-type': encoded.headers.get('Content-Type') ?? '' },
  });
}

async function importing(
  shop: Shop,
  text: string,
  fields: Readonly<Record<string, string>> = {},
  name = 'cheeses.csv',
) {
  const response = await send(shop, text, { fields, name });
  assert.equal(response.status, 200, response.text);
  return response.json;
}

const listOf = (shop: Shop) => shop.request('GET', '/v2/cheeses?limit=1', { as: shop.reader });

/** A file like that of a real directory: columns of its own, two languages, values that are no cheeses. */
function directory(rows: number, price: (row: number) => string): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const name = row === 903 ? 'Tomme 3' : `Tomme ${row}`;
    const names = row % 5 === 0 ? `,"${name}"` : `"${name}",`;
    const ripening = row % 10 === 0 ? 'until it is ready' : `${(row % 12) + 1} Months`;
    const organic = row % 97 === 50 ? 'maybe' : row % 2;
    return `${row},${names},Hard ${row % 9},"Cow,Raw",${organic},${ripening},${price(row)}`;
  });
  return `\uFEFF${['Id,NameEn,NameFr,Kind,Milk,Organic,Ripening,Price', ...lines].join('\r\n')}\r\n`;
}

const map = JSON.stringify({
  name: ['NameEn', 'NameFr'],
  category: 'Kind',
  tags: ['Milk'],
  organic: 'Organic',
  ageMonths: 'Ripening',
  pricePerKg: 'Price',
});

onBothEngines('POST /imports', (engine) => {
  const shopOf = shared((scope: Scope) => openShop(scope, { engine }));

  test('POST /imports previews 1,451 rows with the counts of the real import, changes nothing, and imports them once', async () => {
    const shop = await shopOf();
    // Row 3 and row 903 have the same name in the same category.
    const file = directory(1451, (row) => (row % 4 === 0 ? '' : `${10 + (row % 30)}`));
    const before = await listOf(shop);
    const preview = await importing(shop, file, { map, preview: 'true' });
    const after = await listOf(shop);
    assert.equal(after.headers.etag, before.headers.etag);
    assert.equal(after.json.total, before.json.total);

    const { created, updated, unchanged, rows, refused, refusedCount, remarks, sample, columns } = preview;
    assert.deepEqual([preview.preview, preview.mode, rows], [true, 'create', 1451]);
    assert.deepEqual(columns, ['Id', 'NameEn', 'NameFr', 'Kind', 'Milk', 'Organic', 'Ripening', 'Price']);
    assert.deepEqual(preview.mapping.name, ['NameEn', 'NameFr']);
    assert.equal(refusedCount, 16);
    assert.deepEqual([created, updated, unchanged], [1435, 0, 0]);
    const repeated = refused.find(({ line }: { line: number }) => line === 905);
    assert.equal(repeated.reason, 'a row before this one has the same name in the same category');
    assert.match(refused[0].reason, /^organic: /);
    assert.deepEqual([refused[0].line, refused[0].name, repeated.name], [52, 'Tomme 50', 'Tomme 3']);
    assert.equal(remarks.length, 100);
    assert.equal(sample.length, 20);
    assert.deepEqual([sample[1].line, sample[1].outcome], [3, 'created']);
    assert.equal(sample[1].cheese.pricePerKg, 11);
    assert.ok(sample.every(({ cheese }: { cheese: { id: number } }) => cheese.id < 0));

    const counts = ({ preview: _, sample: _s, ...rest }: typeof preview) => rest;
    const real = await importing(shop, file, { map });
    assert.equal(real.preview, false);
    assert.deepEqual(counts(real), counts(preview));
    assert.equal((await listOf(shop)).json.total, before.json.total + 1435);
    assert.ok(real.sample[0].cheese.id > 0);

    const repeat = await importing(shop, file, { map, preview: 'true' });
    assert.deepEqual([repeat.created, repeat.unchanged, repeat.refusedCount], [0, 1435, 16]);

    // In update mode a price changes, and an empty cell leaves the price that is there.
    const changed = directory(1451, (row) =>
      row === 1 ? '99.5' : row === 2 || row % 4 === 0 ? '' : `${10 + (row % 30)}`,
    );
    const refusedChange = await importing(shop, changed, { map, preview: 'true' });
    assert.deepEqual([refusedChange.unchanged, refusedChange.refusedCount], [1433, 18]);
    for (const isPreview of ['true', 'false']) {
      const update = await importing(shop, changed, { map, mode: 'update', preview: isPreview });
      assert.deepEqual(
        [update.mode, update.created, update.updated, update.unchanged, update.refusedCount],
        ['update', 0, 1, 1434, 16],
      );
      assert.equal(update.sample[1].outcome, 'updated');
      assert.equal(update.sample[1].cheese.pricePerKg, 99.5);
      assert.deepEqual(update.changed, [
        {
          line: 3,
          cheeseId: real.sample[1].cheese.id,
          name: 'Tomme 1',
          changes: { pricePerKg: { from: 11, to: 99.5 } },
        },
      ]);
      const prices = [];
      for (const row of [1, 2]) {
        const { id } = real.sample[row].cheese;
        prices.push((await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).json.pricePerKg);
      }
      assert.deepEqual(prices, [isPreview === 'true' ? 11 : 99.5, 12]);
    }
  });

  test('POST /imports previews the rows for which the catalogue has no room, in every transaction', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_CATALOGUE_MAX: '255' } });
    const rows = Array.from({ length: 260 }, (_, row) => `Wheel ${row}`);
    const file = ['name', ...rows].join('\n');
    const reports = [];
    for (const preview of ['true', 'false']) {
      const { created, refusedCount, refused } = await importing(shop, file, { preview });
      reports.push({ created, refusedCount, refused });
    }
    assert.deepEqual(reports[0], reports[1]);
    assert.deepEqual([reports[1]?.created, reports[1]?.refusedCount], [255, 5]);
  });

  test('POST /imports stores fewer rows in a transaction when they are large, so that others need not wait for them', async () => {
    const shop = await shopOf();
    const tags = Array.from({ length: 100 }, (_, tag) => `a tag with the number ${tag}`).join(',');
    const rows = Array.from({ length: 60 }, (_, row) => `Tagged ${row},"${tags}"`);
    const before = await shop.app.cheeses.service.version();
    assert.equal((await importing(shop, ['name,tags', ...rows].join('\n'))).created, 60);
    const transactions = (await shop.app.cheeses.service.version()) - before;
    assert.ok(transactions >= 3 && transactions < 10, `${transactions} transactions`);
  });

  test('POST /imports clears fields that JSON sets to null, and ignores ids and absent members', async () => {
    const shop = await shopOf();
    const full = {
      name: 'Full',
      category: 'Json',
      tags: ['cow'],
      origin: 'France',
      pricePerKg: 20,
      ageMonths: 3,
    };
    const created = await importing(shop, JSON.stringify([full, { name: 'Other' }]), {}, 'a.json');
    assert.deepEqual([created.created, created.refusedCount], [2, 0]);
    const { id } = created.sample[0].cheese;
    const rows = [
      {
        id: created.sample[1].cheese.id,
        name: 'Full',
        category: 'Json',
        origin: null,
        tags: null,
        status: null,
        ageMonths: 4,
      },
      { name: 'Nowhere', category: { id: 999_999 } },
      { name: 'Full', category: 'Json' },
    ];
    const update = await importing(
      shop,
      rows.map((row) => JSON.stringify(row)).join('\n'),
      { mode: 'update' },
      'a.ndjson',
    );
    assert.deepEqual([update.updated, update.refusedCount], [1, 2]);
    assert.deepEqual(
      update.refused.map(({ line, reason }: { line: number; reason: string }) => [line, reason]),
      [
        [2, 'category.id: there is no category with this id'],
        [3, 'a row before this one has the same name in the same category'],
      ],
    );
    const { json } = await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader });
    assert.deepEqual(
      [json.name, json.origin, json.tags, json.pricePerKg, json.ageMonths, json.status],
      ['Full', null, [], 20, 4, 'available'],
    );
  });

  test('POST /imports sets the stock of cheeses that exist only with setStock', async () => {
    const shop = await shopOf();
    const file = (kg: string) => `name,category,stockKg\nStored,Stock,${kg}\nLoose,Stock,\n`;
    const created = await importing(shop, file('50'));
    assert.equal(created.created, 2);
    const url = `/v2/cheeses/${created.sample[0].cheese.id}/stock`;
    const onHand = async () => (await shop.request('GET', url, { as: shop.writer })).json.onHand;
    assert.equal(await onHand(), 50);
    for (const [fields, counts, kilograms] of [
      [{}, [0, 2], 50],
      [{ mode: 'update' }, [0, 2], 50],
      [{ mode: 'update', setStock: 'true', preview: 'true' }, [1, 1], 50],
      [{ mode: 'update', setStock: 'true' }, [1, 1], 30],
      [{ mode: 'update', setStock: 'true' }, [0, 2], 30],
    ] as const) {
      const before = await onHand();
      const { updated, unchanged, changed } = await importing(shop, file('30'), fields);
      assert.deepEqual(
        changed.map(({ changes }: { changes: object }) => changes),
        updated === 0 ? [] : [{ stockKg: { from: before, to: 30 } }],
      );
      assert.deepEqual([updated, unchanged], counts, JSON.stringify(fields));
      assert.equal(await onHand(), kilograms);
    }
    const loose = await shop.request('GET', `/v2/cheeses/${created.sample[1].cheese.id}/stock`, {
      as: shop.writer,
    });
    assert.equal(loose.status, 404);
  });
});

suite('POST /imports', () => {
  const shopOf = shared((scope: Scope) => openShop(scope));

  test('POST /imports returns 503 while another import runs', async () => {
    const shop = await shopOf();
    const file = directory(600, () => '');
    const responses = await Promise.all(
      ['a', 'b', 'c'].map(() => send(shop, file, { fields: { map, preview: 'true' } })),
    );
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 503, 503]);
    const refused = responses.find(({ status }) => status === 503);
    assert.ok(Number(refused?.headers['retry-after']) > 0);
    assert.equal((await send(shop, file, { fields: { map, preview: 'true' } })).status, 200);
  });

  test('POST /imports reads prices with a comma or a point, and refuses those that could be another number', async () => {
    const shop = await shopOf();
    const prices = [
      ['29,90', 29.9],
      ['29.9', 29.9],
      ['$1234.50', 1234.5],
      ['0,5', 0.5],
      ['7', 7],
      ...['1,234.5', '1.234,50', '1,234', '1.234', '1e9', '1e3', "1'000", '-3', '.5', '5.'].map(
        (text) => [text, null] as const,
      ),
    ] as const;
    const rows = prices.map(([text], row) => `Priced ${row},"${text}"`);
    const { sample, refused } = await importing(shop, `\uFEFFname,pricePerKg\r\n${rows.join('\r\n')}`);
    assert.deepEqual(
      sample.map(({ cheese }: { cheese?: { pricePerKg: number } }) => cheese?.pricePerKg ?? null),
      prices.map(([, price]) => price),
    );
    assert.match(
      refused.find(({ name }: { name: string }) => name === 'Priced 5').reason,
      /^pricePerKg: "1,234\.5" is not a price\. Write digits with at most two decimals/,
    );
  });

  test('POST /imports takes names that differ in blanks only for one, and doubles no cheese with mode=update', async () => {
    const shop = await shopOf();
    const file = 'name,category,tags,pricePerKg\nBlank Brie,Soft ,"raw, cow ",20\nBlank Brie , Soft,raw,21\n';
    for (const fields of [{ mode: 'create' }, { mode: 'update' }]) {
      const { refused } = await importing(shop, file, fields);
      assert.deepEqual(
        refused.map(({ name, reason }: Record<string, unknown>) => [name, reason]),
        [['Blank Brie', 'a row before this one has the same name in the same category']],
      );
    }
    const again = 'name,category,tags,pricePerKg\n"Blank\u00a0Brie",\u3000Soft,"raw,cow",22\n';
    const { updated, unchanged } = await importing(shop, again, { mode: 'update' });
    assert.deepEqual([updated, unchanged], [1, 0]);
    const { json } = await shop.request('GET', '/v2/cheeses?q=blank%20brie', { as: shop.reader });
    assert.deepEqual(
      json.items.map(({ name, tags, pricePerKg }: Cheese) => [name, tags.map((tag) => tag.name), pricePerKg]),
      [['Blank Brie', ['raw', 'cow'], 22]],
    );
  });

  test('POST /imports ends a preview when its connection closes, so that the next one need not wait', async (t) => {
    const shop = await openListeningShop(t);
    const preview = (text: string, signal?: AbortSignal) => {
      const body = new FormData();
      body.append('file', new Blob([text]), 'cheeses.csv');
      body.append('preview', 'true');
      const init = { method: 'POST', headers: { 'x-api-key': shop.writer }, body };
      return fetch(`${shop.url}/v2/imports`, signal === undefined ? init : { ...init, signal });
    };
    const large = `name\n${Array.from({ length: 40_000 }, (_, row) => `Wheel ${row}`).join('\n')}\n`;
    const controller = new AbortController();
    let abandoned = Promise.resolve<unknown>(null);
    // A small one that arrives first is not refused.
    await until(async () => {
      abandoned = preview(large, controller.signal).catch((error) => error);
      await setTimeout(100);
      const { status } = await preview('name\nBrie\n');
      return status === 503;
    });
    controller.abort();
    await abandoned;
    const last = await preview('name\nBrie\n');
    assert.equal(last.status, 200, await last.text());
  });

  test('POST /imports reads semicolons and tabs where the header has no comma', async () => {
    const shop = await shopOf();
    for (const [at, text] of [
      'name;category;pricePerKg;tags\r\nSemi 0;Firm;32,50;cow,raw\r\n',
      '\uFEFFname;category;"price, or none"\nSemi 1;Firm;5\n',
      'name\tcategory\nSemi 2\tFirm\n',
      'name,category\nSemi 3,"Firm"\nSemi;4,Firm\n',
    ].entries()) {
      const { created } = await importing(shop, text);
      assert.equal(created, at === 3 ? 2 : 1, text);
    }
    const { items } = (await shop.request('GET', '/v2/cheeses?q=Semi&limit=9', { as: shop.reader })).json;
    const found = items.map(({ name, category }: Record<string, { name: string }>) => [name, category?.name]);
    assert.deepEqual(found.sort(), [...[0, 1, 2, 3].map((at) => [`Semi ${at}`, 'Firm']), ['Semi;4', 'Firm']]);
    assert.equal(items.find(({ name }: { name: string }) => name === 'Semi 0').pricePerKg, 32.5);
  });

  test('POST /imports refuses files and fields that are not valid, and imports nothing', async () => {
    const shop = await shopOf();
    const before = await listOf(shop);
    const good = 'name\nBrie\n';
    for (const [fields, text, field, says, name] of [
      [{ mode: 'replace' }, good, 'mode', /create, update/],
      [{ setStock: 'true' }, good, 'setStock', /mode update/],
      [{ preview: 'perhaps' }, good, 'preview', /true or false/],
      [{ 'preview[]': 'true' }, good, 'preview[]', /send preview/],
      [{ dryRun: 'true' }, good, 'dryRun', /not a known/],
      [{ map: '{"name"' }, good, 'map', /JSON object/],
      [{ map: '{"nmae":"name"}' }, good, 'map', /nmae.*pricePerKg/],
      [{ map: '{"name":5}' }, good, 'map', /name/],
      [{ map: '{"name":"name","name":"name"}' }, good, 'map', /has name twice/],
      [{ map: '{"origin":"name"}' }, good, 'map', /no column for the name/],
      [{ map: '{"name":"Name"}' }, good, 'map', /no column "Name"\. Its first row has: name/],
      [{}, 'Title\nBrie\n', 'map', /no column "name"\. Its first row has: Title/],
      [{}, `name\n${'Brie\n'.repeat(400)}"Feta\n`, 'file', /not valid CSV.*line 402/],
      [{}, `name\n"${'x'.repeat(1_100_000)}"\n`, 'file', /not valid CSV/],
      [{}, `name\nBrie${','.repeat(2_000_000)}\n`, 'file', /more than 10000 cells/],
      [{}, `name${','.repeat(1_000_000)}\nBrie\n`, 'file', /more than 10000 cells/],
      [{}, `name\n${'x\n'.repeat(100_001)}`, 'file', /more than 100000 rows/],
      [
        {},
        `name,${Array.from({ length: 1000 }, (_, at) => `c${at}`)}\n${'x,'.repeat(1001)}\n`,
        'file',
        /more than 1000 columns/,
      ],
      [{}, '[{"name":"Brie"},{"na', 'file', /not a JSON array/, 'a.json'],
      [{}, '{"name":"Brie"}', 'file', /not a JSON array/, 'a.json'],
    ] as const) {
      const response = await send(shop, text, { fields, ...(name === undefined ? {} : { name }) });
      assertFields(response, [field], JSON.stringify(fields));
      assert.match(response.json.errors[0].message, says);
    }
    for (const form of [{ name: 'a.xlsx' }, { name: 'blob', type: 'image/png' }, { name: 'blob' }]) {
      assertError(await send(shop, good, form), 415, 'unsupported_media_type');
    }
    const dry = await send(shop, good, { headers: { 'dry-run': 'true' } });
    assertError(dry, 400, 'bad_request');
    assertError(await send(shop, new Uint8Array(10 * 1024 * 1024 + 1)), 413, 'payload_too_large');
    assert.equal((await listOf(shop)).headers.etag, before.headers.etag);
  });

  test('POST /imports accepts a media type in place of a file name, and refuses single rows that cannot be read', async () => {
    const shop = await shopOf();
    const large = JSON.stringify({ name: 'Large', photoUrls: ['x'.repeat(1_100_000)] });
    const deep = `{"name":"Deep","x":${'['.repeat(1000)}${']'.repeat(1000)}}`;
    const many = `{"name":"Many","x":[0${',0'.repeat(10_000)}]}`;
    const { rows, refused } = (
      await send(shop, [large, deep, many, '{"name":"Fits"}'].join('\n'), {
        name: 'blob',
        type: 'application/x-ndjson',
      })
    ).json;
    assert.equal(rows, 4);
    assert.deepEqual(refused, [
      { line: 1, name: null, reason: 'is larger than 1 MiB' },
      { line: 2, name: null, reason: 'is nested deeper than 64 levels' },
      { line: 3, name: null, reason: 'has more than 10000 values' },
    ]);
    const latin1 = Buffer.from('name\nGruy\u00e8re\nEmmentaler\n', 'latin1');
    const { json } = await send(shop, latin1, { name: 'blob', type: 'text/csv' });
    assert.deepEqual([json.created, json.refused.length], [1, 1]);
    assert.match(json.refused[0].reason, /UTF-8/);
  });

  test('POST /imports returns its result to a repetition whose first response was lost, and 409 while it runs', async () => {
    const shop = await shopOf();
    const form = { headers: { 'idempotency-key': 'lost-1' }, fields: { map } };
    const file = directory(900, () => '7');
    const [lost, early] = await Promise.all([send(shop, file, form), send(shop, file, form)]);
    assert.deepEqual([lost.status, early.status].sort(), [200, 409]);
    const repeated = await send(shop, file, form);
    assert.equal(repeated.headers['idempotency-replayed'], 'true');
    assert.equal(repeated.text, (lost.status === 200 ? lost : early).text);
  });

  test('POST /imports runs once for an Idempotency-Key', async () => {
    const shop = await shopOf();
    const form = { headers: { 'idempotency-key': 'import-1' } };
    const first = await send(shop, 'name\nOnce\n', form);
    const second = await send(shop, 'name\nOnce\n', form);
    assert.equal(first.json.created, 1);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assertFields(await send(shop, 'name\nTwice\n', form), ['']);
  });
});
