/** Statements on the table `quota`, which has other columns on each engine. */
import { queriesOn } from '../database/database.ts';
import { deleteUnlocked, sql } from '../database/sql.ts';

/** Requests of each minute as JSON: `{"<minute since the epoch>": <requests>}`. */
export const sqliteQuotaQueries = queriesOn((tx) => ({
  insert: (subject: string) =>
    tx.run(
      sql`insert into quota (subject, uses, ends_at) values (${subject}, '{}', '') on conflict (subject) do nothing`,
    ),

  findUses: async (subject: string): Promise<string | undefined> =>
    (await tx.get<{ uses: string }>(sql`select uses from quota where subject = ${subject}`))?.uses,

  updateUses: (subject: string, uses: string, endsAt: string) =>
    tx.run(sql`update quota set uses = ${uses}, ends_at = ${endsAt} where subject = ${subject}`),

  /** @param latest rows that end later were written while the clock was ahead */
  deletePast: (now: string, latest: string) =>
    tx.run(sql`delete from quota where ends_at <= ${now} or ends_at > ${latest}`),
}));

/** Requests of one subject under the same limits, in the order that the function `count_calls` expects. */
export type CountGroup = readonly [
  subject: string,
  requests: number,
  burst: number,
  perHour: number | null,
  refunds: number,
  minuteEndOfRefunds: number,
];

/** Times are milliseconds since the epoch, by the database's clock. */
export interface CountRow {
  readonly passed: number;
  readonly now_ms: number;
  readonly minute_ends: number;
  readonly in_second: number;
  readonly second_until: number;
  readonly in_hour: number;
  readonly hour_until: number;
}

export const postgresQuotaQueries = queriesOn((tx) => ({
  /**
   * Counts all groups in one statement; returns one row for each, in their order. The function is in
   * migrations/0008-clock-ahead.postgres.sql.
   * @param now null for the database's clock
   */
  count: (groups: readonly CountGroup[], now: number | null) =>
    tx.all<CountRow>(sql`
      select passed, now_ms, minute_ends, in_second, second_until, in_hour, hour_until
      from count_calls(${JSON.stringify(groups)}::text::jsonb, ${now}) order by place`),

  /** Deletes subjects whose last request is outside of these times, in milliseconds since the epoch. */
  deleteUnused: (since: number, until: number) =>
    tx.run(
      deleteUnlocked(
        'quota',
        'subject',
        sql`coalesce(hour_times[cardinality(hour_times)], 0) not between ${since} and ${until}
        and coalesce(second_times[cardinality(second_times)], 0) not between ${since} and ${until}`,
      ),
    ),
}));
