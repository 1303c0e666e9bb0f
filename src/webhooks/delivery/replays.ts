/** Sends events to an endpoint again: one delivery, or a range of the log. */
import type { Clock } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { isDryRun, nextDryId } from '../../database/dry-run.ts';
import { AppError, validationError } from '../../errors.ts';
import type { EventTypes } from '../../event-log/event-types.ts';
import { createMatcher, type EventMatcher } from '../../event-log/reading/event-filter.ts';
import type { EventHead, EventService } from '../../event-log/reading/service.ts';
import { requireFound, requireKnownTypes, resolvePosition } from '../endpoint.ts';
import { endpointQueries } from '../endpoint-queries.ts';
import { type EndpointRow, type NewDelivery, webhookQueries } from '../queries.ts';
import { requireDelivery } from './deliveries.ts';
import { openMax, queueDeliveries, wakeLine, wakeWaiting } from './delivery-order.ts';
import type { Replay } from './delivery-schemas.ts';
import { countManualAttempt } from './manual-attempts.ts';

/** Events that a replay may examine: a second or two of reading. */
const examinedMax = 1_000_000;
const previousBlock = 500;

type Replayed = Omit<NewDelivery, 'endpoint_id' | 'created_at'>;

export type ReplayService = ReturnType<typeof createReplayService>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly events: EventService;
  readonly eventTypes: EventTypes;
}

