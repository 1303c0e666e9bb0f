/** "curd stock", and stock in the files of "curd export cheeses" and "curd import cheeses". */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertRefused, curd, curdJson, type Environment, freshShop } from '../cli/run.ts';

const fileIn = (shop: Environment, name: string) => join(shop.CURD_DATA_DIR ?? '', name);

const cheeses = [
  { name: 'Brie', stockKg: 12 },
  { name: 'Comté' },
  { name: 'Feta', stockKg: 0 },
  { name: 'Gouda', stockKg: 1.5 },
  { name: 'Tilsit', stockKg: -1 },
];

test('curd', async (suite) => {
  const shop = await freshShop(suite);
  const file = fileIn(shop, 'cheeses.json');
  writeFileSync(file, JSON.stringify(cheeses));
  // Exit status 2, because two rows are refused.
  const report = JSON.parse((await curd(shop, 'import', 'cheeses', file, '--json')).stdout);
  const list = async (where = shop): Promise<{ cheeseId: number; cheeseName: string; onHand: number }[]> =>
    curdJson(where, 'stock', 'list');

  await suite.test('import cheeses begins to track the cheeses that it creates', async () => {
    assert.deepEqual([report.created, report.refused.length], [3, 2]);
    assert.match(report.refused[0].reason, /stockKg: must be/);
    assert.deepEqual(
      (await list()).map(({ cheeseName, onHand }) => [cheeseName, onHand]),
      [
        ['Brie', 12],
        ['Feta', 0],
      ],
    );
  });

  await suite.test('import cheeses does not change the stock of cheeses that exist', async () => {
    writeFileSync(
      file,
      JSON.stringify([
        { name: 'Brie', stockKg: 99 },
        { name: 'Comté', stockKg: 99 },
      ]),
    );
    const again = await curdJson(shop, 'import', 'cheeses', file);
    assert.deepEqual([again.created, again.unchanged], [0, 2]);
    assert.deepEqual(
      (await list()).map(({ onHand }) => onHand),
      [12, 0],
    );
  });

  await suite.test('export cheeses writes stockKg, from which an import creates the same stock', async () => {
    for (const format of ['csv', 'json']) {
      const exported = fileIn(shop, `all.${format}`);
      await curdJson(shop, 'export', 'cheeses', exported);
      if (format === 'json') {
        const [brie, comte] = JSON.parse(readFileSync(exported, 'utf8'));
        assert.deepEqual([brie.stockKg, 'stockKg' in comte], [12, false]);
      }
      const copy = await freshShop(suite);
      assert.equal((await curdJson(copy, 'import', 'cheeses', exported)).created, 3);
      assert.deepEqual(
        (await list(copy)).map(({ cheeseName, onHand }) => [cheeseName, onHand]),
        [
          ['Brie', 12],
          ['Feta', 0],
        ],
        format,
      );
    }
  });

  await suite.test('stock sets, adjusts, lists and ends tracking', async () => {
    const [brie] = await list();
    const id = String(brie?.cheeseId);
    const set = await curdJson(shop, 'stock', 'set', id, '20', '--low-at', '5');
    assert.deepEqual([set.cheeseId, set.onHand, set.lowAt], [brie?.cheeseId, 20, 5]);
    assert.equal((await curdJson(shop, 'stock', 'set', id, '30')).lowAt, 5);
    const adjusted = await curd(shop, 'stock', 'adjust', id, '-26', '--reason', 'spoiled');
    assert.deepEqual(adjusted, {
      code: 0,
      stdout: `Cheese ${id}: 4 kg on hand, 0 kg reserved, 4 kg available, low at 5 kg.\n`,
      stderr: '',
    });
    const low = await curd(shop, 'stock', 'list', '--low');
    assert.match(low.stdout, /^ID .*LOW AT\n\d+ +Brie +available +4 +0 +4 +5\n$/);
    assert.equal((await curdJson(shop, 'stock', 'set', id, '4', '--low-at', 'none')).lowAt, null);
    assert.equal((await curd(shop, 'stock', 'list', '--low')).stdout, 'No stock is low.\n');
    assert.deepEqual(await curdJson(shop, 'stock', 'untrack', id), {
      cheeseId: brie?.cheeseId,
      tracked: false,
    });
    assertRefused(await curd(shop, 'stock', 'untrack', id), /not tracked/);
    assertRefused(await curd(shop, 'stock', 'set', '9999', '1'), /no cheese with the id 9999/);
    assertRefused(await curd(shop, 'stock', 'adjust', id, '0', '--reason', 'other'), /deltaKg/);
    assertRefused(await curd(shop, 'stock', 'adjust', id, '1', '--reason', 'mice'), /one of|received/);
  });
});
