/** Statements on the table `quota`, which has other columns on each engine. */
import type { Clock } from '../clock.ts';
import { queriesOn } from '../database/database.ts';
import { deleteSlice, deleteUnlocked, type Statement, sql } from '../database/sql.ts';

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
  deletePast: async (now: string, latest: string, limit: number) => {
    const deleted = await tx.run(deleteSlice('quota', 'subject', 'ends_at', sql`ends_at <= ${now}`, limit));
    const ahead = sql`ends_at > ${latest}`;
    return deleted + (await tx.run(deleteSlice('quota', 'subject', 'ends_at', ahead, limit)));
  },
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

/** A request by client IP, in the order that the function `count_client_ips` expects. */
type ClientIpRequest = readonly [subject: string, requests: number, limit: number, countedIn: number | null];

export interface ClientIpRow {
  /** 0 if it was refused. */
  readonly passed: 0 | 1;
  /** The second in which it was counted. */
  readonly slot: number;
  /** Time until the refused request is permitted; after one that passed, until another one is. 0: now. */
  readonly wait_ms: number;
}

/** Servers count by the clock of the database, which they share, moved as far as that of the shop; null for it alone. */
function countingTime(clock: Clock): Statement {
  if (!clock.isSystem) {
    return sql`${clock.now()}`;
  }
  return clock.advancedMs() === 0
    ? sql`null`
    : sql`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) + ${clock.advancedMs()}`;
}

export const clientIpQueries = queriesOn((tx) => ({
  /** One row for each request, in their order. */
  count: (requests: readonly ClientIpRequest[], clock: Clock) =>
    tx.all<ClientIpRow>(sql`
      select passed, slot, wait_ms from count_client_ips(${JSON.stringify(requests)}::text::jsonb, ${countingTime(clock)})
      order by place`),
}));

export const postgresQuotaQueries = queriesOn((tx) => ({
  /**
   * Counts all groups in one statement; returns one row for each, in their order. The function is in
   * migrations/0001-schema.postgres.sql.
   */
  count: (groups: readonly CountGroup[], clock: Clock) =>
    tx.all<CountRow>(sql`
      select passed, now_ms, minute_ends, in_second, second_until, in_hour, hour_until
      from count_calls(${JSON.stringify(groups)}::text::jsonb, ${countingTime(clock)}) order by place`),

  /** The next subjects in the order of the key: how many, and the last one. */
  findSlice: async (after: string, limit: number) => {
    const row = await tx.get<{ rows: number; last: string | null }>(sql`
      select count(*) as rows, max(subject) as last
      from (select subject from quota where subject > ${after} order by subject limit ${limit}) as slice`);
    return { rows: row?.rows ?? 0, last: row?.last ?? '' };
  },

  /**
   * Deletes subjects after `first` up to `last` whose last request is outside of these times, in milliseconds since the
   * epoch.
   * @param loginsSince the time for client IPs
   */
  deleteUnused: (first: string, last: string, since: number, loginsSince: number, until: number) =>
    tx.run(
      deleteUnlocked(
        'quota',
        'subject',
        sql`subject > ${first} and subject <= ${last}
        and coalesce(hour_times[cardinality(hour_times)], 0) not between
          case when subject like 'login:%' then cast(${loginsSince} as bigint) else cast(${since} as bigint) end
          and ${until}
        and coalesce(second_times[cardinality(second_times)], 0) not between ${since} and ${until}`,
      ),
    ),
}));
