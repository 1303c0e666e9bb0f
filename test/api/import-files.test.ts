/** POST /imports: files as spreadsheets, shops and scripts write them. No value is lost or read as another one. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assertFields, openShop, type Scope, type Shop, shared, type TestResponse } from '../helper.ts';

type Fields = Readonly<Record<string, string>>;

function send(
  shop: Shop,
  content: string | Uint8Array,
  fields: Fields = {},
  name = 'cheeses.csv',
): Promise<TestResponse> {
  const data = new FormData();
  data.append('file', new Blob([content as string]), name);
  for (const [field, value] of Object.entries(fields)) {
    data.append(field, value);
  }
  const encoded = new Response(data);
  return encoded.arrayBuffer().then((bytes) =>
    shop.request('POST', '/v2/imports', {
      as: shop.writer,
      raw: new Uint8Array(bytes),
      headers: { 'content-type': encoded.headers.get('Content-Type') ?? '' },
    }),
  );
}

async function importing(...parameters: Parameters<typeof send>) {
  const response = await send(...parameters);
  assert.equal(response.status, 200, response.text);
  return response.json;
}

interface Refusal {
  readonly line: number;
  readonly name: string | null;
  readonly reason: string;
}

const refusals = ({ refused }: { readonly refused: readonly Refusal[] }) =>
  refused.map(({ line, reason }) => [line, reason]);

const valuesOf = (report: { readonly sample: readonly { readonly cheese?: object }[] }) =>
  report.sample.map(({ cheese }) => cheese as Record<string, unknown> | undefined);

suite('POST /imports of any files', () => {
  const shopOf = shared((scope: Scope) => openShop(scope));

  /** Sends a file as a preview and for real. Both refuse it, with the same words. */
  async function assertRefusedFile(content: string | Uint8Array, field: string, says: RegExp, name?: string) {
    const shop = await shopOf();
    const [preview, real] = [
      await send(shop, content, { preview: 'true' }, name),
      await send(shop, content, {}, name),
    ];
    for (const response of [preview, real]) {
      assertFields(response, [field], String(says));
      assert.match(response.json.errors[0].message, says);
    }
    assert.deepEqual(preview.json.errors, real.json.errors);
  }

  test('POST /imports refuses a row with more cells than the header, and changes no price with it', async () => {
    const shop = await shopOf();
    const header = 'name,category,stockKg,pricePerKg';
    await importing(shop, `${header}\nComte K3,Cut,5,29.90\n`);
    for (const [head, row] of [
      [header, 'Comte K3,Cut,5,29,90'],
      [`${header},`, 'Comte K3,Cut,5,29,90'],
      [`${header},,`, 'Comte K3,Cut,5,29,90,,'],
      ['name;category;stockKg;pricePerKg', 'Comte K3;Cut;5;29;90'],
    ]) {
      const report = await importing(shop, `${head}\n${row}\n`, { mode: 'update' });
      assert.deepEqual(refusals(report), [
        [2, 'has 5 cells, the header has 4: put values with a separator in quotes'],
      ]);
      assert.equal(report.updated, 0);
    }
    const empty = await importing(shop, `${header}\nComte K3,Cut,5,"29,90",,\n`, { mode: 'update' });
    assert.deepEqual([empty.unchanged, empty.refusedCount], [1, 0]);
  });

  test('POST /imports refuses a row with other separators than the header, and errors of formulas', async () => {
    const shop = await shopOf();
    for (const [file, reason] of [
      [
        'name;category;pricePerKg\nRow A,Soft,29.90\n',
        'has other separators than the header: ",". Write all rows with the same ones',
      ],
      [
        'name,category,pricePerKg\nRow B;Soft;12,50\n',
        'has other separators than the header: ";". Write all rows with the same ones',
      ],
      [
        'name,category,pricePerKg\nRow C\tSoft\t12.50\n',
        'has other separators than the header: tabs. Write all rows with the same ones',
      ],
      [
        'name,category,origin\nRow D,Soft,#N/A\n',
        'contains #N/A, the error of a formula: correct it in the spreadsheet',
      ],
    ] as const) {
      assert.deepEqual(refusals(await importing(shop, file)), [[2, reason]]);
    }
    const short = await importing(shop, 'name;category;pricePerKg\nShort, with one comma\n');
    assert.deepEqual([short.created, short.refusedCount], [1, 0]);
  });

  test('POST /imports takes the columns from the header, and not from a short first row', async () => {
    const shop = await shopOf();
    const file = 'name,category,pricePerKg,origin\nShort A\nShort B,C,3,FR\n';
    const map = JSON.stringify({ name: 'name', origin: 'origin', pricePerKg: 'pricePerKg' });
    const report = await importing(shop, file, { map });
    assert.deepEqual(report.columns, ['name', 'category', 'pricePerKg', 'origin']);
    assert.deepEqual(
      valuesOf(report).map((cheese) => [cheese?.name, cheese?.origin, cheese?.pricePerKg]),
      [
        ['Short A', null, undefined],
        ['Short B', 'FR', 3],
      ],
    );
  });

  test('POST /imports refuses two columns for one field, and names them', async () => {
    const shop = await shopOf();
    await assertRefusedFile(
      'name,category,name,pricePerKg\r\nDup A,Imp,Dup B,3.00\r\n',
      'file',
      /^The file has more than one column "name"\. Delete one, or give it another name\.$/,
    );
    await assertRefusedFile('name,Name\nDup A,Dup B\n', 'file', /more than one column "Name"/);
    const twice = 'Title,Notes,Title,Notes\nA,b,C,d\n';
    const map = (title: string) => ({ map: JSON.stringify({ name: title }) });
    assertFields(await send(shop, twice, map('Title')), ['file']);
    // A column that nothing reads may occur twice.
    const { created } = await importing(shop, 'Title,Notes,Notes\nDup C,b,d\n', map('Title'));
    assert.equal(created, 1);
  });

  test('POST /imports finds the columns of fields in any case and between spaces', async () => {
    const shop = await shopOf();
    const report = await importing(
      shop,
      'Name,Category , PricePerKg,AgeMonths\r\nCase Brie,Imp,3.00,6\r\n',
      {},
    );
    assert.deepEqual(report.mapping, {
      name: ['Name'],
      category: ['Category'],
      pricePerKg: ['PricePerKg'],
      ageMonths: ['AgeMonths'],
    });
    assert.deepEqual(
      valuesOf(report).map((cheese) => [cheese?.name, cheese?.pricePerKg, cheese?.ageMonths]),
      [['Case Brie', 3, 6]],
    );
  });

  test('POST /imports refuses files that are no table, or have no row, and says what to do', async () => {
    const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(104)]);
    const excel97 = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504)]);
    for (const [content, says, name] of [
      [zip, /^The file is a workbook of a spreadsheet or another ZIP file.*Save the sheet as CSV/],
      [zip, /workbook/, 'a.json'],
      [zip, /workbook/, 'a.ndjson'],
      [excel97, /^The file is an old workbook of Excel.*Save the sheet as CSV/],
      [Buffer.from([0x1f, 0x8b, 8, 0]), /compressed.*Decompress/],
      ['<!DOCTYPE html>\n<table><tr><td>name</td></tr></table>', /^The file is a web page.*CSV/],
      ['\uFEFF\n <html>', /web page/],
      ['<?xml version="1.0"?><rows/>', /^The file is a web page or XML/],
      ['name\n\0\u0001\u0002Brie\n', /^The file is not text/],
      ['', /^The file has no rows with a value.*complete/],
      ['\uFEFF', /^The file has no rows/],
      ['name,category\r\n', /^The file has no rows/],
      ['name,category\r\n,\r\n  ,\r\n', /^The file has no rows/],
      ['\n', /^The file has no rows/, 'a.ndjson'],
      ['[]', /^The file has no rows/, 'a.json'],
    ] as const) {
      await assertRefusedFile(content, 'file', says, name);
    }
  });

  test('POST /imports reads numbers with zeros as decimals, and refuses those that could be another number', async () => {
    const shop = await shopOf();
    const unclear = ['1,000', '1.000', '-3', '1e2', '6.'];
    for (const [field, good, bad, reason] of [
      [
        'ageMonths',
        { '6.0': 6, 12: 12, '24.00': 24, '7,0': 7, '3.0000': 3 },
        ['7,5', '7.5', ...unclear],
        'is not a whole number of 0 or more. Write digits only, such as 12',
      ],
      ['stockKg', { '6.0': 6, '7,5': 7.5, '3.0000': 3 }, unclear, 'is not a number of kilograms'],
    ] as const) {
      const texts = [...Object.keys(good), ...bad];
      const lines = texts.map((text, row) => `Number ${field} ${row},"${text}"`);
      const report = await importing(shop, `name,${field}\n${lines.join('\n')}\n`);
      assert.deepEqual([report.created, report.remarks], [Object.keys(good).length, []], field);
      assert.deepEqual(
        report.refused.map((refusal: Refusal) => refusal.reason.split(`${reason}`)[0]),
        bad.map((text) => `${field}: "${text}" `),
      );
      if (field === 'ageMonths') {
        const ages = valuesOf(report).flatMap((cheese) => cheese?.ageMonths ?? []);
        assert.deepEqual(ages.sort(), Object.values(good).sort());
      }
    }
    const organic = await importing(shop, 'name,organic\nWhole 1,1.0\nWhole 2,0.0\nWhole 3,TRUE\n');
    assert.deepEqual(
      valuesOf(organic).map((cheese) => cheese?.organic),
      [true, false, true],
    );
  });

  test('POST /imports reads several photos of a cell, with line breaks or commas between them', async () => {
    const shop = await shopOf();
    const [a, b] = ['https://shop.example/a,1.jpg', 'http://shop.example/b.jpg?x=1, 2'];
    const cells = [`"${a}, ${b}"`, `"${a}\r\n${b}"`, `"${a},${b}"`];
    const rows = cells.map((cell, row) => `Photo ${row},${cell}`);
    const report = await importing(shop, `name,photoUrls\n${rows.join('\n')}\n`);
    for (const cheese of valuesOf(report)) {
      assert.deepEqual(cheese?.photoUrls, [a, b]);
    }
  });

  test('POST /imports refuses a header that is not UTF-8, and names the first row where it is no header', async () => {
    const header = /^The header contains bytes that are not UTF-8: save the file as UTF-8\.$/;
    await assertRefusedFile(Buffer.from('name;K\u00e4se\nGouda;x\n', 'latin1'), 'file', header);
    const title = /no column "name"\. Its first row has: Cheeses of 2026\./;
    await assertRefusedFile('"Cheeses of 2026",,\nname,category\nGouda,x\n', 'map', title);
  });

  test('POST /imports reads columns that are separated by bars', async () => {
    const shop = await shopOf();
    const { sample } = await importing(shop, 'name|tags|pricePerKg\nBar|cow,raw;3|14,20\n');
    assert.deepEqual([sample[0].cheese.tags.length, sample[0].cheese.pricePerKg], [2, 14.2]);
  });

  test('POST /imports skips rows without a value and counts their lines', async () => {
    const shop = await shopOf();
    const file =
      'name,category,pricePerKg,,,\r\nTrail Brie,Imp,3.00,,,\r\n,,,,,\r\n ,,,,,\r\n\r\nTrail,Imp,x,,,\r\n';
    const report = await importing(shop, file);
    assert.deepEqual([report.rows, report.created, report.refusedCount], [2, 1, 1]);
    assert.equal(report.refused[0].line, 6);
    assert.deepEqual(report.columns, ['name', 'category', 'pricePerKg']);
  });

  test('POST /imports reads UTF-16 of spreadsheets and scripts, with the lines of an editor', async () => {
    const shop = await shopOf();
    const text = (name: string) =>
      `name\tcategory\tpricePerKg\r\n\r\n${name} ĊഊÉ\t"two\r\nlines"\tx\r\n${name}\tImp\t12,50\r\n\t\tImp\r\n`;
    const little = (content: string) => Buffer.from(`\uFEFF${content}`, 'utf16le');
    for (const [encoded, name] of [
      [little(text('Utf LE')), 'Utf LE'],
      [little(text('Utf BE')).swap16(), 'Utf BE'],
    ] as const) {
      const report = await importing(shop, encoded);
      assert.deepEqual(
        report.refused.map(({ line, name: refused }: Refusal) => [line, refused]),
        [
          [3, `${name} ĊഊÉ`],
          [6, null],
        ],
      );
      assert.equal(valuesOf(report)[1]?.pricePerKg, 12.5);
    }
    const json = little('[{"name":"Utf JSON","pricePerKg":3}]');
    assert.equal((await importing(shop, json, {}, 'a.json')).created, 1);
    assert.equal((await importing(shop, little('{"name":"Utf lines"}\r\n'), {}, 'a.ndjson')).created, 1);
    const half = await importing(
      shop,
      Buffer.concat([little('name\nUtf '), Buffer.from([0x00, 0xd8]), Buffer.from('\n\0')]),
    );
    assert.match(half.refused[0].reason, /not UTF-8/);
  });

  test('POST /imports names the line of a row with a misplaced quote', async () => {
    const start = 'name\r\n"two\r\nlines"\r\n\r\n';
    await assertRefusedFile(
      `${start}"Feta\r\nBrie\r\n`,
      'file',
      /^The file is not valid CSV: the row that begins in line 5 has a quote that is not closed\.$/,
    );
    for (const row of ['Fe"ta"', '"Fe"ta', '"Feta" ']) {
      await assertRefusedFile(
        `${start}${row}\r\nBrie\r\n`,
        'file',
        /line 5 has a quote inside a value: write it twice, and put the value in quotes/,
      );
    }
  });
});
