/** A shop in euros that sells pieces, in the console. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { bern, until } from '../context.ts';
import { newCheese } from '../shop-verbs.ts';
import { screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, type OpenConsole, viewports } from './console.ts';

const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

/** The page is made with the currency. */
async function useEuros({ page, shop }: OpenConsole): Promise<void> {
  await shop.request('PATCH', '/v2/shop', { as: shop.admin, body: { currency: 'EUR' } });
  await page.reload();
}

inConsole('The shop screen of the console saves what the shop is, and its currency', async (opened) => {
  const { page, shop, goTo } = opened;
  const read = async () => (await shop.request('GET', '/v2/shop', { as: shop.admin })).json;
  await goTo('/shop');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('');
  await page.getByLabel('E-mail').fill('nobody');
  await page.getByLabel('Language').fill('german, please');
  await page.keyboard.press('Control+s');
  const errorOf = (label: string) =>
    page
      .locator('.mantine-InputWrapper-root')
      .filter({ has: page.getByRole('textbox', { name: label, exact: true }) })
      .locator('.mantine-InputWrapper-error');
  await errorOf('Language').getByText('language tag').waitFor();
  for (const label of ['Name', 'E-mail']) {
    await errorOf(label).getByText(/./).waitFor();
  }
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.getByLabel('Street', { exact: true }).fill('Gerechtigkeitsgasse 1');
  await page.getByLabel('Zip code').fill('1010');
  await page.getByLabel('City').fill('Wien');
  await page.getByRole('combobox', { name: 'Country' }).fill('austria');
  await page.keyboard.press('Enter');
  await page.getByLabel('Language').fill('de-AT');
  await page.getByText(/Example: \$\s1.234,50/).waitFor();
  // Another person changes the shop at the same moment: first another field, then the same one.
  const others: object[] = [
    { legalName: 'Käse AG' },
    { address: { street: 'Weg 2', city: 'Wien', country: 'AT' } },
  ];
  let isNext = false;
  await page.route('**/v2/shop', async (route) => {
    if (route.request().method() === 'PATCH' && isNext) {
      isNext = false;
      await shop.request('PATCH', '/v2/shop', { as: shop.admin, body: others.shift() });
    }
    await route.continue();
  });
  isNext = true;
  await page.getByLabel('Phone').fill('+43 1 515');
  await page.keyboard.press('Control+s');
  await until(async () => (await read()).phone === '+43 1 515');
  assert.equal((await read()).legalName, 'Käse AG');
  await page.getByText('not saved').waitFor({ state: 'detached' });
  await page.getByLabel('Street', { exact: true }).fill('Gasse 1');
  isNext = true;
  await page.keyboard.press('Control+s');
  const conflict = page.getByRole('dialog', { name: 'Shop' });
  await conflict.getByRole('cell', { name: 'Weg 2' }).waitFor();
  opened.complaints.splice(0);
  await page.unroute('**/v2/shop');
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await until(async () => (await read()).address?.street === 'Gasse 1');
  assert.deepEqual([(await read()).address.country, (await read()).language], ['AT', 'de-AT']);

  await page.getByRole('combobox', { name: 'Currency' }).fill('euro');
  await page.getByRole('option', { name: 'EUR, Euro' }).click();
  await page.keyboard.press('Control+s');
  await until(async () => (await read()).currency === 'EUR');
  await page.locator('html[data-currency="EUR"]').waitFor();
  await page.getByRole('heading', { name: 'Shop' }).waitFor();
  await screenshot(page, 'console-shop');
  await page.setViewportSize(viewports.phone);
  await screenshot(page, 'console-shop-phone');
  await page.setViewportSize(viewports.wide);
});

inConsole(
  'The cheese page of the console edits pieces, and takes the price of the only one',
  async (opened) => {
    const { page, shop, goTo } = opened;
    await useEuros(opened);
    const id = await newCheese(shop, { name: 'Box of Camembert', pricePerKg: 20 });
    const read = async () => (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.admin })).json;
    await goTo(`/cheeses/${id}`);
    await page.getByText('Sold by the kilogram.').waitFor();
    await page.getByRole('button', { name: 'Add a piece' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText('remove the piece without a weight').waitFor();
    await page.getByLabel('Weight of piece 1 in grams').fill('250');
    const price = page.getByLabel('Price of the piece of 250 g (€)');
    assert.equal(await price.inputValue(), '5.00');
    await price.fill('6.99');
    await page.getByLabel('Pieces of the preview').getByText('250 g, €6.99').waitFor();
    await page.keyboard.press('Control+s');
    await until(async () => (await read()).pricePerKg === 27.96);
    assert.deepEqual((await read()).portions, [{ grams: 250 }]);

    await page.getByRole('button', { name: 'Add a piece' }).click();
    await page.getByLabel('Weight of piece 2 in grams').fill('250');
    await page.getByLabel('Name of piece 2').fill('Box of six');
    await price.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+s');
    await page.getByText('250 is the weight of another portion').waitFor();
    await page.getByLabel('Weight of piece 2 in grams').fill('1500');
    await page.keyboard.press('Control+s');
    await until(async () => (await read()).portions.length === 2);
    await page.getByText('pieces 250 g to 250 g, Box of six of 1.5 kg').waitFor();

    await page.getByRole('button', { name: 'Begin tracking' }).click();
    await page.getByLabel('On hand').fill('2.375');
    await page.keyboard.press('Enter');
    await page.getByText('Enough for 9 × 250 g or 1 × 1.5 kg').waitFor();
    assert.equal(
      (await shop.request('GET', `/v2/cheeses/${id}/stock`, { as: shop.admin })).json.onHand,
      2.375,
    );
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await screenshot(page, 'console-cheese-pieces');
    await page.setViewportSize(viewports.phone);
    await screenshot(page, 'console-cheese-pieces-phone');
    await page.setViewportSize(viewports.wide);
  },
);

