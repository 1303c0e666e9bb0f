/** "curd import cheeses": files of each format, row by row, and files that are refused. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import {
  assertEachRefused,
  assertRefused,
  cheesesIn,
  curd,
  type Environment,
  freshShop,
  inShop,
  runInProcess,
} from './run.ts';

const folderOf = (shop: Environment) => shop.CURD_DATA_DIR ?? '';

function write(shop: Environment, name: string, text: string): string {
  const file = join(folderOf(shop), name);
  writeFileSync(file, text);
  return file;
}

const reportMembers = [
  ...['preview', 'mode', 'columns', 'mapping', 'rows', 'created', 'updated', 'unchanged'],
  ...['refused', 'refusedCount', 'changed', 'remarks', 'sample'],
];

/** Runs an import with --json and asserts its exit status. */
async function importing(shop: Environment, code: number, file: string, ...args: string[]) {
  const run = await curd(shop, 'import', 'cheeses', file, '--json', ...args);
  assert.equal(run.code, code, run.stderr);
  assert.equal(run.stderr, '');
  assert.match(run.stdout, /^[^\n]+\n$/);
  const report = JSON.parse(run.stdout);
  assert.deepEqual(Object.keys(report), reportMembers);
  return report;
}

/** The catalogue without the fields that the server sets. */
async function catalogue(shop: Environment) {
  return (await cheesesIn(shop)).map(({ id: _, createdAt: _c, updatedAt: _u, category, tags, ...rest }) => ({
    ...rest,
    category: category?.name,
    tags: tags.map(({ name }) => name),
  }));
}

const mapping = [
  ...['--map', 'name=Name,NameFr', '--map', 'category=Kind', '--map', 'tags=Milk,Treatment'],
  ...['--map', 'organic=Organic', '--map', 'ageMonths=Ripening', '--map', 'pricePerKg=Price'],
];
/** CSV as spreadsheets write it: a byte order mark, CRLF, quotes, a record in two lines. */
const csv = `\uFEFF${[
  'Id,Name,NameFr,Kind,Milk,Treatment,Organic,Ripening,Price,Notes',
  '1,"Brie, double-crème",Autre nom,Soft,Cow,Raw Milk,0,2 Months,$12.50,"first line',
  'second line, still line 2 of the file"',
  '2,,"Tomme ""Le Champ Doré""",Semi-soft,Ewe,"Raw Milk, Thermised",1,Naturally brine-ripened,,',
  '3,,,Soft,Cow,,0,,,a row without a name',
  '4,Époisses,,Soft,Cow,,0,6 weeks,-3,',
  '5,Tomme d’Été,,Soft,Cow,,maybe,9 Months,30,',
  '6,Époisses,,Soft,Cow,Raw Milk,yes,6 weeks,30,',
  '7,Époisses,,Soft,Goat,,no,,,the same name again',
  '8,Époisses,,Hard,,,,Unripened,0,another category',
].join('\r\n')}\r\n`;

