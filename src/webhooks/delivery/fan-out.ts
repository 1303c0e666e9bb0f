/** Queues deliveries of new events for an endpoint, in one transaction with the move of its position. */
import type { Clock } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import { createMatcher } from '../../event-log/reading/event-filter.ts';
import { readHeads, readLogState } from '../../event-log/reading/log-reader.ts';
import { positionAt } from '../../event-log/reading/positions.ts';
import { disableEndpoint } from '../disable.ts';
import { type NewDelivery, webhookQueries } from '../queries.ts';
import { openMax, queueDeliveries } from './delivery-order.ts';
import { filterOfTypes } from './replays.ts';

/** Events of one transaction. It keeps the lock of the endpoint, which results of its deliveries wait for. */
const examinedMax = 1000;

/** Every receiver has to know that what it has stored is gone, whatever types it subscribed. */
const toEveryEndpoint = 'shop.reset';

export interface FanOutResult {
  /** Deliveries that wait or are being sent, with those that were queued; 0 if no events were read. */
  readonly open: number;
  /** Deliveries that were queued. */
  readonly queued: number;
  /** Whether to continue at once: more events follow. */
  readonly hasMore: boolean;
  /** Whether another transaction has the endpoint: try again soon. */
  readonly isLocked: boolean;
  readonly isExpired: boolean;
}

const nothing: FanOutResult = { open: 0, queued: 0, hasMore: false, isLocked: false, isExpired: false };

/** @param origin of the event if the endpoint is disabled: events that it has not seen have been removed */
export function fanOut(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  origin: Origin,
  endpointId: number,
): Promise<FanOutResult> {
  return database.transaction(async (tx) => {
    const endpoint = await webhookQueries(tx).lockEnabled(endpointId);
    if (endpoint === undefined) {
      return { ...nothing, isLocked: true };
    }
    const now = clock.now();
    const open = (await webhookQueries(tx).countOpen(endpointId))?.count ?? 0;
    const room = openMax - open;
    const heads = room > 0 ? await readHeads(tx, endpoint.position, examinedMax) : [];
    // Read after the events: what was removed before them is noticed, and the epoch of each event is known.
    const { first, epochs } = await readLogState(tx);
    if (endpoint.position < first - 1) {
      await disableEndpoint(tx, origin, endpointId, 'events_expired', now);
      return { ...nothing, isExpired: true };
    }
    const matches = createMatcher(filterOfTypes(endpoint.types === null ? null : JSON.parse(endpoint.types)));
    const deliveries: Omit<NewDelivery, 'endpoint_id' | 'created_at'>[] = [];
    let { position, last_event_id: previous } = endpoint;
    for (const { sequence, type, subject } of heads) {
      if (type === toEveryEndpoint || matches(type, subject)) {
        if (deliveries.length === room) {
          break;
        }
        const id = positionAt(sequence, epochs);
        deliveries.push({ sequence, event_id: id, type, subject, previous_id: previous, kind: 'event' });
        previous = id;
      }
      position = sequence;
    }
    if (position > endpoint.position) {
      await queueDeliveries(tx, endpointId, deliveries, now);
      await webhookQueries(tx).updatePosition(endpointId, position, previous);
    }
    const hasMore = heads.length === examinedMax && deliveries.length < room;
    const queued = deliveries.length;
    return { ...nothing, open: open + queued, queued, hasMore };
  });
}
