/** Webhooks in the console: an endpoint is created, tested, broken, repaired, and gets everything again. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { sql } from '../../src/database/sql.ts';
import { shared, testClock, until } from '../context.ts';
import type { ListeningShop } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { deliver } from '../webhooks/webhook-shop.ts';
import { consoleTests } from './console.ts';

const clock = testClock();
const inConsole = consoleTests({ clock });

let status = 204;
const opened = shared((t) =>
  openReceiver(t, (response) => response.writeHead(status).end(status === 204 ? '' : 'out of order')),
);

/** An order that is approved by hand, so that it has two events. */
const approvedOrder = async (shop: ListeningShop) =>
  newOrder(shop, await newCheese(shop), { changes: ['approve'] });

const typesOf = (id: number) =>
  opened()
    .received.filter(({ body }) => body.subject === `order:${id}`)
    .map(({ body }) => body.type);

const openDelivery = (page: Page, order: number, type: string) =>
  page
    .getByRole('row', { name: new RegExp(`${type}.*order ${order}`) })
    .last()
    .getByRole('button', { name: type })
    .click();

inConsole(
  'The webhooks screen of the console creates a webhook with chosen types, shows its secret once, and tests it',
  async ({ page, goTo }) => {
    await goTo('/webhooks');
    await page.getByText('No webhooks').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('URL').fill('not a URL');
    await page.getByRole('button', { name: 'Create' }).click();
    await page
      .getByRole('dialog')
      .getByText(/URL|url/)
      .first()
      .waitFor();
    await page.getByLabel('URL').fill(opened().url);
    await page.getByLabel('Some types').check();
    await page.getByLabel('order.*').check();
    assert.ok(await page.getByLabel('order.placed').isDisabled());
    await page.getByLabel('cheese.created').check();
    await page.getByRole('button', { name: 'Create' }).click();
    assert.match(await page.getByTestId('secret').innerText(), /^whsec_/);
    await page.getByRole('link', { name: opened().url }).click();
    await page.getByText('order.*, cheese.created').waitFor();
    assert.equal(await page.getByTestId('secret').count(), 0);
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText('The test was received').waitFor();
    assert.equal(opened().received.length, 1);
  },
);

inConsole(
  'The webhooks screen of the console shows the attempts of a broken receiver, resends one delivery, and replays the rest',
  async (opening) => {
    const { page, shop, goTo } = opening;
    await goTo('/webhooks/1');
    const first = await approvedOrder(shop);
    await deliver(shop);
    assert.deepEqual(typesOf(first), ['order.placed', 'order.approved']);
    await page.getByText(`order ${first}`).first().waitFor();

    status = 500;
    const second = await approvedOrder(shop);
    await deliver(shop);
    await page.getByText('failing', { exact: true }).waitFor();
    await openDelivery(page, second, 'order.placed');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('the response has status 500').waitFor();
    await dialog.getByText('out of order').waitFor();
    await dialog.getByText(`"subject": "order:${second}"`).waitFor();
    await dialog.getByText(/next attempt/).waitFor();
    await dialog.getByRole('button', { name: 'Send now' }).click();
    await dialog.getByText(/It is due now/).waitFor();
    await deliver(shop);
    await page.keyboard.press('Escape');
    await page.getByText('waits for an earlier delivery of its subject').waitFor();
    await page.getByRole('button', { name: 'Deliver now' }).click();
    await page.getByText('What waits is sent now, in order.').waitFor();
    await deliver(shop);
    await page.getByRole('row', { name: new RegExp(`order.placed.*order ${second}.* 3 `) }).waitFor();

    status = 204;
    await page.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('It was disabled by an operator.').waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await dialog.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('It was disabled by an operator.').waitFor({ state: 'detached' });
    clock.advance(10_000);
    await until(async () => {
      await deliver(shop);
      return typesOf(second).includes('order.approved');
    });

    const before = opened().received.length;
    await openDelivery(page, first, 'order.placed');
    await dialog.getByRole('button', { name: 'Resend' }).click();
    await dialog.getByText(/It is sent again/).waitFor();
    await deliver(shop);
    assert.deepEqual(typesOf(first), ['order.placed', 'order.approved', 'order.placed']);
    assert.equal(opened().received.length, before + 1);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByLabel('Since').fill('2020-01-01T00:00:00');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/deliveries were queued/).waitFor();
    await deliver(shop);
    assert.deepEqual(typesOf(first).slice(-2), ['order.placed', 'order.approved']);
    assert.deepEqual(typesOf(second).slice(-2), ['order.placed', 'order.approved']);

    // As after ten attempts, while other deliveries arrived.
    await shop.app.database.run(
      sql`update webhook_delivery set status = 'failed' where subject = ${`order:${second}`} and type = 'order.placed'`,
    );
    await goTo('/');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention
      .getByText(`1 delivery to ${new URL(opened().url).host} failed and was given up`)
      .waitFor();
    assert.equal(await attention.getByText('has failed since').count(), 0);
    await attention.getByRole('link', { name: /^1 delivery/ }).click();
    await openDelivery(page, second, 'order.placed');
    await dialog.getByRole('button', { name: 'Resend' }).click();
    await dialog.getByText(/It is sent again/).waitFor();
    await deliver(shop);
    await page.keyboard.press('Escape');
    await goTo('/');
    await attention.getByText('given up').waitFor({ state: 'detached' });
  },
);

