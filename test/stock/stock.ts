/** Requests and checks that the tests of stock share. */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import { checkOrders } from '../../src/orders/consistency-check.ts';
import { checkStock } from '../../src/stock/consistency-check.ts';
import type { Shop, TestResponse } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';

/** A new cheese with so many kilograms on hand. */
export async function trackedCheese(
  shop: Shop,
  onHand: number,
  lowAt: number | null = null,
): Promise<number> {
  const id = await newCheese(shop);
  assert.equal((await putStock(shop, id, { onHand, lowAt })).status, 201);
  return id;
}

export function putStock(
  shop: Shop,
  id: number,
  body: object,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return shop.request('PUT', `/v2/cheeses/${id}/stock`, { as: shop.writer, body, headers });
}

export function adjust(shop: Shop, id: number, deltaKg: number, reason = 'received'): Promise<TestResponse> {
  return shop.request('POST', `/v2/cheeses/${id}/stock/adjustments`, {
    as: shop.writer,
    body: { deltaKg, reason },
  });
}

export function untrack(shop: Shop, id: number): Promise<TestResponse> {
  return shop.request('DELETE', `/v2/cheeses/${id}/stock`, { as: shop.writer });
}

export function stockOf(shop: Shop, id: number): Promise<TestResponse> {
  return shop.request('GET', `/v2/cheeses/${id}/stock`, { as: shop.reader });
}

/** [onHand, reserved, available] */
export async function levelsOf(shop: Shop, id: number): Promise<number[]> {
  const { json } = await stockOf(shop, id);
  return [json.onHand, json.reserved, json.available];
}

export async function statusOf(shop: Shop, cheeseId: number): Promise<string> {
  return (await shop.request('GET', `/v2/cheeses/${cheeseId}`, { as: shop.reader })).json.status;
}

export async function setStatus(shop: Shop, cheeseId: number, status: string): Promise<void> {
  const response = await shop.request('POST', `/v2/cheeses/${cheeseId}`, {
    as: shop.writer,
    body: { status },
  });
  assert.equal(response.status, 200, response.text);
}

/** Types and data of the events of a subject, in order. */
export async function eventsOf(shop: Shop, subject: string): Promise<{ type: string; data: object }[]> {
  const rows = await shop.app.database.all<{ type: string; data: string }>(
    sql`select type, data from event where subject = ${subject} order by id`,
  );
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
}

/** Asserts that `curd doctor` would find no error. Notes are permitted. */
export async function assertConsistent(shop: Shop): Promise<void> {
  const findings = await shop.app.database.snapshot(async (snapshot) => [
    ...(await checkOrders(snapshot)),
    ...(await checkStock(snapshot)),
  ]);
  assert.deepEqual(
    findings.filter(({ isNote }) => !isNote),
    [],
  );
}
