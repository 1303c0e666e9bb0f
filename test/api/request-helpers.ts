/** Sends requests with ids of their own, and looks them up. */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import type { RequestOptions, Shop } from '../helper.ts';

export const bearer = (token: string): RequestOptions => ({ headers: { authorization: `Bearer ${token}` } });

/** Sends a request with an id of its own, and writes the request log. */
export async function send(
  shop: Shop,
  id: string,
  method: string,
  url: string,
  options: RequestOptions = {},
) {
  const response = await shop.request(method, url, {
    ...options,
    headers: { ...options.headers, 'x-request-id': id },
  });
  await shop.app.requestLog.work.run();
  return response;
}

export const lookUp = (shop: Shop, id: string, options: RequestOptions = { as: shop.admin }) =>
  shop.request('GET', `/v2/requests/${id}`, options);

/** The newest request with an id, as the operator sees it. */
export async function found(shop: Shop, id: string) {
  const response = await lookUp(shop, id);
  assert.equal(response.status, 200, response.text);
  return response.json.items[0];
}

export function rowsOf(shop: Shop) {
  return shop.app.database.all<Record<string, unknown>>(sql`select * from request order by id`);
}

export const cheese = { name: 'Comté', photoUrls: [] };