inConsole(
  'The webhooks screen of the console asks which version is kept where another client changed the webhook',
  async (opening) => {
    const { page, shop, goTo } = opening;
    const { json: created } = await shop.request('POST', '/v2/webhook-endpoints', {
      as: shop.admin,
      body: { url: opened().url, description: 'first', types: ['order.placed'] },
    });
    const path = `/v2/webhook-endpoints/${created.id}`;
    const read = async () => (await shop.request('GET', path, { as: shop.admin })).json;
    const changeByOther = async (body: object) => {
      const { status: code, text } = await shop.request('POST', path, { as: shop.admin, body });
      assert.equal(code, 200, text);
    };
    await goTo(`/webhooks/${created.id}`);
    const dialog = page.getByRole('dialog');
    const write = async (text: string) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      await dialog.getByLabel('Description').fill(text);
    };
    // Changes of other fields are both kept, also after the screen was read again.
    await write('mine');
    await changeByOther({ types: ['order.shipped'] });
    await page.getByText('order.shipped').first().waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual([(await read()).description, (await read()).types], ['mine', ['order.shipped']]);

    await write('mine again');
    await changeByOther({ description: 'theirs' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('cell', { name: 'theirs' }).waitFor();
    await dialog.getByRole('button', { name: 'Use theirs' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await read()).description, 'theirs');

    await write('mine at last');
    await changeByOther({ description: 'theirs again' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Keep mine' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await read()).description, 'mine at last');
  },
);

inConsole(
  'The webhooks screen of the console shows an event as JSON with its deliveries, by a URL with filters',
  async ({ page, goTo }) => {
    await goTo('/events?types=order.placed');
    const rows = page.getByRole('table', { name: 'Events' }).getByRole('row');
    await rows.nth(2).waitFor();
    assert.equal(await rows.count(), 3);
    await page.getByRole('button', { name: 'order.placed' }).first().click();
    assert.match(page.url(), /types=order\.placed&event=evt_/);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('"type": "order.placed"').waitFor();
    await dialog.getByRole('link', { name: opened().url }).first().waitFor();
    await page.keyboard.press('Escape');
  },
);

inConsole(
  'The webhooks screen of the console lists new events without reloading, also from a time on',
  async ({ page, shop, goTo }) => {
    await goTo('/events?types=cheese.*');
    await page.getByRole('table', { name: 'Events' }).waitFor();
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Brie' },
    });
    await page.getByRole('link', { name: `cheese ${cheese.id}`, exact: true }).waitFor();
    await goTo('/events?types=cheese.*&since=2020-01-01T00:00:00Z');
    await page.getByText('oldest first').waitFor();
    await page.getByRole('link', { name: `cheese ${cheese.id}`, exact: true }).waitFor();
  },
);
