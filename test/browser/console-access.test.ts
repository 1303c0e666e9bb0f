/** Accounts, API keys and OAuth clients in the console. */
import assert from 'node:assert/strict';
import { consoleTests, findAccessibilityProblems } from './console.ts';

const inConsole = consoleTests();

inConsole(
  'creates a key, shows its secret once, renames, rotates and revokes it',
  async ({ shop, page, goTo }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.clock.install();
    const statusOf = async (key: string) => (await shop.request('GET', '/v2/cheeses', { as: key })).status;
    const secret = page.getByTestId('secret');

    await goTo('/access');
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('warehouse');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'warehouse' }).waitFor();
    const address = new URL(page.url()).pathname.replace('/console', '');

    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('scanner');
    await page.getByLabel('Everything an operator can do').check();
    await page.getByText("npx curd keys create --account 'warehouse' --scope admin").waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.getByLabel('Read, and what is chosen here').check();
    await page.getByLabel('Change cheeses, images and stock').check();
    await page.getByRole('button', { name: 'Create' }).click();
    const first = (await secret.textContent()) ?? '';
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.getByRole('button', { name: 'Copy' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), first);
    const created = await shop.request('POST', '/v2/cheeses', {
      as: first,
      body: { name: 'Comté', status: 'available' },
    });
    assert.equal(created.status, 201);
    await page.clock.runFor(50_000);
    await page.getByRole('button', { name: 'Keep for 60 s more' }).click();
    await page.clock.runFor(50_000);
    assert.equal(await secret.count(), 1);
    await page.clock.runFor(11_000);
    await secret.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'rename scanner' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('gate');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.clock.runFor(100);
    await page.getByRole('button', { name: 'rename gate' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'rotate gate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const rotated = (await secret.textContent()) ?? '';
    assert.notEqual(rotated, first);
    assert.deepEqual([await statusOf(first), await statusOf(rotated)], [200, 200]);
    await goTo('/access');
    await goTo(address);
    await page.getByRole('button', { name: 'revoke gate' }).first().waitFor();
    assert.equal(await secret.count(), 0);

    const { items } = (await shop.request('GET', '/v2/api-keys?account=warehouse', { as: shop.admin })).json;
    const id = items.find(({ last4 }: { last4: string }) => rotated.endsWith(last4)).id;
    await page
      .getByRole('row', { name: new RegExp(`key:${id} `) })
      .getByRole('button', { name: /revoke/ })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: new RegExp(`key:${id} `) }).waitFor({ state: 'detached' });
    assert.deepEqual([await statusOf(first), await statusOf(rotated)], [200, 401]);
    assert.ok(!(await page.content()).includes(rotated));
  },
);

inConsole('registers and deletes an OAuth client', async ({ shop, page, goTo }) => {
  await goTo('/access/clients');
  await page.getByRole('row', { name: /Console.*built in/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete Console' }).count(), 0);
  await page.getByRole('button', { name: 'New client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Cheese Diary');
  await dialog.getByLabel('Account').click();
  await page.getByRole('option').first().click();
  await dialog.getByLabel('Scopes').focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'read:orders' }).click();
  await dialog.getByLabel('Redirect URIs').fill('ftp://diary.example');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await dialog.getByRole('alert').waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await dialog.getByLabel('Redirect URIs').fill('https://diary.example/callback');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await page.getByTestId('secret').waitFor();
  const { items } = (await shop.request('GET', '/v2/oauth-clients', { as: shop.admin })).json;
  assert.deepEqual(items.at(-1).redirectUris, ['https://diary.example/callback']);

  await page.getByRole('button', { name: 'Delete Cheese Diary' }).click();
  await dialog.getByLabel('Type Cheese Diary to confirm').fill('Cheese Diary');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('row', { name: /Cheese Diary/ }).waitFor({ state: 'detached' });
});
