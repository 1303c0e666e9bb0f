/** The bar of the console says which shop and environment an operator works on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApplication, password, queryOf } from '../oauth/flow.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { measure, useChromium } from './chromium.ts';
import { openConsole } from './console.ts';
import { NoBrowser, skipTest } from './installed-browser.ts';

useChromium();

const colors = {
  local: 'rgb(95, 99, 104)',
  sandbox: 'rgb(242, 181, 68)',
  production: 'rgb(163, 32, 13)',
} as const;
const name = 'Käse & <b>Brot</b>';

for (const [environment, color] of Object.entries(colors)) {
  test(`The console of ${environment} has a bar with this word in its color, and the name of the shop`, async (t) => {
    const more = environment === 'production' ? { CURD_PUBLIC_URL: 'https://shop.example.com' } : {};
    const settings = { CURD_ENVIRONMENT: environment, CURD_SHOP_NAME: name, ...more };
    const opened = await openConsole(t, { settings });
    if (opened instanceof NoBrowser) {
      skipTest(t, opened);
      return;
    }
    const { page, goTo, complaints } = opened;
    const bar = page.locator('.environment');
    assert.equal(await bar.innerText(), environment);
    assert.equal(
      await measure<string>(page, "getComputedStyle(document.querySelector('.environment')).backgroundColor"),
      color,
    );
    assert.match(
      await measure<string>(
        page,
        "getComputedStyle(document.querySelector('.environment'), '::after').content",
      ),
      { local: /for trying out/, sandbox: /for tests/, production: /none/ }[environment] ?? /^$/,
    );
    const sandbox = await page.getByRole('link', { name: 'Sandbox' }).count();
    assert.equal(sandbox > 0, environment !== 'production');
    await goTo('/limits');
    assert.equal(
      await page.title(),
      environment === 'production'
        ? `Limits and usage - ${name}`
        : `${environment}: Limits and usage - ${name}`,
    );
    assert.equal(await page.getByText(name, { exact: true }).innerText(), name);
    if (environment === 'sandbox') {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in with a password' }).click();
      await page.getByLabel('Password').waitFor();
      assert.ok((await page.innerText('body')).includes(name), 'the login');
      await page.goto(opened.shop.url);
      assert.ok((await page.innerText('body')).includes(name), 'the landing page');
      await registerCustomer(opened.shop, { username: 'ada' });
      const query = queryOf(await newApplication(opened.shop));
      await page.goto(`${opened.shop.url}/oauth/authorize?${query}`);
      await page.getByRole('link', { name: 'Create an account' }).click();
      await page.getByRole('heading', { name: 'Create an account' }).waitFor();
      assert.ok((await page.innerText('body')).includes(name), 'the registration');
      await page.goBack();
      await page.getByLabel('Username').fill('ada');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'asks for your permission' }).waitFor();
      assert.ok((await page.innerText('body')).includes(name), 'the consent');
    }
    assert.deepEqual(complaints, []);
  });
}
