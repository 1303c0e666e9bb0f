/** The first load of the console on a slow line: what is seen first, and what moves later. */
import assert from 'node:assert/strict';
import { until } from '../context.ts';
import { measure } from './chromium.ts';
import { consoleTests, viewports } from './console.ts';

const inConsole = consoleTests();

/** 400 kbit/s, with 400 ms for each request. */
const slow3g = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

interface Painted {
  readonly firstPaintMs: number;
  /** When the first stylesheet or module had arrived. */
  readonly filesMs: number;
  readonly shift: number;
}

const readPaint = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shift += entry.hadRecentInput ? 0 : entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  const files = performance.getEntriesByType('resource').filter(({ name }) => /(styles|main)-/.test(name));
  setTimeout(() => resolve({
    firstPaintMs: paint.startTime,
    filesMs: Math.min(...files.map(({ responseEnd }) => responseEnd)),
    shift,
  }), 300);
})`;

for (const [colorScheme, size] of [
  ['light', 'wide'],
  ['dark', 'phone'],
] as const) {
  inConsole(
    `The console is seen in its colors before any file arrives, and stays in place: ${colorScheme}, ${size}`,
    async ({ page, shop }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewports[size]);
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('Network.enable');
      await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
      await devtools.send('Network.emulateNetworkConditions', slow3g);
      await page.goto(`${shop.url}/console`, { waitUntil: 'commit' });
      await page.locator('#first-paint .environment').waitFor();
      const seen = await page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, document.querySelector('.environment').textContent, document.styleSheets.length]",
      );
      assert.deepEqual(seen, [colorScheme === 'dark' ? 'rgb(23, 20, 15)' : 'rgb(255, 253, 248)', 'local', 1]);
      // Not waitForFunction: it calls eval where a condition is not true at once, which the page forbids.
      await until(() =>
        page.evaluate<boolean>("performance.getEntriesByName('first-contentful-paint').length === 1"),
      );

      // The rest as fast as it can: this is about the order.
      await devtools.send('Network.emulateNetworkConditions', {
        ...slow3g,
        latency: 20,
        downloadThroughput: -1,
      });
      await page.getByRole('region', { name: 'First steps' }).waitFor();
      await page.getByText('No orders in these days.').waitFor();
      const { firstPaintMs, filesMs, shift } = await page.evaluate<Painted>(readPaint);
      await devtools.detach();
      assert.ok(firstPaintMs < filesMs, `painted after ${firstPaintMs} ms, files after ${filesMs} ms`);
      assert.ok(shift <= 0.1, `layout shift ${shift}`);
    },
  );
}

inConsole(
  'The console has the color scheme that the person has chosen before its script runs',
  async ({ page, shop }) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.evaluate("localStorage.setItem('mantine-color-scheme-value', 'dark')");
    await page.goto(`${shop.url}/console`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await measure(page, 'getComputedStyle(document.body).backgroundColor'), 'rgb(23, 20, 15)');
    // Without the script of the page: a small one sets it, which the first paint does not wait for.
    await page.route('**/main-*.js', () => {});
    await page.goto(`${shop.url}/console`, { waitUntil: 'commit' });
    await page.locator('#first-paint').waitFor();
    await until(async () => {
      const color = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      return color === 'rgb(23, 20, 15)';
    });
    await page.unroute('**/main-*.js');
    await page.evaluate('localStorage.clear()');
    await page.goto(`${shop.url}/console`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  },
);
