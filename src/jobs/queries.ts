/** Statements on the table `background_job`. */
import { queriesOn } from '../database/database.ts';
import { deleteInOrder, rowsFromJson, type Statement, skippingLocked, sql } from '../database/sql.ts';

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

/** A lane with due jobs. */
export interface DueLane {
  readonly lane: string;
  /** Of its first job. */
  readonly due_at: string;
}

export interface JobFailure {
  readonly dueAt: string;
  readonly error: string;
  /** Not null for a job that is not tried again. */
  readonly parkedAt: string | null;
}

/** After which due jobs follow. */
export type DuePosition = Pick<DueJob, 'due_at' | 'key'>;

/** Before the first due job. */
export const firstDue: DuePosition = { due_at: '', key: '' };

/** Jobs without a lane. The condition `due_at >=` lets the statement start at its position in the index. */
function dueAfter(kind: string, now: string, after: DuePosition, limit: number): Statement {
  return sql`
    select key, attempts, due_at from background_job
    where kind = ${kind} and lane = '' and due_at <= ${now} and parked_at is null
      and due_at >= ${after.due_at} and (due_at, key) > (${after.due_at}, ${after.key})
    order by due_at, key limit ${limit}`;
}

const insertedColumns = ['kind', 'key', 'due_at'];

export const jobQueries = queriesOn((tx) => ({
  insert: (kind: string, key: string, dueAt: string) =>
    tx.sendInsert('background_job', insertedColumns, [[kind, key, dueAt]]),

  insertOrRenew: (kind: string, keys: readonly string[], dueAt: string) =>
    tx.run(sql`
      insert into background_job (kind, key, due_at)
      select ${kind}, value->>0, ${dueAt} from ${rowsFromJson(keys.map((key) => [key]))} where true
      on conflict (kind, key) do update set due_at = excluded.due_at, attempts = 0, parked_at = null`),

  countDue: (now: string) =>
    tx.get<{ due: number; first: string | null }>(sql`
      select count(*) as due, min(due_at) as first from background_job where due_at <= ${now} and parked_at is null`),

  delete: (kind: string, key: string) =>
    tx.send(sql`delete from background_job where kind = ${kind} and key = ${key}`),

  deleteAll: (kind: string, keys: readonly string[]) =>
    tx.run(
      deleteInOrder(
        'background_job',
        'kind, key',
        sql`kind = ${kind} and key in (select value->>0 from ${rowsFromJson(keys.map((key) => [key]))})`,
      ),
    ),

  listDue: (kind: string, now: string, after: DuePosition, limit: number) =>
    tx.all<DueJob>(dueAfter(kind, now, after, limit)),

  /** The same jobs without those that another transaction has locked. Locks them. */
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
      select ${kind}, value->>0, ${lane}, ${dueAt} from ${rowsFromJson(keys.map((key) => [key]))} where true
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

  /** A leased job is due again at the end of its lease. */
  countLeased: (kind: string, lane: string, now: string, leaseEnd: string) =>
    tx.get<{ count: number }>(sql`
      select count(*) as count from background_job
      where kind = ${kind} and lane = ${lane} and due_at > ${now} and due_at <= ${leaseEnd}
        and leased_until is not null`),

  /** Materialized: PostgreSQL would run a subquery again, and find further rows, because it skips those locked before. */
  lease: (kind: string, lane: string, max: number, now: string, leaseEnd: string) =>
    tx.all<Job>(sql`
      with picked as materialized (
        select key from background_job where kind = ${kind} and lane = ${lane} and due_at <= ${now}
        order by due_at limit ${max}${skippingLocked}
      )
      update background_job set attempts = attempts + 1, leased_until = ${leaseEnd}, due_at = ${leaseEnd}
      where kind = ${kind} and key in (select key from picked)
      returning key, attempts`),

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

  /** Jobs of a lane that run are not changed. */
  makeDue: (kind: string, lane: string, now: string) =>
    tx.run(sql`
      update background_job set due_at = ${now}
      where kind = ${kind} and lane = ${lane} and due_at > ${now} and leased_until is null`),

  listOfLane: (kind: string, lane: string, limit: number) =>
    tx.all<{ key: string }>(sql`
      select key from background_job where kind = ${kind} and lane = ${lane} order by due_at limit ${limit}`),
}));
