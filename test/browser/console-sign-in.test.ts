/** Sign-in to the console with a password, by OAuth: who gets in, for how long, and what stays in the browser. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { testClock, until } from '../context.ts';
import { openListeningShop, type ShopOptions } from '../helper.ts';
import { password, rewrite, setRole } from '../oauth/flow.ts';
import { newCheese, newOrder, registerCustomer } from '../shop-verbs.ts';
import { openPage, useChromium } from './chromium.ts';
import { buildConsole, consoleLink, findAccessibilityProblems } from './console.ts';

useChromium();

const minuteMs = 60_000;

/** A shop with the rules of production (which needs https itself), a clock, and a browser that is not signed in; null without a browser. */
async function openScene(t: TestContext, options: ShopOptions = {}) {
  await buildConsole();
  const opened = await openPage(t, { locale: 'en-US' });
  if (opened === null) {
    return null;
  }
  const clock = testClock(Date.now());
  const shop = await openListeningShop(t, {
    settings: { CURD_ENVIRONMENT: 'sandbox' },
    clock,
    ...options,
  });
  const { page } = opened;
  await page.clock.install();
  return {
    ...opened,
    shop,
    clock,
    /** Signs in at the login page of the shop. */
    async signIn(username: string) {
      await page.getByRole('button', { name: 'Sign in' }).click();
      await logIn(username, page);
    },
    /** Signs in in a window of its own, over the page, and allows everything. */
    async signInAgain(username: string) {
      const dialog = page.getByRole('dialog', { name: 'Sign in again' });
      const opening = page.waitForEvent('popup');
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      const window = await opening;
      await logIn(username, window);
      await window.getByRole('button', { name: 'Allow' }).click();
      await dialog.waitFor({ state: 'detached' });
      if (!window.isClosed()) {
        await window.waitForEvent('close');
      }
    },
    /** The page asks every five seconds whether the request was decided. */
    askAgain: () => page.clock.fastForward(5000),
    allow: () => page.getByRole('button', { name: 'Allow' }).click(),
    screen: (name: string) => page.getByRole('heading', { level: 1, name }).waitFor(),
  };
}

async function logIn(username: string, window: Page): Promise<void> {
  await window.getByLabel('Username').fill(username);
  await window.getByLabel('Password').fill(password);
  await window.getByRole('button', { name: 'Log in' }).click();
}

/** Everything that a page can keep. */
const storedBy = (page: Page) =>
  page.evaluate<{ local: string; session: string; url: string }>(
    '({ local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage), url: location.href })',
  );

