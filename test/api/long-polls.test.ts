/** Long polls: how many visitors can have, and that none keeps the server from stopping. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertError, bern, onBothEngines, openListeningShop, type Shop, until } from '../helper.ts';

const waiting = async (shop: Shop) =>
  Number(/long_poll"} (\d+)/.exec((await shop.request('GET', '/metrics', { as: shop.admin })).text)?.[1]);

test('Visitors can have 50 long polls, ten for each customer or key and client IP, and accounts have others', async (t) => {
  const left = new AbortController();
  // Before the shop is closed, which would wait for them.
  t.after(() => left.abort());
  const shop = await openListeningShop(t, { settings: { CURD_TRUSTED_PROXIES: '127.0.0.1' } });
  const key = await shop.createKey({ kind: 'publishable', scopes: ['write:orders'] });
  const cheese = { name: 'Comté', pricePerKg: 30, status: 'available' };
  const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: cheese });
  const { next } = (await shop.request('GET', '/v2/cheeses/changes', { as: key })).json;
  const open = async (path: string, headers: Record<string, string>, count: number) => {
    const before = await waiting(shop);
    for (let more = 0; more < count; more += 1) {
      fetch(`${shop.url}${path}`, { headers, signal: left.signal }).catch(() => {});
    }
    await until(async () => (await waiting(shop)) === before + count, 'they do not wait');
  };

  const changes = `/v2/cheeses/changes?since=${encodeURIComponent(next)}&wait=25`;
  const visitor = (ip: string) => ({ 'x-api-key': key, 'x-forwarded-for': ip });
  await open(changes, visitor('203.0.113.1'), 10);
  const refused = await shop.request('GET', changes, { headers: visitor('203.0.113.1') });
  assertError(refused, 429, 'rate_limit_exceeded');
  assert.match(refused.json.message, /10 of this visitor/);
  for (const ip of ['203.0.113.2', '203.0.113.3', '203.0.113.4']) {
    await open(changes, visitor(ip), 10);
  }

  const customer = await newCustomer(shop, 'ada', 'customer');
  const session = { 'x-api-key': key, authorization: `Bearer ${await newSession(shop, customer)}` };
  const order = await shop.request('POST', '/v2/store/order', {
    headers: session,
    body: { items: [{ cheeseId: json.id, quantity: 1 }], shippingAddress: bern },
  });
  assert.equal(order.status, 201, order.text);
  const own = `/v2/store/order/${order.json.id}?wait=25`;
  await open(own, { ...session, 'if-none-match': order.headers.etag ?? '' }, 10);

  const another = await shop.request('GET', changes, { headers: visitor('203.0.113.9') });
  assertError(another, 429, 'rate_limit_exceeded');
  assert.match(another.json.message, /50 on this server/);

  const { headers } = await shop.request('GET', changes.replace('&wait=25', ''), { as: key });
  assert.ok(headers.etag);

  const poll = shop.request('GET', changes, { as: shop.reader });
  await until(async () => (await waiting(shop)) === 51, 'the account does not wait');
  await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
  assert.equal((await poll).status, 200);
});

onBothEngines('A long poll', (engine) => {
  test('A long poll of changes, an order or events ends when the server stops', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const orderer = await shop.createKey({ scopes: ['write:orders'] });
    const cheese = { name: 'Comté', pricePerKg: 30, status: 'available' };
    const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: cheese });
    const order = await shop.request('POST', '/v2/store/order', {
      as: orderer,
      body: { items: [{ cheeseId: json.id, quantity: 1 }], shippingAddress: bern },
    });
    const { next } = (await shop.request('GET', '/v2/cheeses/changes', { as: orderer })).json;
    const ofOrder = { 'if-none-match': order.headers.etag ?? '' };
    const responses = [
      [`/v2/cheeses/changes?since=${encodeURIComponent(next)}&wait=25`, {}] as const,
      [`/v2/store/order/${order.json.id}?wait=25`, ofOrder] as const,
      ['/v2/events?since=latest&wait=25', {}] as const,
    ].map(([path, headers]) =>
      fetch(`${shop.url}${path}`, { headers: { 'x-api-key': orderer, ...headers } }),
    );
    await until(async () => (await waiting(shop)) === responses.length, 'they do not wait');
    const startedAt = performance.now();
    await shop.app.close();
    // Connections are closed by force after 10 seconds.
    assert.ok(performance.now() - startedAt < 5000, `${performance.now() - startedAt} ms`);
    assert.deepEqual(
      (await Promise.all(responses)).map(({ status }) => status),
      [200, 304, 200],
    );
  });
});
