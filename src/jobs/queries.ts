/** Statements on the table `background_job`. */
import { queriesOn } from '../database/database.ts';
import { sendRows } from '../database/rows.ts';
import {
  deleteInOrder,
  rowsFromJson,
  type Statement,
  selectTexts,
  skippingLocked,
  sql,
  valuesFromJson,
} from '../database/sql.ts';

/** A job that is due. */
export interface Job {
  /** Unique within its kind. */
  readonly key: string;
  /** How often it has failed. */
  readonly attempts: number;
}

/** A job with the number of the attempt that a worker makes. */
export interface LeasedJobRow extends Job {
  /** How many of its attempts were made before they were due. */
  readonly early_attempts: number;
}

/** How jobs are made due before their time. */
export interface EarlyAttempts {
  /** So many attempts of a job do not count as attempts of its schedule. */
  readonly earlyMax: number;
  /** Whether jobs that had so many are made due as well. The attempt then counts. */
  readonly isForced: boolean;
}

/** A lease as another worker sees it. */
export interface JobLease extends Job {
  readonly lane: string;
  readonly leased_until: string;
}

/** What a lane has: for how long its first job waits, and how many jobs run. */
export interface LaneStateRow {
  readonly lane: string;
  /** Due time of the first job that does not run; null where there is none. */
  readonly due_at: string | null;
  /** The first end of a lease; null where no job runs. */
  readonly leased_until: string | null;
  readonly leased: number;
}

/** When a job runs next. */
export type JobTimeRow = Pick<DueJob, 'key' | 'due_at'> & Pick<LaneStateRow, 'leased_until'>;

/** A job in the order in which due jobs run. */
export interface DueJob extends Job {
  readonly due_at: string;
}

/** A lane with due jobs. */
export interface DueLane {
  readonly lane: string;
  /** Due time of its first job. */
  readonly due_at: string;
}

export interface JobFailure {
  readonly dueAt: string;
  readonly error: string;
  /** Not null for a job that is not tried again. */
  readonly parkedAt: string | null;
}

/** A position in the list of due jobs. */
export type DuePosition = Pick<DueJob, 'due_at' | 'key'>;

/** The position before the first due job. */
export const firstDue: DuePosition = { due_at: '', key: '' };

/** Jobs without a lane. The condition `due_at >=` lets the statement start at its position in the index. */
function dueAfter(kind: string, now: string, after: DuePosition, limit: number): Statement {
  return sql`
    select key, attempts, due_at from background_job
    where kind = ${kind} and lane = '' and due_at <= ${now} and parked_at is null
      and due_at >= ${after.due_at} and (due_at, key) > (${after.due_at}, ${after.key})
    order by due_at, key limit ${limit}`;
}

