/** The console as a page: its policy, its screens for everybody, its sizes. */
import assert from 'node:assert/strict';
import { consoleTests, findAccessibilityProblems, viewports } from './console.ts';

const inConsole = consoleTests();

/** Every screen of the navigation. */
const screens = [
  '/',
  '/orders',
  '/cheeses',
  '/stock',
  '/import',
  '/customers',
  '/approvals',
  '/access',
  '/webhooks',
  '/events',
  '/limits',
  '/operations',
];

inConsole('opens by a link, and removes the link from the URL', async ({ page, shop }) => {
  assert.equal(page.url(), `${shop.url}/console`);
  assert.equal(await page.title(), 'local: Home - Cheese shop');
});

inConsole('runs neither inline scripts nor inline styles', async ({ page, complaints }) => {
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

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [name, viewport] of Object.entries(viewports)) {
    inConsole(`has accessible screens, ${colorScheme} and ${name}`, async ({ page, goTo }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      for (const path of screens) {
        await goTo(path);
        await page.locator('.mantine-Loader-root').first().waitFor({ state: 'detached' });
        assert.deepEqual(await findAccessibilityProblems(page), [], `${path} ${colorScheme} ${name}`);
      }
    });
  }
}
