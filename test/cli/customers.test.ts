/** Commands on a customer and an order, on a running server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bern } from '../context.ts';
import { createStock, curd, curdJson, freshShop, inShop, serve } from './run.ts';

test('On a running server, curd', async (suite) => {
  const shop = await freshShop(suite, { CURD_LOG_LEVEL: 'debug', CURD_APPROVAL_DELAY: '1d' });
  const { key, cheeses } = await createStock(shop, { prices: [10], scopes: ['write:orders'] });
  const server = await serve(suite, shop);
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const ada = { username: 'ada', email: 'ada@example.com', password: 'forgotten', lastName: 'Keller' };
  await send('/v2/customer', ada);
  const { token } = (await (await send('/v2/customer/login', ada)).json()) as { token: string };
  const order = { items: [{ cheeseId: cheeses[0], quantity: 2 }], shippingAddress: bern };
  const session = { 'X-API-Key': key, Authorization: `Bearer ${token}` };
  const placed = (await (await send('/v2/store/order', order, session)).json()) as { id: number };

  await suite.test('curd orders show prints an order with its timeline', async () => {
    const { order: shown, timeline } = await curdJson(shop, 'orders', 'show', String(placed.id));
    assert.deepEqual(shown, placed);
    assert.deepEqual(
      timeline.map(({ status }: { status: string }) => status),
      ['placed'],
    );
    const { stdout } = await curd(shop, 'orders', 'show', String(placed.id));
    assert.match(
      stdout,
      /^id +status .*\n\d+ +placed +\$20\.00 .*\n2 kg Cheese 0: \$20\.00\nto .*Bern.*\n.* {2}placed {2}key:\d+\n$/,
    );
  });

  await suite.test('curd orders show prints the breakdown, the days and the gift of an order', async () => {
    await curd(shop, 'accounts', 'create', 'owner');
    const admin = await curdJson(shop, 'keys', 'create', '--account', 'owner', '--scope', 'admin');
    const as = { 'X-API-Key': admin.key };
    const method = { name: 'Parcel', rates: [{ upToGrams: 5000, amount: 6.9 }], transitDays: 1 };
    const parcel = (await (await send('/v2/delivery-methods', method, as)).json()) as { id: number };
    await send('/v2/discounts', { code: 'SPRING', kind: 'amount', value: 2 }, as);
    const requestedDate = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const wishes = { deliveryMethodId: parcel.id, discountCode: 'SPRING', requestedDate };
    const gift = { message: 'Happy birthday!', hidePrices: true };
    const sent = await send('/v2/store/order', { ...order, ...wishes, gift }, session);
    const { id } = (await sent.json()) as { id: number };
    await curd(shop, 'orders', 'approve', String(id));
    const { stdout } = await curd(shop, 'orders', 'show', String(id));
    assert.match(
      stdout,
      /\nsubtotal: \$20\.00\ndiscount SPRING: -\$2\.00\nParcel: \$6\.90\nto .*\nrequested to leave on (\d{4}-\d\d-\d\d)\narrives on \d{4}-\d\d-\d\d\ngift, without prices: Happy birthday!\n/,
    );
    assert.ok(stdout.includes(`requested to leave on ${requestedDate}`));
  });

  await suite.test('curd customers reset-password prints a link, whose token is not in the log', async () => {
    const run = await curd(shop, 'customers', 'reset-password', 'ada');
    assert.equal(run.code, 0);
    const [link = ''] = run.stdout.split('\n');
    assert.match(link, /^http:\/\/[^/]+\/oauth\/password-reset\/[\w-]{43}$/);
    assert.match(run.stderr, /Send this link to ada\. It works once, until /);
    const secret = link.slice(-43);
    const path = `${server.url}/oauth/password-reset/${secret}`;
    const page = await (await fetch(path)).text();
    const [, csrf = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ token: csrf, password: 'remembered', repeated: 'remembered' });
    const headers = { Origin: server.url };
    assert.equal((await fetch(path, { method: 'POST', redirect: 'manual', headers, body })).status, 303);
    assert.equal((await send('/v2/customer/login', { ...ada, password: 'remembered' })).status, 200);
    const { stderr } = await server.stop();
    assert.ok(stderr.includes('/oauth/password-reset/:token'), 'the log has the route');
    assert.ok(!stderr.includes(secret));
    const stored = await inShop(shop, ({ customers: { administration: customerAdministration } }) =>
      customerAdministration.findReset(secret),
    );
    assert.equal(stored, null);
  });
});
