/** Stock in the files of "curd export cheeses" and "curd import cheeses". */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertRefused, curd, type Environment, freshShop } from '../cli/run.ts';

const fileIn = (shop: Environment, name: string) => join(shop.CURD_DATA_DIR ?? '', name);

const cheeses = [
  { name: 'Brie', stockKg: 12 },
  { name: 'Comté' },
  { name: 'Feta', stockKg: 0 },
  { name: 'Gouda', stockKg: 1.2345 },
  { name: 'Tilsit', stockKg: -1 },
];

test('curd imports and exports stock', async (suite) => {
  const shop = await freshShop(suite);
  const file = fileIn(shop, 'cheeses.json');
  const runIn = async (where: Environment, ...args: string[]) =>
    JSON.parse((await curd(where, ...args.slice(0, 2), '--json', ...args.slice(2))).stdout);
  const run = (...args: string[]) => runIn(shop, ...args);
  const list = (where = shop): Promise<{ cheeseId: number; cheeseName: string; onHand: number }[]> =>
    runIn(where, 'stock', 'list');
  const importing = (values: readonly object[], ...flags: string[]) => {
    writeFileSync(file, JSON.stringify(values));
    return run('import', 'cheeses', file, ...flags);
  };
  const kilograms = async () => (await list()).map(({ cheeseName, onHand }) => [cheeseName, onHand]);
  const first = [
    ['Brie', 12],
    ['Feta', 0],
  ];

  await suite.test('curd import cheeses begins to track the cheeses that it creates', async () => {
    const report = await importing(cheeses);
    assert.deepEqual([report.created, report.refused.length], [3, 2]);
    assert.match(report.refused[0].reason, /stockKg: must have at most 3 decimals/);
    assert.deepEqual(await kilograms(), first);
  });

  await suite.test(
    'curd export cheeses writes stockKg, from which an import creates the same stock',
    async () => {
      for (const format of ['csv', 'json']) {
        const exported = fileIn(shop, `all.${format}`);
        await run('export', 'cheeses', exported);
        if (format === 'json') {
          const [brie, comte] = JSON.parse(readFileSync(exported, 'utf8'));
          assert.deepEqual([brie.stockKg, 'stockKg' in comte], [12, false]);
        }
        const copy = await freshShop(suite);
        assert.equal((await runIn(copy, 'import', 'cheeses', exported)).created, 3);
        assert.deepEqual(
          (await list(copy)).map(({ cheeseName, onHand }) => [cheeseName, onHand]),
          first,
          format,
        );
      }
    },
  );

  await suite.test(
    'curd import cheeses changes the stock of cheeses that exist only with --set-stock',
    async () => {
      const counted = [
        { name: 'Brie', stockKg: 99 },
        { name: 'Comté', stockKg: 98 },
      ];
      for (const [flags, updated, expected] of [
        [[], 0, first],
        [['--update'], 0, first],
        [['--update', '--set-stock', '--dry-run'], 2, first],
        [
          ['--update', '--set-stock'],
          2,
          [
            ['Brie', 99],
            ['Comté', 98],
            ['Feta', 0],
          ],
        ],
      ] as const) {
        const report = await importing(counted, ...flags);
        assert.deepEqual([report.created, report.updated, report.unchanged], [0, updated, 2 - updated]);
        assert.deepEqual(await kilograms(), expected, flags.join());
      }
      assertRefused(await curd(shop, 'import', 'cheeses', file, '--set-stock'), /add --update/);
    },
  );
});
