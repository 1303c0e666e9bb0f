/** Statements on the tables of instances and of results of consistency checks. */
import { queriesOn } from '../database/database.ts';
import { deleteUnlocked, sql } from '../database/sql.ts';

export interface InstanceRow {
  readonly id: string;
  readonly version: string;
  readonly started_at: string;
  readonly seen_at: string;
  /** The place in which it stores images. */
  readonly images: string;
}

export interface DoctorRunRow {
  readonly at: string;
  readonly seconds: number;
  /** JSON. */
  readonly result: string;
}

export const administrationQueries = queriesOn((tx) => ({
  upsertInstance: ({ id, version, started_at, seen_at, images }: InstanceRow) =>
    tx.run(sql`
      insert into instance (id, version, started_at, seen_at, images)
      values (${id}, ${version}, ${started_at}, ${seen_at}, ${images})
      on conflict (id) do update set seen_at = excluded.seen_at`),

  deleteInstance: (id: string) => tx.run(sql`delete from instance where id = ${id}`),

  /** Deletes rows of processes that ended without deleting them. */
  deleteInstancesBefore: (seenAt: string) =>
    tx.run(deleteUnlocked('instance', 'id', sql`seen_at < ${seenAt}`)),

  listInstances: (since: string, limit: number) =>
    tx.all<InstanceRow>(sql`
      select id, version, started_at, seen_at, images from instance where seen_at >= ${since}
      order by started_at, id limit ${limit}`),

  insertDoctorRun: ({ at, seconds, result }: DoctorRunRow) =>
    tx.run(sql`insert into doctor_run (at, seconds, result) values (${at}, ${seconds}, ${result})`),

  /** Deletes all but the newest. */
  deleteDoctorRuns: (keep: number) =>
    tx.run(
      deleteUnlocked(
        'doctor_run',
        'id',
        sql`id not in (select id from doctor_run order by id desc limit ${keep})`,
      ),
    ),

  /** Newest first. */
  listDoctorRuns: (limit: number) =>
    tx.all<DoctorRunRow>(sql`select at, seconds, result from doctor_run order by id desc limit ${limit}`),
}));
