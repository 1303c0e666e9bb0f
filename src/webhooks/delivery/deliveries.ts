/** The delivery log: what was sent to an endpoint, and with which results. */
import type { Clock } from '../../clock.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../../cursor.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { requireFound } from '../endpoint.ts';
import { type DeliveryFilters, endpointQueries } from '../endpoint-queries.ts';
import { type DeliveryRow, webhookQueries } from '../queries.ts';
import { notWaiting, readWaiting, type Waiting } from './waiting.ts';

export interface DeliveryRequest extends DeliveryFilters {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

type Members = Readonly<Record<string, unknown>>;

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

/** The position that a cursor contains. */
interface Position {
  readonly endpoint: number;
  readonly filters: DeliveryFilters;
  readonly before: number | null;
}

export function createDeliveryLog(database: Database, clock: Pick<Clock, 'now'>, cursors: Cursors) {
  function positionOf(cursor: string | undefined, endpoint: number, filters: DeliveryFilters): Position {
    if (cursor === undefined) {
      return { endpoint, filters, before: null };
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position, { endpoint }, {});
    requireSameQuery(position.filters, filters, {});
    return position;
  }

  return {
    /** Newest first. @throws AppError notFound, badRequest when the cursor belongs to another query */
    async list(endpointId: number, { cursor, limit, ...rest }: DeliveryRequest) {
      const row = requireFound(await webhookQueries(database).findEndpoint(endpointId));
      const { endpoint, filters, before } = positionOf(cursor, endpointId, canonicalFilters(rest));
      const rows = await endpointQueries(database).listLog(endpoint, filters, before, limit + 1);
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      const waiting = await readWaiting(database, row, page, clock.now());
      return {
        items: page.map((row) => toDelivery(row, waiting.get(row.id))),
        nextCursor:
          last === undefined
            ? null
            : cursors.encode({ endpoint, filters, before: last.id } satisfies Position),
        hasMore: last !== undefined,
      };
    },

    /** Returns the delivery with every attempt. @throws AppError notFound */
    async find(id: number) {
      const row = requireDelivery(await endpointQueries(database).findDelivery(id));
      const endpoint = requireFound(await webhookQueries(database).findEndpoint(row.endpoint_id));
      const waiting = await readWaiting(database, endpoint, [row], clock.now());
      const attempts = await endpointQueries(database).listAttempts(id);
      return {
        ...toDelivery(row, waiting.get(id)),
        attempts: attempts.map(({ number, at, duration_ms, status, error, response }) => ({
          number,
          at,
          durationMs: duration_ms,
          status,
          error,
          response,
        })),
      };
    },
  };
}

/** @throws AppError notFound */
export function requireDelivery(row: DeliveryRow | undefined): DeliveryRow {
  if (row === undefined) {
    throw new AppError('notFound', noDelivery);
  }
  return row;
}

export const noDelivery = 'There is no such delivery. Deliveries that ended are deleted after some time.';

function toDelivery(row: DeliveryRow, waiting: Waiting = notWaiting): Members {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    type: row.type,
    subject: row.subject,
    kind: row.kind,
    status: row.status,
    attemptCount: row.attempts,
    lastStatus: row.last_status,
    lastError: row.last_error,
    createdAt: row.created_at,
    ...waiting,
    endedAt: row.ended_at,
  };
}
