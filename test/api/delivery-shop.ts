/** A shop in Zurich whose delivery methods a test replaces, with a clock that it moves. */
import assert from 'node:assert/strict';
import type { Engine } from '../../src/database/sql.ts';
import { openShop, type Scope, testClock } from '../helper.ts';
import { newCheese, placeOrder } from '../shop-verbs.ts';

export const methodsPath = '/v2/delivery-methods';
export const bernWithZip = { street: 'Gerechtigkeitsgasse 1', zipCode: '3011', city: 'Bern', country: 'CH' };
export const rates = [
  { upToGrams: 2000, amount: 6.9 },
  { upToGrams: 10_000, amount: 9.9 },
];
export const parcel = { name: 'Parcel', rates };
export const pickup = { name: 'Counter', kind: 'pickup' };

type Body = Readonly<Record<string, unknown>>;

export async function openDeliveringShop(t: Scope, engine: Engine) {
  const clock = testClock();
  const settings = { CURD_APPROVAL_DELAY: '10m' };
  const shop = await openShop(t, { engine, clock, settings });
  const as = shop.admin;
  const cheese = await newCheese(shop, { pricePerKg: 20 });
  const setShop = async (body: object) => {
    const { status, text } = await shop.request('PATCH', '/v2/shop', { as, body });
    assert.equal(status, 200, text);
  };
  await setShop({ currency: 'CHF', timeZone: 'Europe/Zurich' });
  const place = (more: object, quantity = 1) =>
    placeOrder(shop, [[cheese, quantity]], { more: { shippingAddress: bernWithZip, ...more } });
  const quote = async (body: object) =>
    (
      await shop.request('POST', '/v2/quotes', {
        as,
        body: { items: [{ cheeseId: cheese, quantity: 1 }], ...body },
      })
    ).json;
  return {
    shop,
    clock,
    cheese,
    as,
    setShop,
    place,
    quote,
    /** Replaces all methods, and returns the ids of the new ones. */
    async methods(...bodies: Body[]): Promise<number[]> {
      for (const { id } of (await shop.request('GET', methodsPath, { as })).json.items) {
        assert.equal((await shop.request('DELETE', `${methodsPath}/${id}`, { as })).status, 204);
      }
      const ids = [];
      for (const body of bodies) {
        const { status, text, json } = await shop.request('POST', methodsPath, { as, body });
        assert.equal(status, 201, text);
        ids.push(json.id);
      }
      await setShop({ delivery: { required: true, packagingGrams: 0 } });
      return ids;
    },
    /** The method and charge of an order that is accepted. */
    async charged(more: object = {}, quantity = 1): Promise<[string, number]> {
      const { status, text, json } = await place(more, quantity);
      assert.equal(status, 201, text);
      return [json.breakdown.delivery.name, json.breakdown.delivery.amount];
    },
    read: async (id: number) => (await shop.request('GET', `/v2/store/order/${id}`, { as })).json,
    /** Moves the clock to a time, which is not in the past. */
    at(time: string) {
      const wait = Date.parse(time) - clock.now();
      assert.ok(wait >= 0, time);
      clock.advance(wait);
    },
  };
}
