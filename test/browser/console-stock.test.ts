/** Stock and prices of a cheese in the console. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { until } from '../context.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, type OpenConsole } from './console.ts';

const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

const stockOf = async ({ shop }: OpenConsole, id: number) =>
  (await shop.request('GET', `/v2/cheeses/${id}/stock`, { as: shop.admin })).json;

/** The cells of a row, without its check box and actions. */
const cellsOf = async ({ page }: OpenConsole, name: string) =>
  (await page.getByRole('row', { name }).getByRole('cell').allTextContents())
    .slice(1, -1)
    .map((text) => text.replace(/^(Cheese|Status|On hand|Reserved|Available|Low at|Supply)/, ''));

inConsole(
  'The stock screen of the console tracks a cheese, shows its supply, and adjusts it',
  async (opened) => {
    const { page, shop, goTo } = opened;
    const id = await newCheese(opened.shop, { name: 'Fontina', pricePerKg: 20 });
    await goTo('/stock');
    await page.getByText('No stock is tracked').waitFor();
    await page.getByRole('button', { name: 'Track a cheese' }).click();
    await page.getByRole('combobox', { name: 'Cheese' }).fill('fonti');
    await page.getByRole('option', { name: 'Fontina' }).click();
    await page.getByLabel('On hand').fill('50');
    await page.getByLabel('Low at').fill('10');
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await until(async () => (await stockOf(opened, id))?.onHand === 50);
    const see = (expected: readonly string[]) =>
      until(async () => JSON.stringify(await cellsOf(opened, 'Fontina')) === JSON.stringify(expected));
    await see(['Fontina', 'available', '50 kg', '0 kg', '50 kg', '10 kg', 'no sales']);

    await page.getByRole('button', { name: 'Track a cheese' }).and(page.locator(':focus')).waitFor();
    for (const quantity of [1, 2]) {
      await newOrder(shop, [[id, quantity]]);
    }
    await shop.app.statistics.counter.run();
    await page.reload();
    await see(['Fontina', 'available', '50 kg', '3 kg', '47 kg', '10 kg', 'few sales']);
    await newOrder(shop, [[id, 42]]);
    await shop.app.statistics.counter.run();
    // 45 kg on the first day of this shop.
    await page.reload();
    await see(['Fontina', 'available', '50 kg', '45 kg', 'low5 kg', '10 kg', '0 days']);
    // Nothing warns of it by a number.
    const gone = await newCheese(opened.shop, { name: 'Pecorino', pricePerKg: 20 });
    await shop.request('PUT', `/v2/cheeses/${gone}/stock`, { as: shop.admin, body: { onHand: 0 } });
    const plenty = await newCheese(opened.shop, { name: 'Ricotta salata', pricePerKg: 20 });
    await shop.request('PUT', `/v2/cheeses/${plenty}/stock`, { as: shop.admin, body: { onHand: 90 } });
    await goTo('/');
    await page.getByText('Fontina is low: 5 kg, 0 days of supply').waitFor();
    await page.getByText('Pecorino is sold out').waitFor();
    await goTo('/stock');
    const names = (expected: readonly string[]) =>
      until(
        async () =>
          JSON.stringify(await page.locator('.row-name').allTextContents()) === JSON.stringify(expected),
      );
    await names(['Pecorino', 'Fontina', 'Ricotta salata']);
    await page.getByLabel('Search stock').fill('sal ric');
    await names(['Ricotta salata']);
    assert.match(page.url(), /q=sal\+ric$/);
    await page.getByLabel('Search stock').and(page.locator(':focus')).waitFor();
    await page.getByText('Sold out and low', { exact: true }).click();
    await page.getByText('Nothing with this name is sold out or low.').waitFor();
    await page.getByLabel('Search stock').fill('');
    await page.getByText('2 sold out or low').waitFor();
    await names(['Pecorino', 'Fontina']);
    assert.match(page.url(), /low=true$/);
    await shop.request('DELETE', `/v2/cheeses/${gone}/stock`, { as: shop.admin });
    await shop.request('DELETE', `/v2/cheeses/${plenty}/stock`, { as: shop.admin });

    await page.getByRole('button', { name: 'Adjust: Fontina' }).press('Enter');
    const reason = page.getByRole('combobox', { name: 'Reason' });
    assert.equal(await reason.inputValue(), 'Received');
    await page.getByLabel('Kilograms to add').fill('-51');
    // What is subtracted was not received.
    await until(async () => (await reason.inputValue()) === '');
    await page.getByRole('button', { name: 'Adjust', exact: true }).and(page.locator(':disabled')).waitFor();
    await screenshot(page, 'console-stock-adjust');
    await reason.click();
    await page.getByRole('option', { name: 'Spoiled' }).click();
    await page.getByLabel('Kilograms to add').press('Enter');
    await page.getByRole('alert').getByText('50').waitFor();
    await page.getByLabel('Kilograms to add').fill('1,020');
    await page.getByText('Write digits without separators of thousands, such as 1234.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Adjust', exact: true }).isDisabled(), true);
    await page.getByLabel('Kilograms to add').fill('20');
    await reason.click();
    await page.getByRole('option', { name: 'Received' }).click();
    await page.getByLabel('Kilograms to add').press('Enter');
    await page.getByText('Nothing is sold out or low').waitFor();
    assert.equal((await stockOf(opened, id)).available, 25);

    await goTo('/stock');
    await page.getByRole('link', { name: 'History: Fontina' }).press('Enter');
    await page.getByText('received: +20 kg, 70 kg on hand, 25 kg available').waitFor();
    await page.getByText('low: 5 kg available').waitFor();
    await page.getByText('tracking began: +50 kg').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    // From a dialog in a dialog the focus returns to the first, and from that to the list.
    const beside = page.getByRole('dialog', { name: 'Fontina' });
    await beside.getByRole('button', { name: 'Count' }).press('Enter');
    await page.getByLabel('On hand').press('Escape');
    await beside.getByRole('button', { name: 'Count' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'History: Fontina' }).and(page.locator(':focus')).waitFor();
  },
);

