/** Disables endpoints: the log gets an event, and the server log a line after the commit. */
import { type Clock, timestamp } from '../clock.ts';
import type { Origin } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { recordEvents } from '../event-log/record.ts';
import { type DisabledReason, webhookEvents } from './event-types.ts';
import { webhookQueries } from './queries.ts';

const commandOrigin: Origin = { actor: 'cli', requestId: null, traceId: null, effects: null };

/** Runs in a transaction that has locked the endpoint. Its deliveries and its position stay. */
export async function disableEndpoint(
  tx: Sql,
  origin: Origin,
  id: number,
  reason: DisabledReason,
  now: number,
): Promise<void> {
  await webhookQueries(tx).disable(id, reason, timestamp(now));
  await recordEvents(tx, origin, timestamp(now), [
    webhookEvents.disabled.of(`webhook_endpoint:${id}`, { id, reason }),
  ]);
}

/**
 * Disables all endpoints of a shop that was copied or restored: the shop that it comes from may run too, and would send
 * the same events to the same URLs.
 * @returns their ids
 */
export async function disableAllEndpoints(tx: Sql, clock: Pick<Clock, 'now'>): Promise<number[]> {
  const endpoints = await webhookQueries(tx).listEnabled();
  for (const { id } of endpoints) {
    await disableEndpoint(tx, commandOrigin, id, 'on_request', clock.now());
  }
  return endpoints.map(({ id }) => id);
}
