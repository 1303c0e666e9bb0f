/** "curd import tax-rates": rows that replace rates, rows that are refused, and files that are refused. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { suite, test } from 'node:test';
import { importRates } from '../../src/catalogue-import/rates/import-rates.ts';
import { secret } from '../context.ts';
import { createDatabase, engines } from '../helper.ts';
import { assertRefused, curd, type Environment, freshShop, inShop } from './run.ts';

function write(shop: Environment, text: string, name = 'rates.csv'): string {
  const file = join(shop.CURD_DATA_DIR ?? '', name);
  writeFileSync(file, text);
  return file;
}

async function importing(shop: Environment, code: number, file: string, ...args: string[]) {
  const run = await curd(shop, 'import', 'tax-rates', file, '--json', ...args);
  assert.equal(run.code, code, run.stderr);
  return JSON.parse(run.stdout);
}

const rates = (shop: Environment) =>
  inShop(shop, async ({ tax }) => {
    const { items } = await tax.provides.taxes.list({ limit: 100 });
    return items.map(({ id: _, ...rate }) =>
      Object.values(rate)
        .map((value) => value ?? '')
        .join('|'),
    );
  });

suite('curd import tax-rates', { concurrency: 2 }, () => {
  for (const engine of engines) {
    test(`curd import tax-rates creates and replaces rates, and refuses single rows (${engine})`, async (t) => {
      const shop = await freshShop(t, {
        CURD_SECRET: secret,
        ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {}),
      });
      await inShop(shop, () => {});
      const text = [
        'Country;STATE;zipprefix;category;Percent;name;note',
        'us;California;;;7,25;"CA; state";x',
        "us;;90-210;;9.5 %;'=90210;",
        ';;;Soft;0;Soft cheese;',
        'us;california ;;;1;Again;',
        ';CA;;;1;No country;',
        'us;;-;;1;No prefix;',
        'xx;;;;1;Nowhere;',
        'us;;;;51;Too much;',
        'us;;;;much;Text;',
        'us;;;;#N/A;Formula;',
      ].join('\r\n');
      const file = write(shop, text);
      const reasons = [
        [5, 'has the country, state, zipPrefix and category of line 2'],
        [6, 'state: needs a country'],
        [7, 'zipPrefix: must have a letter or a digit'],
        [8, 'country: '],
        [9, 'percent: must be from 0 to 50'],
        [10, 'percent: "much" is not a percentage. Write digits with at most three decimals, such as 8.125'],
        [11, 'contains #N/A, the error of a formula: correct it in the spreadsheet'],
      ] as const;
      const preview = await importing(shop, 2, file, '--dry-run');
      assert.deepEqual(await rates(shop), []);
      const report = await importing(shop, 2, file);
      for (const { refused, ...counts } of [preview, report]) {
        assert.deepEqual(
          { ...counts, preview: null },
          { preview: null, rows: 10, created: 3, updated: 0, unchanged: 0, refusedCount: 7 },
        );
        for (const [index, [line, reason]] of reasons.entries()) {
          assert.equal(refused[index].line, line);
          assert.ok(refused[index].reason.startsWith(reason), refused[index].reason);
        }
      }
      const stored = ['US|California|||7.25|CA; state', 'US||90210||9.5|=90210', '|||Soft|0|Soft cheese'];
      assert.deepEqual(await rates(shop), stored);
      const changed = write(shop, 'percent,name,country,zipPrefix\n8.875,ZIP,US,90210\n10,New,US,\n');
      const again = await importing(shop, 0, changed);
      assert.deepEqual([again.created, again.updated, again.unchanged], [1, 1, 0]);
      assert.deepEqual(await rates(shop), [stored[0], 'US||90210||8.875|ZIP', stored[2], 'US||||10|New']);
      const repeated = await curd(shop, 'import', 'tax-rates', changed);
      assert.deepEqual(
        [repeated.code, repeated.stdout],
        [0, '0 tax rates created, 0 updated, 2 unchanged, 0 refused.\n'],
      );
    });
  }

  test('curd import tax-rates refuses a file that is broken or has no columns for the rates, and writes nothing', async (t) => {
    const shop = await freshShop(t);
    await inShop(shop, () => {});
    for (const [text, message] of [
      ['country,percent\nUS,5\n', /no column "name"/],
      ['percent,name,Percent\n1,a,2\n', /more than one column "percent"/],
      ['percent,name\n', /no rows with a value/],
      ['percent,name\n1,ok\n"2,broken\n', /has a quote that is not closed/],
      [`percent,name\n${'1,x\n'.repeat(50_001)}`, /more than 50000 rows/],
    ] as const) {
      assertRefused(await curd(shop, 'import', 'tax-rates', write(shop, text)), message);
    }
    assertRefused(
      await curd(shop, 'import', 'tax-rates', join(shop.CURD_DATA_DIR ?? '', 'none.csv')),
      /none\.csv/,
    );
    assert.deepEqual(await rates(shop), []);
  });

  test('curd import tax-rates imports 50,000 rows in blocks that do not block the event loop, and no row more', async (t) => {
    const shop = await freshShop(t);
    await inShop(shop, () => {});
    const rows = Array.from({ length: 50_000 }, (_, index) => `US,${10_000 + index},8.125,Tax`);
    const file = write(shop, ['country,zipPrefix,percent,name', ...rows].join('\n'));
    await inShop(shop, async ({ tax, clock, contextOf }) => {
      const services = { clock, taxes: tax.provides.taxes };
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const startedAt = performance.now();
      const report = await importRates(services, contextOf('test'), file);
      delay.disable();
      t.diagnostic(
        `${Math.round(performance.now() - startedAt)} ms, event loop at most ${Math.round(delay.max / 1e6)} ms, 99.9 %: ${Math.round(delay.percentile(99.9) / 1e6)} ms`,
      );
      assert.deepEqual([report.created, report.refusedCount], [50_000, 0]);
      const more = write(shop, 'country,percent,name\nCH,1,Tax\n', 'more.csv');
      const { created, refused } = await importRates(services, contextOf('test'), more);
      assert.equal(created, 0);
      assert.match(refused[0]?.reason ?? '', /There are 50000 tax rates already/);
    });
  });
});
