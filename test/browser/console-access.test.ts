/** Accounts, API keys and OAuth clients in the console. */
import assert from 'node:assert/strict';
import { bern, type Shop } from '../helper.ts';
import { assertReadable, consoleTests, findAccessibilityProblems } from './console.ts';

const inConsole = consoleTests();

inConsole(
  'The access screen of the console creates a key, shows its secret once, renames, rotates and revokes it',
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
    // Not the plan without a limit, which is the default of a local shop.
    await page.getByText(/ left in this hour$/).waitFor();
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

    // A secret is of no use after its key was revoked.
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('mistake');
    await page.getByRole('button', { name: 'Create' }).click();
    await secret.waitFor();
    await page.getByRole('button', { name: 'revoke mistake' }).click();
    await page.getByRole('dialog').getByText('revokes API key mistake').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await secret.waitFor({ state: 'detached' });
  },
);

inConsole(
  'The access screen of the console registers and deletes an OAuth client',
  async ({ shop, page, goTo }) => {
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
  },
);

async function addAccount({ request, admin }: Shop, name: string): Promise<string> {
  const { json } = await request('POST', '/v2/accounts', { as: admin, body: { name } });
  return `/access/${json.id}`;
}

inConsole(
  'The access screen of the console creates a restricted key by keyboard, and shows what it spent and ordered',
  async (opened) => {
    const { shop, page, goTo } = opened;
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Beaufort', category: { name: 'Alpine' }, pricePerKg: 12.5, status: 'available' },
    });
    await goTo(await addAccount(shop, 'assistants'));
    await page.getByRole('button', { name: 'New key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('helper');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const rights = page.getByRole('dialog').getByRole('status');
    await rights.getByText('order for at most $50.00 a day, until').waitFor();
    for (let field = 0; field < 5; field += 1) {
      await page.keyboard.press('Tab');
    }
    await page.getByLabel('Sum a day').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('30,5,5');
    assert.equal(await page.getByRole('button', { name: 'Create' }).isDisabled(), true);
    await page.getByLabel('Sum a day').fill('40');
    await page.getByLabel('Orders a day').fill('3');
    await page.getByRole('dialog').getByLabel('Categories').focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Alpine' }).click();
    await page.keyboard.press('Tab');
    await rights
      .getByText(
        /^May read the catalogue and the inventory, read its orders, and order for at most \$40\.00 a day, at most 3 times a day, only Alpine, until \w+ \d+, \d{4}\.$/,
      )
      .waitFor();
    await page.getByLabel('Networks').fill('nonsense');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await assertReadable(page, 'restricted-key');
    await page.getByLabel('Networks').fill('');
    await page.getByRole('button', { name: 'Create' }).focus();
    await page.keyboard.press('Enter');
    const key = (await page.getByTestId('secret').textContent()) ?? '';
    assert.match(key, /^rk_test_/);
    const order = await shop.request('POST', '/v2/store/order', {
      as: key,
      body: { items: [{ cheeseId: cheese.id, quantity: 2 }], shippingAddress: bern },
    });
    assert.equal(order.status, 201, order.text);

    await page.getByRole('button', { name: 'Hide' }).click();
    await page.getByRole('row', { name: /restricted.*only Alpine/ }).waitFor();
    await page.getByRole('link', { name: 'helper', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'helper' }).waitFor();
    await page.getByText('Today $25.00 of $40.00, orders 1 of 3').waitFor();
    await page.getByRole('row', { name: /^\d{4}-\d\d-\d\d \$25\.00 1$/ }).waitFor();
    await page
      .getByRole('region', { name: 'Orders' })
      .getByRole('link', { name: String(order.json.id) })
      .waitFor();
    await assertReadable(page, 'key-page');
    await page.getByRole('link', { name: 'All orders of this key' }).click();
    await page.getByText('1 orders').waitFor();
    assert.match(page.url(), /placedBy=key:\d+/);
  },
);

inConsole(
  'The access screen of the console creates a publishable key, which the list shows in full with a copy button',
  async (opened) => {
    const { shop, page, goTo } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await goTo(await addAccount(shop, 'shop window'));
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('window');
    await page.getByRole('radio', { name: 'Publishable' }).check();
    const rights = page.getByRole('dialog').getByRole('status');
    await rights
      .getByText('May read the catalogue and log customers in, on any page, without an end.')
      .waitFor();
    await page.getByLabel('Order for customers who are logged in').check();
    await page.getByLabel('Origins').fill('https://shop.example/path');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByText('must be an origin').first().waitFor();
    await page.getByLabel('Origins').fill('https://shop.example');
    await rights
      .getByText(
        'May read the catalogue, log customers in, and order for customers who are logged in, only on pages of https://shop.example, without an end.',
      )
      .waitFor();
    await assertReadable(page, 'publishable-key');
    await page.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('row', { name: /publishable.*https:\/\/shop\.example/ });
    await row.waitFor();
    assert.equal(await page.getByTestId('secret').count(), 0);
    await row.getByRole('button', { name: /^Copy pk_test_/ }).click();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.ok((await row.textContent())?.includes(key));
    await assertReadable(page, 'publishable-key-list');
    assert.equal((await shop.request('GET', '/v2/cheeses', { as: key })).status, 200);
  },
);

inConsole(
  'The access screen of the console warns about a secret key that a web page uses',
  async ({ shop, page, goTo }) => {
    const { json } = await shop.request('POST', '/v2/accounts', { as: shop.admin, body: { name: 'leaky' } });
    const key = await shop.request('POST', '/v2/api-keys', {
      as: shop.admin,
      body: { account: 'leaky', name: 'pasted' },
    });
    const headers = { origin: 'https://shop.example' };
    assert.equal((await shop.request('GET', '/v2/cheeses', { as: key.json.key, headers })).status, 200);
    await shop.app.maintenance.run();
    await goTo(`/access/${json.id}`);
    await page
      .getByRole('row', { name: /pasted.*Used from a web page: https:\/\/shop\.example.*Rotate it/ })
      .waitFor();
    await assertReadable(page, 'key-list');
    await page.getByRole('link', { name: 'pasted', exact: true }).click();
    await page.getByText('Everybody who opened the page can have copied this key').waitFor();
    await page.getByRole('button', { name: 'rotate pasted' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByTestId('secret').waitFor();
  },
);
