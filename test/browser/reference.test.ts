/** The landing page and the reference page in a real browser, on a desktop and on a phone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { imageIn } from '../api/image-forms.ts';
import { openListeningShop, shared } from '../helper.ts';
import { contrasts, measureWidth, openPage, screenshot, useChromium } from './chromium.ts';
import { findAccessibilityProblems } from './console.ts';

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

test('The pages of the reference have no accessibility problems on a phone', async (t) => {
  const opened = await openPage(t, { viewport: { ...sizes.phone, width: 390 } });
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  for (const path of ['/', '/docs', '/docs/operations/uploadCheeseImage', '/docs/schemas/Cheese']) {
    assert.equal((await page.goto(shop().url + path))?.status(), 200, path);
    assert.deepEqual(await findAccessibilityProblems(page), [], path);
  }
  assert.deepEqual(complaints, []);
});

test('The reference page of an operation uploads an image with a key, which is in no URL and is not stored', async (t) => {
  const { request, writer } = shop();
  const { json: cheese } = await request('POST', '/v2/cheeses', { as: writer, body: { name: 'Brie' } });
  const opened = await openPage(t, { viewport: sizes.desktop, colorScheme: 'dark' });
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  await followToOperation(page, sizes.desktop.width, 'dark');
  await page.getByText('await curd.cheeses.uploadImage(1, image)').waitFor();
  const urls: string[] = [];
  page.on('request', (sent) => urls.push(sent.url()));
  await page.getByRole('link', { name: 'Send this request' }).click();
  await page.getByLabel('API key or token').fill(writer);
  await page.getByLabel('cheeseId').fill(String(cheese.id));
  await page
    .getByLabel('file form')
    .setInputFiles({ name: 'brie.png', mimeType: 'image/png', buffer: Buffer.from(await imageIn('png')) });
  await page.getByRole('button', { name: 'Send' }).click();
  const response = page.getByRole('status');
  await response.getByText('"thumbnailUrl"').waitFor();
  await screenshot(page, 'reference-response');
  assert.match((await response.textContent()) ?? '', /^200 [\s\S]*content-type: application\/json/);
  assert.deepEqual(urls, [`${shop().url}/v2/cheeses/${cheese.id}/uploadImage`]);
  assert.equal(page.url(), `${shop().url}/docs/operations/uploadCheeseImage#send`);
  assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
  await page.getByLabel('cheeseId').fill('..');
  await page.getByRole('button', { name: 'Send' }).click();
  await response.getByText('The request failed: cheeseId must not be "..".').waitFor();
  assert.deepEqual(complaints, []);
});

test('The reference page of an operation sends a body and optional parameters, shows a refusal and a stream, and fits a phone', async (t) => {
  const { url, writer, admin } = shop();
  const opened = await openPage(t, { viewport: sizes.phone, colorScheme: 'light' });
  if (opened === null) {
    return;
  }
  const { page, complaints } = opened;
  await page.goto(`${url}/docs/operations/createCheese`);
  await page.getByLabel('Body').fill('{"name": "Tilsiter"}');
  const send = page.getByRole('button', { name: 'Send' });
  await send.click();
  const response = page.getByRole('status');
  await response.getByText('"type": "unauthorized"').waitFor();
  await page.getByLabel('API key or token').fill(writer);
  await page.getByText('Optional parameters').click();
  await page.getByLabel('Dry-Run').fill('true');
  await send.click();
  await response.getByText('dry-run: true').waitFor();
  await page.getByLabel('Dry-Run').fill('');
  await send.click();
  await response.getByText('"name": "Tilsiter"').waitFor();
  assert.match((await response.textContent()) ?? '', /^201 /);
  await screenshot(page, 'reference-response-phone');
  assert.equal(await measureWidth(page), sizes.phone.width);
  for (const { html, ratio } of await contrasts(page)) {
    assert.ok(ratio >= 4.5, `${ratio} ${html}`);
  }

  await page.goto(`${url}/docs/operations/streamEvents`);
  await page.getByLabel('API key or token').fill(admin);
  await page.getByText('Optional parameters').click();
  await page.getByLabel('since').fill('earliest');
  await send.click();
  await response.getByText('cheese.created').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await response.getByText('(Stopped.)').waitFor();
  // The browser writes the refusal to the console.
  assert.deepEqual(
    complaints.filter((one) => !one.includes('401')),
    [],
  );
});
