/** Background jobs: rows that are written and deleted in the transaction of the change that needs or ends them. */
import { forEachBlock } from '../blocks.ts';
import { timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import { type DueJob, firstDue, jobQueries } from './queries.ts';

/** A block's statement takes up to 5 ms on SQLite. */
const blockSize = 500;

/** @param key unique within the kind */
export async function addJob(tx: Sql, kind: string, key: string, dueAt: string): Promise<void> {
  await jobQueries(tx).insert(kind, key, dueAt);
}

/** Adds jobs. Those that exist are due then as well, even if they had failed or were parked. */
export async function scheduleJobs(
  tx: Sql,
  kind: string,
  keys: readonly string[],
  dueAt: string,
): Promise<void> {
  await jobQueries(tx).insertOrRenew(kind, keys, dueAt);
}

/** Does nothing when there is no such job. */
export async function deleteJob(tx: Sql, kind: string, key: string): Promise<void> {
  await jobQueries(tx).delete(kind, key);
}

/** Deletes many jobs, where they exist, in the same order in every transaction, so that no two deadlock. */
export function deleteJobs(tx: Sql, kind: string, keys: readonly string[]): Promise<void> {
  return forEachBlock(keys.toSorted(), blockSize, async (block) => {
    await jobQueries(tx).deleteAll(kind, block);
  });
}

/**
 * Deletes a job that is due, to do its work in the same transaction. Returns false where another worker has deleted or
 * locked it.
 */
export async function claimJob(tx: Sql, kind: string, key: string, now: string): Promise<boolean> {
  return (await jobQueries(tx).claim(kind, key, now)) === 1;
}

/** The first job of a kind that is due at a time. */
export async function findFirstDue(tx: Sql, kind: string, now: string): Promise<DueJob | undefined> {
  const [first] = await jobQueries(tx).listDue(kind, now, firstDue, 1);
  return first;
}

/** How many jobs of all kinds are due, and how long the oldest of them has been. */
export async function countDueJobs(
  sql: Sql,
  now: number,
): Promise<{ readonly due: number; readonly oldestSeconds: number }> {
  const { due = 0, first = null } = (await jobQueries(sql).countDue(timestamp(now))) ?? {};
  return { due, oldestSeconds: first === null ? 0 : Math.max(0, now - Date.parse(first)) / 1000 };
}
