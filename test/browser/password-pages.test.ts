/** The pages for registration and for a new password, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApplication, openListeningShop, queryOf } from '../oauth/flow.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { contrasts, measureWidth, openPage, screenshot, useChromium } from './chromium.ts';

useChromium();

test('Pages for registration and new passwords fit on desktops and phones, in light and dark', async (t) => {
  const opened = await openPage(t);
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  const shop = await openListeningShop(t, { settings: { CURD_SHOP_NAME: 'Käserei <Bern> 🧀' } });
  await registerCustomer(shop, { username: 'ada' });
  const app = await newApplication(shop);
  async function look(name: string, title: string): Promise<void> {
    assert.equal(await page.title(), `${title} - Käserei <Bern> 🧀`);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.equal(await measureWidth(page), width, title);
        const pale = (await contrasts(page)).filter(({ ratio }) => ratio < 4.5);
        assert.deepEqual(pale, [], 'WCAG 2.2, section 1.4.3');
        await screenshot(page, `${name}-${width}-${colorScheme}`);
      }
    }
  }
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  await page.goto(`${shop.url}/oauth/authorize?${queryOf(app, { scope: 'read:cheeses write:cheeses' })}`);
  await look('login-with-registration', 'Log in to go on to Cheese Diary');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await look('register', 'Register to go on to Cheese Diary');
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel('E-mail address').fill('eve@example.com');
  await page.getByLabel('Password', { exact: true }).fill('a cellar full of wheels');
  await press('Create the account');
  await page.getByRole('alert').waitFor();
  await look('register-failed', 'Register to go on to Cheese Diary');
  await page.getByLabel('Username').fill('eve');
  await page.getByLabel('Password', { exact: true }).fill('a cellar full of wheels');
  await press('Create the account');
  await page.getByText('only staff of the shop can grant this').waitFor();
  await look('consent-withheld', 'May Cheese Diary do this?');

  const {
    customers: { administration: customerAdministration },
    contextOf,
  } = shop.app;
  const id = await customerAdministration.idOf('ada');
  const { token } = await customerAdministration.createReset(contextOf('test'), id);
  await page.goto(`${shop.url}/oauth/password-reset/${token}`);
  await look('password', 'Choose a new password');
  await page.getByLabel('New password').fill('one');
  await page.getByLabel('The same password again').fill('another');
  await press('Set the password');
  await page.getByRole('alert').waitFor();
  await look('password-failed', 'Choose a new password');
  await page.getByLabel('New password').fill('a cellar full of wheels');
  await page.getByLabel('The same password again').fill('a cellar full of wheels');
  await press('Set the password');
  await page.waitForURL('**/oauth/password-changed');
  await look('password-changed', 'Your password is changed');
  await page.goto(`${shop.url}/oauth/password-reset/${token}`);
  await look('password-ended', 'This link does not work');
  assert.deepEqual(complaints, []);
});
