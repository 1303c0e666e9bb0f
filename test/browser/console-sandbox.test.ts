/** The screen Sandbox: the clock, snapshots, resets and the header of simulated failures. */
import assert from 'node:assert/strict';
import { until } from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, type OpenConsole } from './console.ts';

const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '30m' } });

const statusOf = async ({ shop }: OpenConsole, path: string) =>
  (await shop.request('GET', path, { as: shop.admin })).status;

inConsole(
  'The sandbox screen of the console moves the clock, says what was done, and shows a bar on every screen',
  async (opened) => {
    const { shop, page, goTo } = opened;
    const order = await newOrder(shop, await newCheese(shop));
    await goTo('/sandbox');
    const clock = page.getByRole('region', { name: 'Clock', exact: true });
    await clock.getByText('as on the machine').waitFor();
    await page.getByRole('button', { name: '1 hour' }).click();
    await page.getByText('1 order approved').waitFor();
    await goTo(`/orders/${order}`);
    await page.getByText('The clock of the shop is ahead').waitFor();
    await page.getByText('approved').first().waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await screenshot(page, 'console-clock-bar');
    const ahead = async () =>
      (await shop.request('GET', '/v2/sandbox/clock', { as: shop.reader })).json.advancedBy as string;
    await page.getByRole('button', { name: '1 hour more' }).click();
    await until(async () => /^PT(1H59M|2H)/.test(await ahead()));
    await goTo('/sandbox');
    // The sign-in by link ends after eight hours.
    const later = new Date(Date.now() + 4 * 3_600_000).toISOString().slice(0, 16);
    await page.getByLabel('To a time').fill(later);
    await page.getByRole('button', { name: 'Move the clock' }).click();
    await until(async () => /^PT(3H59|4H)/.test(await ahead()));
  },
);

inConsole(
  'The sandbox screen of the console makes a snapshot by keyboard, restores it, and deletes it',
  async (opened) => {
    const { page, goTo } = opened;
    await goTo('/sandbox');
    await page.getByLabel('Name').fill('before the tests');
    await page.keyboard.press('Enter');
    const restore = page.getByRole('button', { name: 'Restore before the tests' });
    await restore.waitFor();
    await page.getByText('The snapshot is made.').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await screenshot(page, 'console-sandbox');
    const path = `/v2/cheeses/${await newCheese(opened.shop)}`;
    const dialog = page.getByRole('dialog');
    await restore.click();
    await dialog.getByText('What was changed in the shop since then is gone.').waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await statusOf(opened, path), 404);
    await page.getByRole('button', { name: 'Delete before the tests' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No snapshots yet').waitFor();
  },
);

inConsole(
  'The sandbox screen of the console makes an event happen, also to a given subject, and says why not',
  async (opened) => {
    const { page, goTo } = opened;
    await goTo('/sandbox');
    const events = page.getByRole('region', { name: 'Events' });
    await events.getByRole('button', { name: 'Make it happen' }).click();
    await events.getByRole('link', { name: 'order.placed' }).waitFor();
    const order = (await events.getByRole('link', { name: /^order \d+$/ }).innerText()).replace('order ', '');
    await events.getByLabel('Type', { exact: true }).click();
    await page.getByRole('option', { name: 'order.approved' }).click();
    await events.getByLabel('Subject').fill(`order:${order}`);
    await page.keyboard.press('Enter');
    await events.getByRole('link', { name: 'order.approved' }).waitFor();
    const read = await opened.shop.request('GET', `/v2/store/order/${order}`, { as: opened.shop.admin });
    assert.equal(read.json.status, 'approved');
    await events.getByRole('button', { name: 'Make it happen' }).click();
    await page.getByText('This was not done').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
  },
);

inConsole(
  'The sandbox screen of the console puts the header of a simulated failure together, and copies it',
  async ({ page, goTo }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await goTo('/sandbox');
    const section = page.getByRole('region', { name: 'Simulated failures' });
    await section.getByText('Sandbox-Simulate: drop-after').waitFor();
    await section.getByLabel('Delay', { exact: true }).click();
    await page.getByRole('option', { name: '2s' }).click();
    await section.getByLabel('Failure', { exact: true }).click();
    await page.getByRole('option', { name: '503' }).click();
    await section.getByText('The response has the status 503').waitFor();
    await section.getByRole('button', { name: 'Copy Sandbox-Simulate: slow=2s, 503' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'Sandbox-Simulate: slow=2s, 503');
  },
);

inConsole(
  'The sandbox screen of the console resets the shop, after which everyone signs in again',
  async (opened) => {
    const { page, goTo } = opened;
    await goTo('/sandbox');
    await page.getByRole('button', { name: 'Reset the shop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reset the shop' });
    await dialog.getByLabel('Type reset to confirm').fill('reset');
    await dialog.getByRole('button', { name: 'Reset', exact: true }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    const { json } = await opened.shop.request('GET', '/v2/cheeses?q=Beaufort', { as: opened.shop.reader });
    assert.equal(json.items[0]?.name, 'Beaufort');
  },
);
