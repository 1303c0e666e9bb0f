/** Statements on the tables of instances and of results of consistency checks. */
import { queriesOn } from '../database/database.ts';
import { deleteUnlocked, sql } from '../database/sql.ts';

export interface InstanceRow {
  readonly id: string;
  readonly version: string;
  readonly started_at: string;
  readonly seen_at: string;
}

export const administrationQueries = queriesOn((tx) => ({
  upsertInstance: ({ id, version, started_at, seen_at }: InstanceRow) =>
    tx.run(sql`
      insert into instance (id, version, started_at, seen_at)
      values (${id}, ${version}, ${started_at}, ${seen_at})
      on conflict (id) do update set seen_at = excluded.seen_at`),

  deleteInstance: (id: string) => tx.run(sql`delete from instance where id = ${id}`),

  /** Of processes that ended without deleting their row. */
  deleteInstancesBefore: (seenAt: string) =>
    tx.run(deleteUnlocked('instance', 'id', sql`seen_at < ${seenAt}`)),

  listInstances: (since: string, limit: number) =>
    tx.all<InstanceRow>(sql`
      select id, version, started_at, seen_at from instance where seen_at >= ${since}
      order by started_at, id limit ${limit}`),
}));
