/** The daily round of the orders in the console, by keyboard: approve eight, print their slips, ship them with numbers. */
import assert from 'node:assert/strict';
import { bern, until } from '../context.ts';
import { newCheese, newOrder, registerCustomer } from '../shop-verbs.ts';
import { measureWidth, screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, viewports } from './console.ts';

const inConsole = consoleTests({
  settings: { CURD_APPROVAL_DELAY: '1h', CURD_ORDERS_PER_HOUR: 'off' },
});

// More orders at once are shipped in console-orders.test.ts.
inConsole('The console approves, prints and ships eight orders by keyboard', async (opened, t) => {
  const { page, shop, goTo } = opened;
  const count = 8;
  const { id: customerId } = await registerCustomer(shop, { username: 'ada' });
  const cheese = await newCheese(shop);
  const ids: number[] = [];
  while (ids.length < count) {
    ids.push(await newOrder(shop, cheese, { customerId }));
  }
  await goTo('/orders');
  const column = (name: string) => page.getByRole('status', { name: `${name} orders` });
  await column('placed').getByText(String(count)).waitFor();
  await page.locator(`[data-order="${ids[0]}"]`).getByText('ada, Bern, Switzerland').waitFor();
  await screenshot(page, 'console-round-board');
  let since = performance.now();
  const seconds = (): string => {
    const passed = (performance.now() - since) / 1000;
    since = performance.now();
    return `${(passed / count).toFixed(2)} s an order`;
  };

  await page.keyboard.press('j');
  for (const id of ids) {
    await page.locator(`[data-order="${id}"][data-current]`).waitFor();
    await page.keyboard.press('a');
  }
  await column('approved').getByText(String(count)).waitFor();
  const approved = seconds();

  await page.keyboard.press('j');
  await page.locator(`[aria-label="approved"] [data-current]`).waitFor();
  await page.keyboard.press('v');
  await page.waitForURL(/view=list&status=approved$/);
  await page.getByText(`${count} orders`, { exact: true }).waitFor();
  await page.keyboard.press('A');
  await page.getByText(`${count} selected`).waitFor();
  await page.keyboard.press('p');
  await page.evaluate('window.print = () => { window.printed = document.querySelectorAll(".slip").length; }');
  const print = page.getByRole('button', { name: `Print ${count}` });
  await print.and(page.locator(':enabled')).waitFor();
  await print.press('Enter');
  assert.equal(await page.evaluate('window.printed'), count);
  const printed = seconds();

  await page.keyboard.press('t');
  // In the order of the slips.
  ids.reverse();
  const field = (index: number) => page.getByLabel(`Tracking number of order ${ids[index]}`, { exact: true });
  await field(0).and(page.locator(':focus')).waitFor();
  // A scanner writes a number and ends it with Enter.
  const scanned = Math.floor(count / 2);
  for (let index = 0; index < scanned; index += 1) {
    await page.keyboard.type(`99.${index}`);
    await page.keyboard.press('Enter');
  }
  await field(scanned).and(page.locator(':focus')).waitFor();
  // A column of a spreadsheet, with a second one beside it, and an empty line at its end.
  const numbers = ids.slice(scanned).map((_, index) => `99.${scanned + index}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const text = `${numbers.map((number) => `${number}\tBern`).join('\r\n')}\r\n`;
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press('Control+v');
  const button = page.getByRole('button', { name: `Ship ${count}`, exact: true });
  await button.and(page.locator(':focus')).waitFor();
  assert.equal(await field(scanned).inputValue(), numbers[0]);
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await screenshot(page, 'console-round-ship');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: `Ship ${count} orders` });
  await dialog.getByText(`${count} of ${count} done.`).waitFor();
  const shipped = seconds();
  t.diagnostic(`${approved} to approve, ${printed} to print, ${shipped} to ship`);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  for (const index of [0, scanned - 1, scanned, count - 1]) {
    const { json } = await shop.request('GET', `/v2/store/order/${ids[index]}/shipment`, { as: shop.admin });
    assert.equal(json.trackingNumber, `99.${index}`);
  }
});

inConsole('The console filters by country and cheese, and opens a saved view', async (opened) => {
  const { page, shop, goTo } = opened;
  const { json } = await shop.request('POST', '/v2/cheeses', {
    as: shop.admin,
    body: { name: 'Sbrinz', pricePerKg: 30 },
  });
  for (const country of ['CH', 'LI', 'LI']) {
    const body = { items: [{ cheeseId: json.id, quantity: 1 }], shippingAddress: { ...bern, country } };
    await shop.request('POST', '/v2/store/order', { as: shop.admin, body });
  }
  const total = (text: string) => page.getByText(text, { exact: true }).waitFor();
  await goTo('/orders?view=list');
  const country = page.getByRole('combobox', { name: 'Country' });
  await country.fill('li');
  await page.keyboard.press('Enter');
  await until(async () => (await country.inputValue()) === 'Liechtenstein');
  await total('2 orders');
  await page.getByRole('combobox', { name: 'Cheese, open orders' }).fill('Sbri');
  await page.getByRole('option', { name: 'Sbrinz' }).click();
  await country.fill('');
  await total('3 orders');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Placed', { exact: true }).uncheck();
  await page.keyboard.press('Escape');
  const heading = (name: string) => page.getByRole('columnheader', { name, exact: true });
  await heading('Placed').waitFor({ state: 'detached' });
  await until(() => Promise.resolve(page.url().includes('hide=Placed')));

  const views = page.getByRole('button', { name: /^View/ });
  await views.press('Enter');
  await page.getByLabel('Save this view as').fill('Sbrinz to pack');
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'View: Sbrinz to pack' }).waitFor();
  await screenshot(page, 'console-orders-view');

  // Other filters and columns, after a reload: the view brings back its own.
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Placed', { exact: true }).check();
  await page.keyboard.press('Escape');
  await goTo('/orders?view=list&country=CH&placedBy=key:1');
  await page.getByText('country: cannot be combined with placedBy').waitFor();
  opened.complaints.splice(0);
  await goTo('/orders?view=list');
  await heading('Placed').waitFor();
  await views.press('Enter');
  await page.getByRole('link', { name: 'Sbrinz to pack' }).press('Enter');
  await total('3 orders');
  await heading('Placed').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('combobox', { name: 'Cheese, open orders' }).inputValue(), 'Sbrinz');

  await page.setViewportSize({ ...viewports.phone, width: 390 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await views.click();
  await page.getByLabel('Save this view as').waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await screenshot(page, 'console-orders-view-phone');
  await page.getByLabel('Delete the view Sbrinz to pack').click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  await goTo('/orders?column=placed');
  await page.getByText('Bern, LI').first().waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await screenshot(page, 'console-round-phone');
  assert.equal(await measureWidth(page), 390);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(viewports.wide);
});