inConsole('The console orders pieces, and says them in lists, on slips and in files', async (opened) => {
  const { page, shop, goTo } = opened;
  await useEuros(opened);
  const wheel = await newCheese(shop, {
    name: 'Comté',
    pricePerKg: 32.45,
    portions: [{ grams: 150 }, { grams: 8000, name: 'Half wheel' }],
  });
  await newCheese(shop, { name: 'Ricotta', pricePerKg: 10 });
  await shop.request('PUT', `/v2/cheeses/${wheel}/stock`, { as: shop.admin, body: { onHand: 9 } });
  await goTo('/orders/new');
  const add = async (name: string, text: string) => {
    await page.getByRole('combobox', { name: 'Add a cheese' }).fill(text);
    await page.getByRole('option', { name: new RegExp(name) }).click();
  };
  await add('Comté', 'comt');
  await page.getByLabel('Pieces of 150 g of Comté').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('3');
  await page.getByText('60 left').waitFor();
  // The same cheese again: the piece that no line has.
  await add('Comté', 'comt');
  await page.getByLabel('Pieces of 8 kg of Comté').and(page.locator(':focus')).waitFor();
  await page.getByText('1 left').waitFor();
  await add('Ricotta', 'ricot');
  await page.getByLabel('Kilograms of Ricotta').fill('2');
  await page.getByLabel('Street').fill(bern.street);
  await page.getByLabel('City').fill(bern.city);
  await page.getByRole('combobox', { name: 'Country' }).fill('CH');
  await page.keyboard.press('Enter');
  // 3 × 4.87, 259.60 and 20.00.
  await page.getByRole('status', { name: 'Quote' }).getByText('€294.21').waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await screenshot(page, 'console-new-order-pieces');
  await page.keyboard.press('Control+s');
  await page.getByRole('heading', { name: /^Order \d+$/ }).waitFor();
  const id = Number(page.url().split('/').at(-1));
  const { items } = (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin })).json;
  assert.deepEqual(
    items.map(({ quantity, grams }: { quantity: number; grams?: number }) => [quantity, grams]),
    [
      [3, 150],
      [1, 8000],
      [2, undefined],
    ],
  );
  const rows = page.getByRole('region', { name: 'Cheeses' }).getByRole('row');
  assert.deepEqual(
    await rows.allInnerTexts().then((texts) => texts.map((text) => text.replace(/\s+/g, ' ').trim())),
    [
      'Cheese Quantity Each Price',
      'Comté 3 × 150 g €4.87 €14.61',
      'Comté Half wheel 1 × 8 kg €259.60 €259.60',
      'Ricotta 2 kg €10.00 / kg €20.00',
      'Total 10.45 kg €294.21',
    ],
  );
  await screenshot(page, 'console-order-pieces');
  await page.setViewportSize(viewports.phone);
  await screenshot(page, 'console-order-pieces-phone');
  await page.setViewportSize(viewports.wide);

  await goTo(`/orders/slips?ids=${id}`);
  const slip = page.getByRole('article');
  for (const text of ['3 × 150 g', '1 × 8 kg', 'Comté, Half wheel', '10.45 kg']) {
    await slip.getByText(text, { exact: true }).waitFor();
  }
  assert.doesNotMatch(await slip.innerText(), /€/);
  await screenshot(page, 'console-slip-pieces');
  await goTo('/orders?view=list');
  await page.getByText('Comté 3 × 150 g, Comté 1 × 8 kg (Half wheel) +1').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const csv = await readFile(await download.path(), 'utf8');
  assert.ok(csv.includes('Comté 3 × 150 g; Comté 1 × 8 kg (Half wheel); Ricotta 2 kg,10.45,294.21'), csv);

  // Every screen is in the currency of the shop, which cannot change after the first order.
  for (const path of [
    '/',
    '/orders',
    '/sales',
    '/cheeses',
    `/cheeses/${wheel}`,
    '/customers',
    '/stock',
    '/limits',
  ]) {
    await goTo(path);
    await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
    assert.doesNotMatch(await page.locator('main').innerText(), /\$|dollar/i, path);
  }
  await goTo('/shop');
  await page.getByRole('combobox', { name: 'Currency' }).fill('swiss');
  await page.getByRole('option', { name: 'CHF, Swiss Franc' }).click();
  await page.keyboard.press('Control+s');
  await page.getByText('The currency is EUR since the first order').waitFor();
  opened.complaints.splice(0);
});
