/** The screen Sales: a range of days compared with the one before it, its tables and its CSV files. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { sql } from '../../src/database/sql.ts';
import { eventsNumbered, newCustomer } from '../auth/holders.ts';
import { bern } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { measureWidth, screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, type OpenConsole, viewports } from './console.ts';

const inConsole = consoleTests();
const day = (daysFromToday: number) =>
  new Date(Date.now() + daysFromToday * 86_400_000).toISOString().slice(0, 10);

/** Places an order of some day. @param at the day */
async function placeAt(
  { shop }: OpenConsole,
  at: string,
  quantity: number,
  cheeseId: number,
  { country = 'CH', ...options }: Placing = {},
) {
  const more = { shippingAddress: { ...bern, country } };
  const id = await newOrder(shop, [[cheeseId, quantity]], { more, ...options });
  await shop.app.database.run(sql`update orders set created_at = ${`${at}T12:00:00.000Z`} where id = ${id}`);
}

interface Placing {
  readonly country?: string;
  readonly customerId?: number;
}

const rowsOf = (page: Page, title: string) =>
  page.getByRole('region', { name: title }).locator('tbody tr').allInnerTexts();

async function csvOf(page: Page, title: string): Promise<string[]> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('region', { name: title }).getByRole('button', { name: 'CSV' }).click(),
  ]);
  return (await readFile(await file.path(), 'utf8')).replace('\uFEFF', '').split('\r\n');
}

inConsole(
  'The sales screen of the console shows a range by days, weeks and months, and compares it with the one before',
  async (opened) => {
    const { shop, page, goTo } = opened;
    await goTo('/');
    await page.keyboard.press('g');
    await page.keyboard.press('v');
    await page.getByRole('heading', { name: 'Sales' }).waitFor();
    await page.getByText('No orders in these days').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);

    const comte = await newCheese(shop, { name: 'Comté', pricePerKg: 20, category: { name: 'Hard cheese' } });
    const brie = await newCheese(shop, { name: 'Brie', pricePerKg: 20, category: { name: 'Soft cheese' } });
    const customerId = await newCustomer(shop, 'ada', 'customer');
    await placeAt(opened, day(-40), 2, brie, { country: 'FR' });
    await placeAt(opened, day(-5), 5, comte, { customerId });
    await placeAt(opened, day(-2), 1, comte, { customerId });
    await placeAt(opened, day(0), 3, brie, { country: 'DE' });
    await eventsNumbered(shop);
    await shop.app.statistics.counter.run();

    const total = (name: string) =>
      page.getByRole('region', { name: 'Totals' }).getByText(name).locator('..');
    await total('Orders').getByText('3', { exact: true }).waitFor();
    await total('Value').getByText('$180.00', { exact: true }).waitFor();
    await total('Value').getByText('+350 %, before: $40.00').waitFor();
    await total('Average order').getByText('$60.00', { exact: true }).waitFor();
    await total('New customers').getByText('1', { exact: true }).waitFor();
    for (const [title, rows] of [
      ['Best sellers', ['Comté|6 kg|$120.00|$0.00|new', 'Brie|3 kg|$60.00|$40.00|+50 %']],
      ['Categories', ['Hard cheese|6 kg|$120.00|$0.00|new', 'Soft cheese|3 kg|$60.00|$40.00|+50 %']],
      ['Countries', ['Switzerland|2|$120.00|$0.00|new', 'Germany|1|$60.00|$0.00|new']],
      [
        'New and returning customers',
        [
          'New customers|1|$100.00|$0.00|new',
          'Returning customers|1|$20.00|$0.00|new',
          'Without a customer|1|$60.00|$40.00|+50 %',
        ],
      ],
    ] as const) {
      assert.deepEqual(
        (await rowsOf(page, title)).map((text) => text.replaceAll('\t', '|')),
        rows,
      );
    }
    assert.deepEqual(await csvOf(page, 'Countries'), [
      'country,orders,value,ordersBefore,valueBefore',
      'CH,2,120,0,0',
      'DE,1,60,0,0',
    ]);
    assert.equal((await csvOf(page, 'Best sellers'))[1], `${comte},Comté,6,120,0,0`);
    const days = await csvOf(page, 'Orders over time');
    assert.equal(days.length, 31);
    assert.equal(days.at(-1), `${day(0)},1,60,0,0`);
    await screenshot(page, 'console-sales');

    // The range is in the URL.
    await page.getByRole('button', { name: '7 days' }).press('Enter');
    await total('Value').getByText('new, before: $0.00').waitFor();
    assert.equal(new URL(page.url()).search, `?from=${day(-6)}&to=${day(0)}`);
    await page.getByRole('radio', { name: 'Month' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('Orders by month').first().waitFor();
    await page
      .getByRole('region', { name: 'Orders over time' })
      .getByRole('button', { name: 'Table' })
      .click();
    await page.getByRole('columnheader', { name: 'Orders by month, before' }).waitFor();
    assert.match(page.url(), /&step=month$/);
    await page.keyboard.press('Escape');
    await page.getByLabel('Last day').fill(day(-10));
    await page.getByText('The last day is before the first day.').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
  },
);

for (const colorScheme of ['light', 'dark'] as const) {
  inConsole(
    `The sales screen of the console fits a phone and has no accessibility problems, ${colorScheme}`,
    async ({ page, goTo }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 390, height: 844 });
      await goTo(`/sales?from=${day(-60)}&to=${day(0)}&step=week`);
      await page.getByRole('region', { name: 'Countries' }).getByText('Switzerland').waitFor();
      await page.locator('.uplot').first().waitFor();
      assert.equal(await measureWidth(page), 390);
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await screenshot(page, `console-sales-phone-${colorScheme}`);
      await page.setViewportSize(viewports.wide);
      await screenshot(page, `console-sales-${colorScheme}`);
      await page.emulateMedia({ colorScheme: null });
    },
  );
}
