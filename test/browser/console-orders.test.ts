/** The orders in the console, by keyboard. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite } from 'node:test';
import { bern, testClock, until } from '../context.ts';
import { consoleTests, findAccessibilityProblems, type OpenConsole } from './console.ts';

const dayMs = 86_400_000;

/** Approves at once, so that a test begins with the status that it needs. */
async function placeOrders({ shop }: OpenConsole, count: number, { price = 20, approve = false, notes = '' } = {}) {
  const cheese = await shop.request('POST', '/v2/cheeses', {
    as: shop.admin,
    body: { name: `Tomme ${price}`, photoUrls: [], status: 'available', ...(price === 0 ? {} : { price }) },
  });
  assert.equal(cheese.status, 201, cheese.text);
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const placed = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: {
        items: [{ cheeseId: cheese.json.id, quantity: 1 + (index % 5) }],
        shippingAddress: bern,
        ...(notes === '' ? {} : { notes }),
      },
    });
    assert.equal(placed.status, 201, placed.text);
    ids.push(placed.json.id);
    if (approve) {
      await shop.request('POST', `/v2/store/order/${placed.json.id}/approve`, { as: shop.admin });
    }
  }
  return ids;
}

const card = ({ page }: OpenConsole, column: string, id: number) =>
  page.locator(`section[aria-label="${column}"] [data-order="${id}"]`);

suite('the board', () => {
  const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '3600' } });

  inConsole('shows new orders by itself, and moves them by keys', async (opened) => {
    const { page, shop, goTo, complaints } = opened;
    await goTo('/orders');
    await page.getByText('No placed orders').waitFor();
    const ids = await placeOrders(opened, 10);
    for (const id of ids) {
      await card(opened, 'placed', id).waitFor();
    }
    const column = async (name: string) =>
      Number(await page.getByRole('status', { name: `${name} orders` }).textContent());
    assert.equal(await column('placed'), 10);
    await page.keyboard.press('j');
    for (const [key, next] of [
      ['a', 'approved'],
      ['s', 'shipped'],
      ['d', 'delivered'],
    ] as const) {
      for (const id of ids.slice(0, key === 'a' ? 10 : 9)) {
        await page.keyboard.press(key);
        await card(opened, next, id).waitFor();
      }
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('j');
      for (let step = 0; step < 10; step += 1) {
        await page.keyboard.press('k');
      }
      // The last one is cancelled by another client, while the page still shows it as approved.
      if (key === 'a') {
        const [last = 0] = ids.slice(-1);
        await page.route('**/v2/store/orders?*', (route) => route.abort());
        await shop.request('DELETE', `/v2/store/order/${last}`, { as: shop.admin });
        for (let step = 0; step < 9; step += 1) {
          await page.keyboard.press('j');
        }
        await page.keyboard.press('s');
        await page.getByText('The order is cancelled').waitFor();
        await page.unroute('**/v2/store/orders?*');
        complaints.splice(0);
        await page.keyboard.press('ArrowLeft');
        for (let step = 0; step < 10; step += 1) {
          await page.keyboard.press('k');
        }
      }
    }
    assert.deepEqual(await findAccessibilityProblems(page), []);
    const { json } = await shop.request('GET', '/v2/store/orders?status=delivered&limit=50', { as: shop.admin });
    assert.equal(json.total, 9);
  });
});
