/** The landing page and the reference page in a real browser, on a desktop and on a phone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { imageIn } from '../api/image-forms.ts';
import { openListeningShop, shared } from '../helper.ts';
import { contrasts, measureWidth, openPage, screenshot, useChromium } from './chromium.ts';

useChromium();

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } };

const shop = shared(openListeningShop);

for (const [device, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`The landing page is readable on a ${device} in ${colorScheme} colors`, async (t) => {
      const opened = await openPage(t, { viewport, colorScheme });
      if (opened === null) {
        return;
      }
      const { page, complaints } = opened;
      await page.goto(shop().url);
      await screenshot(page, `landing-${device}-${colorScheme}`);
      assert.equal(await measureWidth(page), viewport.width);
      for (const { html, ratio } of await contrasts(page)) {
        assert.ok(ratio >= 4.5, `${ratio} ${html}`);
      }
      assert.deepEqual(complaints, []);
    });
  }
}

/** Follows the links of the landing page to an operation on the reference page. */
async function followToOperation(page: Page, width: number, colorScheme: string): Promise<void> {
  await page.goto(shop().url);
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('heading', { name: 'Cheeses', exact: true }).waitFor();
  await screenshot(page, `reference-${colorScheme}`);
  assert.equal(await measureWidth(page), width);
  await page.getByRole('link', { name: 'Upload an image' }).click();
  await page.getByRole('heading', { name: 'Upload an image' }).waitFor();
  await screenshot(page, `reference-operation-${colorScheme}`);
  assert.equal(await measureWidth(page), width);
  for (const { html, ratio } of await contrasts(page)) {
    assert.ok(ratio >= 4.5, `${ratio} ${html}`);
  }
}

test('The reference page of operations is readable on a phone in light colors', async (t) => {
  const opened = await openPage(t, { viewport: sizes.phone, colorScheme: 'light' });
  if (opened !== null) {
    await followToOperation(opened.page, sizes.phone.width, 'light');
    assert.deepEqual(opened.complaints, []);
  }
});

// One test, because the interactive reference takes four seconds of CPU time to start.
test('The interactive reference shows code of the client package and of curl, uploads an image with a key, and fits a phone', async (t) => {
  const { request, writer } = shop();
  const { json: cheese } = await request('POST', '/v2/cheeses', { as: writer, body: { name: 'Brie' } });
  assert.equal(cheese.id, 1, 'the example on the page');
  const viewport = { width: 1280, height: 1400 };
  const opened = await openPage(t, { viewport, colorScheme: 'dark' });
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  await followToOperation(page, viewport.width, 'dark');
  await page.getByRole('link', { name: 'Send this request' }).click();
  await page.getByRole('region', { name: 'Upload an image', exact: true }).waitFor();
  await screenshot(page, 'reference-interactive');
  assert.equal(await measureWidth(page), viewport.width);
  assert.equal(await page.getAttribute('html', 'lang'), 'en');
  // The package writes its version to the console.
  assert.deepEqual(
    complaints.filter((one) => !one.startsWith('@scalar/')),
    [],
  );
  const open = async (operation: string, title: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(operation)}`);
    return page.getByRole('region', { name: title, exact: true });
  };
  const operation = await open('tag/cheeses/POST/v2/cheeses/{cheeseId}/uploadImage', 'Upload an image');
  await operation.getByText('await curd.cheeses.uploadImage(1, image)').waitFor();
  await operation.getByRole('button', { name: '@curd/client' }).click();
  await page.getByRole('option', { name: 'Curl', exact: true }).click();
  await operation.getByText('/v2/cheeses/1/uploadImage').first().waitFor();
  await screenshot(page, 'reference-curl');
  await operation.getByRole('button', { name: /Test Request/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByPlaceholder('Key or token').fill(writer);
  const choosing = page.waitForEvent('filechooser');
  await dialog.locator('#file').getByRole('button', { name: 'Select File' }).click();
  await (await choosing).setFiles({
    name: 'brie.png',
    mimeType: 'image/png',
    buffer: Buffer.from(await imageIn('png')),
  });
  await dialog.getByText('brie.png').first().waitFor();
  const responding = page.waitForResponse((response) => response.url().endsWith('/uploadImage'));
  await dialog.getByRole('button', { name: /^Send/ }).first().click();
  const response = await responding;
  assert.equal(response.status(), 200, await response.text());

  // On a phone, nothing covers the URL of a request.
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.setViewportSize(sizes.phone);
  const list = await open('tag/cheeses/GET/v2/cheeses', 'List cheeses');
  assert.equal(await measureWidth(page), sizes.phone.width);
  await list.getByRole('button', { name: /Test Request/ }).click();
  const server = page.getByRole('dialog').getByRole('button', { name: new URL(shop().url).host });
  await server.first().waitFor();
  await screenshot(page, 'reference-request-phone');
  // Playwright refuses to click what something else covers.
  await server.first().click({ trial: true, position: { x: 8, y: 8 } });
});