export function createReplayService({ database, clock, events, eventTypes }: Dependencies) {
  /** Returns events with the `previousId` that the consumer knows from the first deliveries. */
  async function deliveriesOf(endpointId: number, heads: readonly EventHead[]): Promise<Replayed[]> {
    const previous = new Map<number, string | null>();
    for (let first = 0; first < heads.length; first += previousBlock) {
      const sequences = heads.slice(first, first + previousBlock).map(({ sequence }) => sequence);
      for (const row of await endpointQueries(database).listPrevious(endpointId, sequences)) {
        previous.set(row.sequence, row.previous_id);
      }
    }
    return heads.map(({ sequence, id, type, subject }) => ({
      sequence,
      event_id: id,
      type,
      subject,
      previous_id: previous.get(sequence) ?? null,
      kind: 'replay',
    }));
  }

  function endPause(tx: Sql, row: EndpointRow): Promise<unknown> {
    return webhookQueries(tx).updateHealth({ ...row, paused_until: null });
  }

  /** Locks an endpoint and counts what waits for it. @throws AppError notFound, conflict if nothing is sent to it */
  async function lockEnabled(tx: Sql, id: number): Promise<{ row: EndpointRow; waiting: number }> {
    const row = requireFound(await webhookQueries(tx).lockEndpointForUpdate(id));
    if (row.status === 'disabled') {
      throw new AppError(
        'conflict',
        `The endpoint is disabled, so nothing is sent to it. Enable it first: POST /v2/webhook-endpoints/{endpointId}/enable or "${commandName} webhooks enable <id>".`,
      );
    }
    return { row, waiting: (await webhookQueries(tx).countOpen(id))?.count ?? 0 };
  }

  /** Returns the id of the last one. A dry run queues nothing, because deliveries have ids from a sequence. */
  async function queue(tx: Sql, endpointId: number, deliveries: readonly Replayed[]): Promise<number> {
    if (isDryRun(tx)) {
      return nextDryId(tx);
    }
    await queueDeliveries(tx, endpointId, deliveries, clock.now());
    return (await endpointQueries(tx).findLastDelivery(endpointId))?.id ?? 0;
  }

  /** Whether the event of a delivery has left the log. */
  async function isExpired(eventId: string): Promise<boolean> {
    try {
      await events.find(eventId, true);
      return false;
    } catch (error) {
      if (error instanceof AppError && ['notFound', 'eventsExpired', 'logRewound'].includes(error.code)) {
        return true;
      }
      throw error;
    }
  }

  return {
    /**
     * Queues the event of a delivery once more, as a new delivery. One that waits is due at once instead, and a pause ends.
     * @throws AppError notFound, conflict
     */
    async retry(context: Context, deliveryId: number) {
      const delivery = requireDelivery(await endpointQueries(database).findDelivery(deliveryId));
      const { endpoint_id, sequence, event_id, type, subject, previous_id } = delivery;
      const isGone = await isExpired(event_id);
      return context.transaction(async (tx) => {
        const { row, waiting } = await lockEnabled(tx, endpoint_id);
        const open = await endpointQueries(tx).findOpenOf(endpoint_id, event_id);
        if (open?.status === 'sending') {
          throw new AppError(
            'conflict',
            `Delivery ${open.id} of this event is being sent. Wait until it has ended.`,
          );
        }
        if (open !== undefined) {
          await endPause(tx, row);
          await wakeLine(tx, endpoint_id, subject, clock.now());
          return { endpointId: endpoint_id, deliveryId: open.id };
        }
        if (isGone) {
          throw new AppError('conflict', 'The event has expired: it is not in the log any more.');
        }
        if (waiting >= openMax) {
          throw new AppError(
            'conflict',
            `${openMax} deliveries wait for this endpoint already. Try again when some of them have ended.`,
          );
        }
        const copy = { sequence, event_id, type, subject, previous_id, kind: 'replay' } as const;
        return { endpointId: endpoint_id, deliveryId: await queue(tx, endpoint_id, [copy]) };
      });
    },

    /**
     * Queues the events of a range again, as far as the endpoint has examined them. Returns how many.
     * @throws AppError notFound, conflict, validation, eventsExpired, logRewound
     */
    async replay(context: Context, endpointId: number, { since, until = 'latest', types }: Replay) {
      requireKnownTypes(eventTypes, types ?? null);
      const endpoint = requireFound(await webhookQueries(database).findEndpoint(endpointId));
      const after = await resolvePosition(events, 'since', since);
      const end = await resolvePosition(events, 'until', until);
      if (end < after) {
        throw validationError([{ field: 'until', message: 'must not come before "since"' }]);
      }
      const matches = matcherOfAll(endpoint.types === null ? null : JSON.parse(endpoint.types), types);
      // What the endpoint has not examined yet is delivered in any case.
      const last = Math.min(end, endpoint.position);
      const heads = await events.listHeads(after, last, matches, openMax + 1, examinedMax);
      if (heads === null) {
        throw rangeError(`the range has more than ${examinedMax} events`);
      }
      const deliveries = await deliveriesOf(endpointId, heads);
      return context.transaction(async (tx) => {
        const { waiting } = await lockEnabled(tx, endpointId);
        if (waiting + deliveries.length > openMax) {
          const count = deliveries.length > openMax ? `more than ${openMax}` : deliveries.length;
          throw rangeError(
            `at most ${openMax} deliveries of an endpoint can wait; ${waiting} wait already, and the range has ${count}`,
          );
        }
        await queue(tx, endpointId, deliveries);
        return deliveries.length;
      });
    },

    /**
     * Ends the pause of an endpoint, and makes due what waits for its next attempt. Returns how many deliveries wait.
     * @throws AppError notFound, conflict, rateLimited
     */
    deliverNow: (context: Context, endpointId: number) =>
      context.transaction(async (tx) => {
        const { row, waiting } = await lockEnabled(tx, endpointId);
        await countManualAttempt(tx, endpointId, clock.now());
        await endPause(tx, row);
        await wakeWaiting(tx, endpointId, clock.now());
        return waiting;
      }),
  };
}

/** The types of the endpoint, and of these the requested ones. */
function matcherOfAll(own: readonly string[] | null, requested: readonly string[] | undefined): EventMatcher {
  const isOwn = createMatcher(filterOfTypes(own));
  if (requested === undefined) {
    return isOwn;
  }
  const isRequested = createMatcher(filterOfTypes(requested));
  return (type, subject) => isOwn(type, subject) && isRequested(type, subject);
}

/** What an endpoint gets: the types that it names, or those that every API key sees. */
export function filterOfTypes(types: readonly string[] | null) {
  return { types, subject: null, isAdmin: types !== null };
}

function rangeError(reason: string): AppError {
  return validationError([
    { field: 'since', message: `${reason}. Begin later, end earlier with "until", or name "types"` },
  ]);
}
