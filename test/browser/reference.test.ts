/** The landing page and the reference page in a real browser, on a desktop and on a phone. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openListeningShop } from '../helper.ts';
import { closeChromium, contrasts, openPage, picture } from './chromium.ts';

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
      await picture(page, `landing-${device}-${colorScheme}`);
      assert.equal(await widthOf(), viewport.width);
      for (const { html, ratio } of await contrasts(page)) {
        assert.ok(ratio >= 4.5, `${ratio} ${html}`);
      }

      await page.getByRole('link', { name: 'API reference' }).click();
      await page.getByRole('heading', { name: 'Cheeses', exact: true }).first().waitFor();
      await picture(page, `reference-${device}-${colorScheme}`);
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
