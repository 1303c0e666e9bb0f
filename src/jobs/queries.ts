/** Statements on the table `background_job`. */
import { queriesOn } from '../database/database.ts';
import { deleteInOrder, rowsFromJson, skippingLocked, sql, valueList } from '../database/sql.ts';

/** A job that is due. */
export interface Job {
  /** Unique within its kind. */
  readonly key: string;
  /** How often it has failed. */
  readonly attempts: number;
}

export interface JobFailure {
  readonly dueAt: string;
  readonly error: string;
  /** Not null for a job that is not tried again. */
  readonly parkedAt: string | null;
}

export const jobQueries = queriesOn((tx) => ({
  insert: (kind: string, key: string, dueAt: string) =>
    tx.run(sql`insert into background_job (kind, key, due_at) values (${kind}, ${key}, ${dueAt})`),

  delete: (kind: string, key: string) =>
    tx.run(sql`delete from background_job where kind = ${kind} and key = ${key}`),

  deleteAll: (kind: string, keys: readonly string[]) =>
    tx.run(
      deleteInOrder(
        'background_job',
        'kind, key',
        sql`kind = ${kind} and key in (select value->>0 from ${rowsFromJson(keys.map((key) => [key]))})`,
      ),
    ),

  /** No kind uses lanes yet: the condition lets the statement read the index in the order of due_at. */
  listDue: (kind: string, now: string, limit: number) =>
    tx.all<Job>(sql`
      select key, attempts from background_job
      where kind = ${kind} and lane = '' and due_at <= ${now} and parked_at is null order by due_at limit ${limit}`),

  /** Deletes due jobs, except those that another transaction has locked, and returns what it deleted. */
  claim: (kind: string, keys: readonly string[], now: string) =>
    tx.all<{ key: string }>(sql`
      delete from background_job where kind = ${kind} and key in (
        select key from background_job
        where kind = ${kind} and key in (${valueList(keys)}) and due_at <= ${now}${skippingLocked})
      returning key`),

  /** Does nothing when another worker has recorded a failure of the same attempt. */
  recordFailure: (kind: string, { key, attempts }: Job, { dueAt, error, parkedAt }: JobFailure) =>
    tx.run(sql`
      update background_job set attempts = attempts + 1, due_at = ${dueAt}, last_error = ${error},
        parked_at = ${parkedAt}
      where kind = ${kind} and key = ${key} and attempts = ${attempts}`),
}));
