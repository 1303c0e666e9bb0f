/** "curd export cheeses": files of each format, from which an import creates the same catalogue. */
import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { Cheese } from '../../src/cheeses/schemas.ts';
import {
  assertEachRefused,
  assertRefused,
  cheesesIn,
  curd,
  curdJson,
  type Environment,
  freshShop,
  runInProcess,
} from './run.ts';

const fileIn = (shop: Environment, name: string) => join(shop.CURD_DATA_DIR ?? '', name);

/** Without ids and times, which an import does not keep. */
function comparable({ category, tags, id: _, createdAt: _c, updatedAt: _u, ...rest }: Cheese) {
  return { ...rest, category: category?.name ?? null, tags: tags.map(({ name }) => name) };
}

const comparableIn = async (shop: Environment) => (await cheesesIn(shop)).map(comparable);

const cheeses = [
  {
    name: 'Brie, "double" crème',
    category: { name: 'Soft, fresh' },
    tags: [{ name: 'raw milk' }, { name: 'cow' }],
  },
  { name: 'Blanks  inside', category: { name: 'No\u00a0break' }, origin: 'Côte d’Ivoire' },
  { name: 'Quotes', tags: [{ name: '"quoted"' }] },
  { name: '"Quoted"' },
  { name: "'=1+1" },
  { name: '=HYPERLINK("https://evil.example","Comté")', category: { name: '+1' }, origin: '-1' },
  { name: '@SUM(A1)', tags: [{ name: '=1' }, { name: '-2' }] },
  { name: '+1+1', origin: '"=1+1"', photoUrls: ['=1', '+2'] },
  { name: '＝1+1' },
  { name: "'s-Graveland", origin: "''" },
  { name: '2', ageMonths: 0, pricePerKg: 0 },
  { name: 'true', organic: true, status: 'sold' },
  { name: 'null', origin: null },
  { name: 'Gruye\u0300re', pricePerKg: 32.05, ageMonths: 120, status: 'pending', origin: 'Switzerland' },
  { name: '한국 치즈 🧀', category: { name: '치즈' }, tags: [{ name: '🧀' }] },
  {
    name: 'With photos',
    photoUrls: ['https://x.org/a,b.jpg', 'https://x.org/"c"?d=e;f', '/g h.png', 'https://x.org/é'],
  },
  { name: 'With photos', category: { name: 'The same name elsewhere' }, photoUrls: ['one.jpg'] },
];

suite('curd export cheeses', { concurrency: 3 }, () => {
  test('curd export cheeses writes each format so that an import into an empty shop creates the same catalogue', async (t) => {
    const first = await freshShop(t);
    writeFileSync(fileIn(first, 'source.json'), JSON.stringify(cheeses));
    const source = await curdJson(first, 'import', 'cheeses', fileIn(first, 'source.json'));
    assert.equal(source.created, cheeses.length, JSON.stringify(source.refused));
    const before = await comparableIn(first);
    assert.deepEqual(
      before.map(({ name }) => name),
      cheeses.map(({ name }) => name),
    );

    await Promise.all(
      ['csv', 'ndjson', 'json'].map(async (format) => {
        const file = fileIn(first, `catalogue.${format}`);
        const report = await curdJson(first, 'export', 'cheeses', file);
        assert.deepEqual(report, { exported: cheeses.length, file });
        const second = await freshShop(t);
        const { created, unchanged, refused, remarks } = await curdJson(second, 'import', 'cheeses', file);
        assert.deepEqual(
          { created, unchanged, refused, remarks },
          { created: cheeses.length, unchanged: 0, refused: [], remarks: [] },
          format,
        );
        assert.deepEqual(await comparableIn(second), before, format);
        const again = await curdJson(first, 'import', 'cheeses', file);
        assert.equal(again.unchanged, cheeses.length, `${format} is not taken for what it came from`);
      }),
    );
    assert.ok(!readdirSync(first.CURD_DATA_DIR ?? '').some((name) => name.includes('unfinished')));
  });

  test('curd export cheeses writes no cell to CSV that a spreadsheet would execute', async (t) => {
    const shop = await freshShop(t);
    writeFileSync(fileIn(shop, 'source.json'), JSON.stringify(cheeses));
    await curdJson(shop, 'import', 'cheeses', fileIn(shop, 'source.json'));
    const file = fileIn(shop, 'catalogue.csv');
    await curdJson(shop, 'export', 'cheeses', file);
    const text = readFileSync(file, 'utf8');
    const cells = (parse(text) as string[][]).flat();
    const prefixed = cells.filter((cell) => cell.startsWith("'"));
    assert.deepEqual(
      cells.filter((cell) => /^[\s"]*[=+\-@＝＋－＠\t\r]/.test(cell)),
      [],
    );
    assert.deepEqual(prefixed, [
      "''=1+1",
      `'=HYPERLINK("https://evil.example","Comté")`,
      "'+1",
      "'-1",
      "'@SUM(A1)",
      "'=1,-2",
      "'+1+1",
      "'=1\n+2",
      `'"=1+1"`,
      "'＝1+1",
      "'s-Graveland",
      "''",
    ]);
  });

  test('curd export cheeses does not follow a symbolic link planted beside the file', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    const victim = fileIn(shop, 'victim');
    writeFileSync(victim, 'untouched');
    const file = fileIn(shop, 'catalogue.csv');
    symlinkSync(victim, `${file}.unfinished`);
    symlinkSync(victim, file);
    await curdJson(shop, 'export', 'cheeses', file);
    assert.equal(readFileSync(victim, 'utf8'), 'untouched');
    assert.ok(lstatSync(file).isFile(), 'the link under the final name is replaced');
  });

  test('curd export cheeses deletes the temporary file when it cannot be renamed', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    mkdirSync(fileIn(shop, 'folder.csv'));
    assertRefused(await curd(shop, 'export', 'cheeses', fileIn(shop, 'folder.csv')), /folder\.csv/);
    assert.ok(!readdirSync(shop.CURD_DATA_DIR ?? '').some((name) => name.includes('unfinished')));
  });

  test('curd export cheeses writes an empty catalogue as an empty file of its format', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    const contents: Record<string, (text: string) => boolean> = {
      json: (text) => Array.isArray(JSON.parse(text)) && JSON.parse(text).length === 0,
      ndjson: (text) => text === '',
      csv: (text) => /^id,name,[^\n]*\r\n$/.test(text),
    };
    for (const [format, isEmpty] of Object.entries(contents)) {
      const file = fileIn(shop, `empty.${format}`);
      assert.equal((await curdJson(shop, 'export', 'cheeses', file)).exported, 0);
      assert.ok(isEmpty(readFileSync(file, 'utf8')), format);
    }
  });

  test('curd export cheeses reports in one sentence that a file cannot be written', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    const to = (name: string) => () => runInProcess(shop, 'export cheeses', [fileIn(shop, name)]);
    await assertEachRefused(t, [
      [
        'a file of another format',
        to('cheeses.txt'),
        /cheeses\.txt/,
        /must end in \.csv, \.json or \.ndjson/,
      ],
    ]);
    const unreachable = await curd(shop, 'export', 'cheeses', fileIn(shop, 'no/such/folder.csv'));
    assertRefused(unreachable, /folder\.csv cannot be written: no such file or folder .*Create the folder/);
  });
});