test('The sign-in to the console refuses customers, and shows staff the command until an operator approves them', async (t) => {
  const scene = await openScene(t);
  if (scene === null) {
    return;
  }
  const { shop, clock, page, signIn, signInAgain, allow, askAgain, screen, complaints } = scene;
  const {
    oauth: { approvals },
    contextOf,
  } = shop.app;
  await registerCustomer(shop, { username: 'carl' });
  await registerCustomer(shop, { username: 'ada', role: 'staff' });
  await page.goto(`${shop.url}/console/cheeses?q=brie`);

  await signIn('carl');
  await page.getByRole('alert').getByText('only staff of the shop can sign in').waitFor();
  assert.equal(page.url(), `${shop.url}/console/cheeses?q=brie`);

  await signIn('ada');
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  // What the console needs, and nothing of what ada may do as a customer.
  assert.deepEqual(await page.locator('h1 ~ ul li').allTextContents(), [
    'Look at the cheeses of the shop',
    'Add, change and delete cheeses of the shop',
  ]);
  await allow();
  await page.getByText('request 1.').waitFor();
  await page.getByText('npx curd approvals approve 1').waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await page.getByRole('button', { name: 'Open the catalogue only' }).click();
  await screen('Cheeses');
  await page.getByTitle('Signed in: ada').waitFor();
  assert.deepEqual(
    await page.getByRole('navigation', { name: 'Screens' }).first().getByRole('link').allTextContents(),
    ['Cheeses', 'Stock', 'Import'],
  );
  await page.reload();

  await page.getByText('npx curd approvals approve 1').waitFor();
  const tokenBefore = await storedBy(page);
  await approvals.approve(contextOf('cli'), 1);
  await askAgain();
  await screen('Cheeses');
  await page.getByRole('link', { name: 'Customers' }).first().waitFor();
  assert.equal(page.url(), `${shop.url}/console/cheeses?q=brie`);
  assert.deepEqual((await storedBy(page)).session, tokenBefore.session, 'with the same sign-in');

  clock.advance(16 * minuteMs);
  await page.getByRole('link', { name: 'Approvals' }).first().click();
  await page.getByText('ada').first().waitFor();

  // Text in an open form is there after the next sign-in, which sends the request that was refused.
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.getByRole('link', { name: 'New cheese' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Sbrinz');
  // In this order, so that no request of the page in between gets new tokens.
  await rewrite(shop, 'RefreshToken', ({ exp = 0 }) => ({ exp: exp - 8 * 3600 }));
  clock.advance(8 * 60 * minuteMs);
  await page.keyboard.press('Control+s');
  await page.getByRole('alert').getByText('The sign-in has expired or was revoked').waitFor();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await page.keyboard.press('Escape');
  await signInAgain('ada');
  await screen('Sbrinz');

  await approvals.revoke(contextOf('cli'), 1);
  // The event stream may be refused, and end the sign-in, before this click.
  await page
    .getByRole('link', { name: 'Customers' })
    .first()
    .click({ timeout: 2000 })
    .catch(() => {});
  await page.getByRole('alert').getByText('The sign-in has expired or was revoked').waitFor();
  assert.deepEqual(complaints, []);
});

test('The sign-in to the console keeps no token in localStorage, cookies or the URL; a sign-out and the lock end each', async (t) => {
  const scene = await openScene(t);
  if (scene === null) {
    return;
  }
  const { shop, page, signIn, allow, askAgain, screen, complaints } = scene;
  const {
    oauth: { approvals },
    contextOf,
  } = shop.app;
  await registerCustomer(shop, { username: 'ada', role: 'staff' });
  const tokens = new Set<string>();
  page.on('request', (request) => {
    const [, token] = /^Bearer (.+)$/.exec(request.headers().authorization ?? '') ?? [];
    if (token !== undefined) {
      tokens.add(token);
    }
  });
  const statusesOf = async () =>
    Promise.all(
      [...tokens].map(async (token) => {
        const headers = { authorization: `Bearer ${token}` };
        return (await shop.request('GET', '/v2/whoami', { headers })).status;
      }),
    );
  async function assertNothingStored(isAccessTokenInSession: boolean): Promise<void> {
    const { local, session, url } = await storedBy(page);
    const cookies = JSON.stringify(await page.context().cookies());
    assert.ok(tokens.size > 0);
    for (const token of tokens) {
      assert.ok(![local, url, cookies].some((text) => text.includes(token)));
      assert.equal(session.includes(token), isAccessTokenInSession);
    }
  }

  await page.goto(`${shop.url}/console/approvals`);
  await signIn('ada');
  await allow();
  await page.getByText('npx curd approvals approve 1').waitFor();
  await approvals.approve(contextOf('cli'), 1);
  await askAgain();
  await screen('Approvals');
  await assertNothingStored(false);
  // A refresh token is for one tab: another one would end it.
  const other = await page.context().newPage();
  await other.goto(`${shop.url}/console/approvals`);
  await other.getByRole('button', { name: 'Sign in' }).waitFor();
  await other.close();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(new Set(await statusesOf()), new Set([401]));
  assert.equal((await storedBy(page)).session, '{}');

  tokens.clear();
  await page.goto(await consoleLink(shop));
  await screen('Home');
  await assertNothingStored(true);

  // The sign-in ends under an open dialog: its request waits for the next one.
  await page.getByRole('link', { name: 'Webhooks' }).first().click();
  await page.getByRole('button', { name: 'New webhook' }).click();
  await page.getByRole('textbox', { name: 'URL' }).fill('https://10.0.0.1/curd');
  const [, byLink] = await approvals.list('approved');
  // The change is sent, and arrives after the approval was revoked. Another request may open the dialog before.
  const { promise: isRevoked, resolve: revoked } = Promise.withResolvers<void>();
  const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
  await page.route('**/v2/webhook-endpoints', async (route) => {
    if (route.request().method() === 'POST') {
      sent();
      await isRevoked;
    }
    await route.fallback();
  });
  await page.getByRole('textbox', { name: 'URL' }).press('Enter');
  await isSent;
  await approvals.revoke(contextOf('cli'), byLink?.id ?? 0);
  revoked();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  const enterLink = async (link: string) => {
    await page.getByRole('textbox', { name: 'Link' }).fill(link);
    await page.getByRole('button', { name: 'Use the link' }).click();
  };
  await dialog.waitFor();
  await enterLink('npx curd console');
  await dialog.getByRole('alert').getByText('This is not a link of the console').waitFor();
  await page.getByRole('textbox', { name: 'Link' }).press('Escape');
  tokens.clear();
  await enterLink(await consoleLink(shop));
  await dialog.waitFor({ state: 'detached' });
  // The server has received it: addresses of the network of the server are refused.
  await page.locator('input[aria-invalid=true]').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'URL' }).inputValue(), 'https://10.0.0.1/curd');
  await assertNothingStored(true);

  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Cheeses' }).first().click();
  await page.getByRole('link', { name: 'New cheese' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Sbrinz');
  await page.clock.fastForward(31 * minuteMs);
  await page.getByText('The page is locked').waitFor();
  const [locked] = [...tokens];
  await until(() => page.evaluate<boolean>('sessionStorage.length === 0'));
  assert.ok(locked !== undefined);
  assert.equal(await page.getByRole('navigation').count(), 0);
  for (let attempt = 0; (await statusesOf())[0] !== 401; attempt += 1) {
    assert.ok(attempt < 1000, 'the token ends');
  }

  await enterLink(await consoleLink(shop));
  await screen('New cheese');
  assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Sbrinz');

  // After a sign-in by a link in the URL of a locked page, the next click does not lock it again.
  await page.clock.fastForward(31 * minuteMs);
  await page.getByText('The page is locked').waitFor();
  const { hash } = new URL(await consoleLink(shop));
  await page.evaluate(`location.hash = '${hash}'`);
  await screen('New cheese');
  await page.getByRole('textbox', { name: 'Name' }).click();
  assert.equal(await page.getByText('The page is locked').count(), 0);

  // A token by link also ends after eight hours (test/console/sign-in.test.ts).
  assert.deepEqual(complaints, []);
});

test('The sign-in to the console by link works without https, and so do changes of orders', async (t) => {
  const scene = await openScene(t, { settings: { CURD_ENVIRONMENT: 'sandbox', CURD_APPROVAL_DELAY: '1h' } });
  if (scene === null) {
    return;
  }
  const { shop, page, screen, complaints } = scene;
  // Browsers have it on pages with https and on this machine alone.
  await page.addInitScript('delete Crypto.prototype.randomUUID');
  const order = await newOrder(shop, [[await newCheese(shop), 1]]);
  await page.goto(`${shop.url}/console/orders`);
  await page.getByText('The console for operators.').waitFor();
  await page.goto(await consoleLink(shop));
  await screen('Home');
  await page.goto(`${shop.url}/console/orders/${order}`);
  await page.getByRole('button', { name: 'Approve' }).click();
  await until(
    async () =>
      (await shop.request('GET', `/v2/store/order/${order}`, { as: shop.admin })).json.status === 'approved',
  );
  assert.deepEqual(complaints, []);
});

test('The sign-in to the console by link is that of a new tab too, and a sign-out ends it in all', async (t) => {
  const scene = await openScene(t);
  if (scene === null) {
    return;
  }
  const { shop, page, screen, complaints } = scene;
  const openTab = async () => {
    const tab = await page.context().newPage();
    await tab.goto(`${shop.url}/console/orders`);
    return tab;
  };
  const ordersOf = (tab: Page) => tab.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  const signInOf = (tab: Page) => tab.getByText('The console for operators.').waitFor();
  await page.goto(await consoleLink(shop));
  await screen('Home');
  const tab = await openTab();
  await ordersOf(tab);
  assert.equal((await storedBy(tab)).session, (await storedBy(page)).session);
  assert.ok(!(await storedBy(tab)).local.includes('token'));

  // Input in one tab keeps the other one open.
  await page.clock.fastForward(20 * minuteMs);
  await tab.getByRole('heading', { level: 1 }).click();
  await page.waitForTimeout(200);
  await page.clock.fastForward(20 * minuteMs);
  await screen('Home');
  await page.reload();
  await screen('Home');

  await tab.getByRole('button', { name: 'Sign out' }).click();
  await signInOf(tab);
  await signInOf(page);
  assert.equal((await storedBy(page)).session, '{}');
  await tab.reload();
  await signInOf(tab);
  await tab.close();

  // A locked page gives nothing.
  await page.goto(await consoleLink(shop));
  await screen('Home');
  await page.clock.fastForward(31 * minuteMs);
  await page.getByText('The page is locked').waitFor();
  await signInOf(await openTab());
  assert.deepEqual(complaints, []);
});

test('The first screen of staff without the scope admin is that of the cheeses', async (t) => {
  const scene = await openScene(t);
  if (scene === null) {
    return;
  }
  const { shop, page, signIn, allow, screen, complaints } = scene;
  await registerCustomer(shop, { username: 'ada', role: 'staff' });
  await page.goto(`${shop.url}/console`);
  await signIn('ada');
  await allow();
  await page.getByRole('button', { name: 'Open the catalogue only' }).click();
  await screen('Cheeses');
  assert.equal(page.url(), `${shop.url}/console/cheeses`);
  assert.deepEqual(complaints, []);
});

test('The sign-in to the console ends for someone who is not staff any more', async (t) => {
  const scene = await openScene(t);
  if (scene === null) {
    return;
  }
  const { shop, page, signIn, allow, askAgain, complaints } = scene;
  await registerCustomer(shop, { username: 'ada', role: 'staff' });
  await page.goto(`${shop.url}/console`);
  await signIn('ada');
  await allow();
  await page.getByText('npx curd approvals approve 1').waitFor();
  await setRole(shop, 'ada', 'customer');
  await askAgain();
  await page.getByRole('alert').waitFor();
  assert.match((await page.getByRole('alert').textContent()) ?? '', /Only staff|expired or was revoked/);
  assert.deepEqual(complaints, []);
});
