/** examples/browser-shop in Chromium: a page on a server for files alone, which sends its requests to a Curd server elsewhere. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { Curd } from '../../client/src/index.ts';
import { imageIn } from '../api/image-forms.ts';
import { openProxy } from '../client/proxy.ts';
import { bern, cleanUp, type Scope, until } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { measureWidth, openPage, screenshot, useChromium } from './chromium.ts';
import { findAccessibilityProblems } from './console.ts';

useChromium();

const password = 'a cellar full of wheels';
const wide = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };
const folder = new URL('../../examples/browser-shop/', import.meta.url);
const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Serves the files of the page, with the policy of docs/storefront.md. `configure` is what an owner writes to config.js. */
async function openFileServer(t: Scope) {
  let config = '';
  let policy = '';
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const name = path === '/' ? 'index.html' : (path ?? '').slice(1);
    const text = name === 'config.js' ? config : await readFile(new URL(name, folder)).catch(() => null);
    if (text === null) {
      response.writeHead(404).end();
      return;
    }
    const type = mediaTypes[extname(name)] ?? '';
    response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    configure(values: { url: string; publishableKey: string; storage: string }) {
      const { url } = values;
      config = Object.entries(values)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join('\n');
      policy = `default-src 'none'; script-src 'self' ${url}; style-src 'self'; connect-src ${url}; img-src ${url} data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
    },
  };
}

/** A Curd server with three cheeses, which takes requests of this page alone. */
async function openStage(t: Scope) {
  const files = await openFileServer(t);
  const server = await openListeningShop(t, {
    settings: { CURD_CORS_ORIGINS: files.origin, CURD_MAIL: 'off' },
  });
  const curd = new Curd({ baseUrl: server.url, apiKey: server.admin });
  const brie = await curd.cheeses.create({
    name: 'Brie',
    category: { name: 'Soft' },
    tags: [{ name: 'cow' }],
    pricePerKg: 25,
    origin: 'France',
  });
  await curd.cheeses.patch(brie.id, { pricePerKg: 20 });
  for (const [format, caption] of [
    ['png', 'A whole wheel'],
    ['jpeg', 'Cut open'],
  ] as const) {
    await curd.cheeses.uploadImage(brie.id, new Blob([new Uint8Array(await imageIn(format))]), { caption });
  }
  await curd.stock.replace(brie.id, { onHand: 4 });
  const hard = { category: { name: 'Hard' }, tags: [{ name: 'cow' }], origin: 'Switzerland' };
  await curd.cheeses.create({ ...hard, name: 'Gruyère', pricePerKg: 32.5, ageMonths: 9 });
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
  const publishableKey = await server.createKey({
    kind: 'publishable',
    scopes: ['write:orders'],
    origins: [files.origin],
  });
  const configure = (url: string, storage: 'memory' | 'session') =>
    files.configure({ url, publishableKey, storage });
  configure(server.url, 'memory');
  return { ...files, configure, server, curd, brie };
}

const storedIn = (page: Page) =>
  page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

async function logIn(page: Page): Promise<void> {
  const form = page.locator('#login');
  await form.getByLabel('Username').fill('ada');
  await form.getByLabel('Password').fill(password);
  await form.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'ada', exact: true }).waitFor();
}

async function fillAddress(page: Page): Promise<void> {
  await page.getByLabel('Recipient').fill('Bo Keller');
  await page.getByLabel('Street and number').fill(bern.street);
  await page.getByLabel('Postal code').fill('3011');
  await page.getByRole('textbox', { name: 'City' }).fill(bern.city);
  await page.getByRole('combobox', { name: 'Country' }).selectOption({ label: 'Austria' });
}

test('examples/browser-shop sells from the first search to the delivered order, on a phone, by keyboard, light and dark', async (t) => {
  const opened = await openPage(t, { viewport: wide, locale: 'en-US' });
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  const { origin, curd, brie } = await openStage(t);
  const names = page.locator('#cheeses h2');
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  // The policy of the page permits no eval, which waitForFunction needs.
  const shows = (condition: string) =>
    until(async () => (await page.evaluate(condition)) === true, condition);
  const see = async (name: string) => {
    for (const [size, viewport, colorScheme] of [
      ['wide', wide, 'light'],
      ['phone', phone, 'light'],
      ['dark', phone, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await screenshot(page, `browser-shop-${name}-${size}`);
      assert.deepEqual(await findAccessibilityProblems(page), [], `${name} ${size}`);
      assert.equal(await measureWidth(page), viewport.width, name);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(wide);
  };

  await page.goto(origin);
  await page.getByText('3 cheeses', { exact: true }).waitFor();
  await shows('document.querySelector("#cheeses img")?.naturalWidth > 0');
  await see('list');
  await page.getByLabel('Category').selectOption({ label: 'Soft (2)' });
  await page.getByText('2 cheeses', { exact: true }).waitFor();
  await page.getByLabel('To', { exact: true }).fill('15');
  await page.getByText('1 cheese', { exact: true }).waitFor();
  assert.deepEqual(await names.allInnerTexts(), ['Feta']);
  await button('Clear all filters').click();
  await page.getByText('3 cheeses', { exact: true }).waitFor();
  await page.getByLabel('Sort by').selectOption('-pricePerKg');
  await shows('document.querySelector("#cheeses h2").textContent === "Gruyère"');
  await page.getByLabel(/^cow/).check();
  await page.getByText('2 cheeses', { exact: true }).waitFor();
  await page.getByLabel('Search').fill('bri');
  await page.getByText('1 cheese', { exact: true }).waitFor();

  // By keyboard alone: from the search to the basket.
  await page.getByLabel('Search').focus();
  const pressUntil = (key: string, condition: string) =>
    until(async () => {
      await page.keyboard.press(key);
      return (await page.evaluate(condition)) === true;
    }, condition);
  await pressUntil('Tab', 'document.activeElement.textContent === "Brie"');
  await page.keyboard.press('Enter');
  await shows('document.activeElement.matches("#cheese h1") && document.title.startsWith("Brie")');
  await page.getByText('20% off').waitFor();
  await page.getByText('Lowest price of the 30 days before: $25.00').waitFor();
  await page.getByText('Only 4 kg left').waitFor();
  await page.getByText('A whole wheel').waitFor();
  await shows('document.querySelector("#cheese figure img")?.naturalWidth > 0');
  await see('cheese');
  await button('Cut open').click();
  await page.locator('figcaption').getByText('Cut open').waitFor();
  await page.getByLabel('Kilograms').focus();
  await page.keyboard.press('Enter');
  await page.getByText('1 kg of Brie added to your basket.').waitFor();
  await pressUntil('Shift+Tab', 'document.activeElement.id === "to-basket"');
  await page.keyboard.press('Enter');
  await link('Log in or register').waitFor();
  await page.getByText(/^Total: \$\d+\.00\. Log in or register to order\.$/).waitFor();
  await page.getByText(/ per kg, together \$\d+\.00$/).waitFor();
  assert.ok(await button('Place the order').isDisabled());
  await page.getByLabel(/^Parcel, \$6\.90: leaves us on \w+, with you on \w+$/).check();
  await page.getByLabel('Discount code').fill('Spring');
  await page.getByLabel('Discount code').blur();
  await page.getByText('Cheese $20.00 · SPRING -$2.00 · Parcel $6.90').waitFor();
  await page.getByText('Total: $24.90').waitFor();

  await link('Log in or register').click();
  await page.getByText('Forgot your password?').click();
  await page.getByLabel('E-mail address of the account').fill('ada@example.com');
  await button('Send the link').click();
  await page.locator('#forgotten .problem').getByText(/mail/).waitFor();
  const form = page.locator('#register');
  await form.getByLabel('First name').fill('Ada');
  await form.getByLabel('Last name').fill('Keller');
  await form.getByLabel('Choose a username').fill('ada');
  await form.getByLabel('E-mail address').fill('nobody');
  await see('account');
  await form.getByLabel('E-mail address').fill('ada@example.com');
  await form.getByLabel('Choose a password').fill(password);
  await button('Register').click();
  await link('ada').waitFor();
  assert.match(await page.locator('#notice').innerText(), /^Welcome, ada/);

  await fillAddress(page);
  await page.getByLabel('Kilograms of Brie').fill('9');
  await page.getByLabel('Kilograms of Brie').blur();
  await page.getByText('Brie: ', { exact: false }).filter({ hasText: '4 kg' }).waitFor();
  await see('basket');
  await page.getByLabel('Kilograms of Brie').fill('2');
  await page.getByLabel('Kilograms of Brie').blur();
  await page.getByText('Total: $42.90').waitFor();
  assert.equal((await curd.stock.get(brie.id)).reserved, 0, 'a quote reserves nothing');
  await button('Place the order').click();
  await page.getByText(/^Thank you! Your order \d+ is placed/).waitFor();
  const [order] = (await curd.orders.list()).items;
  const id = order?.id ?? 0;
  const { username, firstName, lastName } = (await curd.orders.getCustomer(id)) ?? {};
  assert.deepEqual([username, firstName, lastName], ['ada', 'Ada', 'Keller']);
  assert.equal(order?.shippingAddress.country, 'AT');
  assert.ok(!/[\w-]{30,}/.test(await storedIn(page)), 'no token, no open order');

  await curd.orders.approve(id);
  await page.getByText('Your order is being packed.').waitFor();
  await curd.orders.ship(id, { carrier: 'Swiss Post', trackingNumber: '99.1234' });
  await page.getByText('Your order is on its way.').waitFor();
  await page.getByText(/Swiss Post, 99\.1234$/).waitFor();
  await curd.orders.deliver(id);
  await page.getByText('Your order has arrived.').waitFor();
  assert.deepEqual(await page.locator('#timeline li').count(), 4);
  await page.getByText(/^To: Bo Keller, .* Bern, Austria$/).waitFor();
  await see('order');

  await link('Rind cheese by post').click();
  await button('Clear all filters').click();
  // The list is read again: a click before would meet a link that is replaced.
  await until(async () => (await names.count()) > 1, 'all cheeses');
  await link('Feta').click();
  await page.getByLabel('Piece', { exact: true }).selectOption({ label: 'Block, 200 g, $3.00' });
  await page.getByLabel('Pieces', { exact: true }).fill('3');
  await see('pieces');
  await button('Add to the basket').click();
  await page.getByText('3 × 200 g (Block) of Feta added to your basket.').waitFor();
  await link('Basket (0.6 kg)').click();
  await page.getByText('$3.00 for 200 g, together $9.00').waitFor();
  // The form keeps the delivery and the code: 9.00 less 0.90, and 6.90.
  await page.getByText('Total: $15.00').waitFor();
  await button('Place the order').click();
  await button('Cancel this order').click();
  await page.getByText('Your order was cancelled.').waitFor();
  await link('Orders').click();
  await page.getByText(/cancelled: 3 × 200 g \(Block\) Feta$/).waitFor();
  await see('orders');
  await link('ada').click();
  await button('Log out').click();
  await link('Log in').waitFor();
  assert.ok(!(await storedIn(page)).includes(bern.street));
  assert.deepEqual(complaints, []);
});

test('A double click, a lost connection and a reload while an order is placed make one order', async (t) => {
  const opened = await openPage(t, { viewport: phone, locale: 'en-US' });
  if (opened === null) {
    return;
  }
  const { page } = opened;
  const { origin, configure, server, curd } = await openStage(t);
  await curd.customers.register({ username: 'ada', email: 'ada@example.com', password });
  let isLost = false;
  let endsWithReload = false;
  const isPlacement = ({ method, url }: { method?: string | undefined; url?: string | undefined }) =>
    method === 'POST' && url === '/v2/store/order';
  const proxy = await openProxy(t, server.url, (_, request) => {
    // A page reads the list when it is loaded.
    isLost &&= !(endsWithReload && request.url?.startsWith('/v2/cheeses?'));
    return { loseResponse: isLost && isPlacement(request) && request.headers['dry-run'] === undefined };
  });
  const countOrders = async () => (await curd.customers.listOrders('ada')).total;
  const fillBasket = async () => {
    await page.goto(`${origin}/#/cheese/3`);
    await page.getByRole('button', { name: 'Add to the basket' }).click();
    await page.goto(`${origin}/#/basket`);
    await fillAddress(page);
    await page.getByText('Total: $15.00').waitFor();
  };
  const place = page.getByRole('button', { name: 'Place the order' });
  const thanks = page.getByText(/^Thank you! Your order \d+ is placed/);

  configure(proxy.url, 'memory');
  await page.goto(`${origin}/#/account`);
  await logIn(page);
  assert.ok(!/[\w-]{30,}/.test(await storedIn(page)), 'no token');
  await fillBasket();
  await place.dblclick();
  await thanks.waitFor();
  assert.equal(await countOrders(), 1);

  await fillBasket();
  isLost = true;
  await place.click();
  await until(async () => (await countOrders()) === 2);
  await page.reload();
  await page.getByRole('link', { name: 'Log in', exact: true }).click();
  await logIn(page);
  await page.getByText('Was your order placed?').waitFor();
  // All attempts are lost.
  await page.locator('#unconfirmed').getByText('The shop cannot be reached').waitFor();
  await screenshot(page, 'browser-shop-unconfirmed');
  assert.deepEqual(await findAccessibilityProblems(page), []);
  isLost = false;
  await page.getByRole('button', { name: 'Ask again' }).click();
  await thanks.waitFor();
  assert.equal(await countOrders(), 2);
  assert.ok(!(await storedIn(page)).includes(bern.street), 'the order is confirmed, and forgotten');

  // With storage "session", the login survives the reload, and the page asks by itself.
  configure(proxy.url, 'session');
  await page.goto(`${origin}/?#/account`);
  await logIn(page);
  assert.match(await storedIn(page), /token/);
  await fillBasket();
  isLost = true;
  endsWithReload = true;
  await place.click();
  await until(async () => (await countOrders()) === 3);
  await page.reload();
  await thanks.waitFor();
  assert.equal(await countOrders(), 3);
});