inConsole(
  'The stock screen of the console counts several cheeses, and none that moved meanwhile',
  async (opened) => {
    const { page, shop, goTo } = opened;
    const ids = [
      await newCheese(opened.shop, { name: 'Asiago', pricePerKg: 20 }),
      await newCheese(opened.shop, { name: 'Bitto', pricePerKg: 20 }),
    ];
    for (const id of ids) {
      await shop.request('PUT', `/v2/cheeses/${id}/stock`, { as: shop.admin, body: { onHand: 8, lowAt: 2 } });
    }
    await goTo('/stock');
    for (const name of ['Asiago', 'Bitto']) {
      await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    }
    await page.getByRole('button', { name: 'Count 2 cheeses' }).click();
    await page.getByLabel('Counted kilograms of Asiago').fill('7');
    await page.getByLabel('Counted kilograms of Bitto').fill('6');
    const [asiago = 0, bitto = 0] = ids;
    await shop.request('POST', `/v2/cheeses/${bitto}/stock/adjustments`, {
      as: shop.admin,
      body: { deltaKg: -3, reason: 'spoiled' },
    });
    await page.keyboard.press('Enter');
    await page.getByText('1 of 2 done.').waitFor();
    await page.getByText('Bitto: On hand changed from 8 kg to 5 kg while you counted.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    const { onHand, lowAt } = await stockOf(opened, asiago);
    assert.deepEqual([onHand, lowAt], [7, 2]);
    assert.equal((await stockOf(opened, bitto)).onHand, 5);

    // A delivery is added. Enter moves to the next cheese.
    for (const name of ['Asiago', 'Bitto']) {
      await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    }
    await page.getByRole('button', { name: 'Receive 2 cheeses' }).press('Enter');
    await page.getByLabel('Received kilograms of').first().and(page.locator(':focus')).waitFor();
    await page.keyboard.type('20');
    await page.keyboard.press('Enter');
    await page.keyboard.type('30');
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await page.getByText('2 of 2 done.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    const received = [(await stockOf(opened, asiago)).onHand, (await stockOf(opened, bitto)).onHand];
    assert.deepEqual(received.toSorted(), [27, 35]);

    const low = await newCheese(opened.shop, { name: '=2+3', pricePerKg: 20 });
    await shop.request('PUT', `/v2/cheeses/${low}/stock`, { as: shop.admin, body: { onHand: 1, lowAt: 2 } });
    await goTo('/stock?low=true');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    assert.deepEqual((await readFile(await file.path(), 'utf8')).split('\r\n'), [
      '\uFEFFcheeseId,cheeseName,status,onHand,reserved,available,lowAt',
      `${low},'=2+3,available,1,0,1,2`,
    ]);
  },
);

inConsole('The console begins and ends tracking of stock on the page of a cheese', async (opened) => {
  const { page, shop, goTo } = opened;
  const id = await newCheese(opened.shop, { name: 'Castelmagno', pricePerKg: 20 });
  await goTo(`/cheeses/${id}`);
  await page.getByText('Not tracked: it is sold without limit.').waitFor();
  await page.getByRole('button', { name: 'Begin tracking' }).press('Enter');
  await page.getByLabel('On hand').fill('4');
  await page.keyboard.press('Enter');
  await page.getByText('4 kg on hand, 0 kg reserved').waitFor();
  await goTo('/stock');
  await page.getByRole('button', { name: 'End tracking: Castelmagno' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'End tracking of Castelmagno' });
  await dialog.getByRole('button', { name: 'End tracking' }).click();
  await page.getByRole('row', { name: 'Castelmagno' }).waitFor({ state: 'detached' });
  assert.equal((await shop.request('GET', `/v2/cheeses/${id}/stock`, { as: shop.admin })).status, 404);
});

inConsole('The console shows the price of a cheese by day, once it has changed', async (opened) => {
  const { page, shop, goTo } = opened;
  const id = await newCheese(opened.shop, { name: 'Tomme', pricePerKg: 20 });
  await goTo(`/cheeses/${id}`);
  await page.getByRole('region', { name: 'History' }).waitFor();
  const prices = page.getByRole('region', { name: 'Prices' });
  assert.equal(await prices.count(), 0);
  const today = await newCheese(opened.shop, { name: 'Of today', pricePerKg: 20 });
  await shop.request('PATCH', `/v2/cheeses/${today}`, { as: shop.admin, body: { pricePerKg: 21 } });
  await goTo(`/cheeses/${today}`);
  await prices.getByText('Lowest of 30 days: $20.00. All prices are of today').waitFor();
  assert.equal(await page.getByLabel('Price per kg ($)').inputValue(), '21.00');
  await goTo(`/cheeses/${id}`);
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  await shop.app.database.insert(
    'cheese_price',
    ['cheese_id', 'since', 'price'],
    [
      [id, daysAgo(60), 20],
      [id, daysAgo(20), 40],
      [id, daysAgo(10), null],
      [id, daysAgo(5), 25],
    ],
  );
  const body = { pricePerKg: 18 };
  assert.equal((await shop.request('PATCH', `/v2/cheeses/${id}`, { as: shop.admin, body })).status, 200);
  await prices.getByText('$18.00').waitFor();
  assert.match(
    (await prices.innerText()).replaceAll('\n', ' '),
    /Lowest of 30 days: \$18\.00\. 10% below \$20\.00/,
  );
  await prices.locator('canvas').waitFor();
  await screenshot(page, 'console-cheese-prices');
  await prices.getByRole('button', { name: 'Table' }).click();
  const cells = await prices.getByRole('row').allInnerTexts();
  assert.equal(cells.length, 1 + 61);
  assert.match(cells.at(-1) ?? '', /\$18\.00/);
  assert.match(cells.at(-4) ?? '', /\$25\.00/);
  assert.match(cells.at(-8) ?? '', /none/);
  assert.match(cells[1] ?? '', /\$20\.00/);
  assert.deepEqual(await findAccessibilityProblems(page), []);
});
