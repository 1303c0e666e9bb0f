/** Mails in the console: the list, a preview, another attempt, and the ways to them. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { temporaryFolder } from '../helper.ts';
import { openMailServer, sendMails } from '../mail/mail-shop.ts';
import { newCheese, newOrder, registerAndLogIn } from '../shop-verbs.ts';
import { measureWidth, screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems, viewports } from './console.ts';

const steps: (() => unknown)[] = [];
const scope = { after: (step: () => unknown) => steps.push(step) };
const server = await openMailServer(scope);
const templates = await temporaryFolder(scope);
await writeFile(
  join(templates, 'order-cancelled.html'),
  '<p style="color: rgb(1, 2, 3)" onclick="x()">{{customer.name}}</p><img src="https://pixel.test/1" alt=""><script>document.title = "ran"</script>',
);
const inMailShop = consoleTests({
  settings: {
    CURD_MAIL: server.url,
    CURD_MAIL_FROM: 'shop@fromagerie.test',
    CURD_MAIL_TEMPLATES: templates,
  },
});
const inFileShop = consoleTests();
// The shops end first: the mail server waits for their connections.
after(async () => {
  for (const step of steps) {
    await step();
  }
});

const frameTitle = 'HTML of the mail';

inMailShop(
  'The console leads from Home to mails that failed, and sends one again by keyboard',
  async (opened) => {
    const { shop, page, goTo } = opened;
    const cheese = await newCheese(shop);
    const [ada, bea] = [await registerAndLogIn(shop, { firstName: 'Ada' }), await registerAndLogIn(shop)];
    await sendMails(shop);
    server.behavior.data = 451;
    await newOrder(shop, cheese, { headers: bea.headers });
    await sendMails(shop);
    // Home reads it again when it is opened.
    await goTo('/events');
    await goTo('/');
    await page.getByRole('link', { name: /^1 mail waits for another attempt: .*451/ }).waitFor();
    delete server.behavior.data;
    const [{ id: waiting }] = (await shop.request('GET', '/v2/mails?state=waiting', { as: shop.admin })).json
      .items;
    await shop.request('POST', `/v2/mails/${waiting}/retry`, { as: shop.admin });
    await sendMails(shop);
    server.behavior.recipient = 550;
    const failed = await newOrder(shop, cheese, { headers: ada.headers });
    await sendMails(shop);
    delete server.behavior.recipient;
    const sent = await newOrder(shop, cheese, { headers: bea.headers });
    await sendMails(shop);
    await goTo('/events');
    await page.getByRole('heading', { level: 1, name: 'Events' }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByRole('link', { name: '1 mail could not be sent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mail' }).waitFor();
    assert.match(page.url(), /\/mail\?state=failed$/);
    const table = page.getByRole('table', { name: 'Mails' });
    await table.getByText(/550/).waitFor();
    assert.equal(await table.getByRole('row').count(), 2);
    assert.deepEqual(await findAccessibilityProblems(page), []);

    await page.getByRole('heading', { level: 1, name: 'Mail' }).click();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /^Mail \d+: order-placed$/ });
    const frame = dialog.frameLocator(`iframe[title="${frameTitle}"]`);
    await frame.getByText('Hello Ada').waitFor();
    assert.equal(await dialog.locator('iframe').getAttribute('sandbox'), '');
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await screenshot(page, 'console-mail-html');
    await dialog.getByText('Text', { exact: true }).click();
    await dialog.getByText('Hello Ada').waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await dialog.getByRole('button', { name: 'Send again' }).press('Enter');
    await dialog.getByText('waiting').waitFor();
    await sendMails(shop);
    await page.keyboard.press('Escape');
    await page.getByText('No such mails').waitFor();

    await page.getByText('all', { exact: true }).click();
    await table.getByText(`order ${sent}`).waitFor();
    assert.equal(await table.getByText('sent', { exact: true }).count(), 3);
    await screenshot(page, 'console-mail');
    await page.getByLabel('Order id').fill('x');
    await page.getByText('A number, such as 31').waitFor();
    await page.getByLabel('Order id').fill(String(failed));
    await table.getByText(`order ${sent}`).waitFor({ state: 'detached' });
    assert.match(page.url(), new RegExp(`/mail\\?order=${failed}$`));
  },
);

inMailShop(
  'The console leads from an order and from a customer to their mails',
  async ({ shop, page, goTo }) => {
    const cheese = await newCheese(shop);
    const [ada, bea] = [await registerAndLogIn(shop), await registerAndLogIn(shop)];
    const order = await newOrder(shop, cheese, { headers: ada.headers });
    const other = await newOrder(shop, cheese, { headers: bea.headers });
    await sendMails(shop);
    await goTo(`/orders/${order}`);
    await page.getByRole('link', { name: 'Mails of the order' }).click();
    const table = page.getByRole('table', { name: 'Mails' });
    await table.getByText(`order ${order}`).waitFor();
    assert.equal(await table.getByText(`order ${other}`).count(), 0);
    await table.getByRole('link', { name: `customer ${ada.username}` }).click();
    await page.getByRole('link', { name: 'Mails to the customer' }).click();
    await table.getByText(`order ${order}`).waitFor();
    assert.match(page.url(), new RegExp(`/mail\\?customer=${ada.id}$`));
    assert.equal(await table.getByText(`order ${other}`).count(), 0);
  },
);

inMailShop(
  'The console shows what a template of a mail looks like, and runs and loads nothing',
  async (opened) => {
    const { shop, page, goTo, complaints } = opened;
    const cheese = await newCheese(shop);
    const ada = await registerAndLogIn(shop);
    const order = await newOrder(shop, cheese, { headers: ada.headers });
    const path = `/v2/store/order/${order}?reason=sold%20out`;
    await shop.request('DELETE', path, { as: shop.admin });
    await sendMails(shop);
    const ends: (string | undefined)[] = [];
    page.on('requestfailed', (request) => ends.push(request.failure()?.errorText));
    await goTo(`/mail?order=${order}`);
    await page.getByRole('button', { name: 'order-cancelled' }).click();
    const text = page.frameLocator(`iframe[title="${frameTitle}"]`).getByText(ada.username);
    await text.waitFor();
    // A string, because tests are compiled without the types of browsers.
    const frame = page.frames().at(-1);
    assert.equal(
      await frame?.evaluate<string>("getComputedStyle(document.querySelector('p')).color"),
      'rgb(1, 2, 3)',
    );
    assert.deepEqual(ends, ['csp']);
    // The image by the policy, and the script because the frame permits none. No style is refused.
    const refused = complaints.splice(0).join('\n');
    assert.match(refused, /pixel\.test/);
    assert.match(refused, /script/);
    assert.doesNotMatch(refused, /inline style/);
  },
);

for (const colorScheme of ['light', 'dark'] as const) {
  inFileShop(
    `The console says where the files of mails are, on a phone, ${colorScheme}`,
    async ({ shop, page, goTo }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ ...viewports.phone, width: 390 });
      const ada = await registerAndLogIn(shop);
      await sendMails(shop);
      const order = await newOrder(shop, await newCheese(shop), { headers: ada.headers });
      await sendMails(shop);
      await goTo(`/mail?order=${order}`);
      await page.getByText(/Each mail is an \.eml file in .*mail/).waitFor();
      await page.getByRole('button', { name: 'order-placed' }).waitFor();
      await page.getByText('written to a file, because no mail server is set').waitFor();
      assert.equal(await page.getByRole('cell').getByText('sent', { exact: true }).count(), 0);
      assert.equal(await measureWidth(page), 390);
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await screenshot(page, `console-mail-phone-${colorScheme}`);
      await page.getByRole('button', { name: 'order-placed' }).click();
      await page.frameLocator(`iframe[title="${frameTitle}"]`).getByText(`Order ${order}`).waitFor();
      assert.deepEqual(await findAccessibilityProblems(page), []);
      await screenshot(page, `console-mail-phone-html-${colorScheme}`);
      await page.keyboard.press('Escape');
    },
  );
}
