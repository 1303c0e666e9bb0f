/** Customers and approvals in the console. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { newApplication, openBrowser, password, queryOf, tokensOf, withToken } from '../oauth/flow.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { measure, measureBox } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, viewports } from './console.ts';

const inConsole = consoleTests();

inConsole('The console finds, changes and deletes a customer', async ({ shop, page, goTo }) => {
  const body = {
    username: 'emile42',
    email: 'emile@example.com',
    password,
    firstName: 'Émile',
    lastName: 'Brûlé',
  };
  assert.equal((await shop.request('POST', '/v2/customer', { body })).status, 201);
  await registerCustomer(shop, { username: 'bob' });
  const key = await shop.createKey({ scopes: ['write:cheeses', 'write:orders'] });
  const { token } = (
    await shop.request('POST', '/v2/customer/login', { body: { username: 'emile42', password } })
  ).json;
  const cheese = await shop.request('POST', '/v2/cheeses', {
    as: key,
    body: { name: 'Comté', status: 'available', pricePerKg: 100 },
  });
  const placeOrder = (quantity: number) =>
    shop.request('POST', '/v2/store/order', {
      as: key,
      headers: { authorization: `Bearer ${token}` },
      body: {
        items: [{ cheeseId: cheese.json.id, quantity }],
        shippingAddress: { street: 'Gasse 1', city: 'Bern', state: 'BE', zipCode: '3011', country: 'CH' },
      },
    });
  const delivered = (await placeOrder(6)).json.id;
  const placed = (await placeOrder(1)).json.id;
  for (const verb of ['approve', 'ship', 'deliver']) {
    await shop.request('POST', `/v2/store/order/${delivered}/${verb}`, { as: shop.admin });
  }

  await goTo('/customers');
  await page.getByRole('row', { name: /bob/ }).waitFor();
  await page.getByLabel('Search', { exact: true }).fill('brul');
  await page.getByRole('row', { name: /bob/ }).waitFor({ state: 'detached' });
  const row = page.getByRole('row', { name: /emile42/ });
  assert.match((await row.textContent()) ?? '', /Émile Brûlé.*silver.*\$600\.00/);
  assert.match(page.url(), /\/customers\?q=brul$/);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const [header, ...lines] = (await readFile(await file.path(), 'utf8')).split('\r\n');
  // The byte order mark lets spreadsheets read the names.
  assert.equal(header, '\uFEFFid,username,email,firstName,lastName,tier,deliveredTotal,role,createdAt');
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^\d+,emile42,emile@example\.com,Émile,Brûlé,silver,600,customer,2/);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'emile42' }).click();
  await page.getByRole('heading', { level: 1, name: 'Émile Brûlé' }).waitFor();
  await page.getByRole('link', { name: String(placed), exact: true }).waitFor();
  await page.getByText('$1,400.00 of delivered orders to gold').waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);

  await page.getByRole('button', { name: 'Make staff' }).click();
  await page.getByRole('dialog').getByText('emile42 can then sign in to the console').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Make staff' }).click();
  await page.getByRole('button', { name: 'Make customer' }).and(page.locator(':focus')).waitFor();
  await page.getByRole('button', { name: 'Make customer' }).click();
  await page.getByRole('dialog').getByText('An approval of theirs under Approvals stays').waitFor();
  // The button is enabled when all effects are shown. A dry run would add only "changes customer 5".
  await page.getByRole('dialog').getByRole('button', { name: 'Make customer' }).click({ trial: true });
  assert.equal(await page.getByRole('dialog').getByRole('listitem').count(), 0);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Password reset link' }).click();
  const link = (await page.getByTestId('secret').textContent()) ?? '';
  const box = page.getByRole('alert').filter({ has: page.getByTestId('secret') });
  for (const viewport of [{ width: 1024, height: 800 }, viewports.phone, viewports.wide]) {
    await page.setViewportSize(viewport);
    const frame = await measureBox(box);
    for (const inside of [page.getByTestId('secret'), ...(await box.getByRole('button').all())]) {
      const { x, width } = await measureBox(inside);
      assert.ok(
        width > 0 && x >= frame.x && x + width <= frame.x + frame.width,
        `${await inside.textContent()} at ${viewport.width}`,
      );
    }
    // All of the text is visible.
    const overflow = await measure(
      page,
      `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('[data-testid=secret]'))`,
    );
    assert.equal(overflow, 0);
  }
  await box.getByRole('button', { name: 'Copy' }).and(page.locator(':focus')).waitFor();
  await page.getByRole('button', { name: 'Hide' }).press('Enter');
  await page.getByRole('button', { name: 'Password reset link' }).and(page.locator(':focus')).waitFor();
  assert.ok(!(await page.content()).includes(link));
  const tab = await page.context().newPage();
  await tab.goto(link);
  await tab.getByLabel('New password', { exact: true }).fill('another good secret');
  await tab.getByLabel(/again/i).fill('another good secret');
  await tab.getByRole('button').click();
  await tab.waitForLoadState();
  await tab.close();
  const login = await shop.request('POST', '/v2/customer/login', {
    body: { username: 'emile42', password: 'another good secret' },
  });
  assert.equal(login.status, 200);

  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(`cancels order ${placed}`).waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  const confirm = dialog.getByRole('button', { name: 'Delete' });
  assert.equal(await confirm.isDisabled(), true);
  await dialog.getByLabel('Type emile42 to confirm').fill('emile42');
  await confirm.click();
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
  await page.getByRole('row', { name: /bob/ }).waitFor();
  // Until it is read again, the list has the customer.
  await page.getByRole('row', { name: /emile42/ }).waitFor({ state: 'detached' });
  for (const path of ['/customers', '/orders', `/orders/${delivered}`, '/']) {
    await goTo(path);
    assert.doesNotMatch(await page.content(), /emile42|Brûlé/, path);
  }
});

inConsole(
  'The console shows requests for admin as they come, and decides on them',
  async ({ shop, page, goTo }) => {
    await registerCustomer(shop, { username: 'carol', role: 'staff' });
    const scopes = ['read:cheeses', 'admin'] as const;
    const [first, second] = [
      await newApplication(shop, { name: 'First', scopes }),
      await newApplication(shop, { name: 'Second', scopes }),
    ];
    await goTo('/approvals');
    await page.getByRole('row', { name: /operator/ }).waitFor();
    const badge = page.getByRole('navigation', { name: 'Screens' }).first().getByLabel('1 pending');
    assert.equal(await badge.count(), 0);

    const carol = openBrowser(shop.url, 'carol');
    const scope = scopes.join(' ');
    await carol.authorize(queryOf(first, { scope }), { consent: undefined });
    await badge.waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page
      .getByRole('row', { name: /First.*carol.*pending/ })
      .getByRole('button', { name: 'Approve' })
      .click();
    await badge.waitFor({ state: 'detached' });
    const tokens = await tokensOf(shop, first, carol, { scope });
    assert.equal(tokens.scope, scope);
    assert.equal((await withToken(shop, tokens.access_token, 'GET', '/v2/accounts')).status, 200);

    await carol.authorize(queryOf(second, { scope }), { consent: undefined });
    await page
      .getByRole('row', { name: /Second.*carol.*pending/ })
      .getByRole('button', { name: 'Deny' })
      .click();
    await page.getByRole('row', { name: /Second.*carol.*denied/ }).waitFor();
    const met = await carol.authorize(queryOf(second, { scope }), { consent: undefined });
    assert.match(met.page, /an operator has denied this/);

    await page.getByRole('row', { name: /First/ }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /First.*revoked/ }).waitFor();
    assert.equal((await withToken(shop, tokens.access_token, 'GET', '/v2/accounts')).status, 401);
  },
);

inConsole(
  'A list of the console has the filters of its URL, and keeps its rows after an error',
  async (opened) => {
    const { shop, page, goTo, complaints } = opened;
    await registerCustomer(shop, { username: 'zoe' });
    await goTo('/customers');
    await goTo('/customers?q=zo&role=customer&status=brass');
    const row = (name: RegExp) => page.getByRole('row', { name });
    await row(/zoe/).waitFor();
    assert.equal(await page.getByLabel('Search', { exact: true }).inputValue(), 'zo');
    assert.equal(await page.getByRole('combobox', { name: 'Role' }).inputValue(), 'customer');
    // The API has no such tier.
    assert.equal(await page.getByRole('combobox', { name: 'Tier' }).inputValue(), '');

    const problem = page.getByText('This could not be loaded');
    await page.route('**/v2/customers?*', (route) => route.fulfill({ status: 400, body: '{}' }));
    await registerCustomer(shop, { username: 'zora' });
    await problem.waitFor();
    assert.ok(await row(/zoe/).isVisible());
    await page.unroute('**/v2/customers?*');
    await page.getByRole('button', { name: 'Try again' }).press('Enter');
    await row(/zora/).waitFor();
    await problem.waitFor({ state: 'detached' });
    complaints.splice(0);
  },
);