suite('curd import cheeses', { concurrency: 2 }, () => {
  test('curd import cheeses imports CSV with a mapping, reports refused rows with reasons, and a second run changes nothing', async (t) => {
    const shop = await freshShop(t);
    const file = write(shop, 'directory.csv', csv);
    const report = await importing(shop, 2, file, ...mapping);
    assert.equal(report.created, 4);
    assert.equal(report.unchanged, 0);
    assert.deepEqual(
      report.refused.map(({ place }: { place: string }) => place),
      ['line 5', 'line 6', 'line 7', 'line 9'],
    );
    const reasons = report.refused.map(({ reason }: { reason: string }) => reason);
    for (const [index, says] of [
      /^name: is required/,
      /^pricePerKg: /,
      /^organic: /,
      /same name/,
    ].entries()) {
      assert.match(reasons[index], says);
    }
    assert.equal(report.remarks.length, 1);
    assert.equal(report.remarks[0].place, 'line 4');
    assert.match(report.remarks[0].remark, /ageMonths "Naturally brine-ripened"/);

    const cheese = { photoUrls: [], status: 'available', origin: null };
    const expected = [
      {
        ...cheese,
        name: 'Brie, double-crème',
        category: 'Soft',
        tags: ['Cow', 'Raw Milk'],
        pricePerKg: 12.5,
        ageMonths: 2,
        organic: false,
      },
      {
        ...cheese,
        name: 'Tomme "Le Champ Doré"',
        category: 'Semi-soft',
        tags: ['Ewe', 'Raw Milk', 'Thermised'],
        organic: true,
      },
      {
        ...cheese,
        name: 'Époisses',
        category: 'Soft',
        tags: ['Cow', 'Raw Milk'],
        pricePerKg: 30,
        ageMonths: 1,
        organic: true,
      },
      {
        ...cheese,
        name: 'Époisses',
        category: 'Hard',
        tags: [],
        pricePerKg: 0,
        ageMonths: 0,
        organic: false,
      },
    ];
    assert.deepEqual(await catalogue(shop), expected);

    const again = await importing(shop, 2, file, ...mapping);
    assert.deepEqual({ ...again, sample: [] }, { ...report, created: 0, unchanged: 4, sample: [] });
    assert.deepEqual(await catalogue(shop), expected);

    const words = await curd(shop, 'import', 'cheeses', file, ...mapping);
    assert.equal(words.code, 2);
    assert.match(words.stdout, /^not read: Id, Notes$/m);
    assert.match(words.stdout, /^left out: line 4: /m);
    assert.match(words.stdout, /^refused: line 7: organic/m);
    assert.match(words.stdout, /^0 cheeses imported, 4 unchanged, 4 refused\.$/m);
  });

  test('curd import cheeses counts blank lines and line breaks in fields for line numbers', async (t) => {
    const shop = await freshShop(t);
    const file = write(
      shop,
      'lines.csv',
      [
        'name,"origin',
        'of the milk",status',
        'One,,sold',
        '',
        '',
        'Two,,gone',
        '"Three',
        'lines",,sold',
        'Four,,gone',
      ].join('\r\n'),
    );
    const report = await importing(shop, 2, file);
    assert.equal(report.created, 1);
    assert.deepEqual(
      report.refused.map(({ place, reason }: { place: string; reason: string }) => [
        place,
        reason.split(':')[0],
      ]),
      [
        ['line 6', 'status'],
        ['line 7', 'name'],
        ['line 9', 'status'],
      ],
    );
  });

  test('curd import cheeses imports NDJSON line by line and skips invalid lines', async (t) => {
    const shop = await freshShop(t);
    const file = write(
      shop,
      'cheeses.ndjson',
      [
        '\uFEFF{"name":"Brie","category":{"name":"Soft"},"tags":["cow",{"name":"raw milk"}],"ageMonths":2}',
        '{"name":"Broken"',
        '',
        '["an","array"]',
        '{"name":"Feta","category":"Brined","tags":"ewe, goat","origin":"Greece","pricePerKg":20.5,"organic":true}',
        '{"name":"Feta","status":"rotten","pricePerKg":-1}',
      ].join('\n'),
    );
    const report = await importing(shop, 2, file);
    assert.equal(report.created, 2);
    assert.deepEqual(
      report.refused.map(({ place }: { place: string }) => place),
      ['line 2', 'line 4', 'line 6'],
    );
    assert.match(report.refused[0].reason, /not valid JSON/);
    assert.match(report.refused[1].reason, /not an object/);
    assert.match(report.refused[2].reason, /^status: .*; pricePerKg: /);
    const [brie, feta] = await catalogue(shop);
    assert.deepEqual(brie?.tags, ['cow', 'raw milk']);
    assert.deepEqual(
      [feta?.category, feta?.tags, feta?.origin, feta?.organic],
      ['Brined', ['ewe', 'goat'], 'Greece', true],
    );
    assert.equal((await importing(shop, 2, file)).unchanged, 2);
  });

  test('curd import cheeses imports a JSON array and names the refused elements', async (t) => {
    const shop = await freshShop(t);
    const cheeses = [{ name: 'Brie' }, 5, { name: '' }, null, { name: 'Feta', ageMonths: '3 to 6 months' }];
    const report = await importing(shop, 2, write(shop, 'cheeses.json', JSON.stringify(cheeses)));
    assert.equal(report.created, 2);
    assert.deepEqual(
      report.refused.map(({ place }: { place: string }) => place),
      ['element 2', 'element 3', 'element 4'],
    );
    assert.equal((await catalogue(shop))[1]?.ageMonths, 3);
  });

  test('curd import cheeses prints with --dry-run what the import would do, and updates cheeses with --update', async (t) => {
    const shop = await freshShop(t);
    await importing(shop, 0, write(shop, 'first.csv', 'name,pricePerKg\nBrie,20\nFeta,10\n'));
    const file = write(shop, 'second.csv', 'name,pricePerKg\nBrie,21\nFeta,\nTilsit,9\n');
    const before = await catalogue(shop);
    const dry = await importing(shop, 0, file, '--update', '--dry-run');
    assert.deepEqual([dry.preview, dry.created, dry.updated, dry.unchanged], [true, 1, 1, 1]);
    assert.deepEqual(await catalogue(shop), before);
    const words = await curd(shop, 'import', 'cheeses', file, '--dry-run');
    assert.equal(words.code, 2);
    assert.match(words.stdout, /^refused: line 2: cheese 1 .* differs in pricePerKg$/m);
    assert.match(words.stdout, /^Nothing was written\. .*: 1 cheese imported, 0 unchanged, 2 refused\.$/m);
    const { code, stdout } = await curd(shop, 'import', 'cheeses', file, '--update');
    assert.equal(code, 0);
    assert.equal(stdout, '1 cheese imported, 1 updated, 1 unchanged, 0 refused.\n');
    assert.deepEqual(
      (await catalogue(shop)).map(({ name, pricePerKg }) => [name, pricePerKg]),
      [
        ['Brie', 21],
        ['Feta', 10],
        ['Tilsit', 9],
      ],
    );
  });

  test('curd import cheeses imports more than one batch, with exit status 0 when no row is refused', async (t) => {
    const shop = await freshShop(t);
    const rows = Array.from({ length: 1201 }, (_, index) => `Cheese ${index},${index % 7}`);
    const file = write(shop, 'many.csv', ['name,category', ...rows].join('\n'));
    const { rows: read, created, unchanged, refused, remarks } = await importing(shop, 0, file);
    assert.deepEqual([read, created, unchanged, refused, remarks], [1201, 1201, 0, [], []]);
    assert.equal(await inShop(shop, ({ cheeses: { service: cheeses } }) => cheeses.count()), 1201);
  });

  test('curd import cheeses reports in one sentence what is wrong with a file or a mapping, and imports nothing', async (t) => {
    const shop = await freshShop(t);
    const file = write(shop, 'directory.csv', csv);
    const from =
      (path: string, ...map: string[]) =>
      () =>
        runInProcess(shop, 'import cheeses', [path], { map });
    const missing = (name: string) => from(join(folderOf(shop), name));
    const holding = (name: string, text: string) => from(write(shop, name, text));
    await assertEachRefused(t, [
      [
        'a CSV file that is not there',
        missing('missing.csv'),
        /missing\.csv/,
        /no such file \(ENOENT\)\. Correct the path\.$/m,
      ],
      ['a JSON file that is not there', missing('missing.json'), /missing\.json/, /no such file/],
      ['a file of another form', holding('a.xlsx', 'x'), /a\.xlsx/, /\.csv, \.json or \.ndjson/],
      [
        'no column for the name',
        holding('title.csv', 'Title,NameFr\nBrie,\n'),
        /no column "name"/,
        /--map/,
        /NameFr/,
      ],
      ['a mapping to no column', from(file, 'name=Name,Nom'), /no column "Nom"/, /NameFr/],
      ['a mapping of no field', from(file, 'nmae=Name'), /nmae/, /pricePerKg/],
      ['a mapping that is none', from(file, 'name'), /mapping "name"/, /field=Column/],
      ['a mapping of all but the name', from(file, 'tags=Milk'), /--map name=/],
      ['JSON that is cut off', holding('cut.json', '[{"name":"Brie"},{"na'), /cut\.json|JSON/i],
      ['JSON that is no array', holding('object.json', '{"name":"Brie"}'), /object\.json|array/i],
      ['a quote without an end', holding('quote.csv', 'name\nBrie\n"Feta\n'), /quote/i, /line 3/],
    ]);
    assertRefused(
      await curd(shop, 'import', 'cheeses', join(folderOf(shop), 'title.csv')),
      /no column "name"/,
    );
    const cut = await curd(shop, 'import', 'cheeses', join(folderOf(shop), 'cut.json'), '--json');
    assertRefused(cut, /cut\.json|JSON/i);
    assert.deepEqual(await catalogue(shop), []);
  });
});

test('curd import cheeses says how many events webhook endpoints will get', async (t) => {
  const shop = await freshShop(t);
  await inShop(shop, async ({ auth: { keys }, webhooks: { endpoints: webhookEndpoints }, contextOf }) => {
    const account = await keys.createAccount(contextOf('test'), 'webhooks');
    const url = 'http://127.0.0.1:9/hook';
    for (const input of [{ url }, { url, types: ['cheese.*'] }, { url, types: ['order.*'] }]) {
      await webhookEndpoints.create(contextOf('test'), account.id, input);
    }
    const disabled = { url, types: ['cheese.created'] };
    const { id } = await webhookEndpoints.create(contextOf('test'), account.id, disabled);
    await webhookEndpoints.disable(contextOf('test'), id);
  });
  const file = write(shop, 'two.csv', 'name\nBrie\nComté\n');
  const { code, stdout } = await curd(shop, 'import', 'cheeses', file);
  assert.equal(code, 0);
  assert.equal(
    stdout,
    '2 cheeses imported, 0 unchanged, 0 refused.\n2 webhook endpoints will get 2 events each.\n',
  );
});
