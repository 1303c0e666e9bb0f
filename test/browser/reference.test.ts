/** The landing page and the reference page in a real browser, on a desktop and on a phone. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { imageIn } from '../api/image-forms.ts';
import { openListeningShop } from '../helper.ts';
import { closeChromium, contrasts, openPage, screenshot } from './chromium.ts';

after(closeChromium);

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } };

for (const [device, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`The landing page leads to the reference, on a ${device} in ${colorScheme} colors`, async (t) => {
      const opened = await openPage(t, { viewport, colorScheme });
      if (opened === null) {
        return;
      }
      const { page, complaints } = opened;
      const { url } = await openListeningShop(t);
      const widthOf = () => page.evaluate('document.documentElement.scrollWidth');
      await page.goto(url);
      await screenshot(page, `landing-${device}-${colorScheme}`);
      assert.equal(await widthOf(), viewport.width);
      for (const { html, ratio } of await contrasts(page)) {
        assert.ok(ratio >= 4.5, `${ratio} ${html}`);
      }

      await page.getByRole('link', { name: 'API reference' }).click();
      await page.getByRole('heading', { name: 'Cheeses', exact: true }).first().waitFor();
      await screenshot(page, `reference-${device}-${colorScheme}`);
      assert.equal(await widthOf(), viewport.width);
      assert.equal(await page.getAttribute('html', 'lang'), 'en');
      // The package writes its version to the console.
      assert.deepEqual(
        complaints.filter((one) => !one.startsWith('@scalar/')),
        [],
      );
    });
  }
}

test('The reference page shows code of the client package and of curl, and uploads an image with the key that was entered', async (t) => {
  const opened = await openPage(t, { viewport: { width: 1280, height: 1400 } });
  if (opened === null) {
    return;
  }
  const { page } = opened;
  const shop = await openListeningShop(t);
  const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: 'Brie' },
  });
  assert.equal(cheese.id, 1, 'the example on the page');
  await page.goto(`${shop.url}/docs#tag/cheeses/POST/v2/cheeses/{cheeseId}/uploadImage`);
  const operation = page.getByRole('region', { name: 'Upload an image', exact: true });
  await operation.getByText('await curd.cheeses.uploadImage(1, image)').waitFor();
  await operation.getByRole('button', { name: '@curd/client' }).click();
  await page.getByRole('option', { name: 'Curl', exact: true }).click();
  await operation.getByText('/v2/cheeses/1/uploadImage').first().waitFor();
  await screenshot(page, 'reference-curl');
  await operation.getByRole('button', { name: /Test Request/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByPlaceholder('Key or token').fill(shop.writer);
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
});

test('On a phone, nothing covers the URL of a request on the reference page', async (t) => {
  const opened = await openPage(t, { viewport: sizes.phone });
  if (opened === null) {
    return;
  }
  const { page } = opened;
  const { url } = await openListeningShop(t);
  await page.goto(`${url}/docs#tag/cheeses/GET/v2/cheeses`);
  const operation = page.getByRole('region', { name: 'List cheeses', exact: true });
  await operation.getByRole('button', { name: /Test Request/ }).click();
  const server = page.getByRole('dialog').getByRole('button', { name: new URL(url).host });
  await server.first().waitFor();
  await screenshot(page, 'reference-request-phone');
  // Playwright refuses to click what something else covers.
  await server.first().click({ trial: true, position: { x: 8, y: 8 } });
});
