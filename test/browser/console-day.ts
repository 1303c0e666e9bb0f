/**
 * A day of an operator in the console, by mouse and keyboard alone, on a new demo shop of a real server process:
 *
 *     node test/browser/console-day.ts [--file cheeses.csv] [--screenshots folder]
 *
 * It prints how long each part took, and fails if the browser complains. It is run by hand: the tests of the screens check
 * the same things faster. A file needs columns whose names are guessed, or those of the Canadian Cheese Directory.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { chromium as playwright } from 'playwright-core';
import { until } from '../context.ts';
import { writeCheeseFile } from './cheese-file.ts';
import { viewports } from './console.ts';
import { unpackBrowser } from './installed-browser.ts';

const { values: options } = parseArgs({
  options: { file: { type: 'string' }, screenshots: { type: 'string' } },
});
const curd = fileURLToPath(new URL('../../bin/curd.js', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'curd-day-'));
const environment = {
  ...process.env,
  CURD_DATA_DIR: join(folder, 'data'),
  CURD_PORT: '0',
  CURD_LOG_LEVEL: 'warn',
  // Orders wait for the operator.
  CURD_APPROVAL_DELAY: '1h',
};
const file = options.file ?? (await writeCheeseFile(folder, 200, { name: 'Name' }));

let isReceiverBroken = true;
const received: string[] = [];
const receiver = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    if (!isReceiverBroken) {
      received.push(JSON.parse(text).id);
    }
    response.writeHead(isReceiverBroken ? 500 : 204).end(isReceiverBroken ? 'out of order' : '');
  });
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
const receiverUrl = `http://localhost:${(receiver.address() as AddressInfo).port}/events`;

const server = spawn(process.execPath, [curd, 'serve', '--json'], {
  env: environment,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(server.stdout, 'data');
const { url, console: link } = JSON.parse(String(line)) as { url: string; console: string };

const browser = await playwright.launch({
  executablePath: await unpackBrowser(folder),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const page = await (await browser.newContext({ locale: 'en-US', viewport: viewports.wide })).newPage();
const complaints: string[] = [];
page.on('console', (message) => complaints.push(message.text()));
page.on('pageerror', (error) => complaints.push(error.message));
page.setDefaultTimeout(20_000);

let steps = 0;

/** Runs a part of the day, and saves what the screen shows after it. */
async function step(name: string, run: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  steps += 1;
  const path = (ending: string) =>
    join(options.screenshots ?? '', `${String(steps).padStart(2, '0')} ${name}${ending}.png`);
  try {
    await run();
  } catch (error) {
    if (options.screenshots !== undefined) {
      await page.screenshot({ path: path(' FAILED') });
    }
    throw error;
  }
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${name}`);
  if (options.screenshots !== undefined) {
    await page.screenshot({ path: path('') });
  }
}

/** What the shop's other clients send. */
async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v2${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, 201, text);
  return JSON.parse(text);
}

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
const dialog = page.getByRole('dialog');
const navigation = page.getByRole('navigation', { name: 'Screens' });
const openScreen = (name: string) => navigation.first().getByRole('link', { name, exact: true }).click();
const card = (column: string, id: number) =>
  page.locator(`section[aria-label="${column}"] [data-order="${id}"]`);
const tick = (text: string) => page.getByRole('region', { name: 'First steps' }).getByText(text);

let key = '';
let cheese = { id: 0, name: '' };

async function placeOrder(quantity: number, headers: Record<string, string> = {}): Promise<number> {
  const { id } = await send(
    '/store/order',
    {
      items: [{ cheeseId: cheese.id, quantity }],
      shippingAddress: { street: 'Gerechtigkeitsgasse 1', city: 'Bern', zipCode: '3011', country: 'CH' },
    },
    { 'X-API-Key': key, ...headers },
  );
  return id;
}

if (options.screenshots !== undefined) {
  await mkdir(options.screenshots, { recursive: true });
}
try {
  await step('The printed link opens Home with the first steps', async () => {
    await page.goto(link);
    await tick('of 5 done').waitFor();
    assert.ok(!page.url().includes('#'));
  });

  await step('A key for the web shop is created, and its secret is shown once', async () => {
    await openScreen('Access');
    await page.getByRole('link', { name: 'local', exact: true }).click();
    await button('New key').click();
    await dialog.getByRole('textbox', { name: 'Name' }).pressSequentially('web shop');
    await dialog.getByLabel('Place and cancel orders for customers').check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    key = (await page.getByTestId('secret').textContent()) ?? '';
  });

  await step('A file of cheeses is previewed', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button('Choose a file').click()]);
    await chooser.setFiles(file);
    await page.getByRole('status', { name: 'Counts' }).waitFor();
    await button(/^Import \d/)
      .and(page.locator(':enabled'))
      .waitFor();
  });

  await step('The file is imported', async () => {
    await button(/^Import \d/).click();
    await page.getByText('is imported').waitFor();
  });

  await step('A price is edited in the row', async () => {
    await openScreen('Cheeses');
    await button('No price')
      .or(button(/^No price \d/))
      .first()
      .waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('beaufort');
    await page.getByText('1 cheese', { exact: true }).waitFor();
    await button(/^Price of Beaufort/).click();
    await page.keyboard.type('41.5');
    await page.keyboard.press('Enter');
    await button('Price of Beaufort: $41.50').waitFor();
    await page.getByRole('link', { name: 'Beaufort' }).click();
    await page.getByText('to $41.50').waitFor();
    cheese = { id: Number(/\d+$/.exec(page.url())?.[0]), name: 'Beaufort' };
  });

  await step('An image is uploaded', async () => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button('Choose images').click()]);
    await chooser.setFiles(fileURLToPath(new URL('../../src/app/demo/images/hard.webp', import.meta.url)));
    await page.getByLabel(/^Caption of/).fill('A wheel that was cut open');
    await button('Upload 1 image').click();
    await page.getByText('A wheel that was cut open').first().waitFor();
  });

  await step('Its stock is tracked', async () => {
    await button('Begin tracking').first().click();
    await dialog.getByRole('textbox', { name: 'On hand' }).fill('40');
    await dialog.getByRole('textbox', { name: 'Low at' }).fill('30');
    await dialog.getByRole('button', { name: 'Begin tracking' }).click();
    await page.getByText('40 kg').first().waitFor();
  });

  await step('A webhook is created', async () => {
    await openScreen('Webhooks');
    await button('New webhook').click();
    await dialog.getByLabel('URL').pressSequentially(receiverUrl);
    await dialog.getByLabel('Some types').check();
    await dialog.getByLabel('order.*').check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByTestId('secret').waitFor();
  });

  let order = 0;
  await step('An order from outside appears on the board', async () => {
    await openScreen('Orders');
    await page.getByRole('status', { name: 'placed orders' }).waitFor();
    const startedAt = performance.now();
    order = await placeOrder(12);
    await card('placed', order).waitFor();
    console.log(`        ${Math.round(performance.now() - startedAt)} ms from the request to the card`);
  });

  await step('It is approved, shipped and delivered by keys', async () => {
    await card('placed', order).getByRole('link').focus();
    await page.keyboard.press('a');
    await card('approved', order).getByRole('link').focus();
    await page.keyboard.press('s');
    await card('approved', order).getByText('will be shipped').waitFor();
    await card('approved', order).getByRole('link').focus();
    // Ships it at once.
    await page.keyboard.press('d');
    await card('delivered', order).waitFor();
  });

  await step('A customer registers, orders, and is found by the last name', async () => {
    const body = { username: 'emile', email: 'emile@example.com', password: 'a long secret of Émile' };
    await send('/customer', { ...body, firstName: 'Émile', lastName: 'Brûlé' });
    const login = await fetch(`${url}/v2/customer/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: body.username, password: body.password }),
    });
    const { token } = (await login.json()) as { token: string };
    await placeOrder(2, { Authorization: `Bearer ${token}` });
    await openScreen('Customers');
    await page.getByLabel('Search', { exact: true }).click();
    await page.keyboard.type('brul');
    await page.getByRole('link', { name: 'emile' }).click();
    await page.getByRole('heading', { level: 1, name: 'Émile Brûlé' }).waitFor();
    await page.getByText('$83.00').first().waitFor();
  });

  await step('The receiver of the webhook is broken, which Home says', async () => {
    await openScreen('Home');
    await page
      .getByText(/webhook.*fail|fail.*webhook|failed deliver/i)
      .first()
      .waitFor();
  });

  await step('A failed delivery shows its attempts', async () => {
    await openScreen('Webhooks');
    await page.getByRole('link', { name: receiverUrl }).click();
    await button('order.placed').last().click();
    await dialog.getByText('the response has status 500').first().waitFor();
  });

  await step('The receiver is repaired, and the delivery is sent again', async () => {
    isReceiverBroken = false;
    await dialog.getByRole('button', { name: 'Resend' }).click();
    await until(async () => received.length > 0);
    await dialog.getByText('delivered').first().waitFor();
    await page.keyboard.press('Escape');
  });

  await step('The events of the day are replayed', async () => {
    await button('Replay').click();
    await dialog.getByLabel('Since').fill('2020-01-01T00:00:00');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/deliveries were queued/).waitFor();
    await until(async () => new Set(received).size >= 5);
    await page.getByText('enabled', { exact: true }).waitFor();
  });

  await step('The palette opens an order by its number', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(String(order));
    await page.getByRole('dialog').getByText(`Order ${order}`).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: `Order ${order}` }).waitFor();
  });

  await step('On a phone, an order is approved', async () => {
    await page.setViewportSize(viewports.phone);
    await navigation.last().getByRole('link', { name: 'Orders' }).click();
    await card('placed', order + 1).waitFor();
    await button(`Approve order ${order + 1}`).click();
    await card('placed', order + 1).waitFor({ state: 'detached' });
  });

  await step('On a phone, it is shipped', async () => {
    await page
      .getByText(/^approved \d/)
      .first()
      .click();
    await button(`Ship order ${order + 1}`).click();
    await card('approved', order + 1).waitFor({ state: 'detached' });
  });

  await step('A backup is the last of the first steps', async () => {
    await page.setViewportSize(viewports.wide);
    await promisify(execFile)(process.execPath, [curd, 'backup', join(folder, 'shop.tar')], {
      env: environment,
    });
    await openScreen('Home');
    await page.reload();
    await page.getByRole('region', { name: 'Today' }).waitFor();
    await until(async () => (await tick('of 5 done').count()) === 0);
  });

  await step('The operator signs out', async () => {
    await button('Sign out').click();
    await page.getByText('npx curd console').waitFor();
    await page.goto(link);
    await page.getByRole('alert').waitFor();
  });
  assert.deepEqual(
    complaints.filter((text) => !text.includes('status of 4')),
    [],
  );
} finally {
  await browser.close();
  server.kill('SIGTERM');
  receiver.close();
  receiver.closeAllConnections();
  await once(server, 'exit');
  await rm(folder, { recursive: true, force: true });
}
