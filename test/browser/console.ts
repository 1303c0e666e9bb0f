/**
 * The operator's console in Chromium, on a server of its own, for the tests of a file.
 *
 *     const inConsole = consoleTests();
 *
 *     inConsole('ships an order by a key', async ({ shop, page, goTo }) => {
 *       await goTo('/orders');
 *       await page.keyboard.press('s');
 *     });
 *
 * The tests share the server and the page, which is signed in by a link. A test fails if the browser complains.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { type Scope, shared } from '../context.ts';
import { type ListeningShop, openListeningShop, type ShopOptions } from '../helper.ts';
import { measureWidth, openWindow, screenshot, settle, useChromium } from './chromium.ts';
import { NoBrowser, skipTest } from './installed-browser.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The sizes of a desk and of a phone. */
export const viewports = {
  wide: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
} as const;

export interface OpenConsole {
  readonly shop: ListeningShop;
  readonly page: Page;
  /** What the browser wrote to its console. A test that expects complaints empties it. */
  readonly complaints: string[];
  /** Opens a URL below /console without loading the page again, and waits for the heading of the screen. */
  goTo(path: string): Promise<void>;
  /** Opens another tab of the same browser, signed in by a link of its own. */
  openTab(path?: string): Promise<Page>;
}

/** Builds the console unless its build is newer than all of its sources. */
export async function buildConsole(): Promise<void> {
  const sources = ['console/src', 'client/src', 'client/oauth'].map((folder) => join(root, folder));
  const files = (
    await Promise.all(
      sources.map(async (folder) =>
        (await readdir(folder, { recursive: true })).map((name) => join(folder, name)),
      ),
    )
  ).flat();
  const others = ['build.js', 'index.html', 'package.json'].map((name) => join(root, 'console', name));
  const built = await stat(join(root, 'console/dist/index.html')).catch(() => null);
  const times = await Promise.all([...files, ...others].map(async (path) => (await stat(path)).mtimeMs));
  if (built === null || Math.max(...times) >= built.mtimeMs) {
    await promisify(execFile)(process.execPath, [join(root, 'console/build.js')]);
  }
}

/** Milliseconds until a page has read again what the events so far made stale: it reads at most twice a second. */
export const refreshedMs = 700;

/** A URL that signs in once. */
export async function consoleLink({ app, url }: ListeningShop, path = ''): Promise<string> {
  const { link } = await app.oauth.consoleLinks.create(app.contextOf('cli'));
  return `${url}/console${path}#link=${link}`;
}

/** Opens the console of a new shop. */
export async function openConsole(t: Scope, options: ShopOptions = {}): Promise<OpenConsole | NoBrowser> {
  await buildConsole();
  const opened = await openWindow(t, { locale: 'en-US', viewport: viewports.wide });
  if (opened instanceof NoBrowser) {
    return opened;
  }
  const shop = await openListeningShop(t, options);
  const { page, complaints } = opened;
  await page.goto(await consoleLink(shop));
  await page.getByRole('heading', { level: 1 }).waitFor();
  return {
    shop,
    page,
    complaints,
    async goTo(path) {
      // A string, because tests are compiled without the types of browsers.
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}), dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    async openTab(path) {
      const tab = await page.context().newPage();
      await tab.goto(await consoleLink(shop, path));
      await tab.getByRole('heading', { level: 1 }).waitFor();
      return tab;
    },
  };
}

export type ConsoleTest = (
  name: string,
  body: (opened: OpenConsole, t: TestContext) => Promise<void>,
) => void;

/** Registers tests that share one console. They are skipped where there is no browser. */
export function consoleTests(options: ShopOptions = {}): ConsoleTest {
  useChromium();
  const opened = shared((t) => openConsole(t, options));
  return (name, body) =>
    test(name, async (t) => {
      const current = opened();
      if (current instanceof NoBrowser) {
        skipTest(t, current);
        return;
      }
      try {
        await body(current, t);
      } catch (error) {
        const text = await current.page.locator('body').innerText();
        t.diagnostic(`At ${current.page.url()}:\n${text}\n${current.complaints.join('\n')}`);
        // The next test begins with a page of its own: no open dialog, no route, no complaint of this one.
        await current.page.unrouteAll({ behavior: 'ignoreErrors' });
        await current.page.goto(await consoleLink(current.shop));
        current.complaints.splice(0);
        throw error;
      }
      assert.deepEqual(current.complaints.splice(0), []);
    });
}

const axe = readFile(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds on the page, one line for each element. It comes through the debugging protocol, past the policy. A frame
 * without scripts cannot be examined.
 * @param rules all by default
 */
export async function findAccessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  await settle(page);
  // Colors that still change would be measured on the way. A change of the color scheme starts transitions a frame later.
  await page.evaluate(`(async () => {
    for (let quietFrames = 0; quietFrames < 2; ) {
      await new Promise(requestAnimationFrame);
      const running = document
        .getAnimations()
        .filter(({ effect }) => effect !== null && effect.getComputedTiming().endTime !== Infinity);
      for (const animation of running) {
        animation.finish();
      }
      quietFrames = running.length === 0 ? quietFrames + 1 : 0;
    }
  })()`);
  if (!(await page.evaluate('typeof axe === "object"'))) {
    await page.evaluate(`${await axe}; void 0`);
  }
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify({ resultTypes: ['violations'], iframes: false, ...(rules && { runOnly: rules }) })}).then(({ violations }) =>
       violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) =>
         id + ': ' + help + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
  );
}

/** Asserts that nothing is cut and axe finds nothing, light and dark, on a desk and on a phone. */
export async function assertReadable(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const viewport of [viewports.phone, viewports.wide]) {
      await page.setViewportSize(viewport);
      const place = `${name}-${colorScheme}-${viewport.width}`;
      assert.deepEqual(await findAccessibilityProblems(page), [], place);
      const width = await measureWidth(page);
      assert.ok(width <= viewport.width, `${place} is ${width} wide`);
      await screenshot(page, `console-${place}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
