/** Wrong discount codes are counted by client IP: after 20 within an hour, codes alone are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import { assertError, onBothEngines, openShop, type Shop, type TestClock, testClock } from '../helper.ts';
import { newCheese, orderOf } from '../shop-verbs.ts';

const wrongCodesMax = 20;
const minuteMs = 60_000;
const start = Date.parse('2026-06-01T12:00:00.000Z');

type Headers = Readonly<Record<string, string>>;

/** A shop behind a proxy, with the code RIGHT, and the headers of a customer's session. */
async function openWithCode(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const clock: TestClock = testClock(start);
  const settings = { CURD_TRUSTED_PROXIES: '127.0.0.0/8' };
  const shop = await openShop(t, { engine, clock, settings });
  const cheese = await newCheese(shop);
  const codes = [
    { code: 'RIGHT', kind: 'percent', value: 10 },
    { code: 'ENDED', kind: 'percent', value: 10, endsAt: '2026-01-01T00:00:00Z' },
    { code: 'LATER', kind: 'percent', value: 10, startsAt: '2027-01-01T00:00:00Z' },
    { code: 'OFF', kind: 'percent', value: 10, isEnabled: false },
  ];
  for (const body of codes) {
    const { status, text } = await shop.request('POST', '/v2/discounts', { as: shop.admin, body });
    assert.equal(status, 201, text);
  }
  const customer = await newCustomer(shop, 'ada', 'customer');
  const session = { authorization: `Bearer ${await newSession(shop, customer)}` };
  const publishable = {
    'x-api-key': await shop.createKey({ kind: 'publishable', scopes: ['write:orders'] }),
  };
  return { clock, shop, cheese, customer, session, publishable };
}

const from = (clientIp: string, headers: Headers): Headers => ({ ...headers, 'x-forwarded-for': clientIp });

const place = (shop: Shop, cheese: number, headers: Headers, more: object = {}) =>
  shop.request('POST', '/v2/store/order', { headers, body: orderOf(cheese, more) });

const quote = (shop: Shop, cheese: number, headers: Headers, discountCode: string) =>
  shop.request('POST', '/v2/quotes', {
    headers,
    body: { items: [{ cheeseId: cheese, quantity: 1 }], discountCode },
  });

onBothEngines('Wrong discount codes', (engine) => {
  test('Wrong discount codes of one client IP get 429 for codes alone, until the oldest is an hour old', async (t) => {
    const { clock, shop, cheese, session, publishable } = await openWithCode(t, engine);
    const [attacker, other] = ['192.0.2.1', '192.0.2.2'];
    const ours = from(attacker, { ...publishable, ...session });
    // Unknown, disabled and not yet begun ones have one text, and count; others do not count.
    for (const [discountCode, message] of [
      ['NONE', 'there is no such code, or it is not valid now'],
      ['OFF', 'there is no such code, or it is not valid now'],
      ['LATER', 'there is no such code, or it is not valid now'],
      ['ENDED', 'the code has ended'],
    ]) {
      const refused = await place(shop, cheese, ours, { discountCode });
      assertError(refused, 422, 'validation_error');
      assert.deepEqual(refused.json.errors, [{ field: 'discountCode', message }]);
    }
    clock.advance(10 * minuteMs);
    // The same client IP with another credential, in quotes, at the same time.
    const guesses = await Promise.all(
      Array.from({ length: wrongCodesMax }, (_, index) =>
        quote(shop, cheese, from(attacker, publishable), `GUESS-${index}`),
      ),
    );
    const texts = guesses.map(({ json }) => json.problems[0].message);
    assert.equal(texts.filter((text) => text.startsWith('there is no such code')).length, wrongCodesMax - 3);
    assert.equal(
      texts.filter(
        (text) => text === 'too many wrong codes were sent from one client IP: try again in 51 minutes',
      ).length,
      3,
    );
    for (const discountCode of ['RIGHT', 'NONE', 'ENDED']) {
      const refused = await place(shop, cheese, ours, { discountCode });
      assertError(refused, 429, 'rate_limit_exceeded');
      assert.equal(refused.headers['retry-after'], '3060');
      assert.equal(refused.headers['ratelimit-policy'], '"discount-code";q=20;w=3600');
      assert.match(refused.json.message, /^discountCode: .* Order without a code, or wait 51 minutes\.$/);
    }
    const quoted = await quote(shop, cheese, from(attacker, publishable), 'RIGHT');
    assert.deepEqual([quoted.status, quoted.json.breakdown.discount], [200, undefined]);
    assert.equal((await place(shop, cheese, ours)).status, 201, 'without the code');
    const others = from(other, { ...publishable, ...session });
    assert.equal(
      (await place(shop, cheese, others, { discountCode: 'RIGHT' })).status,
      201,
      'from elsewhere',
    );
    clock.advance(51 * minuteMs);
    assert.equal((await place(shop, cheese, ours, { discountCode: 'RIGHT' })).status, 201, 'an hour later');
  });

  test('Wrong discount codes that a server sends count for the client IP that it states, and for none without one', async (t) => {
    const { shop, cheese, customer, session, publishable } = await openWithCode(t, engine);
    const client = await newClient(shop);
    const scope = 'write:orders';
    const own = await newToken(shop, { client, customer: null, scope });
    const servers: Headers[] = [
      { 'x-api-key': shop.admin },
      { 'x-api-key': shop.admin, ...session },
      { authorization: `Bearer ${own}` },
    ];
    for (const headers of servers) {
      const statuses = await Promise.all(
        Array.from(
          { length: wrongCodesMax + 2 },
          async () => (await place(shop, cheese, headers, { discountCode: 'NONE' })).status,
        ),
      );
      assert.deepEqual(new Set(statuses), new Set([422]));
    }
    const guess = async (headers: Headers) => {
      const statuses: number[] = [];
      for (let made = 0; made <= wrongCodesMax; made += 1) {
        statuses.push((await place(shop, cheese, headers, { discountCode: 'NONE' })).status);
      }
      assert.deepEqual(statuses, [...Array(wrongCodesMax).fill(422), 429]);
    };
    const stated = { 'x-api-key': shop.admin, 'curd-client-ip': '192.0.2.7' };
    await guess(stated);
    const visitor = { ...stated, 'curd-client-ip': '192.0.2.8' };
    assert.equal((await place(shop, cheese, visitor, { discountCode: 'RIGHT' })).status, 201);
    // The visitor itself is the same client IP, and nobody but a secret key states one.
    const spoofed = { ...publishable, ...session, 'curd-client-ip': '192.0.2.9' };
    assert.equal(
      (await place(shop, cheese, from('192.0.2.7', spoofed), { discountCode: 'RIGHT' })).status,
      429,
    );
    const delegated = await newToken(shop, { client, customer, scope });
    await guess(from('192.0.2.10', { authorization: `Bearer ${delegated}` }));
    const malformed = await place(shop, cheese, { ...stated, 'curd-client-ip': 'nonsense' });
    assertError(malformed, 400, 'bad_request');
  });
});

test('GET /limits has the limit of wrong discount codes', async (t) => {
  const shop = await openShop(t);
  const { json } = await shop.request('GET', '/v2/limits', { as: shop.reader });
  assert.equal(json.bounds.wrongDiscountCodesAnHour, wrongCodesMax);
});
