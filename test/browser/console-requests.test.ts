/** The request log in the console: the list, one request, and the ways to them. */
import assert from 'node:assert/strict';
import { bern } from '../helper.ts';
import { screenshot } from './chromium.ts';
import { consoleTests, findAccessibilityProblems } from './console.ts';

const inConsole = consoleTests();

inConsole(
  'The console lists requests, filters them in the URL, and opens one by keyboard',
  async (opened) => {
    const { shop, page, goTo, complaints } = opened;
    const send = (id: string, method: string, path: string, body?: object) =>
      shop.request(method, path, { as: shop.writer, body, headers: { 'x-request-id': id } });
    await send('bad-cheese', 'POST', '/v2/cheeses', { name: '', price: -1 });
    await send('no-cheese', 'GET', '/v2/cheeses/4711');
    await shop.request('DELETE', '/v2/demo', { as: shop.admin, headers: { 'Dry-Run': 'true' } });
    await shop.app.requestLog.work.run();
    await goTo('/requests');
    await page.getByRole('link', { name: 'DELETE /v2/demo (dry run)' }).waitFor();
    const table = page.getByRole('table', { name: 'Requests' });
    await table.getByRole('link', { name: 'GET /v2/cheeses/{cheeseId}' }).waitFor();
    // What happens while the list is open appears.
    await send('later', 'GET', '/v2/cheeses/4712');
    await shop.app.requestLog.work.run();
    await table.getByText('later').waitFor();

    await page.getByLabel('Status').fill('42');
    await page.getByText('Such as 422, or 4xx').waitFor();
    await page.getByLabel('Status').fill('422');
    await table.getByText('no-cheese').waitFor({ state: 'detached' });
    await table.getByText('bad-cheese').waitFor();
    assert.match(page.url(), /\/requests\?status=422$/);
    assert.equal(await table.getByRole('row').count(), 2);
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await screenshot(page, 'console-requests');

    await page.getByRole('heading', { level: 1, name: 'Requests' }).click();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Request bad-cheese' }).waitFor();
    const request = page.getByRole('region', { name: 'POST /v2/cheeses' });
    await request.getByText('validation_error').waitFor();
    await request.getByRole('row', { name: /name/ }).waitFor();
    await request.getByText('write:cheeses').first().waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await screenshot(page, 'console-request');
    await page.goBack();
    await table.getByText('bad-cheese').waitFor();
    assert.match(page.url(), /\/requests\?status=422$/);

    await page.keyboard.press('/');
    await page.keyboard.type('no-cheese');
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: 'GET /v2/cheeses/{cheeseId}' })
      .getByText('4711', { exact: true })
      .waitFor();
    await goTo('/requests/never-sent');
    await page.getByText(/No request with this id is kept/).waitFor();
    assert.match(complaints.splice(0).join(), /404.*never-sent/);
  },
);

inConsole('The console leads from a key to its requests, and back', async ({ shop, page, goTo }) => {
  const account = await shop.request('POST', '/v2/accounts', { as: shop.admin, body: { name: 'depot' } });
  const key = await shop.request('POST', '/v2/api-keys', {
    as: shop.admin,
    body: { account: 'depot', name: 'gate', scopes: [] },
  });
  await shop.request('GET', '/v2/cheeses', { as: key.json.key, headers: { 'x-request-id': 'gate-1' } });
  await shop.request('GET', '/v2/cheeses', { as: shop.reader, headers: { 'x-request-id': 'other-1' } });
  await shop.app.requestLog.work.run();
  await goTo(`/access/${account.json.id}`);
  await page.getByRole('link', { name: 'Requests of gate' }).click();
  const table = page.getByRole('table', { name: 'Requests' });
  await table.getByText('gate-1').waitFor();
  assert.equal(await table.getByText('other-1').count(), 0);
  assert.equal(await page.getByLabel('Credential').inputValue(), `key:${key.json.id}`);
  await table.getByRole('link', { name: 'GET /v2/cheeses' }).click();
  await page.getByRole('region', { name: 'GET /v2/cheeses' }).getByRole('link', { name: 'gate' }).click();
  await page.getByRole('heading', { level: 1, name: 'depot' }).waitFor();
});

inConsole(
  'The console leads from an order to the request that placed it, and to its events',
  async (opened) => {
    const { shop, page, goTo } = opened;
    const cheese = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Comté', status: 'available', pricePerKg: 20 },
    });
    const order = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: { items: [{ cheeseId: cheese.json.id, quantity: 1 }], shippingAddress: bern },
      headers: { 'x-request-id': 'order-by-test', 'idempotency-key': 'one-order' },
    });
    assert.equal(order.status, 201, order.text);
    await shop.app.requestLog.work.run();
    await goTo(`/orders/${order.json.id}`);
    await page.getByRole('link', { name: 'request', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Request order-by-test' }).waitFor();
    await page.getByText('idempotency key').waitFor();
    await page.getByRole('link', { name: 'order.placed' }).click();
    const event = page.getByRole('dialog');
    await event.getByText(`"subject": "order:${order.json.id}"`).waitFor();
    await event.getByRole('link', { name: 'request', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Request order-by-test' }).waitFor();
  },
);
