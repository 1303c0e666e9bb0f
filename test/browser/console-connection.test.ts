/** The console while the server is away or late, and after it was updated. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { until } from '../context.ts';
import { deleteCheese, newCheese, newOrder } from '../shop-verbs.ts';
import { consoleTests, findAccessibilityProblems, refreshedMs } from './console.ts';

const inConsole = consoleTests();

inConsole(
  'The console keeps a cheese deleted when a response from before its deletion arrives',
  async (opened) => {
    const { page, shop, goTo } = opened;
    const id = await newCheese(shop, { name: 'Langres' });
    await goTo(`/cheeses/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Langres' }).waitFor();
    await page.waitForTimeout(refreshedMs);
    let isHeld = false;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(`**/v2/cheeses/${id}`, async (route) => {
      const response = await route.fetch();
      isHeld = true;
      await released;
      // Fails where the page does not wait for it any more.
      await route.fulfill({ response }).catch(() => {});
    });
    const { status } = await shop.request('PATCH', `/v2/cheeses/${id}`, {
      as: shop.writer,
      body: { ageMonths: 2 },
    });
    assert.equal(status, 200);
    await until(async () => isHeld);
    // What the page reads beside the cheese has arrived.
    await page.waitForTimeout(refreshedMs);
    await deleteCheese(shop, id);
    const deleted = page.getByText('There is no such cheese');
    await deleted.waitFor();
    release();
    await page.waitForTimeout(300);
    await deleted.waitFor();
    assert.equal(await page.getByRole('heading', { level: 1, name: 'Langres' }).count(), 0);
    await page.unrouteAll({ behavior: 'wait' });
  },
);

inConsole(
  'The console loads the page again, once, where a screen is no longer on the server',
  async (opened) => {
    const { page, goTo, complaints } = opened;
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    let requests = 0;
    // Removing the route while the page loads again can leave a request without a response.
    await page.route(/assets\/limits-\w+\.js$/, (route) => {
      requests += 1;
      return requests === 1 ? route.fulfill({ status: 404, body: '' }) : route.continue();
    });
    await goTo('/limits?a=1').catch(() => {});
    await page.getByRole('heading', { level: 1, name: /Limits/ }).waitFor();
    const { pathname, search } = new URL(page.url());
    assert.equal(pathname + search, '/console/limits?a=1');
    assert.equal(loads, 1);
    assert.equal(complaints.splice(0).filter((line) => line.includes('/limits-')).length, 1);
  },
);

inConsole(
  'The console says that the server is away, keeps what was written, and saves it afterwards',
  async (opened) => {
    const { page, shop, goTo, complaints } = opened;
    await goTo('/cheeses/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('Sbrinz');
    const { server } = shop.app.server;
    server.close();
    server.closeAllConnections();
    const bar = page.getByText('The server does not respond. What was read stays here');
    await bar.waitFor();
    assert.deepEqual(await findAccessibilityProblems(page), []);
    server.listen(shop.port, '127.0.0.1');
    await once(server, 'listening');
    await bar.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Sbrinz');
    await page.getByRole('textbox', { name: 'Name' }).press('Control+s');
    await page.getByRole('heading', { level: 1, name: 'Sbrinz' }).waitFor();
    // The stream is open again too.
    await goTo('/orders');
    await page.getByRole('status', { name: 'Updates: live' }).waitFor();
    // What the browser says of refused connections.
    assert.ok(complaints.splice(0).every((line) => line.includes('net::ERR_')));
  },
);

inConsole(
  'The console moves orders when the server is back, and calls none of them moved before',
  async (opened) => {
    const { page, shop, goTo, complaints } = opened;
    await page.clock.install();
    const cheese = await newCheese(shop, { pricePerKg: 20 });
    const shipped = await newOrder(shop, [[cheese, 1]], { changes: ['approve'] });
    const undone = await newOrder(shop, [[cheese, 1]], { changes: ['approve'] });
    const lost = await newOrder(shop, [[cheese, 1]], { changes: ['approve', 'ship'] });
    const statusOf = async (id: number): Promise<string> =>
      (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin })).json.status;
    const card = (column: string, id: number) =>
      page.locator(`section[aria-label="${column}"] [data-order="${id}"]`);
    await goTo('/orders');
    await card('shipped', lost).waitFor();
    // The server carries this one out, and its response is lost.
    await page.route(`**/order/${lost}/deliver`, async (route) => {
      await route.fetch();
      await goAway();
      await route.abort('connectionreset');
    });
    const { server } = shop.app.server;
    const goAway = async () => {
      server.close();
      server.closeAllConnections();
    };
    await card('shipped', lost)
      .getByRole('button', { name: `Deliver order ${lost}` })
      .click();
    await page.getByText('The server does not respond. What was read stays here').waitFor();
    await card('shipped', lost).getByText('will be delivered').waitFor();
    for (const id of [shipped, undone]) {
      await card('approved', id)
        .getByRole('button', { name: `Ship order ${id}` })
        .click();
      await page
        .getByRole('alert')
        .getByText(`Order ${id} will be shipped when the server is back.`)
        .waitFor();
    }
    // Longer than the ten seconds, and than the client of the API tries.
    await page.clock.fastForward(30_000);
    await card('approved', shipped).getByText('will be shipped').waitFor();
    await card('approved', undone).getByRole('button', { name: 'Undo' }).click();
    await card('approved', undone).getByText('will be shipped').waitFor({ state: 'detached' });
    assert.deepEqual(await page.getByRole('alert').filter({ hasText: 'Ship order' }).allTextContents(), []);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    server.listen(shop.port, '127.0.0.1');
    await once(server, 'listening');
    await card('shipped', shipped).waitFor();
    await card('delivered', lost).waitFor();
    assert.deepEqual(await Promise.all([shipped, undone, lost].map(statusOf)), [
      'shipped',
      'approved',
      'delivered',
    ]);
    assert.deepEqual(await page.getByRole('alert').filter({ hasText: 'order' }).allTextContents(), []);
    assert.ok(complaints.splice(0).every((line) => line.includes('net::ERR_')));
  },
);
