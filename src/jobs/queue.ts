/**
 * Background jobs: rows of the table `background_job`, which are written and deleted in the transaction of the change
 * that needs or ends them. Those that a worker leases have a lane, and are in leases.ts.
 */
import { forEachBlock } from '../blocks.ts';
import { queriesOn } from '../database/database.ts';
import { sendRows } from '../database/rows.ts';
import {
  deleteInOrder,
  type Statement,
  selectTexts,
  skippingLocked,
  sql,
  valuesFromJson,
} from '../database/sql.ts';

/** A block's statement takes up to 5 ms on SQLite. */
const blockSize = 500;

/** A job that is due. */
export interface Job {
  /** Unique within its kind. */
  readonly key: string;
  /** How often it has failed. */
  readonly attempts: number;
}

/** A job in the order in which due jobs run. */
export interface DueJob extends Job {
  readonly due_at: string;
}

export interface JobFailure {
  readonly dueAt: string;
  readonly error: string;
  /** When the job was given up; null if it is tried again. */
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

export const jobQueue = queriesOn((tx) => ({
  add: (kind: string, key: string, dueAt: string) =>
    sendRows(tx, 'background_job', [{ kind, key, due_at: dueAt }]),

  /** Adds jobs. Those that exist are due then as well, even if they had failed or were parked. */
  schedule: (kind: string, keys: readonly string[], dueAt: string) =>
    tx.run(sql`
      insert into background_job (kind, key, due_at)
      select ${kind}, value, ${dueAt} from ${valuesFromJson(keys)} where true
      on conflict (kind, key) do update set due_at = excluded.due_at, attempts = 0, parked_at = null`),

  /** Does nothing when there is no such job. */
  delete: (kind: string, key: string) =>
    tx.send(sql`delete from background_job where kind = ${kind} and key = ${key}`),

  /** Deletes many jobs that may exist, in the same order in every transaction, so that no two deadlock. */
  deleteAll: (kind: string, keys: readonly string[]) =>
    forEachBlock(keys.toSorted(), blockSize, async (block) => {
      await tx.run(
        deleteInOrder('background_job', 'kind, key', sql`kind = ${kind} and key in (${selectTexts(block)})`),
      );
    }),

  /**
   * Deletes a job that is due, to do its work in the same transaction. Returns false if another worker has deleted or
   * locked it.
   */
  claim: async (kind: string, key: string, now: string): Promise<boolean> =>
    (await tx.run(sql`
      delete from background_job where kind = ${kind} and key in (
        select key from background_job where kind = ${kind} and key = ${key} and due_at <= ${now}${skippingLocked})`)) ===
    1,

  listDue: (kind: string, now: string, after: DuePosition, limit: number) =>
    tx.all<DueJob>(dueAfter(kind, now, after, limit)),

  /** Locks the jobs that `listDue` returns, without those that another transaction has locked. */
  lockDue: (kind: string, now: string, after: DuePosition, limit: number) =>
    tx.all<DueJob>(sql`${dueAfter(kind, now, after, limit)}${skippingLocked}`),

  /** Does nothing when another worker has recorded a failure of the same attempt. */
  recordFailure: (kind: string, { key, attempts }: Job, { dueAt, error, parkedAt }: JobFailure) =>
    tx.run(sql`
      update background_job set attempts = attempts + 1, due_at = ${dueAt}, last_error = ${error},
        parked_at = ${parkedAt}
      where kind = ${kind} and key = ${key} and attempts = ${attempts}`),

  /** How many jobs of all kinds are due, and since when the first of them is. */
  countDue: (now: string) =>
    tx.get<{ due: number; first: string | null }>(sql`
      select count(*) as due, min(due_at) as first from background_job where due_at <= ${now} and parked_at is null`),

  /** When the first and the last job of a period are due. */
  findDueTimes: (kind: string, after: string, until: string) =>
    tx.get<{ first: string | null; last: string | null }>(sql`
      select min(due_at) as first, max(due_at) as last from background_job
      where kind = ${kind} and lane = '' and due_at > ${after} and due_at <= ${until} and parked_at is null`),
}));
