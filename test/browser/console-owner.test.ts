/** What an owner does every day in the console: ships with tracking numbers, notes, and orders by telephone. */
import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { fillDemoCatalogue } from '../../src/app/demo/demo.ts';
import { newCustomer } from '../auth/holders.ts';
import { bern, until } from '../context.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, type OpenConsole, refreshedMs } from './console.ts';

const shipmentOf = async ({ shop }: OpenConsole, id: number) =>
  (await shop.request('GET', `/v2/store/order/${id}/shipment`, { as: shop.admin })).json;

suite('the day of an owner', () => {
  const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

  inConsole('The console ships orders with tracking numbers, one field after the other', async (opened) => {
    const { page, goTo } = opened;
    const cheese = await newCheese(opened.shop, { name: 'Parcel', pricePerKg: 20 });
    const ids = [
      await newOrder(opened.shop, [[cheese, 2]], { changes: ['approve'] }),
      await newOrder(opened.shop, [[cheese, 2]], { changes: ['approve'] }),
    ];
    await goTo(`/orders/ship?ids=${ids.join(',')}`);
    await page.getByLabel('Carrier').fill('Swiss Post');
    await page.getByLabel('Tracking page').fill('https://carrier.example/{number}');
    await page.getByLabel(`Tracking number of order ${ids[0]}`).focus();
    await page.keyboard.type('99.1');
    await page.keyboard.press('Enter');
    // A parcel that is scanned twice is pointed out. The next number takes the place of the second one.
    await page.keyboard.type('99.1');
    await page.keyboard.press('Enter');
    const repeated = page.getByRole('alert').getByText(`The number of order ${ids[0]}, too`);
    await repeated.waitFor();
    await page.keyboard.type('99.1');
    await repeated.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await repeated.waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.keyboard.type('99.2');
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 2 done.').waitFor();
    for (const [index, id] of ids.entries()) {
      const number = `99.${index + 1}`;
      const { carrier, trackingNumber, trackingUrl } = await shipmentOf(opened, id);
      assert.deepEqual(
        [carrier, trackingNumber, trackingUrl],
        ['Swiss Post', number, `https://carrier.example/${number}`],
      );
    }
  });

  inConsole('The console shows and changes the shipment of an order, and its notes', async (opened) => {
    const { page, goTo } = opened;
    const id = await newOrder(
      opened.shop,
      [[await newCheese(opened.shop, { name: 'Noted', pricePerKg: 20 }), 2]],
      {
        changes: ['approve'],
      },
    );
    await page.clock.install();
    await goTo(`/orders/${id}`);
    await page.getByLabel('New note').fill('Called on Monday');
    // Another page does not lose what was typed.
    await goTo('/customers');
    await page.getByLabel('New note').waitFor({ state: 'detached' });
    await goTo(`/orders/${id}`);
    await page.getByLabel('New note').and(page.getByText('Called on Monday')).press('Control+Enter');
    await page.getByText('Called on Monday').and(page.locator('p')).waitFor();
    await page.getByLabel('Tracking page').fill('http://carrier.example');
    await page.keyboard.press('Enter');
    await page.getByText('must be an https URL').first().waitFor();
    await page.getByLabel('Tracking page').fill('https://carrier.example/7');
    await page.getByLabel('Tracking number').fill('7');
    await page.keyboard.press('Enter');
    await page.getByText(`Order ${id} will be shipped in 10 s.`).waitFor();
    await page.clock.fastForward(10_000);
    await page.getByRole('link', { name: /7$/ }).waitFor();
    await page.getByLabel('Tracking number').fill('8');
    await page.keyboard.press('Enter');
    await until(async () => (await shipmentOf(opened, id)).trackingNumber === '8');
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.getByLabel('Delete the note Called on Monday').click();
    await page.getByLabel('Delete the note Called on Monday').waitFor({ state: 'detached' });
  });

  inConsole('The console ships an order with what its page says about the shipment', async (opened) => {
    const { page, goTo } = opened;
    const cheese = await newCheese(opened.shop, { name: 'Typed', pricePerKg: 20 });
    const first = await newOrder(opened.shop, [[cheese, 2]], { changes: ['approve'] });
    const second = await newOrder(opened.shop, [[cheese, 2]], { changes: ['approve'] });
    const main = page.locator('main');
    const undo = main.getByRole('button', { name: 'Undo', exact: true });
    const field = (name: string) => main.getByLabel(name, { exact: true });
    await goTo(`/orders/${first}`);
    // With empty fields, there is one button that ships.
    await field('Carrier').fill('');
    await main.getByRole('button', { name: 'Ship with tracking' }).and(page.locator(':disabled')).waitFor();
    await field('Carrier').fill('Swiss Post');
    await field('Tracking number').fill('99.7');
    await main.getByRole('button', { name: 'Ship', exact: true }).click();
    await undo.click();
    assert.equal(await field('Tracking number').inputValue(), '99.7');
    await main.getByRole('button', { name: 'Ship with tracking' }).click();
    await undo.waitFor();
    // The fields show what will be sent.
    assert.equal(await field('Tracking number').isEditable(), false);
    await page.clock.fastForward(10_000);
    await until(async () => (await shipmentOf(opened, first)).trackingNumber === '99.7');
    assert.equal((await shipmentOf(opened, first)).carrier, 'Swiss Post');

    // Another page keeps what was entered, and the button at the top sends it.
    await goTo(`/orders/${second}`);
    await field('Tracking number').fill('99.8');
    await goTo('/customers');
    await goTo(`/orders/${second}`);
    await until(async () => (await field('Tracking number').inputValue()) === '99.8');
    await main.getByRole('button', { name: 'Ship', exact: true }).click();
    await undo.waitFor();
    await page.clock.fastForward(10_000);
    await until(async () => (await shipmentOf(opened, second)).trackingNumber === '99.8');
  });

  inConsole(
    'The console places an order for a customer who calls, and a cancelled one again',
    async (opened) => {
      const { page, shop, goTo } = opened;
      const ada = await newCustomer(shop, 'ada', 'customer');
      const cheese = await newCheese(opened.shop, { name: 'Telephone cheese', pricePerKg: 20 });
      await goTo(`/orders/new?customer=${ada}`);
      const search = page.getByRole('combobox', { name: 'Add a cheese' });
      await search.and(page.locator(':focus')).waitFor();
      await page.keyboard.type('Telephone');
      await page.getByRole('option', { name: /Telephone cheese/ }).waitFor();
      // Enter chooses the first one, and moves to its kilograms; there it returns to the search.
      await page.keyboard.press('Enter');
      await page.getByLabel('Kilograms of Telephone cheese').and(page.locator(':focus')).waitFor();
      for (const text of ['1.5', '1,5', '0.25', '101']) {
        await page.keyboard.type(text);
        await page.getByText('Whole kilograms, 1 to 100').waitFor();
        await page.keyboard.press('Control+a');
      }
      await page.keyboard.type('3');
      await page.getByText('Whole kilograms').waitFor({ state: 'detached' });
      await page.keyboard.press('Enter');
      await search.and(page.locator(':focus')).waitFor();
      await page.getByLabel('Street').fill(bern.street);
      await page.getByLabel('City').fill(bern.city);
      await page.getByRole('combobox', { name: 'Country' }).fill('switz');
      await page.keyboard.press('Enter');
      await page.getByRole('status', { name: 'Quote' }).getByText('60').waitFor();
      await page.getByText('available').first().waitFor();
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await page.keyboard.press('Control+s');
      await page.getByRole('heading', { name: /^Order \d+$/ }).waitFor();
      const list = () => shop.request('GET', `/v2/store/orders?customerId=${ada}`, { as: shop.admin });
      const [placed] = (await list()).json.items;
      assert.deepEqual([placed.items[0].cheeseId, placed.items[0].quantity], [cheese, 3]);

      await shop.request('DELETE', `/v2/store/order/${placed.id}`, { as: shop.admin });
      await page.getByRole('link', { name: 'Order again' }).click();
      await page.getByRole('status', { name: 'Quote' }).getByText('60').waitFor();
      // A proxy refuses the response of an order that was placed: the second request is for the same one.
      const placing = (url: URL) => url.pathname === '/v2/store/order';
      const keys: (string | undefined)[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST' && placing(new URL(request.url())) && !request.headers()['dry-run']) {
          keys.push(request.headers()['idempotency-key']);
        }
      });
      await page.route(
        placing,
        async (route) => {
          await route.fetch();
          await route.fulfill({ status: 403, contentType: 'text/html', body: 'Refused by the proxy.' });
        },
        { times: 1 },
      );
      await page.getByRole('button', { name: 'Place order' }).click();
      await until(async () => keys.length === 1);
      await page.getByRole('button', { name: 'Place order' }).and(page.locator(':enabled')).click();
      // The page of the new order. It would replace what the next test opens.
      await page.getByRole('heading', { name: /^Order \d+$/ }).waitFor();
      assert.equal((await list()).json.total, 2);
      assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
    },
  );

  inConsole('The console removes the demo cheeses', async (opened) => {
    const { page, shop, goTo } = opened;
    const { cheeses, contextOf } = shop.app;
    await fillDemoCatalogue(cheeses.service, contextOf('test'));
    const own = await cheeses.service.count();
    // What the demo contains is read once, and not after each change of an import.
    const dryRuns: number[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'DELETE') {
        dryRuns.push(response.status());
      }
    });
    await goTo('/import');
    await page.getByRole('button', { name: 'Remove the demo' }).waitFor();
    for (const pricePerKg of [20, 21, 22]) {
      await newCheese(shop, { name: `Imported for ${pricePerKg}`, pricePerKg });
      await page.waitForTimeout(refreshedMs);
    }
    assert.deepEqual(dryRuns, [200]);
    await page.getByRole('button', { name: 'Remove the demo' }).click();
    await page.getByText(/Customers and orders stay, .* seed invented: Reset under Sandbox/).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the demo' }).waitFor({ state: 'detached' });
    assert.ok((await cheeses.service.count()) < own - 40);
  });

  inConsole(
    'The console selects all cheeses that match by a key, also those that were not read yet',
    async (opened) => {
      const { page, shop, goTo } = opened;
      const names = Array.from({ length: 60 }, (_, index) => `Wheel ${index + 100}`);
      await Promise.all(names.map((name) => newCheese(shop, { name, category: { name: 'Wheels' } })));
      await goTo('/cheeses?category=Wheels');
      await page.getByText('Wheel 100').waitFor();
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByText('50 selected').waitFor();
      await page.getByRole('button', { name: 'Select all 60' }).click();
      await page.getByText('60 selected').waitFor();
      await page.getByRole('button', { name: 'Clear selection' }).click();
      await page.keyboard.press('A');
      await page.getByText('60 selected').waitFor();
      await page.getByRole('button', { name: 'Prices, category, tags' }).click();
      await page.getByLabel('Add tags').fill('round');
      await page.keyboard.press('Enter');
      await page.getByText('60 to be changed').waitFor();
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await page.getByRole('button', { name: 'Cancel' }).click();
      // Of other filters, nothing is selected that is not in the list.
      await goTo('/cheeses?q=wheel+100');
      await page.getByText('1 selected').waitFor();
    },
  );

  inConsole(
    'The console changes the prices of selected cheeses after a preview, and undoes it',
    async (opened) => {
      const { page, shop, goTo } = opened;
      const ids = [
        await newCheese(opened.shop, { name: 'Season one', pricePerKg: 20 }),
        await newCheese(opened.shop, { name: 'Season two', pricePerKg: 20 }),
      ];
      const prices = async (): Promise<number[]> =>
        Promise.all(
          ids.map(
            async (id) =>
              (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.admin })).json.pricePerKg,
          ),
        );
      await goTo('/cheeses?q=Season');
      for (const name of ['Season one', 'Season two']) {
        await page.getByRole('checkbox', { name: new RegExp(name) }).check();
      }
      await page.getByRole('button', { name: 'Prices, category, tags' }).click();
      const price = page.getByLabel(/^(Change of the|New) price$/);
      // A number that could also be another one is refused, and the form does nothing without it.
      const refuse = async (text: string, problem: string) => {
        await price.fill(text);
        await page.getByText(problem).waitFor();
        await page.getByRole('button', { name: 'Preview' }).and(page.locator(':disabled')).waitFor();
      };
      await page.getByLabel('Add tags').fill('spring');
      await refuse('5 %', 'Write digits');
      await refuse('-100', 'Write a number from -99 to 1,000.');
      await page.getByRole('combobox', { name: 'Price', exact: true }).click();
      await page.getByRole('option', { name: 'set to' }).click();
      await refuse('1,234', 'Write digits without separators of thousands');
      await refuse('1e3', 'Write digits');
      await refuse('-3', 'Write a number from 0 to 1,000,000.');
      await screenshot(page, 'console-change-many');
      await page.getByRole('combobox', { name: 'Price', exact: true }).click();
      await page.getByRole('option', { name: 'by percent' }).click();
      await page.getByLabel('Add tags').fill('');
      await price.fill('7');
      await page.keyboard.press('Enter');
      await page.getByText('2 to be changed').waitFor();
      await page.getByText('$21.40').first().waitFor();
      assert.deepEqual(await prices(), [20, 20]);
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await page.getByRole('button', { name: 'Change 2' }).click();
      await until(async () => (await prices()).join() === '21.4,21.4');
      await page.getByRole('button', { name: 'Undo' }).click();
      await until(async () => (await prices()).join() === '20,20');
      // The notice of the undo has no button, which would do the change again.
      await page.getByText('2 cheeses are as before.').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
    },
  );
});
