/**
 * A real browser: Chromium from an npm package, with nothing of its security switched off. Tests are skipped, and say why,
 * where the machine lacks what it needs. They fail where it does not start for another reason.
 *
 * Text is on a page before its styles and fonts are: measure it only with the functions of this file, which wait for them.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { cleanUp, type Scope } from '../context.ts';
import { NoBrowser, skipTest, startBrowser } from './installed-browser.ts';

/** Everything is on this machine, which may be a busy one. */
const patienceMs = 60_000;

let starting: Promise<Browser> | undefined;

let filesLeft = 0;

/** For the tests of a file. All files of a process share one Chromium, which is closed after the last of them. */
export function useChromium(): void {
  filesLeft += 1;
  after(async () => {
    filesLeft -= 1;
    if (filesLeft === 0) {
      await closeChromium();
    }
  });
}

async function closeChromium(): Promise<void> {
  const browser = await starting?.catch(() => undefined);
  starting = undefined;
  await browser?.close();
}

/** What a browser complained of: scripts that were refused, policies that were violated, errors. */
export interface OpenPage {
  readonly page: Page;
  readonly complaints: string[];
}

/** Opens a window of a browser without a past. Where there is none, the test is skipped, and the result is null. */
export async function openPage(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<OpenPage | null> {
  const opened = await openWindow(t, options);
  if (opened instanceof NoBrowser) {
    skipTest(t, opened);
    return null;
  }
  return opened;
}

/** The same for what several tests share: where there is no browser, each of them is skipped. */
export async function openWindow(
  t: Scope,
  options: BrowserContextOptions = {},
): Promise<OpenPage | NoBrowser> {
  assert.ok(filesLeft > 0, 'call useChromium in the test file, which closes the browser');
  starting ??= startBrowser();
  const browser = await starting.catch((error) => {
    if (error instanceof NoBrowser) {
      return error;
    }
    throw error;
  });
  if (browser instanceof NoBrowser) {
    return browser;
  }
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(patienceMs);
  cleanUp(t, () => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A form that was refused is shown again with a status that says so, and a page may not exist; but no page requests
    // what does not exist. The other text is no fault: somebody was faster than the field that takes the focus.
    const isOfPage = message.location().url === page.url();
    const harmless = [
      isOfPage ? /responded with a status of 4/ : /responded with a status of 4(?!04)/,
      /Autofocus processing was blocked/,
    ];
    if (!harmless.some((text) => text.test(message.text()))) {
      complaints.push(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints };
}

/** Runs in the page. A style sheet that the page adds later is not part of `load`. */
const waitForLook = `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const deadline = performance.now() + ${patienceMs};
  await document.fonts.ready;
  const unread = () => [...document.querySelectorAll('link[rel~=stylesheet]')].filter(({ sheet }) => sheet === null);
  while (unread().length > 0) {
    if (performance.now() > deadline) {
      throw new Error('a style sheet was not loaded: ' + unread()[0].href);
    }
    await frame();
  }
  // A page that reacts to its size or to its color scheme does so in the next frame.
  await frame();
  await frame();
})()`;

/** Waits until a page looks as it does for a person: loaded, with its styles and fonts. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.evaluate(waitForLook);
}

/** What a script measures in a page that looks as it does for a person. */
export async function measure<T>(page: Page, script: string): Promise<T> {
  await settle(page);
  return page.evaluate<T>(script);
}

/** As wide as the window, unless something is cut. */
export const measureWidth = (page: Page) => measure<number>(page, 'document.documentElement.scrollWidth');

/** Where an element is. */
export async function measureBox(locator: Locator) {
  await settle(locator.page());
  const box = await locator.boundingBox();
  assert.ok(box !== null, 'the element is not visible');
  return box;
}

/** Saves a screenshot when CURD_TEST_SCREENSHOTS names a folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.CURD_TEST_SCREENSHOTS;
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true });
    await settle(page);
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  }
}

/** Runs in the page, whose globals the rest of the project does not know: hence a text. */
const measureContrasts = String.raw`(() => {
  const read = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { channels: [red, green, blue], alpha };
  };
  const over = ({ channels, alpha }, back) => channels.map((value, index) => value * alpha + back[index] * (1 - alpha));
  const behind = (element) =>
    element === null ? [255, 255, 255] : over(read(getComputedStyle(element).backgroundColor), behind(element.parentElement));
  const luminance = (channels) => {
    const [red, green, blue] = channels
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const holdsText = (element) =>
    element.matches('input:not([type=hidden])') ||
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue.trim() !== '');
  const ratioOf = (element) => {
    const back = behind(element);
    const front = over(read(getComputedStyle(element).color), back);
    const [pale, dark] = [luminance(front), luminance(back)].sort((one, other) => other - one);
    return (pale + 0.05) / (dark + 0.05);
  };
  const all = [...document.body.querySelectorAll('*')].filter(holdsText);
  return all.map((element) => ({ html: element.outerHTML, ratio: ratioOf(element) }));
})()`;

/** Every piece of text on a page, and how well it stands out from what is behind it (WCAG 2.2, 1.4.3). */
export function contrasts(page: Page): Promise<{ readonly html: string; readonly ratio: number }[]> {
  return measure(page, measureContrasts);
}
