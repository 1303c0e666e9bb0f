/** The console as a page: its policy, its screens for everybody, its sizes. */
import assert from 'node:assert/strict';
import { newClient, newCustomer } from '../auth/holders.ts';
import { measure } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, viewports } from './console.ts';

const inConsole = consoleTests();

/** Every screen of the navigation. */
const screens = [
  '/',
  '/orders',
  '/sales',
  '/cheeses',
  '/stock',
  '/import',
  '/customers',
  '/approvals',
  '/access',
  '/webhooks',
  '/mail',
  '/events',
  '/requests',
  '/limits',
  '/shop',
  '/operations',
  '/sandbox',
];

inConsole('The console opens by a link, and removes the link from the URL', async ({ page, shop }) => {
  assert.equal(page.url(), `${shop.url}/console`);
  assert.equal(await page.title(), 'local: Home - Cheese shop');
});

inConsole('The console runs neither inline scripts nor inline styles', async ({ page, complaints }) => {
  const { ran, color } = await page.evaluate<{ ran: boolean; color: string }>(`(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    const style = document.createElement('style');
    style.textContent = 'h1 { color: rgb(1, 2, 3) !important }';
    document.head.append(style);
    script.remove();
    style.remove();
    return { ran: window.ran === true, color: getComputedStyle(document.querySelector('h1')).color };
  })()`);
  assert.equal(ran, false);
  assert.notEqual(color, 'rgb(1, 2, 3)');
  assert.equal(complaints.splice(0).filter((line) => line.includes('Content Security Policy')).length, 2);
});

for (const [name, viewport] of Object.entries(viewports)) {
  inConsole(`The console has accessible screens in light and dark, ${name}`, async ({ page, goTo }) => {
    await page.setViewportSize(viewport);
    for (const path of screens) {
      await goTo(path);
      await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
      await page.emulateMedia({ colorScheme: 'light' });
      assert.deepEqual(await findAccessibilityProblems(page), [], `${path} light ${name}`);
      // The other rules do not depend on colors.
      await page.emulateMedia({ colorScheme: 'dark' });
      const problems = await findAccessibilityProblems(page, ['color-contrast', 'link-in-text-block']);
      assert.deepEqual(problems, [], `${path} dark ${name}`);
    }
  });
}

inConsole(
  'The console has a link past the navigation, and says who is signed in',
  async ({ page, goTo, shop }) => {
    await page.setViewportSize(viewports.wide);
    await page.goto(`${shop.url}/console/events`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'content');
    await page.getByTitle('Signed in: operator').waitFor();
    await page.setViewportSize(viewports.phone);
    await goTo('/');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByText('Signed in: operator').waitFor();
    await page.keyboard.press('Escape');
  },
);

inConsole('The console cuts no table: where one does not fit, its rows are cards', async ({ page, goTo }) => {
  for (const width of [1280, 1000, 800, 390]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [
      '/events',
      '/mail',
      '/requests',
      '/operations',
      '/sandbox',
      '/access',
      '/access/clients',
      '/approvals',
    ]) {
      await goTo(path);
      await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
      const cut = await measure(
        page,
        `[...document.querySelectorAll('.main table')]
        .filter((table) => table.getBoundingClientRect().right > document.querySelector('.main').getBoundingClientRect().right)
        .map((table) => table.getAttribute('aria-label'))`,
      );
      assert.deepEqual(cut, [], `${path} ${width}`);
      // A command in two lines would be two boxes.
      const broken = await measure(
        page,
        `[...document.querySelectorAll('.main :not(td) > code')]
        .filter((code) => code.getClientRects().length > 1).map(({ textContent }) => textContent)`,
      );
      assert.deepEqual(broken, [], `${path} ${width}`);
    }
  }
});

inConsole(
  'The console keeps the navigation in its place on short and long screens',
  async ({ page, goTo }) => {
    await page.setViewportSize(viewports.wide);
    const places = new Set<string>();
    for (const path of ['/', '/access', '/operations', '/approvals']) {
      await goTo(path);
      await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
      const place = 'JSON.stringify(document.querySelector(".side a").getBoundingClientRect())';
      places.add(await measure<string>(page, place));
    }
    assert.equal(places.size, 1, [...places].join(' '));
  },
);

for (const colorScheme of ['light', 'dark'] as const) {
  inConsole(`The console shows deletions in red, ${colorScheme}`, async ({ page, shop, goTo }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewports.wide);
    const customer = await newCustomer(shop, `eve-${colorScheme}`, 'customer');
    await newClient(shop);
    const create = async (path: string, body: object) =>
      (await shop.request('POST', path, { as: shop.admin, body })).json.id;
    const cheese = await create('/v2/cheeses', { name: `Brie ${colorScheme}` });
    const webhook = await create('/v2/webhook-endpoints', { url: 'http://127.0.0.1:9/' });
    /** The buttons that delete something, with one of their colors. */
    const colorsOf = (within: string, property: 'color' | 'backgroundColor') =>
      measure<string[]>(
        page,
        `[...document.querySelectorAll('${within} button')]
        .filter(({ disabled, textContent }) => !disabled && textContent.startsWith('Delete'))
        .map((button) => getComputedStyle(button).${property})`,
      );
    const isRed = (color: string) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
      return red > 1.3 * green && red > 1.3 * blue;
    };
    for (const path of [
      `/cheeses/${cheese}`,
      `/customers/${customer}`,
      '/access/clients',
      `/webhooks/${webhook}`,
    ]) {
      await goTo(path);
      const button = page.getByRole('button', { name: /^Delete/ }).first();
      await button.waitFor();
      const colors = await colorsOf('.main', 'color');
      assert.ok(colors.length > 0 && colors.every(isRed), `${path} ${colors}`);
      for (const viewport of [viewports.phone, { ...viewports.wide, width: 1024 }, viewports.wide]) {
        await page.setViewportSize(viewport);
        const isAlone = `[...document.querySelectorAll('.main button')].filter(({ textContent }) => textContent === 'Delete')
          .some((button) => {
            const others = [...button.parentElement.children].filter((one) => one !== button && one.matches('button'));
            const top = (one) => one.getBoundingClientRect().top;
            return others.length > 0 && others.every((one) => top(one) !== top(button));
          })`;
        assert.equal(await measure(page, isAlone), false, `${path} ${viewport.width}`);
      }
      await button.click();
      const dialog = page.getByRole('dialog');
      // One cheese needs no typing.
      for (const label of await dialog.getByText(/^Type .* to confirm$/).allTextContents()) {
        await dialog.getByRole('textbox').fill(label.replace(/^Type (.*) to confirm$/, '$1'));
      }
      const confirm = dialog.getByRole('button', { name: /^Delete/ });
      await confirm.and(page.locator(':enabled')).waitFor();
      const filled = await colorsOf('[role=dialog]', 'backgroundColor');
      assert.ok(filled.length > 0 && filled.every(isRed), `the dialog of ${path} ${filled}`);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  });
}
