/** Limits and operations in the console: who uses how much, and whether the shop is well. */
import assert from 'node:assert/strict';
import { systemClock } from '../../src/clock.ts';
import { storeDoctorRun } from '../../src/operations/integrity.ts';
import { consoleTests } from './console.ts';

const marker = 'MARKERthatmustneverbeshown';

const inConsole = consoleTests({
  settings: {
    CURD_SHOP_NAME: 'Käse & Co.',
    CURD_SECRET: `${marker}0123456789abcdefghijklmnopqrstuvwxyz`,
  },
});

inConsole(
  'The operations screen of the console shows each account with its plan and its use, and changes a plan',
  async ({ page, shop, goTo }) => {
    const created = await shop.request('POST', '/v2/accounts', {
      as: shop.admin,
      body: { name: 'partner', plan: 'free' },
    });
    assert.equal(created.status, 201, created.text);
    await goTo('/limits');
    const row = page.getByRole('row', { name: /partner/ });
    await row.getByText('0 of 100', { exact: true }).waitFor();
    await row.getByRole('combobox', { name: 'Plan of partner' }).click();
    await page.getByRole('option', { name: 'pro', exact: true }).click();
    await page.getByText('From free to pro.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Change plan' }).click();
    await row.getByText('0 of 10,000', { exact: true }).waitFor();
    const { json } = await shop.request('GET', '/v2/accounts', { as: shop.admin });
    assert.equal(json.items.find(({ name }: { name: string }) => name === 'partner').plan, 'pro');
  },
);

inConsole(
  'The operations screen of the console shows every limit, and the callers of deprecated operations',
  async ({ page, shop, goTo }) => {
    const old = await shop.request('GET', '/v2/cheeses/findByTags?tags=cow', { as: shop.writer });
    assert.equal(old.status, 200, old.text);
    await goTo('/events');
    await goTo('/limits');
    const { json } = await shop.request('GET', '/v2/limits', { as: shop.admin });
    const limits = page.getByRole('table', { name: 'Requests and data' });
    await limits.waitFor();
    assert.equal(await limits.getByRole('row').count(), Object.keys(json.bounds).length);
    await page.getByRole('row', { name: /findCheesesByTags account-\w+ …/ }).waitFor();
  },
);

inConsole(
  'The operations screen of the console shows two instances with their versions, and settings with their origin and no secret',
  async (opened) => {
    const { page, shop, goTo } = opened;
    const other = await shop.another();
    for (const { app } of [shop, other]) {
      await app.maintenance.run();
    }
    const { json: status } = await shop.request('GET', '/v2/status', { as: shop.admin });
    await goTo('/operations');
    const instances = page.getByRole('table', { name: 'Instances' }).getByRole('row');
    await instances.nth(2).waitFor();
    for (const { id, version } of status.instances) {
      await page.getByRole('row', { name: new RegExp(`${id}.*running.*${version}`) }).waitFor();
    }
    const loops = page.getByRole('table', { name: 'Background loops' });
    assert.equal(await loops.getByRole('row').count(), status.loops.length + 1);
    await loops.getByRole('row', { name: /^maintenance running/ }).waitFor();
    const settings = page.getByRole('table', { name: 'Settings' });
    assert.equal(await settings.getByRole('row').count(), status.settings.length + 1);
    await settings.getByRole('row', { name: 'CURD_SHOP_NAME Käse & Co. environment' }).waitFor();
    await settings.getByRole('row', { name: 'CURD_SECRET *** environment' }).waitFor();
    await page.getByText('changed', { exact: true }).click();
    await settings.getByRole('row', { name: 'CURD_CONSOLE' }).waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(marker), false);
  },
);

inConsole(
  'The operations screen of the console shows the last result of doctor with its remedies',
  async ({ page, shop, goTo }) => {
    await goTo('/operations');
    await page.getByText('Never checked').waitFor();
    const { database } = shop.app;
    const finding = { fault: 'orders whose total differs', count: 2, examples: ['order 7', 'order 9'] };
    await storeDoctorRun(database, systemClock, systemClock.now() - 12_000, [
      { check: 'catalogue', findings: [] },
      { check: 'orders', findings: [{ ...finding, remedy: 'restore a backup', isNote: false }] },
    ]);
    await goTo('/events');
    await page.reload();
    await goTo('/operations');
    await page.getByText('orders whose total differs (2)').waitFor();
    await page.getByText('restore a backup').waitFor();
    await page.getByText('orders: order 7, order 9').waitFor();
    await page.getByText('1 fault', { exact: true }).waitFor();
    await page.getByText(/2 checks in 12 s/).waitFor();
  },
);
