/** Requests of tests that move the clock. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { bern, type Shop } from '../helper.ts';

export const clockPath = '/v2/sandbox/clock';

/** What was done on the way. */
export async function advance(shop: Shop, duration: string): Promise<Record<string, number>> {
  const { status, text, json } = await shop.request('POST', clockPath, {
    as: shop.admin,
    body: { advance: duration },
  });
  assert.equal(status, 200, text);
  return json.did;
}

export const now = async (shop: Shop): Promise<number> =>
  Date.parse((await shop.request('GET', clockPath, { as: shop.reader })).json.now);

/** The id of a new cheese that can be ordered. */
export async function newCheese(shop: Shop): Promise<number> {
  const body = { name: `Brie ${randomUUID()}`, pricePerKg: 20 };
  const { status, text, json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
  assert.equal(status, 201, text);
  return json.id;
}

export async function placeOrder(
  shop: Shop,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly id: number; readonly createdAt: string }> {
  const body = { items: [{ cheeseId: await newCheese(shop), quantity: 30 }], shippingAddress: bern };
  const placed = await shop.request('POST', '/v2/store/order', { as: shop.admin, body, headers });
  assert.equal(placed.status, 201, placed.text);
  return placed.json;
}

export const findOrder = async (shop: Shop, id: number) =>
  (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin })).json;

/** The headers of a new customer who is logged in. */
export async function newCustomer(shop: Shop): Promise<{ readonly authorization: string }> {
  const username = `ada-${randomUUID().slice(0, 8)}`;
  const password = 'correct horse battery staple';
  const body = { username, email: `${username}@example.com`, password };
  assert.equal((await shop.request('POST', '/v2/customer', { body })).status, 201);
  const { json } = await shop.request('POST', '/v2/customer/login', { body: { username, password } });
  return { authorization: `Bearer ${json.token}` };
}