export const jobQueries = queriesOn((tx) => ({
  insert: (kind: string, key: string, dueAt: string) =>
    sendRows(tx, 'background_job', [{ kind, key, due_at: dueAt }]),

  insertOrRenew: (kind: string, keys: readonly string[], dueAt: string) =>
    tx.run(sql`
      insert into background_job (kind, key, due_at)
      select ${kind}, value, ${dueAt} from ${valuesFromJson(keys)} where true
      on conflict (kind, key) do update set due_at = excluded.due_at, attempts = 0, parked_at = null`),

  countDue: (now: string) =>
    tx.get<{ due: number; first: string | null }>(sql`
      select count(*) as due, min(due_at) as first from background_job where due_at <= ${now} and parked_at is null`),

  /** When the first and the last job of a period are due. */
  findDueTimes: (kind: string, after: string, until: string) =>
    tx.get<{ first: string | null; last: string | null }>(sql`
      select min(due_at) as first, max(due_at) as last from background_job
      where kind = ${kind} and lane = '' and due_at > ${after} and due_at <= ${until} and parked_at is null`),

  /** When the first job after a time is due in each of these lanes, without jobs that run. */
  listNextDue: (kind: string, lanes: readonly string[], after: string) =>
    tx.all<{ lane: string; due_at: string | null }>(sql`
      select value as lane, (
        select min(due_at) from background_job
        where kind = ${kind} and lane = value and due_at > ${after} and leased_until is null
      ) as due_at
      from ${valuesFromJson(lanes)}`),

  delete: (kind: string, key: string) =>
    tx.send(sql`delete from background_job where kind = ${kind} and key = ${key}`),

  deleteAll: (kind: string, keys: readonly string[]) =>
    tx.run(
      deleteInOrder('background_job', 'kind, key', sql`kind = ${kind} and key in (${selectTexts(keys)})`),
    ),

  listDue: (kind: string, now: string, after: DuePosition, limit: number) =>
    tx.all<DueJob>(dueAfter(kind, now, after, limit)),

  /** Locks the jobs that `listDue` returns, without those that another transaction has locked. */
  lockDue: (kind: string, now: string, after: DuePosition, limit: number) =>
    tx.all<DueJob>(sql`${dueAfter(kind, now, after, limit)}${skippingLocked}`),

  /** Deletes a job, unless it is not due or another transaction has locked it. */
  claim: (kind: string, key: string, now: string) =>
    tx.run(sql`
      delete from background_job where kind = ${kind} and key in (
        select key from background_job where kind = ${kind} and key = ${key} and due_at <= ${now}${skippingLocked})`),

  /** Does nothing when another worker has recorded a failure of the same attempt. */
  recordFailure: (kind: string, { key, attempts }: Job, { dueAt, error, parkedAt }: JobFailure) =>
    tx.run(sql`
      update background_job set attempts = attempts + 1, due_at = ${dueAt}, last_error = ${error},
        parked_at = ${parkedAt}
      where kind = ${kind} and key = ${key} and attempts = ${attempts}`),

  /** Does nothing for jobs that exist. */
  insertMissing: (kind: string, lane: string, keys: readonly string[], dueAt: string) =>
    tx.run(sql`
      insert into background_job (kind, key, lane, due_at)
      select ${kind}, value, ${lane}, ${dueAt} from ${valuesFromJson(keys)} where true
      on conflict (kind, key) do nothing`),

  /** Steps from lane to lane in the index, so its cost depends on the number of lanes and not on that of the jobs. */
  listDueLanes: (kind: string, now: string) =>
    tx.all<DueLane>(sql`
      with recursive lanes (lane) as (
        select min(lane) from background_job where kind = ${kind}
        union all
        select (select min(j.lane) from background_job j where j.kind = ${kind} and j.lane > lanes.lane)
        from lanes where lanes.lane is not null
      ), firsts as (
        select lane, (
          select min(j.due_at) from background_job j where j.kind = ${kind} and j.lane = lanes.lane
        ) as due_at
        from lanes where lane is not null
      )
      select lane, due_at from firsts where due_at <= ${now} order by lane`),

  countLeased: (kind: string, lane: string) =>
    tx.get<{ count: number }>(sql`
      select count(*) as count from background_job
      where kind = ${kind} and lane = ${lane} and leased_until is not null`),

  /** Materialized: PostgreSQL would run a subquery again, and find further rows, because it skips those locked before. */
  lease: (kind: string, lane: string, max: number, now: string, leaseEnd: string) =>
    tx.all<LeasedJobRow>(sql`
      with picked as materialized (
        select key from background_job
        where kind = ${kind} and lane = ${lane} and due_at <= ${now} and leased_until is null
        order by due_at limit ${max}${skippingLocked}
      )
      update background_job set attempts = attempts + 1, leased_until = ${leaseEnd}, due_at = ${leaseEnd}
      where kind = ${kind} and key in (select key from picked)
      returning key, attempts, early_attempts`),

  listLeases: (kind: string) =>
    tx.all<JobLease>(sql`
      select key, lane, attempts, leased_until from background_job
      where kind = ${kind} and leased_until is not null order by lane, key`),

  /** Leases that another transaction ends at the same time are skipped. */
  renew: (kind: string, jobs: readonly Job[], leaseEnd: string) =>
    tx.run(sql`
      update background_job set leased_until = ${leaseEnd}, due_at = ${leaseEnd}
      where kind = ${kind} and key in (
        select key from background_job
        where kind = ${kind} and leased_until is not null and (key, attempts) in (
          select value->>'key', cast(value->>'attempts' as bigint)
          from ${rowsFromJson(jobs.map(({ key, attempts }) => ({ key, attempts })))})${skippingLocked})`),

  /** Leases that were renewed or ended since they were read are skipped. */
  endLeases: (kind: string, leases: readonly JobLease[], now: string) =>
    tx.run(sql`
      update background_job set leased_until = null, due_at = ${now}
      where kind = ${kind} and key in (
        select key from background_job
        where kind = ${kind} and (key, attempts, leased_until) in (
          select value->>'key', cast(value->>'attempts' as bigint), value->>'leased_until'
          from ${rowsFromJson(leases.map(({ key, attempts, leased_until }) => ({ key, attempts, leased_until })))})${skippingLocked})`),

  endAllLeases: (kind: string, now: string) =>
    tx.run(sql`
      update background_job set leased_until = null, due_at = ${now}
      where kind = ${kind} and leased_until is not null`),

  deleteLeased: (kind: string, { key, attempts }: Job) =>
    tx.run(sql`
      delete from background_job where kind = ${kind} and key = ${key} and attempts = ${attempts}`),

  postpone: (kind: string, { key, attempts }: Job, dueAt: string, error: string) =>
    tx.run(sql`
      update background_job set due_at = ${dueAt}, leased_until = null, last_error = ${error}
      where kind = ${kind} and key = ${key} and attempts = ${attempts} and leased_until is not null`),

  release: (kind: string, lane: string, leaseEnd: string, now: string) =>
    tx.run(sql`
      update background_job set due_at = ${now}, leased_until = null
      where kind = ${kind} and lane = ${lane} and due_at = ${leaseEnd} and leased_until = ${leaseEnd}`),

  /**
   * Jobs that wait for a time and do not run. Each gets a time with more digits, the number of its key, which is before
   * `now` as text: due jobs run in the order of their times.
   */
  makeLaneDue: (
    kind: string,
    lane: string,
    now: string,
    { earlyMax, isForced }: EarlyAttempts,
    limit: number,
  ) =>
    tx.run(sql`
      update background_job set
        early_attempts = early_attempts + case when early_attempts < ${earlyMax} then 1 else 0 end,
        due_at = ${now.slice(0, -1)} || substr('0000000000000000', length(key) + 1) || key || 'Z'
      where kind = ${kind} and key in (
        select key from background_job
        where kind = ${kind} and lane = ${lane} and due_at > ${now} and leased_until is null
          ${isForced ? sql`` : sql`and early_attempts < ${earlyMax}`}
        limit ${limit})`),

  makeDue: (kind: string, key: string, now: string, earlyMax: number) =>
    tx.run(sql`
      update background_job set due_at = ${now},
        early_attempts = early_attempts + case when early_attempts < ${earlyMax} then 1 else 0 end
      where kind = ${kind} and key = ${key} and due_at > ${now} and leased_until is null`),

  listTimes: (kind: string, keys: readonly string[]) =>
    tx.all<JobTimeRow>(sql`
      select key, due_at, leased_until from background_job
      where kind = ${kind} and key in (${selectTexts(keys)})`),

  /** Each value is found by an index, whatever the number of jobs. */
  listLaneStates: (kind: string, lanes: readonly string[]) =>
    tx.all<LaneStateRow>(sql`
      select value as lane, (
        select min(due_at) from background_job
        where kind = ${kind} and lane = value and leased_until is null
      ) as due_at, (
        select min(leased_until) from background_job
        where kind = ${kind} and lane = value and leased_until is not null
      ) as leased_until, (
        select count(*) from background_job
        where kind = ${kind} and lane = value and leased_until is not null
      ) as leased
      from ${valuesFromJson(lanes)}`),

  listOfLane: (kind: string, lane: string, limit: number) =>
    tx.all<{ key: string }>(sql`
      select key from background_job where kind = ${kind} and lane = ${lane} order by due_at limit ${limit}`),
}));
