/** The command palette of the console. */
import assert from 'node:assert/strict';
import { consoleTests } from './console.ts';

const inConsole = consoleTests();

inConsole(
  'The palette of the console opens an order by id, a cheese by a word without accents and a customer by e-mail, and runs an action',
  async ({ shop, page, goTo }) => {
    const write = { as: shop.admin };
    const cheese = await shop.request('POST', '/v2/cheeses', {
      ...write,
      body: { name: 'Vieux Gruyère', pricePerKg: 30 },
    });
    const order = await shop.request('POST', '/v2/store/order', {
      ...write,
      body: {
        items: [{ cheeseId: cheese.json.id, quantity: 1 }],
        shippingAddress: { street: 'Kramgasse 1', city: 'Bern', country: 'CH' },
      },
    });
    const customer = await shop.request('POST', '/v2/customer', {
      ...write,
      body: { username: 'zoe', email: 'zoe@fromage.example', password: 'correct horse battery' },
    });
    await goTo('/events');
    for (const [text, option, path] of [
      [String(order.json.id), `Order ${order.json.id}`, `/orders/${order.json.id}`],
      ['gruyere', 'Vieux Gruyère', `/cheeses/${cheese.json.id}`],
      ['zoe@fromage', 'zoe', `/customers/${customer.json.id}`],
      ['new che', 'New cheese', '/cheeses/new'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('A screen, an action').fill(text);
      await page.getByRole('button', { name: option }).first().waitFor();
      // What Enter chooses is highlighted.
      await page.locator('[data-action][data-selected]', { hasText: option }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/console${path}`);
      // It closes with a transition, and then forgets the text.
      await page.getByPlaceholder('A screen, an action').waitFor({ state: 'detached' });
    }
    await goTo('/events');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('A screen, an action').fill(String(cheese.json.id));
    await page.getByRole('button', { name: 'Vieux Gruyère' }).first().click();
    await page.waitForURL(`**/console/cheeses/${cheese.json.id}`);
  },
);

inConsole(
  'The palette of the console shows five cheeses, and opens the list where more match',
  async ({ shop, page, goTo }) => {
    const bries = 'ABCDEF'.split('').map((letter) => ({ name: `Brie ${letter}` }));
    for (const body of bries) {
      await shop.request('POST', '/v2/cheeses', { as: shop.admin, body });
    }
    await goTo('/events');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('A screen, an action').fill('brie');
    const all = page.getByRole('button', { name: 'All cheeses with "brie"' });
    await all.waitFor();
    assert.equal(await page.getByRole('button', { name: /^Brie / }).count(), 5);
    await all.click();
    await page.waitForURL('**/console/cheeses?q=brie');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('A screen, an action').fill('brie f');
    await page.getByRole('button', { name: 'Brie F Cheese' }).waitFor();
    assert.equal(await all.count(), 0);
    await page.keyboard.press('Escape');
  },
);
