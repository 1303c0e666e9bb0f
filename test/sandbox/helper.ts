/** Requests of tests that move the clock. */
import assert from 'node:assert/strict';
import type { Shop } from '../helper.ts';

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

export const findOrder = async (shop: Shop, id: number) =>
  (await shop.request('GET', `/v2/store/order/${id}`, { as: shop.admin })).json;
