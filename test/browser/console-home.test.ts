/** Home of the console: first steps, figures, what needs attention, and what happens. */
import assert from 'node:assert/strict';
import { consoleTests, findAccessibilityProblems } from './console.ts';

const inConsole = consoleTests();

inConsole(
  'The home screen of the console ticks the first steps, and counts an order without a reload',
  async ({ shop, page, goTo }) => {
    await goTo('/');
    const steps = page.getByRole('region', { name: 'First steps' });
    const figure = (name: string) =>
      page.getByRole('region', { name: 'Today' }).getByText(name).locator('..');
    // The shop of the tests begins with API keys, and without cheeses and orders.
    await steps.getByText('1 of 5 done').waitFor();
    await page.getByText('No orders in these days.').waitFor();
    await page.getByText('No orders in 30 days').waitFor();

    const key = await shop.createKey({ scopes: ['write:cheeses', 'write:orders'] });
    const add = async (name: string, pricePerKg?: number): Promise<number> =>
      (
        await shop.request('POST', '/v2/cheeses', {
          as: key,
          body: { name, status: 'available', pricePerKg },
        })
      ).json.id;
    const [priced, unpriced] = [await add('Comté', 20), await add('Brie')];
    await steps.getByText('2 of 5 done').waitFor();
    await steps.getByText(`"cheeseId":${priced},`).waitFor();
    const shippingAddress = { street: 'Gasse 1', city: 'Bern', state: 'BE', zipCode: '3011', country: 'CH' };
    for (const cheeseId of [priced, unpriced]) {
      const body = { items: [{ cheeseId, quantity: 3 }], shippingAddress };
      assert.equal((await shop.request('POST', '/v2/store/order', { as: key, body })).status, 201);
    }
    await shop.app.statistics.counter.run();
    await steps.getByText('3 of 5 done').waitFor();
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('1 order without a price waits for approval').waitFor();
    await page.getByRole('region', { name: 'Live' }).getByRole('link', { name: 'order 1' }).first().waitFor();
    await page
      .getByRole('region', { name: 'Live' })
      .getByRole('link', { name: /^cheese [A-Z]/ })
      .first()
      .waitFor();
    await figure('Placed today').getByText('2', { exact: true }).waitFor();
    await figure('Value today').getByText('$60.00').waitFor();
    await figure('To approve').getByText('1', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Best sellers of 7 days' }).getByText('Comté').waitFor();
    await page.getByText('2 orders, $60.00 in 30 days').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    const { id: cancelled } = (
      await shop.request('POST', '/v2/store/order', {
        as: key,
        body: { items: [{ cheeseId: priced, quantity: 1 }], shippingAddress },
      })
    ).json;
    assert.equal(
      (await shop.request('DELETE', `/v2/store/order/${cancelled}`, { as: shop.admin })).status,
      204,
    );
    await shop.app.statistics.counter.run();
    await page.getByRole('row', { name: new RegExp(`order ${cancelled} cancelled`) }).waitFor();
    // Sales leaves it out too.
    await page.getByText('2 orders, $60.00 in 30 days').waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('row', { name: /2 orders \$60\.00$/ }).waitFor();

    await page.getByRole('button', { name: 'Chart' }).click();
    // A panel for each measure, with an axis that is not cut.
    for (const text of ['Orders by day', 'Value by day, US dollars']) {
      await page.getByText(text).waitFor();
    }
    assert.equal(await page.locator('.uplot').count(), 2);
    await page.getByText('90 days', { exact: true }).click();
    await page.getByText('2 orders, $60.00 in 90 days').waitFor();
    assert.match(page.url(), /\?days=90$/);

    await steps.getByRole('button', { name: 'Dismiss' }).click();
    await steps.waitFor({ state: 'detached' });
    assert.deepEqual(await page.evaluate('Object.keys(localStorage)'), ['curd.console.checklist']);
  },
);
