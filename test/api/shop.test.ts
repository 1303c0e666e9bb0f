/** The shop as its owner describes it: GET and PATCH /v2/shop. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { sql } from '../../src/database/sql.ts';
import { currencyRule } from '../../src/schema/currencies.ts';
import { showMoney } from '../../src/schema/money-text.ts';
import { assertError, errorFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { newCheese, newOrder, placeOrder } from '../shop-verbs.ts';

const bern = { street: 'Gerechtigkeitsgasse 1', zipCode: '3011', city: 'Bern', country: 'ch' };

function patch(shop: Shop, body: object, headers: Record<string, string> = {}, as = shop.admin) {
  return shop.request('PATCH', '/v2/shop', { as, body, headers });
}

onBothEngines('The shop', (engine) => {
  const opened = shared((t) => openShop(t, { engine, settings: { CURD_SHOP_NAME: 'Käserei' } }));

  test('GET /shop returns what a shop is that configures nothing, to every credential', async () => {
    const shop = opened();
    const publishable = await shop.createKey({ kind: 'publishable' });
    const expected = {
      name: 'Käserei',
      legalName: null,
      address: null,
      email: null,
      phone: null,
      vatId: null,
      currency: 'USD',
      timeZone: 'UTC',
      language: 'en',
      delivery: { required: false },
      tax: { mode: 'off' },
    };
    for (const as of [shop.reader, shop.admin, publishable]) {
      const { status, json } = await shop.request('GET', '/v2/shop', { as });
      assert.deepEqual([status, json], [200, expected]);
    }
    assertError(await shop.request('GET', '/v2/shop'), 401, 'unauthorized');
  });

  test('PATCH /shop merges members and those of the address, and removes with null', async (t) => {
    const shop = await openShop(t, { engine });
    const first = await patch(shop, { address: bern, email: 'shop@example.com', timeZone: 'Europe/Zurich' });
    assert.equal(first.status, 200);
    const address = { ...bern, street2: null, state: null, country: 'CH' };
    assert.deepEqual(first.json.address, {
      street: address.street,
      street2: null,
      zipCode: '3011',
      city: 'Bern',
      state: null,
      country: 'CH',
    });
    const second = await patch(shop, { address: { street2: 'Hof' }, email: null });
    assert.deepEqual(
      [second.json.address.street2, second.json.address.city, second.json.email, second.json.timeZone],
      ['Hof', 'Bern', null, 'Europe/Zurich'],
    );
    assert.deepEqual((await patch(shop, { address: null })).json.address, null);
    const events = await shop.app.database.all<{ data: string }>(
      sql`select data from event where type = 'shop.changed' order by id`,
    );
    assert.deepEqual(
      events.map(({ data }) => JSON.parse(data).changed),
      [['address', 'email', 'timeZone'], ['address.street2', 'email'], ['address']],
    );
  });

  test('PATCH /shop without a change keeps the ETag and records no event', async (t) => {
    const shop = await openShop(t, { engine });
    const { headers } = await shop.request('GET', '/v2/shop', { as: shop.admin });
    const same = await patch(
      shop,
      { currency: 'USD', name: 'Cheese shop' },
      { 'if-match': headers.etag ?? '' },
    );
    assert.equal(same.headers.etag, headers.etag);
    const [row] = await shop.app.database.all<{ count: number }>(
      sql`select count(*) as count from event where type = 'shop.changed'`,
    );
    assert.equal(row?.count, 0);
    assert.equal((await patch(shop, { name: 'Other' }, { 'if-match': headers.etag ?? '' })).status, 200);
    assertError(
      await patch(shop, { name: 'Third' }, { 'if-match': headers.etag ?? '' }),
      412,
      'precondition_failed',
    );
  });

  test('PATCH /shop refuses what is not valid, and changes nothing', async () => {
    const shop = opened();
    const invalid = {
      name: '',
      address: { country: 'Austria' },
      email: 'shop',
      currency: 'JPY',
      timeZone: '+01:00',
      language: 'german!',
    };
    const refused = await patch(shop, invalid);
    assertError(refused, 422, 'validation_error');
    assert.deepEqual(errorFields(refused), [
      'name',
      'address.country',
      'email',
      'currency',
      'timeZone',
      'language',
    ]);
    assert.deepEqual(errorFields(await patch(shop, { address: { city: 'Bern' } })), [
      'address.street',
      'address.country',
    ]);
    for (const name of ['name', 'currency', 'timeZone', 'language']) {
      assert.deepEqual(errorFields(await patch(shop, { [name]: null })), [name]);
    }
    assertError(await patch(shop, { name: 'X' }, {}, shop.writer), 403, 'forbidden');
  });

  test('PATCH /shop changes the currency until the first order, in which tried-out orders do not count', async (t) => {
    const shop = await openShop(t, { engine });
    const cheese = await newCheese(shop);
    assert.equal((await patch(shop, { currency: 'EUR' })).json.currency, 'EUR');
    await newOrder(shop, cheese);
    const refused = await patch(shop, { currency: 'CHF', phone: '1' });
    assertError(refused, 409, 'conflict');
    assert.match(refused.json.message, /The currency is EUR since the first order/);
    assert.equal((await patch(shop, { phone: '1' })).status, 200);
    assert.equal(
      (await shop.request('POST', '/v2/sandbox/reset', { as: shop.admin, body: { confirm: true } })).status,
      200,
    );
    assert.equal((await patch(shop, { currency: 'CHF' })).json.currency, 'CHF');
  });

  test('PATCH /shop and first orders at the same time: no order is in another currency than the shop', async (t) => {
    const shop = await openShop(t, { engine });
    const cheese = await newCheese(shop);
    const [changed, ...orders] = await Promise.all([
      patch(shop, { currency: 'EUR' }),
      ...Array.from({ length: 8 }, () => placeOrder(shop, cheese)),
    ]);
    assert.ok([200, 409].includes(changed.status), changed.text);
    assert.deepEqual([...new Set(orders.map(({ status }) => status))], [201]);
    assertError(await patch(shop, { currency: 'CHF' }), 409, 'conflict');
  });

  test('PATCH /shop names the shop on its pages at once, and its currency in messages', async (t) => {
    const shop = await openShop(t, { engine });
    const cheese = await newCheese(shop, { pricePerKg: 12.5 });
    await patch(shop, { name: 'Fromagerie <b>', currency: 'EUR' });
    const landing = await shop.request('GET', '/', { headers: { accept: 'text/html' } });
    assert.match(landing.text, /Fromagerie &lt;b&gt;/);
    const { text } = await placeOrder(shop, cheese, { headers: { 'curd-max-total': '5' } });
    assert.match(text, /would cost €12\.50, .* maximum of €5\.00/);
  });

  test('GET /shop on another instance follows a change', async (t) => {
    const shop = await openShop(t, { engine });
    const other = await shop.another();
    await patch(shop, { name: 'Renamed' });
    assert.equal((await other.request('GET', '/v2/shop', { as: shop.reader })).json.name, 'Renamed');
  });
});

suite('showMoney', () => {
  test('An amount is shown with the sign of its currency and two decimals', () => {
    assert.deepEqual(
      [
        showMoney(1250, { currency: 'USD' }),
        showMoney(5, { currency: 'EUR' }),
        showMoney(123_456_789, { currency: 'GBP' }),
        showMoney(-250, { currency: 'EUR' }),
      ],
      ['$12.50', '€0.05', '£1,234,567.89', '-€2.50'],
    );
  });

  test('An amount keeps each of its cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e14 }), (cents) => {
        assert.equal(Number(showMoney(cents, { currency: 'EUR' }).replaceAll(/[€,]/g, '')), cents / 100);
      }),
    );
  });
});

test('A currency of a shop has two decimals in its standard', () => {
  for (const currency of Intl.supportedValuesOf('currency').filter(currencyRule.test)) {
    assert.match(currency, /^[A-Z]{3}$/);
  }
  for (const other of ['JPY', 'KWD', 'ISK', 'CLF', 'XXX', 'EURO', 'eur', '']) {
    assert.ok(!currencyRule.test(other), other);
  }
});
