/** Delivery methods: their bounds, versions and number, and who sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, errorFields, onBothEngines, shared } from '../helper.ts';
import { registerAndLogIn } from '../shop-verbs.ts';
import { openDeliveringShop, parcel, methodsPath as path, pickup, rates } from './delivery-shop.ts';

type Body = Readonly<Record<string, unknown>>;

onBothEngines('Delivery methods', (engine) => {
  const opened = shared((t) => openDeliveringShop(t, engine));

  test('POST /delivery-methods returns the method with usual values, and refuses what no carrier does', async () => {
    const { shop, as, methods } = opened();
    const [id] = await methods({ ...parcel, countries: ['ch', 'li'] });
    const method = {
      id,
      position: 0,
      name: 'Parcel',
      kind: 'parcel',
      countries: ['CH', 'LI'],
      zipPrefixes: null,
      rates,
      freeFrom: null,
      shipDays: null,
      cutOff: null,
      transitDays: null,
      deliveryDays: null,
      text: null,
      isEnabled: true,
    };
    const read = await shop.request('GET', `${path}/${id}`, { as });
    assert.deepEqual([read.json, read.headers.etag], [method, '"1"']);
    const refused: readonly [field: string, body: Body][] = [
      ['name', { rates }],
      ['name', { ...parcel, name: 'x'.repeat(101) }],
      ['name', { ...parcel, name: '\u202e' }],
      ['kind', { ...parcel, kind: 'drone' }],
      ['position', { ...parcel, position: 10_001 }],
      ['countries', { ...parcel, countries: [] }],
      ['countries[0]', { ...parcel, countries: ['XX'] }],
      ['countries', { ...parcel, countries: Array(261).fill('CH') }],
      ['zipPrefixes', { ...parcel, zipPrefixes: [] }],
      ['zipPrefixes[0]', { ...parcel, zipPrefixes: ['1234567890123'] }],
      // It would be a prefix of every ZIP code, and of none.
      ['zipPrefixes[1]', { ...parcel, zipPrefixes: ['30', '- -'] }],
      ['zipPrefixes', { ...parcel, zipPrefixes: Array(501).fill('3') }],
      ['rates', { name: 'Parcel' }],
      [
        'rates',
        { ...parcel, rates: Array.from({ length: 21 }, (_, index) => ({ upToGrams: index + 1, amount: 1 })) },
      ],
      ['rates[0].upToGrams', { ...parcel, rates: [{ upToGrams: 0, amount: 1 }] }],
      ['rates[1].upToGrams', { ...parcel, rates: [rates[0], rates[0]] }],
      ['rates[0].amount', { ...parcel, rates: [{ upToGrams: 1, amount: -1 }] }],
      ['rates[0].amount', { ...parcel, rates: [{ upToGrams: 1, amount: 1.005 }] }],
      ['freeFrom', { ...parcel, freeFrom: 1_000_001 }],
      ['shipDays', { ...parcel, shipDays: [] }],
      ['shipDays[0]', { ...parcel, shipDays: ['Monday'] }],
      ['shipDays', { ...parcel, shipDays: ['mon', 'mon'] }],
      ['cutOff', { ...parcel, cutOff: '24:00' }],
      ['cutOff', { ...parcel, cutOff: '9:00' }],
      ['transitDays', { ...parcel, transitDays: 15 }],
      ['deliveryDays', { ...parcel, deliveryDays: ['sat', 'sat'] }],
      ['text', { ...parcel, text: 'x'.repeat(501) }],
    ];
    for (const [field, body] of refused) {
      const response = await shop.request('POST', path, { as, body });
      assert.deepEqual(
        [response.status, errorFields(response)],
        [422, [field]],
        JSON.stringify(body).slice(0, 100),
      );
    }
  });

  test('PATCH and DELETE of a delivery method need the version that If-Match names', async () => {
    const { shop, as, methods } = opened();
    const [id] = await methods(parcel);
    const url = `${path}/${id}`;
    const patch = (body: object, tag: string) =>
      shop.request('PATCH', url, { as, body, headers: { 'if-match': tag } });
    const changed = await patch({ freeFrom: 100, cutOff: '12:00' }, '"1"');
    assert.deepEqual([changed.status, changed.headers.etag, changed.json.freeFrom], [200, '"2"', 100]);
    assertError(await patch({ freeFrom: 50 }, '"1"'), 412, 'precondition_failed');
    assert.equal((await patch({ freeFrom: 100 }, '"2"')).headers.etag, '"2"', 'nothing changes');
    assert.equal((await patch({ cutOff: null }, '"2"')).json.cutOff, null);
    assert.deepEqual(errorFields(await patch({ rates: null }, '"3"')), ['rates']);
    assert.deepEqual(errorFields(await patch({ rates: [] }, '"3"')), ['rates']);
    assert.equal((await patch({ kind: 'pickup', rates: [] }, '"3"')).status, 200);
    assert.deepEqual(errorFields(await patch({ kind: 'parcel' }, '"4"')), ['rates']);
    const remove = (tag: string) => shop.request('DELETE', url, { as, headers: { 'if-match': tag } });
    assertError(await remove('"1"'), 412, 'precondition_failed');
    assert.equal((await remove('"4"')).status, 204);
    assertError(await remove('"4"'), 404, 'not_found');
  });

  test('The 51st delivery method is 409, also when two requests create it at once', async () => {
    const { shop, as, methods } = opened();
    await methods(...Array.from({ length: 48 }, (_, index) => ({ ...pickup, name: `Counter ${index}` })));
    const other = await shop.another();
    const create = (one = shop) => one.request('POST', path, { as, body: pickup });
    const results = await Promise.all([shop, other, shop, other].map(create));
    assert.deepEqual(results.map(({ status }) => status).sort(), [201, 201, 409, 409]);
    assert.equal((await shop.request('GET', path, { as })).json.items.length, 50);
    assertError(await create(), 409, 'conflict');
  });

  test('GET /delivery-methods lists by position, and shows what is not enabled to admins alone', async () => {
    const { shop, as, methods } = opened();
    const [last, , hidden] = await methods(
      { ...parcel, position: 2 },
      { ...pickup, position: 1 },
      { ...parcel, name: 'Secret', isEnabled: false },
    );
    const publishable = await shop.createKey({ kind: 'publishable' });
    const { headers } = await registerAndLogIn(shop);
    const list = async (options: object) =>
      (await shop.request('GET', path, options)).json.items.map(({ name }: { name: string }) => name);
    assert.deepEqual(await list({ as }), ['Secret', 'Counter', 'Parcel']);
    for (const options of [{ as: publishable }, { as: shop.reader }, { headers }, { as, headers }]) {
      assert.deepEqual(await list(options), ['Counter', 'Parcel']);
      assertError(await shop.request('GET', `${path}/${hidden}`, options), 404, 'not_found');
      assert.equal((await shop.request('GET', `${path}/${last}`, options)).status, 200);
    }
    for (const options of [{ as: publishable }, { as: shop.writer }, { headers }]) {
      const refused = await shop.request('POST', path, { ...options, body: parcel });
      assert.ok([401, 403].includes(refused.status), refused.text);
    }
  });
});
