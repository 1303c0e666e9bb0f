/** The storefront of examples/ in Chromium. Its server has the API key; the page orders for a customer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Curd } from '../../client/src/index.ts';
import { imageIn } from '../api/image-forms.ts';
import { startExample } from '../cli/run.ts';
import { bern, cleanUp, type Scope, until } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { measureWidth, openPage, screenshot, useChromium } from './chromium.ts';
import { findAccessibilityProblems, viewports } from './console.ts';

useChromium();

const password = 'a cellar full of wheels';

/** A shop with three cheeses, and its storefront. */
async function openStorefront(t: Scope) {
  const shop = await openListeningShop(t);
  const curd = new Curd({ baseUrl: shop.url, apiKey: shop.admin });
  await curd.shop.patch({ currency: 'EUR' });
  const brie = await curd.cheeses.create({ name: 'Brie', category: { name: 'Soft' }, pricePerKg: 20 });
  await curd.cheeses.uploadImage(brie.id, new Blob([new Uint8Array(await imageIn('png'))]));
  await curd.stock.replace(brie.id, { onHand: 3 });
  await curd.cheeses.create({ name: 'Gruyère', category: { name: 'Hard' }, pricePerKg: 32.5, ageMonths: 1 });
  await curd.cheeses.create({
    ...{ name: 'Feta', category: { name: 'Soft' }, pricePerKg: 15, origin: 'Greece' },
    portions: [{ grams: 1000 }, { grams: 200, name: 'Block' }],
  });

  await curd.deliveryMethods.create({
    name: 'Parcel',
    rates: [{ upToGrams: 5000, amount: 6.9 }],
    transitDays: 1,
  });
  await curd.discounts.create({ code: 'SPRING', kind: 'percent', value: 10 });
  await curd.customers.register({ username: 'bob', email: 'bob@example.com', password });
  const key = await shop.createKey({ scopes: ['write:orders'] });
  const server = startExample('storefront/serve.js', { KEY: key, PORT: '0' }, shop.url);
  cleanUp(t, () => void server.kill());
  const [line] = await once(server.stdout, 'data');
  const [url = ''] = /http:\S+$/.exec(String(line).trim()) ?? [];
  return { curd, brie, url, key };
}

