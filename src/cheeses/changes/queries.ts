/** Statements on the list of catalogue changes: cheeses and tombstones in the order of their last change. */
import { queriesOn } from '../../database/database.ts';
import { sql, valueList } from '../../database/sql.ts';
import type { ChangePlace } from '../queries.ts';

/** A cheese, without its JSON, or a tombstone. */
export interface ChangeRow {
  readonly id: number;
  readonly changed_in: number;
  /** Size of the JSON; 0 for a tombstone. */
  readonly bytes: number;
  /** Null for a cheese. */
  readonly deleted_at: string | null;
}

export const changeQueries = queriesOn((tx) => ({
  /** One statement, because a cheese may be deleted between two. */
  listChanges: (cheesesAfter: ChangePlace, tombstonesAfter: ChangePlace, limit: number) =>
    tx.all<ChangeRow>(sql`
      select id, changed_in, bytes, deleted_at from (
        select * from (
          select id, changed_in, octet_length(body) as bytes, null as deleted_at from cheese
          where (changed_in, id) > (${cheesesAfter.version}, ${cheesesAfter.id})
          order by changed_in, id limit ${limit}) changed
        union all
        select * from (
          select cheese_id as id, changed_in, 0 as bytes, deleted_at from cheese_tombstone
          where (changed_in, cheese_id) > (${tombstonesAfter.version}, ${tombstonesAfter.id})
          order by changed_in, cheese_id limit ${limit}) deleted
      ) entry order by changed_in, id limit ${limit}`),

  listBodies: (ids: readonly number[]) =>
    tx.all<{ id: number; body: string }>(sql`select id, body from cheese where id in (${valueList(ids)})`),

  findTombstonesAfter: async () =>
    (await tx.get<{ after: number }>(sql`select tombstones_after as after from catalogue`))?.after ?? 0,

  /**
   * Lists those of the oldest tombstones whose deletion is before a time. Versions and times of deletions rise
   * together, and only versions have an index: without the subquery, each call would read all tombstones.
   */
  listTombstonesBefore: (time: string, limit: number) =>
    tx.all<{ cheese_id: number; changed_in: number }>(sql`
      select cheese_id, changed_in from (
        select cheese_id, changed_in, deleted_at from cheese_tombstone order by changed_in, cheese_id limit ${limit}
      ) oldest where deleted_at < ${time} order by changed_in`),

  deleteTombstones: (ids: readonly number[]) =>
    tx.run(sql`delete from cheese_tombstone where cheese_id in (${valueList(ids)})`),

  updateTombstonesAfter: (version: number) =>
    tx.run(sql`update catalogue set tombstones_after = ${version} where tombstones_after < ${version}`),
}));
