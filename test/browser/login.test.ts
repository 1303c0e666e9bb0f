/** Login and consent in a real browser. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ClientRequest } from '../../src/auth/oauth/clients.ts';
import { cleanUp } from '../context.ts';
import {
  implicitQueryOf,
  newApplication,
  openListeningShop,
  type Parameters,
  password,
  queryOf,
} from '../oauth/flow.ts';
import { registerCustomer } from '../shop-verbs.ts';
import { contrasts, measureWidth, openPage, screenshot, useChromium } from './chromium.ts';

useChromium();

interface Arrival {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** The web server of an application, another site than the shop's; it remembers who came. */
async function openSite(t: TestContext, host = '127.0.0.1') {
  const arrivals: Arrival[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    arrivals.push({ path: url, headers });
    const framed = new URL(url, 'http://site').searchParams.get('frame')?.replaceAll('&', '&amp;');
    const body = framed === undefined ? '<p>Thank you' : `<iframe src="${framed}"></iframe>`;
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html><title>Site</title>${body}`);
  });
  await once(server.listen(0, host), 'listening');
  cleanUp(t, () => {
    server.close();
    server.closeAllConnections();
  });
  const name = host === '::1' ? '[::1]' : 'localhost';
  return { arrivals, origin: `http://${name}:${(server.address() as AddressInfo).port}` };
}

/** A shop with a customer, an application and a new browser; null when there is no browser. */
async function openScene(t: TestContext, request: Partial<ClientRequest> = {}, host?: string) {
  const opened = await openPage(t);
  if (opened === null) {
    return null;
  }
  const shop = await openListeningShop(t);
  await registerCustomer(shop, { username: 'ada' });
  const site = await openSite(t, host);
  const app = await newApplication(shop, { redirectUris: [`${site.origin}/cb`], ...request });
  const { page } = opened;
  return {
    ...opened,
    shop,
    site,
    app,
    /** Waits until the person is asked for consent. */
    asked: () =>
      page
        .getByRole('heading', { name: `${request.name ?? 'Cheese Diary'} asks for your permission` })
        .waitFor(),
    open: (more?: Parameters) => page.goto(`${shop.url}/oauth/authorize?${queryOf(app, more)}`),
    /** Waits until the application was reached, and says what it was told. */
    async arrived() {
      await page.waitForURL(`${site.origin}/**`);
      return Object.fromEntries(new URL(page.url()).searchParams);
    },
  };
}

type Scene = NonNullable<Awaited<ReturnType<typeof openScene>>>;

/** A test that is skipped, with the reason, when there is no browser. */
function inBrowser(name: string, request: Partial<ClientRequest>, body: (scene: Scene) => Promise<void>) {
  test(name, async (t) => {
    const scene = await openScene(t, request);
    if (scene !== null) {
      await body(scene);
    }
  });
}

async function logIn(page: Page, username = 'ada', secret = password): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(secret);
  await press(page, 'Log in');
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

inBrowser('A person logs in at the second try, allows it, and is back with a code', {}, async (scene) => {
  const { page, complaints, site, shop } = scene;
  await scene.open({ scope: 'read:cheeses read:profile' });
  assert.equal(await page.title(), 'Log in to go on to Cheese Diary - Cheese shop');
  await logIn(page, 'ada', 'wrong');
  assert.equal(await page.getByRole('alert').textContent(), 'The username or the password is wrong.');
  assert.equal(await page.getByLabel('Username').inputValue(), 'ada');
  assert.equal(await page.getByLabel('Password').inputValue(), '');
  await logIn(page);
  await scene.asked();
  assert.deepEqual(await page.getByRole('listitem').allTextContents(), [
    'Look at the cheeses of the shop',
    'See your profile: name, e-mail address, phone, favourite cheese',
  ]);
  assert.ok((await page.locator('main').textContent())?.includes(`sent on to ${new URL(site.origin).host}`));
  await press(page, 'Allow');
  const { code, ...told } = await scene.arrived();
  assert.match(code ?? '', /^[\w-]{43}$/);
  assert.deepEqual(told, { state: 'xyz', iss: shop.url });
  for (const { headers } of site.arrivals) {
    assert.deepEqual([headers.referer, headers.origin, headers.cookie], [undefined, undefined, undefined]);
  }
  assert.deepEqual(complaints, []);
});

inBrowser('Cancel and Deny bring a person back without anything being granted', {}, async (scene) => {
  const { page, complaints } = scene;
  await scene.open();
  await press(page, 'Cancel');
  assert.equal((await scene.arrived()).error, 'access_denied');
  await scene.open();
  await logIn(page);
  await press(page, 'Deny');
  const { error, code } = await scene.arrived();
  assert.deepEqual([error, code], ['access_denied', undefined]);
  await scene.open();
  await scene.asked();
  assert.deepEqual(complaints, []);
});

inBrowser(
  'The login pages can be used by keyboard alone, and the focus is always visible',
  {},
  async (scene) => {
    const { page } = scene;
    const focused = async (): Promise<string> => {
      const [name, outline] = (await page.evaluate(`(() => {
      const { innerText, id } = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return [id || innerText, outlineStyle + ' ' + outlineWidth];
    })()`)) as [string, string];
      assert.equal(outline, 'solid 3px', `focus on ${name}`);
      return name;
    };
    const tab = async (): Promise<string> => {
      await page.keyboard.press('Tab');
      return focused();
    };
    await scene.open();
    await page.locator('#username:focus').waitFor();
    assert.equal(await focused(), 'username');
    await page.keyboard.type('ada');
    assert.equal(await tab(), 'password');
    await page.keyboard.type(password);
    assert.deepEqual([await tab(), await tab()], ['Log in', 'Cancel']);
    await page.getByLabel('Password').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    assert.deepEqual([await tab(), await tab(), await tab()], ['Allow', 'Deny', 'Log out']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    assert.equal(await focused(), 'Allow');
    await page.keyboard.press('Enter');
    assert.ok((await scene.arrived()).code !== undefined);
  },
);

const implicit: Partial<ClientRequest> = { grants: ['implicit'] };

inBrowser('The implicit flow ends behind the #, where no server sees it', implicit, async (scene) => {
  const { page, shop, site, app, complaints } = scene;
  await page.goto(`${shop.url}/oauth/authorize?${implicitQueryOf(app, { scope: 'read:cheeses' })}`);
  await logIn(page);
  await press(page, 'Allow');
  assert.deepEqual(await scene.arrived(), {});
  const hash = String(await page.evaluate('location.hash'));
  const { access_token: token, ...told } = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const expected = {
    token_type: 'Bearer',
    expires_in: '600',
    scope: 'read:cheeses',
    state: 'xyz',
    iss: shop.url,
  };
  assert.deepEqual(told, expected);
  assert.deepEqual([site.arrivals[0]?.path, site.arrivals[0]?.headers.referer], ['/cb', undefined]);
  const read = `fetch('${shop.url}/v2/cheeses', { headers: { Authorization: 'Bearer ${token}' } }).then((it) => it.status)`;
  assert.equal(await page.evaluate(read), 200, 'a script at another site can use it');
  await page.goto(`${shop.url}/oauth/authorize?${implicitQueryOf(app, { scope: 'read:cheeses' })}`);
  await scene.asked();
  assert.deepEqual(complaints, []);
});

inBrowser(
  'Consent is asked once for an application with a secret, and each time for one without',
  {},
  async (scene) => {
    const { page, shop, site } = scene;
    await scene.open({ scope: 'read:cheeses' });
    await logIn(page);
    await press(page, 'Allow');
    await scene.arrived();
    await page.goto('about:blank');
    await scene.open({ scope: 'read:cheeses' });
    assert.ok((await scene.arrived()).code !== undefined, 'not asked again');
    await scene.open({ scope: 'read:cheeses read:orders' });
    await scene.asked();
    const open = await newApplication(shop, { isPublic: true, redirectUris: [`${site.origin}/open`] });
    for (const _ of ['first', 'second']) {
      await page.goto(`${shop.url}/oauth/authorize?${queryOf(open, { scope: 'read:cheeses' })}`);
      await scene.asked();
      await press(page, 'Allow');
      await page.waitForURL(`${site.origin}/open?*`);
    }
  },
);

inBrowser('A logout on the login page lets another customer log in', {}, async (scene) => {
  const { page } = scene;
  await scene.open();
  await logIn(page);
  await page.getByRole('link', { name: 'Log out' }).click();
  await page.waitForURL('**/oauth/logout');
  assert.equal(await page.title(), 'Log out - Cheese shop');
  await press(page, 'Log out');
  await page.getByText('You are logged out').waitFor();
  await scene.open();
  assert.equal(await page.getByLabel('Username').inputValue(), '');
});

inBrowser('No script runs on a login page, and no other page can frame it', {}, async (scene) => {
  const { page, shop, site, app, complaints } = scene;
  await scene.open();
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('script'), { text: 'ran = 1' }))`,
  );
  assert.equal(await page.evaluate('typeof ran'), 'undefined');
  assert.match(complaints.splice(0).join(), /Content Security Policy/);
  for (const path of [`/oauth/authorize?${queryOf(app)}`, '/oauth/logout', '/oauth/authorize']) {
    await page.goto(`${site.origin}/?frame=${encodeURIComponent(shop.url + path)}`);
    const [frame] = page.frames().slice(1);
    assert.equal(frame?.url(), 'chrome-error://chromewebdata/', path);
    assert.match(complaints.splice(0).join(), /X-Frame-Options|frame-ancestors/, path);
  }
});

const longName = 'Cheesediary'.repeat(9);
const named = { name: longName };

inBrowser('Every page fits into 360 pixels, and can be read in light and dark', named, async (scene) => {
  const { page, shop } = scene;
  await page.setViewportSize({ width: 360, height: 640 });
  async function look(pictured: string, title: string): Promise<void> {
    assert.equal(await page.title(), `${title} - Cheese shop`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.equal(await measureWidth(page), 360, title);
      const texts = await contrasts(page);
      assert.ok(texts.length >= 2, title);
      const pale = texts.filter(({ ratio }) => ratio < 4.5);
      assert.deepEqual(pale, [], 'WCAG 2.2, section 1.4.3');
      await screenshot(page, `${pictured}-${colorScheme}`);
    }
  }
  await page.goto(`${shop.url}/oauth/authorize?client_id=nobody`);
  await look('error', 'This did not work');
  await page.getByText('The application that sent you here is not known to this shop.').waitFor();
  await scene.open();
  await look('login', `Log in to go on to ${longName}`);
  for (const [label, purpose] of [
    ['Username', 'username'],
    ['Password', 'current-password'],
  ] as const) {
    await page.getByText(label, { exact: true }).click();
    assert.equal(await page.evaluate('document.activeElement.autocomplete'), purpose, `label ${label}`);
  }
  await logIn(page, 'ada', 'wrong');
  await page.getByRole('alert').waitFor();
  await look('login-failed', `Log in to go on to ${longName}`);
  await logIn(page);
  await scene.asked();
  await look('consent', `May ${longName} do this?`);
  await page.goto(`${shop.url}/oauth/logout`);
  await look('logout', 'Log out');
});

test('An application on the same machine is also reached at an IPv6 address (RFC 8252, section 7.3)', async (t) => {
  const scene = await openScene(t, { isNative: true, isPublic: true }, '::1').catch((error) => error);
  if (scene === null || scene instanceof Error) {
    assert.ok(scene === null || ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(scene.code), scene?.message);
    t.skip('there is no browser, or no IPv6');
    return;
  }
  await scene.open({ scope: 'read:cheeses' });
  await logIn(scene.page);
  await press(scene.page, 'Allow');
  assert.ok((await scene.arrived()).code !== undefined);
  assert.deepEqual(scene.complaints, []);
});
