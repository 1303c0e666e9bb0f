/** The orders in the console, by keyboard. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite } from 'node:test';
import { bern, testClock, until } from '../context.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { measure, measureBox, measureWidth } from './chromium.ts';
import {
  consoleLink,
  consoleTests,
  findAccessibilityProblems,
  type OpenConsole,
  viewports,
} from './console.ts';

const dayMs = 86_400_000;

/** Places orders of a new cheese, of one to five kilograms. */
async function placeSome(
  { shop }: OpenConsole,
  count: number,
  {
    pricePerKg = 20,
    ...options
  }: Parameters<typeof newOrder>[2] & { readonly pricePerKg?: number | null } = {},
) {
  const cheese = await newCheese(shop, { pricePerKg });
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await newOrder(shop, [[cheese, 1 + (index % 5)]], options));
  }
  return ids;
}

const card = ({ page }: OpenConsole, column: string, id: number) =>
  page.locator(`section[aria-label="${column}"] [data-order="${id}"]`);

/** Waits until a card is the one that keys act on. */
const isSelected = ({ page }: OpenConsole, id: number) =>
  page.locator(`[data-order="${id}"][data-current]`).waitFor();

/** A key that nobody else places orders with, and its name in the filters. */
async function newActor({ shop }: OpenConsole): Promise<{ readonly key: string; readonly actor: string }> {
  const key = await shop.createKey({ scopes: ['write:orders'] });
  const { json } = await shop.request('GET', '/v2/whoami', { as: key });
  return { key, actor: json.id };
}

/** Lets ten seconds pass in the page, after which what could be undone is sent. */
async function letPass({ page }: OpenConsole): Promise<void> {
  await page.clock.fastForward(10_000);
}

const statusOf = async ({ shop }: OpenConsole, id: number): Promise<string> =>
  (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin })).json.status;

/** The number in the heading of a column. */
async function countOf({ page }: OpenConsole, column: string): Promise<number> {
  return Number(await page.getByRole('status', { name: `${column} orders` }).textContent());
}

