/**
 * Background jobs whose work leaves the database. Their work cannot be in one transaction with the deletion of the job,
 * so a worker leases them: a claim raises `attempts` and makes the job due again at the end of the lease; a result counts
 * only while its attempt is the latest one.
 */
import { timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import { type DueLane, type Job, jobQueries } from './queries.ts';

const errorLengthMax = 200;

/** A job with the number of the attempt that a worker makes. */
export type LeasedJob = Job;

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
  const leaseEnd = timestamp(now + leaseMs);
  const leased = await jobQueries(tx).countLeased(kind, lane, timestamp(now), leaseEnd);
  const free = Math.min(limits.max, limits.runningMax - (leased?.count ?? 0));
  return free <= 0 ? [] : jobQueries(tx).lease(kind, lane, free, timestamp(now), leaseEnd);
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

/** Lets jobs of a lane that were postponed run now. */
export async function makeJobsDue(tx: Sql, { kind, lane }: Lane, now: number): Promise<void> {
  await jobQueries(tx).makeDue(kind, lane, timestamp(now));
}

/** Deletes jobs of a lane whose work is no longer needed, at most `max`. */
export async function deleteJobsOfLane(tx: Sql, { kind, lane }: Lane, max: number): Promise<void> {
  const keys = (await jobQueries(tx).listOfLane(kind, lane, max)).map(({ key }) => key);
  if (keys.length > 0) {
    await jobQueries(tx).deleteAll(kind, keys);
  }
}
