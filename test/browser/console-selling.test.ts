/** An owner sets up delivery, taxes and a discount code in the console, and an operator places an order with them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { newCheese } from '../shop-verbs.ts';
import { assertReadable, consoleTests, type OpenConsole } from './console.ts';

const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

const address = { street: 'Gasse 1', zipCode: '3011', city: 'Bern', country: 'CH' };

async function readAs({ shop }: OpenConsole, path: string) {
  return (await shop.request('GET', path, { as: shop.admin })).json;
}

async function choose(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).fill(text);
  await page.keyboard.press('Enter');
}

const field = (page: Page, name: string | RegExp) => page.getByRole('textbox', { name });

async function save(page: Page, action: 'Create' | 'Save'): Promise<void> {
  await page.getByRole('button', { name: action }).click();
  await page.getByRole('button', { name: action }).waitFor({ state: 'detached' });
}

inConsole('The console creates delivery methods, and offers that every order has one', async (opened) => {
  const { page, shop, goTo } = opened;
  await shop.request('PATCH', '/v2/shop', {
    as: shop.admin,
    body: { currency: 'CHF', timeZone: 'Europe/Zurich', address },
  });
  await newCheese(shop, {
    name: 'Gruyère',
    category: { name: 'Alpine' },
    pricePerKg: 40,
    portions: [{ grams: 500 }],
  });
  await page.reload();
  await goTo('/delivery');
  await page.getByText('No delivery methods yet').waitFor();
  await page.getByRole('link', { name: 'New delivery method' }).click();
  await field(page, 'Name').fill('Cooled parcel');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('Write what a parcel costs').waitFor();
  await field(page, 'Charge 1: up to kilograms').fill('2');
  await field(page, 'Charge 1: amount').fill('6.90');
  await page.getByRole('button', { name: 'Add a weight' }).click();
  await field(page, 'Charge 2: up to kilograms').fill('1');
  await field(page, 'Charge 2: amount').fill('9.90');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('must be more than that of the rate before').waitFor();
  await field(page, 'Charge 2: up to kilograms').fill('10');
  await field(page, /^Free from/).fill('150');
  await choose(page, 'Add a country', 'switz');
  await choose(page, 'Add a country', 'AT');
  await page.getByRole('button', { name: 'Remove Austria' }).click();
  const days = page.getByRole('group', { name: 'Ship days' });
  for (const day of ['Thu', 'Fri', 'Sat', 'Sun']) {
    await days.getByRole('checkbox', { name: day }).uncheck();
  }
  await page.getByLabel('Order before').fill('12:00');
  await field(page, 'Days on the way').fill('1');
  const example = page.getByRole('region', { name: 'Example' });
  for (const text of [
    'Cheeses up to 10 kg: CHF 9.90',
    'Heavier orders: not by Cooled parcel',
    'Leaves Mon, Tue, or Wed, on the same day if ordered before 12:00. Arrives after 1 delivery day',
  ]) {
    await example.getByText(text).waitFor();
  }
  await assertReadable(page, 'delivery-method');
  opened.complaints.splice(0);
  await save(page, 'Create');
  const offer = page.getByRole('dialog', { name: 'Shall every order have a delivery?' });
  await offer.getByRole('button', { name: 'Yes, every order' }).click();
  await offer.waitFor({ state: 'detached' });
  assert.equal((await readAs(opened, '/v2/shop')).delivery.required, true);
  const [{ id: _, ...created }] = (await readAs(opened, '/v2/delivery-methods')).items;
  assert.deepEqual(created, {
    position: 0,
    name: 'Cooled parcel',
    kind: 'parcel',
    countries: ['CH'],
    zipPrefixes: null,
    rates: [
      { upToGrams: 2000, amount: 6.9 },
      { upToGrams: 10_000, amount: 9.9 },
    ],
    freeFrom: 150,
    shipDays: ['mon', 'tue', 'wed'],
    cutOff: '12:00',
    transitDays: 1,
    deliveryDays: null,
    text: null,
    isEnabled: true,
  });

  await page.getByRole('link', { name: 'New delivery method' }).click();
  await field(page, 'Name').fill('World parcel');
  await field(page, 'Charge 1: up to kilograms').fill('20');
  await field(page, 'Charge 1: amount').fill('49');
  await save(page, 'Create');
  await page.getByRole('link', { name: 'New delivery method' }).click();
  await page.getByText('Pickup in the shop').click();
  await field(page, 'Name').fill('Fetch it');
  await field(page, 'Place in the list').fill('5');
  await save(page, 'Create');
  await page.getByRole('cell', { name: 'Fetch it' }).waitFor();

  const rules = page.getByRole('region', { name: 'Rules' });
  await rules.getByLabel('Weight of the packaging').fill('1600');
  await rules.getByRole('button', { name: 'Save' }).click();
  await rules.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' });
  assert.equal((await readAs(opened, '/v2/shop/settings')).delivery.packagingGrams, 1600);
  const customer = page.getByRole('status', { name: 'What the customer sees' });
  await customer.getByText(/^Cooled parcel: CHF\s9\.90, leaves \w+day, \w+ \d+, arrives \w+day/).waitFor();
  await customer.getByText('World parcel: CHF 49.00').waitFor();
  await customer.getByText('Fetch it: free').waitFor();
  await assertReadable(page, 'delivery');
});

inConsole(
  'The form of a delivery method asks which version is kept after a change of another person',
  async (opened) => {
    const { page, shop, goTo } = opened;
    const [{ id }] = (await readAs(opened, '/v2/delivery-methods')).items;
    await goTo('/delivery');
    await page.getByRole('link', { name: 'Cooled parcel' }).click();
    await field(page, /^Free from/).fill('120');
    let isFirst = true;
    await page.route('**/v2/delivery-methods/*', async (route) => {
      if (isFirst && route.request().method() === 'PATCH') {
        isFirst = false;
        await shop.request('PATCH', `/v2/delivery-methods/${id}`, {
          as: shop.admin,
          body: { freeFrom: 200, text: 'Please open at once' },
        });
      }
      await route.continue();
    });
    await page.keyboard.press('Control+s');
    const conflict = page.getByRole('dialog', { name: 'Cooled parcel' });
    await conflict.getByRole('cell', { name: '200.00' }).waitFor();
    opened.complaints.splice(0);
    await page.unroute('**/v2/delivery-methods/*');
    await conflict.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText('not saved').waitFor({ state: 'detached' });
    const { freeFrom, text } = await readAs(opened, `/v2/delivery-methods/${id}`);
    assert.deepEqual([freeFrom, text], [120, 'Please open at once']);
  },
);

inConsole('The console turns taxes on, and warns of countries without a rate', async (opened) => {
  const { page, goTo } = opened;
  await goTo('/taxes');
  const mode = page.getByRole('region', { name: 'How taxes are computed' });
  await mode.getByRole('radio', { name: 'Included in prices' }).check();
  await mode.getByRole('button', { name: 'Save' }).click();
  await page.getByText('without a tax rate for it').waitFor();
  await assertReadable(page, 'taxes-warning');
  await page.getByRole('link', { name: 'Create a tax rate' }).click();
  await field(page, 'Name').fill('MWST');
  await field(page, 'Percent').fill('2.6');
  await choose(page, 'Country', 'CH');
  await page.getByLabel('Category of cheeses').selectOption('Alpine');
  await page.getByText('A rate for a category counts before every rate of a place').waitFor();
  await page.getByText('the customer pays CHF 100.00, of which CHF 2.53 is MWST (2.6 %)').waitFor();
  await assertReadable(page, 'tax-rate');
  await page.getByLabel('Category of cheeses').selectOption('');
  await save(page, 'Create');
  await page.getByRole('link', { name: 'MWST 2.6 %' }).waitFor();
  const [{ id: _, ...rate }] = (await readAs(opened, '/v2/tax-rates')).items;
  assert.deepEqual(rate, {
    country: 'CH',
    state: null,
    zipPrefix: null,
    category: null,
    percent: 2.6,
    name: 'MWST',
  });
  // The other parcel serves every country.
  await page.getByText('only some have a tax rate').waitFor();
  await page.getByText(/^of which MWST 2.6 %/).waitFor();
  await assertReadable(page, 'taxes');
});

inConsole('The console creates a discount code, changes it and shows what it takes off', async (opened) => {
  const { page, goTo } = opened;
  await goTo('/discounts');
  await page.getByText('No discount codes yet').waitFor();
  await page.getByRole('link', { name: 'New discount code' }).click();
  await field(page, 'Code').fill('spring');
  await field(page, 'Percent').fill('10');
  await page.getByText('Cheeses for CHF 100.00 with SPRING: the customer pays CHF 90.00').waitFor();
  await save(page, 'Create');
  await page.getByRole('link', { name: 'SPRING' }).click();
  await field(page, 'Uses by all together').fill('5');
  await page.keyboard.press('Control+s');
  await page.getByText('not saved').waitFor({ state: 'detached' });
  const { kind, value, usesMax } = await readAs(opened, '/v2/discounts/SPRING');
  assert.deepEqual([kind, value, usesMax], ['percent', 10, 5]);
  await page.getByRole('row', { name: /Discount SPRING/ }).waitFor();
  await assertReadable(page, 'discount');
  await goTo('/discounts');
  await page.getByText('0 of 5 used').waitFor();
  await assertReadable(page, 'discounts');
});

inConsole('The console orders with a delivery method, a day, a code and a gift', async (opened) => {
  const { page, shop, goTo } = opened;
  await goTo('/orders/new');
  await page.getByRole('combobox', { name: 'Add a cheese' }).fill('gruy');
  await page.getByRole('option', { name: /Gruyère/ }).click();
  await page.getByLabel('Pieces of 500 g of Gruyère').fill('2');
  await page.getByLabel('Street').fill(address.street);
  await page.getByLabel('Zip code').fill(address.zipCode);
  await page.getByLabel('City').fill(address.city);
  await choose(page, 'Country', 'CH');
  const total = page.getByRole('status', { name: 'Quote' });
  await total.getByText('CHF 49.90').waitFor();
  await page.getByText('The shop chooses: Cooled parcel').waitFor();
  await page.getByRole('radio', { name: /^World parcel/ }).check();
  await total.getByText('CHF 89.00').waitFor();
  await page.getByRole('radio', { name: /^Cooled parcel/ }).check();
  await field(page, 'Discount code').fill('WINTER');
  await page.getByText(/code/i).and(page.locator('.mantine-InputWrapper-error')).waitFor();
  await field(page, 'Discount code').fill('spring');
  await total.getByText('CHF 45.90').waitFor();
  const day = page.getByLabel('Day on which it leaves');
  await day.fill('2020-01-01');
  await page.getByText('must be a day from').waitFor();
  await page.getByLabel('It is a gift').check();
  await page.getByLabel('Message').fill('Happy birthday!\nFrom all of us');
  await assertReadable(page, 'new-order-selling');
  const [, first = ''] = /from (\d{4}-\d\d-\d\d) to/.exec(await page.locator('form').innerText()) ?? [];
  await day.fill(first);
  await page.getByText('must be a day from').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Place order' }).click();
  await page.getByRole('heading', { name: /^Order \d+$/ }).waitFor();

  const id = Number(page.url().split('/').at(-1));
  const order = await readAs(opened, `/v2/store/order/${id}`);
  assert.deepEqual(
    [order.total, order.breakdown.discount, order.breakdown.delivery.name, order.requestedDate, order.gift],
    [
      45.9,
      { code: 'SPRING', amount: 4 },
      'Cooled parcel',
      first,
      { message: 'Happy birthday!\nFrom all of us', hidePrices: true },
    ],
  );
  const rows = page.getByRole('region', { name: 'Cheeses' }).getByRole('row');
  assert.deepEqual(
    await rows.allInnerTexts().then((texts) => texts.map((text) => text.replace(/\s+/g, ' ').trim())),
    [
      'Cheese Quantity Each Price',
      'Gruyère 2 × 500 g CHF 20.00 CHF 40.00',
      'Cheeses 1 kg CHF 40.00',
      'Discount SPRING -CHF 4.00',
      'Delivery: Cooled parcel CHF 9.90',
      'Total CHF 45.90',
      'of which MWST 2.6 % of CHF 44.74 CHF 1.16',
    ],
  );
  await page.getByText('Requested day of shipping').waitFor();
  await page.getByText('Gift, without prices on the slip').waitFor();
  await assertReadable(page, 'order-selling');

  await goTo(`/orders/slips?ids=${id}`);
  const slip = page.getByRole('article');
  await slip.getByText('A gift: put nothing with prices into the parcel').waitFor();
  await slip.getByText('Happy birthday!').waitFor();
  await slip.getByText('Delivery: Cooled parcel').waitFor();
  assert.doesNotMatch(await slip.innerText(), /CHF|\d\.\d\d/);
  await assertReadable(page, 'slip-gift');
  await goTo('/orders?view=list');
  await page.getByRole('cell', { name: 'Cooled parcel, SPRING, gift' }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const [header = '', row = ''] = (await readFile(await download.path(), 'utf8')).split('\r\n');
  assert.ok(header.includes('phone,discountCode,discount,deliveryMethod,delivery,tax,requestedDate'), header);
  assert.ok(row.includes(`SPRING,4,Cooled parcel,9.9,1.16,${first}`), row);
  assert.equal((await readAs(opened, '/v2/discounts/SPRING')).used, 1);
  await shop.request('DELETE', `/v2/store/order/${id}`, { as: shop.admin });
});

inConsole('The console deletes a delivery method, and says when nobody can order', async (opened) => {
  const { page, goTo } = opened;
  await goTo('/delivery');
  for (const name of ['Cooled parcel', 'World parcel']) {
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog', { name: `Delete ${name}` })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByRole('link', { name }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Delivery' }).waitFor();
  }
  await page.getByText('Only pickups').waitFor();
  await page.getByRole('link', { name: 'Fetch it' }).click();
  await page.getByLabel('Customers can choose it').uncheck();
  await page.keyboard.press('Control+s');
  await page.getByText('not saved').waitFor({ state: 'detached' });
  await goTo('/delivery');
  await page.getByText('Nobody can order').waitFor();
  await assertReadable(page, 'delivery-blocked');
  assert.equal((await readAs(opened, '/v2/delivery-methods')).items.length, 1);
});
