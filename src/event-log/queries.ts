/** Statements on the table `event`. */
import type { Origin } from '../database/context.ts';
import { queriesOn } from '../database/database.ts';
import { sendRows } from '../database/rows.ts';
import { sql, valueList } from '../database/sql.ts';
import type { NewEvent } from './define.ts';

export interface EventRow {
  readonly id: number;
  readonly type: string;
  readonly subject: string;
  /** JSON that matches the schema of the type. */
  readonly data: string;
  readonly actor: string;
  readonly created_at: string;
}

export const eventQueries = queriesOn((tx) => ({
  /** @param sequences of the events, in their order: 0 outside the log, null if a pass gives the number later */
  insert: (
    { actor, requestId, traceId }: Origin,
    createdAt: string,
    events: readonly NewEvent[],
    sequences: (index: number) => number | null,
  ) =>
    sendRows(
      tx,
      'event',
      events.map(({ type, subject, data }, index) => ({
        type,
        subject,
        data,
        actor,
        request_id: requestId,
        trace_id: traceId,
        created_at: createdAt,
        sequence: sequences(index),
      })),
    ),

  listOf: (subjects: readonly string[]) =>
    tx.all<EventRow>(sql`
      select id, type, subject, data, actor, created_at from event
      where subject in (${valueList(subjects)}) order by id`),

  /** Events with a number are deleted by the retention alone, from the beginning of the log on. */
  deleteOutsideLog: (ids: readonly number[]) =>
    tx.run(sql`delete from event where sequence = 0 and id in (${valueList(ids)})`),

  /** Puts another event in the place of events. Their numbers and times stay. */
  replace: (ids: readonly number[], { type, subject, data }: NewEvent) =>
    tx.run(sql`
      update event set type = ${type}, subject = ${subject}, data = ${data} where id in (${valueList(ids)})`),
}));
