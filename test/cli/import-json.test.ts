/** JSON elements with different members or invalid Unicode. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseMapping } from '../../src/catalogue-import/column-mapping.ts';
import { importCheeses } from '../../src/catalogue-import/import-cheeses.ts';
import { onBothEngines, openShop, temporaryFolder } from '../helper.ts';

onBothEngines('An import from JSON', (engine) => {
  test('An import from JSON accepts elements with other members than the first, and refuses a lone surrogate and a repeated member', async (t) => {
    const { clock, contextOf, cheeses, stock } = (await openShop(t, { engine })).app;
    const services = { clock, cheeses: cheeses.service, stock: stock.service };
    const rows = [
      '{"t":"Brie"}',
      '{"t":"Gouda","c":"NL"}',
      '{"t":"Half \\ud800"}',
      '{"c":"CH"}',
      '{"t":"A","t":"B"}',
    ];
    for (const [ending, content] of [
      ['ndjson', rows.join('\n')],
      ['json', `[${rows.join(',')}]`],
    ]) {
      const file = join(await temporaryFolder(t), `some.${ending}`);
      await writeFile(file, content ?? '');
      const mapping = parseMapping(['name=t', 'origin=c']);
      const report = await importCheeses(services, contextOf('test'), file, { mapping });
      assert.equal(report.created + report.unchanged, 2);
      assert.deepEqual(
        report.refused.map(({ reason }) => reason),
        [
          'contains half of a surrogate pair, which is not valid Unicode',
          'name: is required',
          'has t twice: which value counts is not clear',
        ],
      );
    }
    const found = (await cheeses.service.listAfter(0, 10)).map(({ body }) => JSON.parse(body));
    assert.deepEqual(found.map(({ name, origin }) => [name, origin]).sort(), [
      ['Brie', null],
      ['Gouda', 'NL'],
    ]);
  });

  test('An import from JSON whose first element has no name reports which members it has', async (t) => {
    const { clock, contextOf, cheeses, stock } = (await openShop(t, { engine })).app;
    const services = { clock, cheeses: cheeses.service, stock: stock.service };
    const file = join(await temporaryFolder(t), 'some.json');
    await writeFile(file, '[{"title":"Brie"}]');
    for (const [mapping, says] of [
      [[], /no column "name"\. Its first element has: title\./],
      [['name=t'], /no column "t"\. Its first element has: title\./],
    ] as const) {
      await assert.rejects(
        importCheeses(services, contextOf('test'), file, { mapping: parseMapping(mapping) }),
        says,
      );
    }
  });
});
