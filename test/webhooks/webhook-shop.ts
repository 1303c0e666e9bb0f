/** A shop with webhook endpoints, for tests. */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import { leasedJobs } from '../../src/jobs/leases.ts';
import { deliveryKind } from '../../src/webhooks/delivery/delivery-order.ts';
import type { AttemptRow, DeliveryRow, EndpointRow } from '../../src/webhooks/queries.ts';
import { until } from '../context.ts';
import type { Shop } from '../helper.ts';

export interface Registered {
  readonly id: number;
  readonly secret: string;
}

/** An endpoint that gets events from now on. */
export async function registerEndpoint(
  shop: Shop,
  url: string,
  types: readonly string[] = ['cheese.*'],
): Promise<Registered> {
  await numbered(shop);
  const response = await shop.request('POST', '/v2/webhook-endpoints', {
    as: shop.admin,
    body: { url, types },
  });
  assert.equal(response.status, 201, response.text);
  return response.json;
}

/** Writes a `cheese.updated`. */
export async function changeCheese(shop: Shop, id: number, status: string): Promise<void> {
  const response = await shop.request('POST', `/v2/cheeses/${id}?status=${status}`, { as: shop.writer });
  assert.equal(response.status, 200, response.text);
}

/** Waits until all events have a number. */
export async function numbered(shop: Shop): Promise<void> {
  await until(async () => {
    const row = await shop.app.database.get<{ waiting: number }>(
      sql`select count(*) as waiting from event where sequence is null`,
    );
    return row?.waiting === 0;
  });
}

/** Queues and sends all that is due. */
export async function deliver(shop: Shop): Promise<void> {
  await numbered(shop);
  await shop.app.webhooks.worker.run();
}

/** As if the servers that send had been killed, and others had noticed it. */
export async function loseServers({ app, clock }: Shop): Promise<void> {
  await leasedJobs(app.database).endAllLeases(deliveryKind, clock.now());
}

export async function findEndpoint(shop: Shop, id: number): Promise<EndpointRow> {
  const row = await shop.app.database.get<EndpointRow>(sql`select * from webhook_endpoint where id = ${id}`);
  assert.ok(row !== undefined);
  return row;
}

export function listDeliveries(shop: Shop, endpointId: number): Promise<DeliveryRow[]> {
  return shop.app.database.all<DeliveryRow>(
    sql`select * from webhook_delivery where endpoint_id = ${endpointId} order by id`,
  );
}

export function listAttempts(shop: Shop, deliveryId: number): Promise<AttemptRow[]> {
  return shop.app.database.all<AttemptRow>(
    sql`select * from webhook_attempt where delivery_id = ${deliveryId} order by number`,
  );
}
