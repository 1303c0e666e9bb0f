/**
 * Background jobs whose work leaves the database. Their work cannot be in one transaction with the deletion of the job,
 * so a worker leases them: a claim raises `attempts`, and a result counts only while its attempt is the latest one. The
 * worker renews its leases. No clock ends a lease: other workers do, when they have seen that nothing renews it
 * (lease-watch.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import {
  type DueLane,
  type EarlyAttempts,
  type JobLease,
  type JobTimeRow,
  jobQueries,
  type LaneStateRow,
  type LeasedJobRow,
} from './queries.ts';

const errorLengthMax = 200;
/** A block's statement takes a few milliseconds on SQLite. */
const blockSize = 500;

/** A job with the number of the attempt that a worker makes. */
export type LeasedJob = LeasedJobRow;
/** When a job runs next. */
export type JobTime = JobTimeRow;
export type LaneState = LaneStateRow;

export interface Lane {
  readonly kind: string;
  readonly lane: string;
}

/** Adds jobs that are due at once, except those that exist. */
export async function addMissingJobs(
  tx: Sql,
  { kind, lane }: Lane,
  keys: readonly string[],
  now: number,
): Promise<void> {
  if (keys.length > 0) {
    await jobQueries(tx).insertMissing(kind, lane, keys, timestamp(now));
  }
}

/** Lanes with due jobs, each with the time since when. */
export function listDueLanes(tx: Sql, kind: string, now: number): Promise<DueLane[]> {
  return jobQueries(tx).listDueLanes(kind, timestamp(now));
}

/**
 * Leases due jobs of a lane, the first due ones first. At most `runningMax` jobs of the lane are leased at a time: the
 * caller has a lock that other claims of the lane need too.
 */
export async function leaseJobs(
  tx: Sql,
  { kind, lane }: Lane,
  limits: { readonly max: number; readonly runningMax: number },
  now: number,
  leaseMs: number,
): Promise<LeasedJob[]> {
  const leased = await jobQueries(tx).countLeased(kind, lane);
  const free = Math.min(limits.max, limits.runningMax - (leased?.count ?? 0));
  return free <= 0 ? [] : jobQueries(tx).lease(kind, lane, free, timestamp(now), timestamp(now + leaseMs));
}

/** Leases of a kind, at most as many as jobs run in all processes. */
export function listLeases(tx: Sql, kind: string): Promise<JobLease[]> {
  return jobQueries(tx).listLeases(kind);
}

/** Shows other workers that these jobs still run. Leases that were ended stay so. */
export async function renewLeases(
  tx: Sql,
  kind: string,
  jobs: readonly LeasedJob[],
  leaseEnd: number,
): Promise<void> {
  await jobQueries(tx).renew(kind, jobs, timestamp(leaseEnd));
}

/** Makes jobs due whose leases nothing renews. Returns how many: another worker may have done so. */
export function endLeases(tx: Sql, kind: string, leases: readonly JobLease[], now: number): Promise<number> {
  return jobQueries(tx).endLeases(kind, leases, timestamp(now));
}

/** Makes all leased jobs due: where no other process can run jobs. */
export async function endAllLeases(tx: Sql, kind: string, now: number): Promise<void> {
  await jobQueries(tx).endAllLeases(kind, timestamp(now));
}

/** Deletes a job whose work is done. Returns false where the attempt is not the latest one. */
export async function endLeasedJob(tx: Sql, kind: string, job: LeasedJob): Promise<boolean> {
  return (await jobQueries(tx).deleteLeased(kind, job)) > 0;
}

/** Makes a job due later. Returns false where the attempt is not the latest one, or has a result. */
export async function postponeLeasedJob(
  tx: Sql,
  kind: string,
  job: LeasedJob,
  dueAt: number,
  error: string,
): Promise<boolean> {
  const changed = await jobQueries(tx).postpone(kind, job, timestamp(dueAt), error.slice(0, errorLengthMax));
  return changed > 0;
}

/** Makes jobs of a lane due that were leased until a time. */
export async function releaseLeases(
  tx: Sql,
  { kind, lane }: Lane,
  leaseEnd: number,
  now: number,
): Promise<void> {
  await jobQueries(tx).release(kind, lane, timestamp(leaseEnd), timestamp(now));
}

/**
 * Makes jobs of a lane due that wait for a time, in the order of their keys, which are numbers. Their next attempt is an early
 * one.
 * @returns how many
 */
export async function makeJobsDue(
  tx: Sql,
  { kind, lane }: Lane,
  now: number,
  early: EarlyAttempts,
): Promise<number> {
  let made = 0;
  for (let isMore = true; isMore; ) {
    const changed = await jobQueries(tx).makeLaneDue(kind, lane, timestamp(now), early, blockSize);
    made += changed;
    isMore = changed === blockSize;
    await nextTurn();
  }
  return made;
}

/** Works like `makeJobsDue` with `isForced`, for one job. */
export async function makeJobDue(
  tx: Sql,
  kind: string,
  key: string,
  now: number,
  earlyMax: number,
): Promise<void> {
  await jobQueries(tx).makeDue(kind, key, timestamp(now), earlyMax);
}

/** When jobs run next, those that exist. */
export function listJobTimes(tx: Sql, kind: string, keys: readonly string[]): Promise<JobTime[]> {
  return jobQueries(tx).listTimes(kind, keys);
}

/** When the first job of each lane after a time is due. */
export function listNextDue(
  tx: Sql,
  kind: string,
  lanes: readonly string[],
  after: number,
): Promise<{ readonly lane: string; readonly due_at: string | null }[]> {
  return jobQueries(tx).listNextDue(kind, lanes, timestamp(after));
}

/** What waits in lanes, and what runs. */
export function listLaneStates(tx: Sql, kind: string, lanes: readonly string[]): Promise<LaneState[]> {
  return jobQueries(tx).listLaneStates(kind, lanes);
}

/** Deletes jobs of a lane whose work is no longer needed, at most `max`. */
export async function deleteJobsOfLane(tx: Sql, { kind, lane }: Lane, max: number): Promise<void> {
  const keys = (await jobQueries(tx).listOfLane(kind, lane, max)).map(({ key }) => key);
  if (keys.length > 0) {
    await jobQueries(tx).deleteAll(kind, keys);
  }
}
