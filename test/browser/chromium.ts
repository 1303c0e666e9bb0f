/**
 * A real browser: Chromium from an npm package, with nothing of its security switched off. Where it cannot be started,
 * tests are skipped and say why.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core';
import { type Scope as CleanUpScope, cleanUp } from '../context.ts';

/** Not what the package recommends: that would switch off the same-origin policy, and with it what is tested here. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  // Saves half a second of CPU time for each further tab of a site.
  '--process-per-site',
];
/** Everything is on this machine, which may be a busy one. */
const patienceMs = 60_000;

let starting: Promise<Browser> | undefined;

async function start(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`there is no Chromium for ${process.platform} on ${process.arch} in the package`);
  }
  return playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true });
}

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

/** A test, or the tests of a file, which can be skipped. */
export interface Scope extends CleanUpScope {
  skip(reason?: string): void;
}

/** Opens a window of a browser without a past; null where there is none, and then the test is skipped. */
export async function openPage(t: Scope, options: BrowserContextOptions = {}): Promise<OpenPage | null> {
  assert.ok(filesLeft > 0, 'call useChromium in the test file, which closes the browser');
  starting ??= start();
  let browser: Browser;
  try {
    browser = await starting;
  } catch (error) {
    t.skip(`Chromium cannot be started: ${String((error as Error).message).split('\n', 1)[0]}`);
    return null;
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

/** Saves a screenshot when CURD_TEST_SCREENSHOTS names a folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.CURD_TEST_SCREENSHOTS;
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true });
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
  return page.evaluate(measureContrasts);
}
