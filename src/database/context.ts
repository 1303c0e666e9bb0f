/** What every service verb that writes receives: how to open its transaction, and on whose behalf it acts. */
import type { Sql, Transaction } from './database.ts';
import { rows, sql } from './sql.ts';

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
  readonly data: unknown;
}

/** Writes events in the transaction of the change they tell of. */
export async function recordEvents(
  tx: Sql,
  origin: Origin,
  createdAt: string,
  events: readonly Event[],
): Promise<void> {
  const table = events.map(({ type, subject, data }) => [type, subject, JSON.stringify(data)]);
  await tx.run(sql`
    insert into event (type, subject, data, actor, request_id, trace_id, created_at)
    select value->>0, value->>1, value->>2, ${origin.actor}, ${origin.requestId}, ${origin.traceId}, ${createdAt}
    from ${rows(table)}`);
}
