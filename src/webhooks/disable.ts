/** Disables endpoints: the log gets an event, and the server log a line after the commit. */
import { timestamp } from '../clock.ts';
import type { Origin } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { recordEvents } from '../events/record.ts';
import { type DisabledReason, webhookEvents } from './event-types.ts';
import { webhookQueries } from './queries.ts';

/** In a transaction that has locked the endpoint. Its deliveries and its position stay. */
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
