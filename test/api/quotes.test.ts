/** Delivery, taxes and discounts on orders, and quotes of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, errorFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';

const bern = { street: 'Gerechtigkeitsgasse 1', zipCode: '3011', city: 'Bern', country: 'CH' };

async function configure(shop: Shop): Promise<{ cheeseId: number; parcel: number; pickup: number }> {
  const cheeseId = await newCheese(shop, { pricePerKg: 32.5, category: { name: 'Hard' } });
  const as = shop.admin;
  await shop.request('PATCH', '/v2/shop', {
    as,
    body: {
      currency: 'CHF',
      timeZone: 'Europe/Zurich',
      delivery: { required: true, packagingGrams: 400 },
      tax: { mode: 'included' },
      address: { street: 'Naschmarkt 1', city: 'Wien', country: 'AT' },
    },
  });
  const parcel = await shop.request('POST', '/v2/delivery-methods', {
    as,
    body: {
      name: 'Cooled parcel',
      countries: ['ch'],
      rates: [
        { upToGrams: 2000, amount: 6.9 },
        { upToGrams: 10_000, amount: 9.9 },
      ],
      freeFrom: 150,
      transitDays: 1,
    },
  });
  assert.equal(parcel.status, 201, parcel.text);
  const pickup = await shop.request('POST', '/v2/delivery-methods', {
    as,
    body: { name: 'Pickup', kind: 'pickup' },
  });
  for (const body of [
    { country: 'CH', percent: 2.6, name: 'MWST' },
    { country: 'AT', percent: 10, name: 'USt' },
  ]) {
    assert.equal((await shop.request('POST', '/v2/tax-rates', { as, body })).status, 201);
  }
  const code = await shop.request('POST', '/v2/discounts', {
    as,
    body: { code: 'spring', kind: 'percent', value: 10, from: 50, usesMax: 2 },
  });
  assert.equal(code.status, 201, code.text);
  return { cheeseId, parcel: parcel.json.id, pickup: pickup.json.id };
}

onBothEngines('A shop with delivery, taxes and codes', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    return { shop, ...(await configure(shop)) };
  });

  test('A quote and the order have the same breakdown', async () => {
    const { shop, cheeseId } = opened();
    const body = { items: [{ cheeseId, quantity: 3 }], shippingAddress: bern, discountCode: 'Spring' };
    const publishable = await shop.createKey({ kind: 'publishable' });
    const quote = await shop.request('POST', '/v2/quotes', { as: publishable, body });
    assert.equal(quote.status, 200, quote.text);
    const order = await shop.request('POST', '/v2/store/order', { as: shop.admin, body });
    assert.equal(order.status, 201, order.text);
    // 97.50 less 9.75, plus 9.90: 97.65, which contain 97.65 x 2.6 / 102.6 = 2.4746.
    const breakdown = {
      currency: 'CHF',
      subtotal: 97.5,
      discount: { code: 'SPRING', amount: 9.75 },
      delivery: { id: 1, name: 'Cooled parcel', kind: 'parcel', amount: 9.9 },
      tax: {
        included: true,
        amount: 2.47,
        rates: [{ name: 'MWST', percent: 2.6, net: 95.18, amount: 2.47 }],
      },
    };
    assert.deepEqual([quote.json.breakdown, quote.json.total, quote.json.problems], [breakdown, 97.65, []]);
    assert.deepEqual([order.json.breakdown, order.json.total], [breakdown, 97.65]);
    assert.deepEqual(
      quote.json.deliveryOptions.map(({ name, amount }: { name: string; amount: number }) => [name, amount]),
      [
        ['Cooled parcel', 9.9],
        ['Pickup', 0],
      ],
    );
  });

  test('A pickup has the tax of the shop and no charge', async () => {
    const { shop, cheeseId, pickup } = opened();
    const body = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern, deliveryMethodId: pickup };
    const order = await shop.request('POST', '/v2/store/order', { as: shop.admin, body });
    assert.deepEqual(order.json.breakdown.tax.rates, [
      { name: 'USt', percent: 10, net: 29.55, amount: 2.95 },
    ]);
    assert.equal(order.json.total, 32.5);
  });

  test('An order that no method serves names the nearest reason', async () => {
    const { shop, cheeseId, parcel } = opened();
    const place = (body: object) =>
      shop.request('POST', '/v2/store/order', {
        as: shop.admin,
        body: { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern, ...body },
      });
    const abroad = await place({ shippingAddress: { ...bern, country: 'AQ' } });
    assertError(abroad, 422, 'validation_error');
    assert.deepEqual(abroad.json.errors, [
      { field: 'shippingAddress.country', message: 'the shop does not deliver to AQ' },
    ]);
    const named = await place({ shippingAddress: { ...bern, country: 'AQ' }, deliveryMethodId: parcel });
    assert.deepEqual(named.json.errors, [
      { field: 'deliveryMethodId', message: 'Cooled parcel does not deliver to AQ' },
    ]);
    assert.deepEqual(errorFields(await place({ items: [{ cheeseId, quantity: 10 }] })), ['items']);
    assert.deepEqual(errorFields(await place({ deliveryMethodId: 99 })), ['deliveryMethodId']);
    assert.deepEqual(errorFields(await place({ discountCode: 'WINTER' })), ['discountCode']);
    assert.deepEqual(errorFields(await place({ discountCode: 'SPRING' })), ['discountCode']);
  });

  test('A cancelled order gives its use of a code back', async () => {
    const { shop, cheeseId } = opened();
    const place = () =>
      shop.request('POST', '/v2/store/order', {
        as: shop.admin,
        body: { items: [{ cheeseId, quantity: 2 }], shippingAddress: bern, discountCode: 'SPRING' },
      });
    const used = async () =>
      (await shop.request('GET', '/v2/discounts', { as: shop.admin })).json.items[0].used as number;
    const before = await used();
    const second = await place();
    assert.equal(second.status, 201, second.text);
    assert.equal(await used(), before + 1);
    const third = await place();
    assert.deepEqual(third.json.errors, [{ field: 'discountCode', message: 'the code is used up' }]);
    await shop.request('DELETE', `/v2/store/order/${second.json.id}`, { as: shop.admin });
    assert.equal(await used(), before);
  });

  test('An approved order leaves on its day and says when it arrives', async () => {
    const { shop, cheeseId } = opened();
    const gift = { message: 'Happy birthday!', hidePrices: true };
    const placed = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: { items: [{ cheeseId, quantity: 2 }], shippingAddress: bern, requestedDate: '2020-01-01', gift },
    });
    assert.deepEqual(errorFields(placed), ['requestedDate']);
  });

  test('A quote names what is left of little stock only, so that visitors learn no stock level', async () => {
    const { shop } = opened();
    const cheeseId = await newCheese(shop, { pricePerKg: 10 });
    const messagesOf = async (onHand: number) => {
      await shop.request('PUT', `/v2/cheeses/${cheeseId}/stock`, { as: shop.admin, body: { onHand } });
      const items = Array.from({ length: 8 }, () => ({ cheeseId, quantity: 100 }));
      const { json } = await shop.request('POST', '/v2/quotes', { as: shop.admin, body: { items } });
      return json.problems
        .filter(({ field }: { field: string }) => field.startsWith('items['))
        .map(({ message }: { message: string }) => message);
    };
    assert.deepEqual([...new Set(await messagesOf(725))], ['less is left']);
    assert.deepEqual([...new Set(await messagesOf(25))], ['25 kg are left']);
  });

  test('A quote names the strongest method, and that a ZIP code is needed', async (t) => {
    const shop = await openShop(t, { engine });
    const cheeseId = await newCheese(shop, { pricePerKg: 10 });
    const as = shop.admin;
    await shop.request('PATCH', '/v2/shop', { as, body: { delivery: { required: true } } });
    for (const [name, upToGrams] of [
      ['Small', 2000],
      ['Large', 10_000],
    ]) {
      const body = { name, zipPrefixes: ['30', '8'], rates: [{ upToGrams, amount: 5 }] };
      assert.equal((await shop.request('POST', '/v2/delivery-methods', { as, body })).status, 201);
    }
    const problemsOf = async (quantity: number, zipCode?: string) => {
      const body = { items: [{ cheeseId, quantity }], shippingAddress: { country: 'CH', zipCode } };
      return (await shop.request('POST', '/v2/quotes', { as, body })).json.problems;
    };
    assert.deepEqual(await problemsOf(3, '3011'), []);
    assert.deepEqual(await problemsOf(12, '30-11'), [
      {
        field: 'items',
        message:
          'are too heavy for a parcel: Large takes at most 10 kg with the packaging, and the order is heavier',
      },
    ]);
    assert.match((await problemsOf(1))[0].message, /is needed/);
    assert.match((await problemsOf(1, '1003'))[0].message, /does not deliver to this ZIP code/);
    const list = await shop.request('GET', '/v2/delivery-methods', { as });
    assert.equal(list.headers['cache-control'], 'no-store');
  });

  test('Orders are in the currency that a change at the same time leaves', async (t) => {
    const shop = await openShop(t, { engine });
    const cheeseId = await newCheese(shop, { pricePerKg: 10 });
    const as = shop.admin;
    await shop.request('PATCH', '/v2/shop', { as, body: { tax: { mode: 'included' } } });
    const body = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
    const place = () => shop.request('POST', '/v2/store/order', { as, body });
    const change = shop.request('PATCH', '/v2/shop', { as, body: { currency: 'EUR' } });
    const orders = await Promise.all(Array.from({ length: 8 }, place));
    await change;
    const { currency } = (await shop.request('GET', '/v2/shop', { as })).json;
    assert.deepEqual([...new Set(orders.map(({ json }) => json.breakdown.currency))], [currency]);
  });
});
