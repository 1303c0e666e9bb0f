/**
 * Background jobs whose work leaves the database. Their work cannot be in one transaction with the deletion of the job,
 * so a worker leases them: a claim raises `attempts`, and a result counts only while its attempt is the latest one. The
 * worker renews its leases. No clock ends a lease: other workers do, when they have seen that nothing renews it
 * (lease-watch.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { timestamp } from '../clock.ts';
import { queriesOn } from '../database/database.ts';
import {
  deleteInOrder,
  rowsFromJson,
  selectTexts,
  skippingLocked,
  sql,
  valuesFromJson,
} from '../database/sql.ts';
import type { DueJob, Job } from './queue.ts';

const errorLengthMax = 200;
/** A block's statement takes a few milliseconds on SQLite. */
const blockSize = 500;

export interface Lane {
  readonly kind: string;
  readonly lane: string;
}

/** A job with the number of the attempt that a worker makes. */
export interface LeasedJob extends Job {
  readonly lane: string;
  /** How many of its attempts were made before they were due. */
  readonly early_attempts: number;
}

/** An attempt that was begun, with all that it needs. */
export interface LeasedAttempt {
  readonly job: LeasedJob;
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
export interface LaneState {
  readonly lane: string;
  /** Due time of the first job that does not run; null if there is none. */
  readonly due_at: string | null;
  /** The first end of a lease; null if no job runs. */
  readonly leased_until: string | null;
  readonly leased: number;
}

/** When a job runs next. */
export type JobTime = Pick<DueJob, 'key' | 'due_at'> & Pick<LaneState, 'leased_until'>;

/** A lane with due jobs. */
export interface DueLane {
  readonly lane: string;
  /** Due time of its first job. */
  readonly due_at: string;
}

/** Times are milliseconds since the epoch. */
export const leasedJobs = queriesOn((tx) => {
  /**
   * Jobs that wait for a time and do not run. Each gets a time with more digits, the number of its key, which is before
   * `now` as text: due jobs run in the order of their times.
   */
  function makeBlockDue({ kind, lane }: Lane, now: string, { earlyMax, isForced }: EarlyAttempts) {
    return tx.run(sql`
      update background_job set
        early_attempts = early_attempts + case when early_attempts < ${earlyMax} then 1 else 0 end,
        due_at = ${now.slice(0, -1)} || substr('0000000000000000', length(key) + 1) || key || 'Z'
      where kind = ${kind} and key in (
        select key from background_job
        where kind = ${kind} and lane = ${lane} and due_at > ${now} and leased_until is null
          ${isForced ? sql`` : sql`and early_attempts < ${earlyMax}`}
        limit ${blockSize})`);
  }

  return {
    /** Adds jobs that are due at once, except those that exist. */
    async addMissing({ kind, lane }: Lane, keys: readonly string[], now: number): Promise<void> {
      if (keys.length > 0) {
        await tx.run(sql`
          insert into background_job (kind, key, lane, due_at)
          select ${kind}, value, ${lane}, ${timestamp(now)} from ${valuesFromJson(keys)} where true
          on conflict (kind, key) do nothing`);
      }
    },

    /** Steps from lane to lane in the index, so its cost depends on the number of lanes and not on that of the jobs. */
    listDueLanes: (kind: string, now: number) =>
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
        select lane, due_at from firsts where due_at <= ${timestamp(now)} order by lane`),

    /**
     * Leases due jobs of a lane, the first due ones first. At most `runningMax` jobs of the lane are leased at a time: the
     * caller has a lock that other claims of the lane need too.
     */
    async lease(
      { kind, lane }: Lane,
      limits: { readonly max: number; readonly runningMax: number },
      now: number,
      leaseMs: number,
    ): Promise<LeasedJob[]> {
      const leased = await tx.get<{ count: number }>(sql`
        select count(*) as count from background_job
        where kind = ${kind} and lane = ${lane} and leased_until is not null`);
      const free = Math.min(limits.max, limits.runningMax - (leased?.count ?? 0));
      const leaseEnd = timestamp(now + leaseMs);
      // Materialized: PostgreSQL would run a subquery again, and find further rows, because it skips those locked before.
      return free <= 0
        ? []
        : tx.all<LeasedJob>(sql`
            with picked as materialized (
              select key from background_job
              where kind = ${kind} and lane = ${lane} and due_at <= ${timestamp(now)} and leased_until is null
              order by due_at limit ${free}${skippingLocked}
            )
            update background_job set attempts = attempts + 1, leased_until = ${leaseEnd}, due_at = ${leaseEnd}
            where kind = ${kind} and key in (select key from picked)
            returning key, lane, attempts, early_attempts`);
    },

    /** Leases of a kind, at most as many as jobs run in all processes. */
    listLeases: (kind: string) =>
      tx.all<JobLease>(sql`
        select key, lane, attempts, leased_until from background_job
        where kind = ${kind} and leased_until is not null order by lane, key`),

    /** Shows other workers that these jobs still run. Leases that were ended, or that are being ended, are skipped. */
    renew: (kind: string, jobs: readonly Job[], leaseEnd: number) =>
      tx.run(sql`
        update background_job set leased_until = ${timestamp(leaseEnd)}, due_at = ${timestamp(leaseEnd)}
        where kind = ${kind} and key in (
          select key from background_job
          where kind = ${kind} and leased_until is not null and (key, attempts) in (
            select value->>'key', cast(value->>'attempts' as bigint)
            from ${rowsFromJson(jobs.map(({ key, attempts }) => ({ key, attempts })))})${skippingLocked})`),

    /**
     * Makes jobs due whose leases nothing renews. Those that were renewed or ended since they were read are skipped.
     * Returns how many.
     */
    endLeases: (kind: string, leases: readonly JobLease[], now: number) =>
      tx.run(sql`
        update background_job set leased_until = null, due_at = ${timestamp(now)}
        where kind = ${kind} and key in (
          select key from background_job
          where kind = ${kind} and (key, attempts, leased_until) in (
            select value->>'key', cast(value->>'attempts' as bigint), value->>'leased_until'
            from ${rowsFromJson(leases.map(({ key, attempts, leased_until }) => ({ key, attempts, leased_until })))})${skippingLocked})`),

    /** Makes all leased jobs due: for a process that no other runs beside. */
    endAllLeases: (kind: string, now: number) =>
      tx.run(sql`
        update background_job set leased_until = null, due_at = ${timestamp(now)}
        where kind = ${kind} and leased_until is not null`),

    /** Makes jobs of a lane due that were leased until a time. */
    release: ({ kind, lane }: Lane, leaseEnd: number, now: number) =>
      tx.run(sql`
        update background_job set due_at = ${timestamp(now)}, leased_until = null
        where kind = ${kind} and lane = ${lane}
          and due_at = ${timestamp(leaseEnd)} and leased_until = ${timestamp(leaseEnd)}`),

    /** Deletes a job whose work is done. Returns false if the attempt is not the latest one. */
    end: async (kind: string, { key, attempts }: Job): Promise<boolean> =>
      (await tx.run(sql`
        delete from background_job where kind = ${kind} and key = ${key} and attempts = ${attempts}`)) > 0,

    /** Makes a job due later. Returns false if the attempt is not the latest one, or has a result. */
    postpone: async (kind: string, { key, attempts }: Job, dueAt: number, error: string): Promise<boolean> =>
      (await tx.run(sql`
        update background_job
        set due_at = ${timestamp(dueAt)}, leased_until = null, last_error = ${error.slice(0, errorLengthMax)}
        where kind = ${kind} and key = ${key} and attempts = ${attempts} and leased_until is not null`)) > 0,

    /**
     * Makes jobs of a lane due that wait for a time, in the order of their keys, which are numbers. Their next attempt is
     * an early one. Returns how many.
     */
    async makeLaneDue(lane: Lane, now: number, early: EarlyAttempts): Promise<number> {
      let made = 0;
      for (let isMore = true; isMore; ) {
        const changed = await makeBlockDue(lane, timestamp(now), early);
        made += changed;
        isMore = changed === blockSize;
        await nextTurn();
      }
      return made;
    },

    /** Works like `makeLaneDue` with `isForced`, for one job. */
    makeDue: (kind: string, key: string, now: number, earlyMax: number) =>
      tx.run(sql`
        update background_job set due_at = ${timestamp(now)},
          early_attempts = early_attempts + case when early_attempts < ${earlyMax} then 1 else 0 end
        where kind = ${kind} and key = ${key} and due_at > ${timestamp(now)} and leased_until is null`),

    /** When jobs run next, those that exist. */
    listTimes: (kind: string, keys: readonly string[]) =>
      tx.all<JobTime>(sql`
        select key, due_at, leased_until from background_job
        where kind = ${kind} and key in (${selectTexts(keys)})`),

    /** When the first job of each lane after a time is due, without jobs that run. */
    listNextDue: (kind: string, lanes: readonly string[], after: number) =>
      tx.all<{ lane: string; due_at: string | null }>(sql`
        select value as lane, (
          select min(due_at) from background_job
          where kind = ${kind} and lane = value and due_at > ${timestamp(after)} and leased_until is null
        ) as due_at
        from ${valuesFromJson(lanes)}`),

    /** What waits in lanes, and what runs. Each value is found by an index, whatever the number of jobs. */
    listLaneStates: (kind: string, lanes: readonly string[]) =>
      tx.all<LaneState>(sql`
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

    /** Deletes jobs of a lane whose work is no longer needed, at most `max`. */
    deleteLane: ({ kind, lane }: Lane, max: number) =>
      tx.run(
        deleteInOrder(
          'background_job',
          'kind, key',
          sql`kind = ${kind} and key in (
            select key from background_job where kind = ${kind} and lane = ${lane} order by due_at limit ${max})`,
        ),
      ),
  };
});