test('examples/storefront filters, shows images, registers a customer, quotes, orders and cancels', async (t) => {
  const opened = await openPage(t, { viewport: viewports.wide, locale: 'en-US' });
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  const { curd, brie, url, key } = await openStorefront(t);
  const names = page.locator('#cheeses .name');
  const count = page.locator('#count');
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  // The policy of the page permits no eval, which waitForFunction needs.
  const shows = (condition: string) =>
    until(async () => (await page.evaluate(condition)) === true, condition);
  const see = async (name: string) => {
    for (const [size, viewport] of Object.entries(viewports)) {
      await page.setViewportSize(viewport);
      await screenshot(page, `storefront-${name}-${size}`);
      assert.deepEqual(await findAccessibilityProblems(page), [], `${name} ${size}`);
      assert.equal(await measureWidth(page), viewport.width, name);
    }
    await page.setViewportSize(viewports.wide);
  };

  await page.goto(url);
  await page.getByText('3 cheeses').waitFor();
  assert.deepEqual(await names.allInnerTexts(), ['Brie', 'Feta', 'Gruyère']);
  await page.getByText('Hard · 1 month', { exact: true }).waitFor();
  await shows('document.querySelector("#cheeses img")?.naturalWidth > 0');
  await see('list');
  await page.getByLabel(/^Soft/).check();
  await page.getByText('2 cheeses').waitFor();
  await page.getByLabel('Search').fill('fet');
  await page.getByText('1 cheese', { exact: true }).waitFor();
  assert.deepEqual(await names.allInnerTexts(), ['Feta']);
  await page.getByLabel('Search').fill('');
  await page.getByText('2 cheeses').waitFor();
  await page.getByLabel('Sort').selectOption('pricePerKg');
  await shows('document.querySelector("#cheeses .name").textContent === "Feta"');
  assert.equal(await count.innerText(), '2 cheeses');

  await button('Brie').first().click();
  await shows('document.querySelector("#cheese img")?.naturalWidth > 0');
  await see('cheese');
  await button('Add 1 kg to the basket').click();
  await button('Basket (1 kg)').click();
  await page.getByText('Total: €20.00. Log in to order.').waitFor();
  await page.getByLabel(/^Parcel, €6\.90: leaves us on \w+, with you on \w+$/).check();
  await page.getByText('Cheese €20.00 · Parcel €6.90').waitFor();
  await page.getByText('Total: €26.90. Log in to order.').waitFor();
  await page.getByLabel('Discount code').fill('nothing');
  await page.getByLabel('Discount code').blur();
  await page.getByText(/^discountCode: /).waitFor();
  await page.getByLabel('Discount code').fill('Spring');
  await page.getByLabel('Discount code').blur();
  await page.getByText('Cheese €20.00 · SPRING -€2.00 · Parcel €6.90').waitFor();
  await page.getByText('Total: €24.90. Log in to order.').waitFor();
  assert.ok(await button('Place the order').isDisabled());
  await page.keyboard.press('Escape');

  await button('Log in').click();
  await page.getByText('New here? Register').click();
  const form = page.locator('#register');
  await form.getByLabel('First name').fill('Ada');
  await form.getByLabel('Last name').fill('Keller');
  await form.getByLabel('Username').fill('bob');
  await form.getByLabel('E-mail address').fill('ada@example.com');
  await form.getByLabel('Password').fill(password);
  await button('Register').click();
  await form
    .getByRole('alert')
    .filter({ hasText: /^The username belongs to another customer\.$/ })
    .waitFor();
  await see('account');
  await form.getByLabel('Username').fill('ada');
  await button('Register').click();
  await button('Log out ada').waitFor();
  const [cookie, ...others] = await page.context().cookies();
  assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite], ['session', true, 'Strict']);
  assert.equal(others.length, 0);

  await button('Basket (1 kg)').click();
  await page.getByLabel('Recipient').fill('Bo Keller');
  await page.getByLabel('Street').fill(bern.street);
  await page.getByRole('textbox', { name: 'City' }).fill(bern.city);
  await page.getByRole('combobox', { name: 'Country' }).selectOption({ label: 'Austria' });
  await page.getByLabel('Kilograms of Brie').fill('5');
  await page.getByLabel('Kilograms of Brie').blur();
  await page.getByText('Brie: 3 kg are left').waitFor();
  await see('basket');
  await page.getByLabel('Kilograms of Brie').fill('2');
  await page.getByLabel('Kilograms of Brie').blur();
  await page.getByText('Total: €42.90').waitFor();
  assert.equal((await curd.stock.get(brie.id)).reserved, 0, 'a quote reserves nothing');
  await button('Place the order').click();
  await page.getByText(/^Thank you! Order \d+ is placed/).waitFor();
  await page.getByText('2 kg Brie: €42.90').waitFor();
  await see('orders');
  assert.equal((await curd.stock.get(brie.id)).reserved, 2);
  const [order] = (await curd.orders.list()).items;
  const { username, firstName, lastName } = (await curd.orders.getCustomer(order?.id ?? 0)) ?? {};
  assert.deepEqual([username, firstName, lastName], ['ada', 'Ada', 'Keller']);
  const { name, country } = order?.shippingAddress ?? {};
  assert.deepEqual([name, country, order?.breakdown?.discount?.amount], ['Bo Keller', 'AT', 4]);
  await button(/^Cancel order/).click();
  await page.getByText(/cancelled$/).waitFor();
  assert.equal((await curd.stock.get(brie.id)).reserved, 0);

  await page.keyboard.press('Escape');
  await button('Choose a piece of Feta').click();
  await button('Add Block, 200 g: €3.00').waitFor();
  await see('pieces');
  await button('Add Block, 200 g: €3.00').click();
  await button('Basket (0.2 kg)').click();
  await page.getByLabel('Pieces of 200 g of Feta').fill('3');
  await page.getByLabel('Pieces of 200 g of Feta').blur();
  // The form keeps the code: 9.00 less 0.90.
  await page.getByText('Total: €8.10').waitFor();
  await button('Place the order').click();
  await page.getByText('3 × 200 g (Block) Feta: €8.10').waitFor();

  const sources = await Promise.all(['', 'page.js', 'style.css'].map((file) => fetch(`${url}/${file}`)));
  for (const source of sources) {
    assert.ok(!(await source.text()).includes(key));
  }
  await page.keyboard.press('Escape');
  await button('Log out ada').click();
  await button('Log in').waitFor();
  await shows('fetch("/v2/customer/ada/orders").then(({ status }) => status === 401)');
  assert.deepEqual(complaints, []);
});

test('The server of examples/storefront refuses what the page may not send', async (t) => {
  const { url, key } = await openStorefront(t);
  const statusOf = async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ) => {
    const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    assert.ok(!(await response.text()).includes(key));
    return response.status;
  };
  const order = JSON.stringify({ items: [{ cheeseId: 1, quantity: 1 }], shippingAddress: bern });
  const json = { 'Content-Type': 'application/json' };
  assert.equal(await statusOf('GET', '/v2/cheeses'), 200);
  assert.equal(await statusOf('POST', '/v2/store/order', json, order), 401, 'without a session');
  assert.equal(await statusOf('POST', '/v2/store/order', { ...json, Cookie: 'session=a' }, order), 401);
  assert.equal(await statusOf('GET', '/v2/store/orders'), 404);
  assert.equal(await statusOf('POST', '/v2/cheeses', json, '{"name":"Brie"}'), 404);
  assert.equal(await statusOf('GET', '/v2/cheeses/../store/orders'), 404);
  assert.equal(await statusOf('GET', '/v2/cheeses%2F..%2Fstore%2Forders'), 404);
  assert.equal(
    await statusOf('POST', '/v2/customer', { ...json, Origin: 'https://evil.example' }, '{}'),
    403,
  );
  assert.equal(await statusOf('POST', '/v2/customer', { ...json, Origin: 'null' }, '{}'), 403);
  assert.equal(await statusOf('POST', '/v2/customer', json, ' '.repeat(70_000)), 413);
});