suite('orders', () => {
  const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

  inConsole('The board of orders shows new orders by itself, and moves them by keys', async (opened) => {
    const { page, shop, goTo } = opened;
    await page.clock.install();
    await goTo('/orders');
    await page.getByText('No placed orders').waitFor();
    const ids = await placeSome(opened, 4);
    const [last = 0] = ids.slice(-1);
    for (const id of ids) {
      await card(opened, 'placed', id).waitFor();
    }
    assert.equal(await countOf(opened, 'placed'), 4);
    await page.keyboard.press('j');
    for (const id of ids) {
      await isSelected(opened, id);
      await page.keyboard.press('a');
      await card(opened, 'approved', id).waitFor();
    }
    await page.keyboard.press('ArrowRight');
    // Another client cancels the last order just before the request of this page arrives.
    await page.route(`**/order/${last}/ship`, async (route) => {
      await shop.request('DELETE', `/v2/store/order/${last}`, { as: shop.admin });
      await route.continue();
    });
    for (const id of ids) {
      await isSelected(opened, id);
      await page.keyboard.press('s');
      await card(opened, 'approved', id).getByText('will be shipped').waitFor();
    }
    await page.getByRole('alert').getByText(`Order ${last} will be shipped in 10 s.`).waitFor();
    assert.equal(await countOf(opened, 'shipped'), 0);
    await letPass(opened);
    await page.getByRole('alert').getByText('The order is cancelled').waitFor();
    await card(opened, 'cancelled', last).waitFor();
    for (const id of ids.slice(0, -1)) {
      await card(opened, 'shipped', id).waitFor();
    }
    await page.keyboard.press('ArrowRight');
    for (const id of ids.slice(0, -1)) {
      await isSelected(opened, id);
      await page.keyboard.press('d');
      await card(opened, 'delivered', id).waitFor();
    }
    const counts = { placed: 0, approved: 0, shipped: 0, delivered: 3, cancelled: 1 };
    for (const [status, count] of Object.entries(counts)) {
      await until(async () => (await countOf(opened, status)) === count, `${status} is not ${count}`);
    }
    const { json } = await shop.request('GET', '/v2/store/orders?status=delivered', { as: shop.admin });
    assert.equal(json.total, 3);
    assert.deepEqual(await findAccessibilityProblems(page), []);
  });

  inConsole('The board of orders keeps a card selected while others come and go', async (opened) => {
    const { page, shop, goTo } = opened;
    const ids = await placeSome(opened, 3);
    const [first = 0, second = 0, third = 0] = ids;
    await goTo('/orders');
    for (const id of ids) {
      await card(opened, 'placed', id).waitFor();
    }
    await card(opened, 'placed', first).getByRole('link').focus();
    await page.keyboard.press('j');
    await isSelected(opened, second);
    // Another client takes the card above it.
    await shop.request('POST', `/v2/store/order/${first}/approve`, { as: shop.admin });
    await card(opened, 'approved', first).waitFor();
    // The request waits while two more keys are pressed: each acts on what is shown, in its order.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(`**/order/${second}/approve`, async (route) => {
      await released;
      await route.continue();
    });
    await page.keyboard.press('a');
    await card(opened, 'approved', second).waitFor();
    await isSelected(opened, third);
    await card(opened, 'approved', second).getByRole('link').focus();
    await page.keyboard.press('s');
    await card(opened, 'approved', second).getByText('will be shipped').waitFor();
    release();
    await letPass(opened);
    await until(async () => {
      const { json } = await shop.request('GET', `/v2/store/order/${second}`, { as: shop.admin });
      return json.status === 'shipped';
    });
    assert.equal(
      await page
        .getByRole('alert')
        .filter({ hasText: `order ${second}` })
        .count(),
      0,
    );

    // Refused after a key has moved on: the card returns, and the selection stays.
    const refusal = Promise.withResolvers<void>();
    await page.route(`**/order/${third}/approve`, async (route) => {
      await refusal.promise;
      await shop.request('DELETE', `/v2/store/order/${third}`, { as: shop.admin });
      await route.continue();
    });
    await card(opened, 'placed', third).getByRole('link').focus();
    await page.keyboard.press('a');
    await page.locator('[data-current]').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowRight');
    await isSelected(opened, first);
    refusal.resolve();
    await page.getByRole('alert').getByText(`Approve order ${third}`).waitFor();
    await isSelected(opened, first);
    await page.keyboard.press('s');
    await card(opened, 'approved', first).getByText('will be shipped').waitFor();
  });

  inConsole(
    'The board of orders sends a shipped order after ten seconds, in which it can be undone',
    async (opened) => {
      const { page, goTo } = opened;
      const [first = 0, second = 0, third = 0] = await placeSome(opened, 3, { changes: ['approve'] });
      await goTo('/orders');
      await card(opened, 'approved', first).getByRole('link').focus();
      await page.keyboard.press('s');
      const waiting = card(opened, 'approved', first).getByText('will be shipped');
      await waiting.waitFor();
      await page.keyboard.press('u');
      await waiting.waitFor({ state: 'detached' });
      await letPass(opened);
      assert.equal(await statusOf(opened, first), 'approved');

      // On the page of an order, by buttons. The focus moves to the button that takes the place of the other.
      await goTo(`/orders/${second}`);
      const undo = page.locator('main').getByRole('button', { name: 'Undo', exact: true });
      await page.getByRole('button', { name: 'Ship', exact: true }).press('Enter');
      await undo.and(page.locator(':focus')).waitFor();
      await undo.press('Enter');
      await page.getByRole('button', { name: 'Ship', exact: true }).and(page.locator(':focus')).waitFor();
      await letPass(opened);
      assert.equal(await statusOf(opened, second), 'approved');
      await page.keyboard.press('s');
      await undo.waitFor();
      // The next transition shows that it was meant.
      await page.keyboard.press('d');
      await until(async () => (await statusOf(opened, second)) === 'delivered');
      await page.locator('.status', { hasText: 'delivered' }).waitFor();

      // A key that does not apply says so, and asks nothing.
      await page.keyboard.press('x');
      await page
        .getByRole('alert')
        .getByText(`Order ${second} is delivered: cancel is for orders that are placed or approved.`)
        .waitFor();
      await goTo('/orders');
      await card(opened, 'delivered', second).getByRole('link').focus();
      await page.keyboard.press('x');
      await until(async () => (await page.getByText(`Order ${second} is delivered: cancel`).count()) === 2);
      assert.equal(await page.getByRole('dialog').count(), 0);

      // Somebody who signs out does not lose it.
      await card(opened, 'approved', third)
        .getByRole('button', { name: `Ship order ${third}` })
        .click();
      await card(opened, 'approved', third).getByText('will be shipped').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('The console for operators.').waitFor();
      assert.equal(await statusOf(opened, third), 'shipped');
      await page.goto(await consoleLink(opened.shop));
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    },
  );

  inConsole('The board of orders drops a shipping when another session cancels the order', async (opened) => {
    const { page, shop, goTo } = opened;
    const [first = 0, second = 0] = await placeSome(opened, 2, { changes: ['approve'] });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await goTo(`/orders/${first}`);
    await page.getByRole('button', { name: 'Ship', exact: true }).click();
    const main = page.locator('main');
    await main.getByText('will be shipped', { exact: true }).waitFor();
    await main.getByText('approved', { exact: true }).first().waitFor();
    await page.getByRole('alert').getByText(`Order ${first} will be shipped in 10 s.`).waitFor();
    await shop.request('DELETE', `/v2/store/order/${first}`, { as: shop.admin });
    const dropped = page.getByRole('alert').filter({ hasText: `Order ${first} was not shipped` });
    await dropped.getByText('It was cancelled elsewhere.').waitFor();
    await page.getByText(`Order ${first} will be shipped`).waitFor({ state: 'detached' });
    await main.getByText('will be shipped', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Order again' }).waitFor();
    await letPass(opened);
    // The operator cancels instead.
    await goTo(`/orders/${second}`);
    await page.getByRole('button', { name: 'Ship', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByRole('link', { name: 'Order again' }).waitFor();
    await letPass(opened);
    assert.equal(await statusOf(opened, second), 'cancelled');
    assert.ok(!requests.some((url) => url.endsWith('/ship')));
  });

  inConsole('The board of orders asks before it cancels, and cancels by keys alone', async (opened) => {
    const { page, goTo } = opened;
    const [id = 0] = await placeSome(opened, 1);
    await goTo(`/orders/${id}`);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).press('Enter');
    await page.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('x');
    const dialog = page.getByRole('dialog', { name: `Cancel order ${id}` });
    assert.equal(await dialog.getByText('gets a mail').count(), 0);
    await dialog.getByRole('button', { name: 'Cancel the order' }).waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await dialog.getByRole('button', { name: 'Cancel the order' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Timeline' }).getByText('cancelled').waitFor();
    await page.getByRole('link', { name: 'Order again' }).and(page.locator(':focus')).waitFor();
  });

  inConsole(
    'The board of orders ships more selected orders than a page, and names the three that cannot be shipped',
    async (opened) => {
      const { page, shop, goTo } = opened;
      const { key, actor } = await newActor(opened);
      const ids = await placeSome(opened, 51, { changes: ['approve'], more: { notes: '=1+1' }, as: key });
      await goTo(`/orders?view=list&status=approved&placedBy=${actor}`);
      await page.getByText('51 orders').waitFor();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ]);
      const lines = (await readFile(await file.path(), 'utf8')).split('\r\n');
      assert.equal(lines.length, 52);
      assert.ok(lines.slice(1).every((line) => line.endsWith(",'=1+1")));
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByText('50 selected').waitFor();
      // The check box selects what was read. The button and the key select what matches.
      await page.getByRole('button', { name: 'Select all 51' }).press('Enter');
      await page.getByText('51 selected').waitFor();
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await page.getByRole('checkbox', { name: 'Select all' }).uncheck();
      await page.getByText('51 selected').waitFor({ state: 'detached' });
      await page.keyboard.press('A');
      await page.getByText('51 selected').waitFor();
      // The buttons stay in view.
      const toolbar = page.getByRole('toolbar', { name: 'Selected orders' });
      for (const size of [viewports.phone, viewports.wide]) {
        await page.setViewportSize(size);
        await page.evaluate('scrollTo(0, 1000)');
        await until(async () => Number(await page.evaluate('scrollY')) === 1000);
        const { y, height } = await measureBox(toolbar);
        assert.ok(y >= 24 && y < 48 && height < 60, `${y} ${height}`);
      }
      await page.evaluate('scrollTo(0, 0)');
      const refused = ids.slice(0, 3);
      await page.route(/\/order\/\d+\/ship$/, async (route) => {
        const id = Number(/order\/(\d+)/.exec(route.request().url())?.[1]);
        if (refused.includes(id)) {
          await shop.request('DELETE', `/v2/store/order/${id}`, { as: shop.admin });
        }
        await route.continue();
      });
      const bar = page.getByRole('toolbar', { name: 'Selected orders' });
      assert.deepEqual(await bar.getByRole('button').allTextContents(), ['Ship', 'Cancel', 'Clear']);
      await page.keyboard.press('s');
      const dialog = page.getByRole('dialog', { name: 'Ship 51 orders' });
      await dialog.getByRole('button', { name: 'Back' }).click();
      await page.getByText('51 selected').waitFor();
      assert.equal(await statusOf(opened, ids[9] ?? 0), 'approved');
      await bar.getByRole('button', { name: 'Ship', exact: true }).click();
      await dialog.getByRole('button', { name: 'Ship the orders' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await dialog.getByText('48 of 51 done.').waitFor();
      for (const id of refused) {
        await dialog.getByText(`Order ${id}: The order is cancelled`).waitFor();
      }
      await dialog.getByRole('button', { name: 'Close' }).last().click();
      await page.unroute(/\/order\/\d+\/ship$/);
    },
  );

  inConsole(
    'The board of orders prints a packing slip on a page for each order, without prices',
    async (opened) => {
      const { page, goTo } = opened;
      const { key, actor } = await newActor(opened);
      const ids = await placeSome(opened, 7, { changes: ['approve', 'ship'], as: key });
      // The order of a customer has a recipient.
      const names = { firstName: 'Émile', lastName: 'Brûlé' };
      const customer = {
        username: 'emile42',
        email: 'emile@example.com',
        password: 'a good long secret',
        ...names,
      };
      await opened.shop.request('POST', '/v2/customer', { body: customer });
      const { username, password } = customer;
      const login = await opened.shop.request('POST', '/v2/customer/login', { body: { username, password } });
      const placed = await opened.shop.request('POST', '/v2/store/order', {
        as: key,
        headers: { authorization: `Bearer ${login.json.token}` },
        body: { items: [{ cheeseId: 1, quantity: 2 }], shippingAddress: bern },
      });
      assert.equal(placed.status, 201, placed.text);
      await goTo(`/orders?view=list&status=shipped&placedBy=${actor}`);
      await page.getByText('7 orders', { exact: true }).waitFor();
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByText('7 selected').waitFor();
      await page.getByRole('link', { name: 'Packing slips' }).click();
      const slips = page.getByRole('article');
      await page.getByRole('button', { name: 'Print 7' }).and(page.locator(':enabled')).waitFor();
      assert.equal(await slips.count(), 7);
      await page.goBack();
      await page.getByText('7 selected').waitFor();
      await page.goForward();
      await slips.nth(6).getByText('Switzerland').waitFor();
      for (const text of await slips.allInnerTexts()) {
        const weights = [...text.matchAll(/(\d+) kg/g)].map(([, weight]) => Number(weight));
        assert.equal(
          weights.pop(),
          weights.reduce((sum, weight) => sum + weight, 0),
        );
        assert.doesNotMatch(text, /\$|price/i);
      }
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      // On white paper, also for a person who works in dark mode and prints no backgrounds.
      const texts = await measure<string[]>(
        page,
        `[...document.querySelectorAll('.slip *')].map((one) => getComputedStyle(one).color)`,
      );
      assert.deepEqual([...new Set(texts)], ['rgb(0, 0, 0)']);
      assert.equal(
        await measure(page, 'getComputedStyle(document.body).backgroundColor'),
        'rgb(255, 255, 255)',
      );
      const pdf = (await page.pdf()).toString('latin1');
      assert.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 7);
      await page.emulateMedia({ media: null, colorScheme: null });
      await goTo(`/orders/slips?ids=${placed.json.id},${ids[0]}`);
      await slips.first().getByText('Émile Brûlé').waitFor();
      assert.doesNotMatch(await slips.last().innerText(), /Brûlé/);
      await goTo(`/orders/${placed.json.id}`);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').getByText('Émile Brûlé gets a mail.').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    },
  );

  inConsole('The board of orders has one stream for two tabs, which the second continues', async (opened) => {
    const { page, shop, goTo, openTab } = opened;
    const streams = async () => {
      const { text } = await shop.request('GET', '/metrics', { as: shop.admin });
      return Number(/^curd_event_streams_open\S* (\d+)$/m.exec(text)?.[1]);
    };
    await goTo('/orders');
    const tab = await openTab('/orders');
    await tab.getByRole('status', { name: 'Updates: live' }).waitFor();
    assert.equal(await streams(), 1);
    // Closes the stream of the first page, as a closed tab does.
    await page.evaluate('location.href = "about:blank"');
    await until(async () => (await streams()) === 1);
    const [id = 0] = await placeSome(opened, 1);
    await tab.locator(`section[aria-label="placed"] [data-order="${id}"]`).waitFor();
    await tab.close();
  });
});

suite('orders that need attention', () => {
  const clock = testClock(Date.now() - 8 * dayMs);
  const inConsole = consoleTests({ clock, settings: { CURD_APPROVAL_DELAY: '1h' } });

  inConsole('Cards of orders are amber after a day, late, or without a price', async (opened) => {
    const { page, shop } = opened;
    const [overdue = 0] = await placeSome(opened, 1, { changes: ['approve'] });
    const [unpriced = 0] = await placeSome(opened, 1, { pricePerKg: null });
    clock.advance(8 * dayMs);
    const [recent = 0] = await placeSome(opened, 1);
    // The first sign-in has expired.
    await page.goto(await consoleLink(shop, '/orders'));
    await card(opened, 'approved', overdue).getByText('approved 8d ago').waitFor();
    assert.equal(await card(opened, 'approved', overdue).getAttribute('data-urgent'), 'true');
    assert.equal(await card(opened, 'placed', recent).getAttribute('data-urgent'), null);
    await card(opened, 'placed', unpriced).getByText('no price').waitFor();
    await page.getByRole('link', { name: 'Needs approval 1' }).click();
    await page
      .getByRole('table', { name: 'Orders' })
      .getByRole('link', { name: String(unpriced) })
      .waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press(' ');
    await page.keyboard.press('a');
    await page.getByText('1 of 1 done.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('Those of cheeses without a price wait here').waitFor();

    await page.getByRole('tab', { name: 'Late' }).click();
    await page
      .getByRole('table', { name: 'Orders' })
      .getByRole('link', { name: String(overdue) })
      .waitFor();
    const { json } = await shop.request('GET', `/v2/store/order/${unpriced}`, { as: shop.admin });
    assert.equal(json.status, 'approved');
  });
});

suite('the orders on a phone', () => {
  const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

  inConsole(
    'The board of orders on a phone opens at the first column with work, which stays when it is done',
    async (opened) => {
      const { page, shop, goTo } = opened;
      const [id = 0] = await placeSome(opened, 1, { changes: ['approve'] });
      await page.setViewportSize(viewports.phone);
      await goTo('/orders');
      await card(opened, 'approved', id).waitFor();
      assert.equal(await page.getByRole('radio', { name: 'approved 1' }).isChecked(), true);
      assert.equal(await page.locator('.board section').count(), 1);
      await shop.request('POST', `/v2/store/order/${id}/ship`, { as: shop.admin });
      await page.getByText('No approved orders').waitFor();
      assert.equal(await page.getByRole('radio', { name: 'approved 0' }).isChecked(), true);
      assert.equal(await measureWidth(page), viewports.phone.width);
    },
  );
});
