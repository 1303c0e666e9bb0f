/** What every service verb that writes receives: how to open its transaction, and on whose behalf it acts. */
import type { Sql, Transaction } from './database.ts';

/** Who caused a change, as events record it. */
export interface Origin {
  /** `key:12`, `cli`, `system`. */
  readonly actor: string;
  readonly requestId: string | null;
  readonly traceId: string | null;
}

export interface Context {
  /** The database's own, or one that also remembers the answer under an idempotency key. */
  readonly transaction: Transaction;
  readonly origin: Origin;
}

/** A change worth telling: `cheese.created` about `cheese:12`. */
export interface Event {
  readonly type: string;
  readonly subject: string;
  /** JSON of what there is to know about it. */
  readonly data: string;
}

/** Writes events in the transaction of the change they tell of. */
export async function recordEvents(
  tx: Sql,
  origin: Origin,
  createdAt: string,
  events: readonly Event[],
): Promise<void> {
  const { actor, requestId, traceId } = origin;
  await tx.insert(
    'event',
    ['type', 'subject', 'data', 'actor', 'request_id', 'trace_id', 'created_at'],
    events.map(({ type, subject, data }) => [type, subject, data, actor, requestId, traceId, createdAt]),
  );
}
