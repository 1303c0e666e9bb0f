/** The delivery method, the charge and the ship day of an order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRequest } from '../../src/auth/keys/service.ts';
import { assertError, errorFields, onBothEngines, shared } from '../helper.ts';
import { changeOrder, newCheese, newOrder, placeOrder } from '../shop-verbs.ts';
import {
  bernWithZip as bern,
  openDeliveringShop,
  parcel,
  methodsPath as path,
  pickup,
} from './delivery-shop.ts';

onBothEngines('Delivery of orders', (engine) => {
  const opened = shared((t) => openDeliveringShop(t, engine));

  test('An order without a method gets the cheapest parcel, among equal charges that of the lowest position', async () => {
    const { methods, charged, setShop, place } = opened();
    await methods(
      { ...parcel, name: 'Later', position: 3 },
      { ...parcel, name: 'Dear', rates: [{ upToGrams: 5000, amount: 7 }] },
      { ...parcel, name: 'Sooner', position: 2 },
      { ...parcel, name: 'Disabled', rates: [{ upToGrams: 5000, amount: 1 }], isEnabled: false },
      pickup,
    );
    assert.deepEqual(await charged(), ['Sooner', 6.9]);
    assert.deepEqual(await charged({ deliveryMethodId: null }), ['Sooner', 6.9]);
    assert.deepEqual(await charged({}, 3), ['Dear', 7]);
    await setShop({ delivery: { required: false } });
    assert.equal((await place({})).json.breakdown, undefined);
  });

  test('The weight of an order is that of goods and packaging, up to the last gram of a rate', async () => {
    const { methods, charged, setShop, place, as, shop } = opened();
    const [id, counter] = await methods(parcel, { ...pickup, rates: [{ upToGrams: 2000, amount: 1 }] });
    assert.deepEqual(await charged({}, 2), ['Parcel', 6.9]);
    await setShop({ delivery: { packagingGrams: 1 } });
    assert.deepEqual(await charged({}, 2), ['Parcel', 9.9]);
    assert.deepEqual(await charged({ deliveryMethodId: counter }, 2), ['Counter', 1]);
    const heavy = await place({}, 10);
    assert.deepEqual(heavy.json.errors, [
      {
        field: 'items',
        message:
          'are too heavy for a parcel: Parcel takes at most 10 kg with the packaging, and the order is heavier',
      },
    ]);
    assert.deepEqual(errorFields(await place({ deliveryMethodId: id }, 10)), ['deliveryMethodId']);
    const { json } = await shop.request('GET', '/v2/shop/settings', { as });
    assert.equal(json.delivery.packagingGrams, 1);
    for (const packagingGrams of [-1, 0.5, 100_001, null]) {
      const body = { delivery: { packagingGrams } };
      assert.deepEqual(errorFields(await shop.request('PATCH', '/v2/shop', { as, body })), [
        'delivery.packagingGrams',
      ]);
    }
  });

  test('Delivery is free from a sum of the goods after the discount on', async () => {
    const { methods, charged, shop, as } = opened();
    await methods({ ...parcel, freeFrom: 40 });
    assert.deepEqual(await charged({}, 1), ['Parcel', 6.9]);
    assert.deepEqual(await charged({}, 2), ['Parcel', 0]);
    const code = { code: 'LESS', kind: 'amount', value: 0.01 };
    assert.equal((await shop.request('POST', '/v2/discounts', { as, body: code })).status, 201);
    assert.deepEqual(await charged({ discountCode: 'LESS' }, 2), ['Parcel', 6.9]);
  });

  test('ZIP prefixes are compared without case, blanks and hyphens, and a missing ZIP code has none', async () => {
    const { methods, charged, place } = opened();
    const [id] = await methods({ ...parcel, countries: ['GB', 'PL'], zipPrefixes: ['sw1a', '00-95'] });
    const to = (country: string, zipCode?: string) => ({
      shippingAddress: { street: 'A 1', city: 'B', country, ...(zipCode === undefined ? {} : { zipCode }) },
    });
    for (const there of [to('GB', 'SW1A 1AA'), to('gb', 'sw1-a 2'), to('PL', '00-950')]) {
      assert.deepEqual(await charged(there), ['Parcel', 6.9]);
    }
    for (const [there, message] of [
      [to('GB', 'SW1'), 'Parcel does not deliver to this ZIP code'],
      [to('GB'), 'Parcel needs a ZIP code'],
      [to('GB', ''), 'Parcel needs a ZIP code'],
      [to('CH', '00-950'), 'Parcel does not deliver to CH'],
    ] as const) {
      const named = await place({ ...there, deliveryMethodId: id });
      assert.deepEqual(named.json.errors, [{ field: 'deliveryMethodId', message }]);
    }
    assert.deepEqual((await place(to('GB', 'N1'))).json.errors, [
      { field: 'shippingAddress.zipCode', message: 'the shop does not deliver to this ZIP code' },
    ]);
    assert.deepEqual((await place(to('AQ', 'N1'))).json.errors, [
      { field: 'shippingAddress.country', message: 'the shop does not deliver to AQ' },
    ]);
  });

  test('An order that is too heavy is told the limit of a method that goes there', async () => {
    const { methods, place } = opened();
    await methods({ ...parcel, name: 'Town', zipPrefixes: ['8'] }, { ...parcel, position: 1 });
    assert.deepEqual((await place({}, 11)).json.errors, [
      {
        field: 'items',
        message:
          'are too heavy for a parcel: Parcel takes at most 10 kg with the packaging, and the order is heavier',
      },
    ]);
  });

  test('A shop that requires delivery and has no parcel says what its owner, or the customer, does', async () => {
    const { methods, place } = opened();
    await methods({ ...parcel, isEnabled: false });
    const none = await place({});
    assert.deepEqual(errorFields(none), ['deliveryMethodId']);
    assert.match(none.json.errors[0].message, /no delivery method.*owner adds one in the console/);
    const [counter] = await methods(pickup);
    assert.deepEqual((await place({})).json.errors, [
      { field: 'deliveryMethodId', message: `the shop delivers no parcels: choose Counter (${counter})` },
    ]);
    assert.equal((await place({ deliveryMethodId: counter })).json.breakdown.delivery.amount, 0);
  });

  test('An order keeps its method, charge and days after the method was changed and deleted', async () => {
    const { methods, place, shop, as, read, at } = opened();
    at('2026-06-04T08:00:00Z');
    const [id] = await methods({ ...parcel, shipDays: ['mon'], cutOff: '12:00', transitDays: 1 });
    const first = (await place({ deliveryMethodId: id })).json;
    const second = (await place({ deliveryMethodId: id })).json;
    const body = {
      name: 'Other',
      rates: [{ upToGrams: 1000, amount: 1 }],
      shipDays: ['fri'],
      transitDays: 5,
    };
    assert.equal((await shop.request('PATCH', `${path}/${id}`, { as, body })).status, 200);
    assert.equal((await changeOrder(shop, first.id, 'approve')).status, 200);
    await methods(parcel);
    assert.equal((await changeOrder(shop, second.id, 'approve')).status, 200);
    for (const { id, breakdown } of [first, second]) {
      const order = await read(id);
      assert.deepEqual(order.breakdown, breakdown);
      // Noon of Monday in Zurich, and the day after.
      assert.deepEqual([order.shipDate, order.arrivesOn], ['2026-06-08T10:00:00.000Z', '2026-06-09']);
    }
    assert.deepEqual(errorFields(await place({ deliveryMethodId: id })), ['deliveryMethodId']);
  });

  test('An approval by an operator and one by the job set the ship day of the method, in the zone of the shop', async () => {
    const { methods, place, shop, read, at, clock } = opened();
    const [mondays, daily, plain, counter] = await methods(
      { ...parcel, shipDays: ['mon', 'tue'], cutOff: '12:00', transitDays: 2 },
      { ...parcel, cutOff: '09:00' },
      { ...parcel, transitDays: 1 },
      { ...pickup, shipDays: ['fri'], transitDays: 3 },
    );
    const orders = async () => {
      const ids = [];
      for (const deliveryMethodId of [mondays, daily, plain, counter]) {
        ids.push((await place({ deliveryMethodId })).json.id as number);
      }
      return ids;
    };
    const days = (ids: readonly number[]) =>
      Promise.all(ids.map(read)).then((all) =>
        all.map(({ status, shipDate, arrivesOn }) => [status, shipDate, arrivesOn]),
      );
    // Tuesday, a second before noon in Zurich.
    at('2026-06-09T09:49:59Z');
    const batch = await orders();
    clock.advance(10 * 60_000);
    await shop.app.worker.run();
    assert.deepEqual(await days(batch), [
      ['approved', '2026-06-09T10:00:00.000Z', '2026-06-11'],
      ['approved', '2026-06-10T10:00:00.000Z', undefined],
      // The usual time until shipping is two days.
      ['approved', '2026-06-11T09:59:59.000Z', '2026-06-12'],
      ['approved', '2026-06-12T10:00:00.000Z', undefined],
    ]);
    const [single = 0, ...others] = await orders();
    clock.advance(1000);
    for (const id of [single, ...others]) {
      assert.equal((await changeOrder(shop, id, 'approve')).status, 200);
    }
    assert.deepEqual(await days([single]), [['approved', '2026-06-15T10:00:00.000Z', '2026-06-17']]);
    const alone = (await place({ deliveryMethodId: mondays })).json.id;
    clock.advance(10 * 60_000);
    await shop.app.worker.run();
    assert.deepEqual(await days([alone]), [['approved', '2026-06-15T10:00:00.000Z', '2026-06-17']]);
    // Shipped on another day, it arrives later.
    at('2026-06-19T06:00:00Z');
    await changeOrder(shop, alone, 'ship');
    assert.deepEqual(await days([alone]), [['shipped', '2026-06-19T06:00:00.000Z', '2026-06-23']]);
    await changeOrder(shop, single, 'cancel');
    assert.deepEqual(await days([single]), [['cancelled', null, undefined]]);
  });

  test('A requested day is a ship day within 60 days, is shown, and becomes the ship day of the order', async () => {
    const { methods, place, shop, read, at, as, cheese } = opened();
    // Friday, in the last hour of the day in the shop.
    at('2026-06-19T21:30:00Z');
    const [mondays, daily] = await methods(
      { ...parcel, shipDays: ['mon'], cutOff: '12:00', transitDays: 1 },
      parcel,
    );
    const wish = (requestedDate: unknown, deliveryMethodId = mondays) =>
      place({ deliveryMethodId, requestedDate });
    for (const day of [
      '2026-06-30',
      '2026-06-15',
      '2026-08-24',
      '2026-02-30',
      '2026-6-29',
      'Monday',
      '',
      20260629,
      '+002026-06-29',
    ]) {
      assert.deepEqual(errorFields(await wish(day)), ['requestedDate'], String(day));
    }
    for (const [day, method] of [
      ['2026-06-22', mondays],
      ['2026-08-17', mondays],
      ['2026-06-19', daily],
      ['2026-08-18', daily],
    ] as const) {
      assert.equal((await wish(day, method)).status, 201, day);
    }
    for (const day of ['2026-08-19', '2026-06-31']) {
      assert.deepEqual(errorFields(await wish(day, daily)), ['requestedDate'], day);
    }
    const { json: order } = await wish('2026-06-29');
    assert.deepEqual([order.requestedDate, order.arrivesOn, order.shipDate], ['2026-06-29', undefined, null]);
    await changeOrder(shop, order.id, 'approve');
    const approved = await read(order.id);
    assert.deepEqual([approved.shipDate, approved.arrivesOn], ['2026-06-29T10:00:00.000Z', '2026-06-30']);
    const list = await shop.request('GET', '/v2/store/orders?limit=1', { as });
    assert.equal(list.json.items[0].requestedDate, '2026-06-29');
    // It has passed when an operator approves it.
    const late = (await wish('2026-06-22')).json.id;
    const unpriced = await newCheese(shop, { pricePerKg: undefined });
    const waiting = await newOrder(shop, [unpriced], {
      more: { shippingAddress: bern, deliveryMethodId: mondays, requestedDate: '2026-06-22' },
    });
    at('2026-06-22T10:00:00Z');
    for (const id of [late, waiting]) {
      await changeOrder(shop, id, 'approve');
      assert.equal((await read(id)).shipDate, '2026-06-29T10:00:00.000Z');
    }
    const setRequired = { delivery: { required: false } };
    assert.equal((await shop.request('PATCH', '/v2/shop', { as, body: setRequired })).status, 200);
    const nothing = await placeOrder(shop, cheese, { more: { requestedDate: '2026-06-29' } });
    assert.deepEqual(nothing.json.errors, [{ field: 'requestedDate', message: 'needs a delivery method' }]);
  });

  test('A quote lists the methods that serve the order, with their days, and names what an order would be refused for', async () => {
    const { methods, quote, at } = opened();
    at('2026-06-24T10:00:00Z');
    const [mondays, town, , counter] = await methods(
      {
        ...parcel,
        name: 'Mondays',
        shipDays: ['mon'],
        cutOff: '12:00',
        transitDays: 1,
        freeFrom: 150,
        text: 'Cooled',
      },
      { ...parcel, name: 'Town', zipPrefixes: ['8'] },
      { ...parcel, name: 'Hidden', isEnabled: false },
      { ...pickup, shipDays: ['fri'], transitDays: 2 },
    );
    const optionsOf = async (body: object) =>
      (await quote(body)).deliveryOptions.map(
        ({ id, amount, shipsOn, arrivesOn }: Record<string, unknown>) => [id, amount, shipsOn, arrivesOn],
      );
    const monday = [mondays, 6.9, '2026-06-29', '2026-06-30'];
    const friday = [counter, 0, '2026-06-26', null];
    assert.deepEqual(await optionsOf({}), [monday, [town, 6.9, '2026-06-26', null], friday]);
    assert.deepEqual(await optionsOf({ shippingAddress: { country: 'CH' } }), [monday, friday]);
    assert.deepEqual(await optionsOf({ shippingAddress: { country: 'CH' }, requestedDate: '2026-07-06' }), [
      [mondays, 6.9, '2026-07-06', '2026-07-07'],
      // It does not leave on a Monday.
      friday,
    ]);
    const { deliveryOptions, problems, breakdown, total } = await quote({
      requestedDate: '2026-12-24',
      deliveryMethodId: mondays,
    });
    assert.deepEqual(
      problems.map(({ field }: { field: string }) => field),
      ['requestedDate'],
    );
    assert.deepEqual(deliveryOptions[0], {
      id: mondays,
      name: 'Mondays',
      kind: 'parcel',
      amount: 6.9,
      freeFrom: 150,
      shipsOn: '2026-06-29',
      arrivesOn: '2026-06-30',
      text: 'Cooled',
    });
    assert.deepEqual([breakdown.delivery.amount, total], [6.9, 26.9]);
    const { problems: bad } = await quote({ items: [{ cheeseId: 999_999, quantity: 1 }] });
    assert.deepEqual(
      bad.map(({ field }: { field: string }) => field),
      ['items[0].cheeseId'],
    );
  });

  test('GET /store/orders?shipsToday=true has the approved orders that leave today or should have left', async () => {
    const { methods, place, shop, as, at } = opened();
    at('2026-07-01T21:59:00Z');
    const [daily, thursdays] = await methods(
      { ...parcel, cutOff: '12:00' },
      { ...parcel, shipDays: ['thu'] },
    );
    const approve = async (more: object) => {
      const { id } = (await place(more)).json;
      assert.equal((await changeOrder(shop, id, 'approve')).status, 200);
      return id as number;
    };
    // It leaves on Thursday, the 2nd, and the other a day later.
    const thursday = await approve({ deliveryMethodId: thursdays });
    const friday = await approve({ deliveryMethodId: daily, requestedDate: '2026-07-03' });
    const today = async (query = '') => {
      const { json } = await shop.request('GET', `/v2/store/orders?shipsToday=true${query}`, { as });
      const ids = json.items.map(({ id }: { id: number }) => id).filter((id: number) => id >= thursday);
      return ids as number[];
    };
    assert.deepEqual(await today(), []);
    // Midnight in Zurich.
    at('2026-07-01T22:00:00Z');
    assert.deepEqual(await today(), [thursday]);
    at('2026-07-02T21:59:59Z');
    assert.deepEqual(await today(), [thursday]);
    at('2026-07-02T22:00:00Z');
    assert.deepEqual(await today(), [friday, thursday]);
    assert.deepEqual(await today('&late=true'), [thursday]);
    assert.deepEqual(await today('&country=AT'), []);
    await changeOrder(shop, thursday, 'ship');
    assert.deepEqual(await today(), [friday]);
    const refused = await shop.request('GET', '/v2/store/orders?shipsToday=false', { as });
    assertError(refused, 400, 'bad_request');
  });

  test('Limits of a caller count the total with delivery', async () => {
    const { methods, shop, cheese } = opened();
    await methods(parcel);
    const order = { more: { shippingAddress: bern } };
    const max = (total: string) =>
      placeOrder(shop, cheese, { ...order, headers: { 'curd-max-total': total } });
    assertError(await max('26.89'), 409, 'conflict');
    assert.equal((await max('26.90')).status, 201);
    const keyOf = (limits: KeyRequest) =>
      shop.createKey({ kind: 'restricted', scopes: ['write:orders', 'read:cheeses'], ...limits });
    const small = await keyOf({ dollarsPerOrder: 26.89 });
    assertError(await placeOrder(shop, cheese, { ...order, as: small }), 403, 'forbidden');
    const daily = await keyOf({ dollarsPerDay: 53.8 });
    const placed = [1, 2, 3].map(() => placeOrder(shop, cheese, { ...order, as: daily }));
    assert.deepEqual((await Promise.all(placed)).map(({ status }) => status).sort(), [201, 201, 429]);
  });
});
