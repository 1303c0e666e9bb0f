/** Statements that load the index and follow the changes of the catalogue. */
import { queriesOn } from '../../database/database.ts';
import { databaseTimeline, sql, valuesFromJson } from '../../database/sql.ts';
import type { ChangePlace } from '../queries.ts';

/** What is read from. */
export interface ReadPlace {
  readonly cheeses: ChangePlace;
  readonly tombstones: ChangePlace;
  /** The last category or tag that is known. */
  readonly termId: number;
}

/** One row of several kinds. */
export interface IndexRow {
  /** The state of the catalogue, a cheese that was asked for, or a change. */
  readonly kind: 'state' | 'cheese' | 'changed' | 'deleted' | 'category' | 'tag';
  /** The id; of a state the version of the catalogue. */
  readonly id: number;
  /** The version of a change; of a state that of the newest tombstone that was removed. */
  readonly version: number;
  /** The JSON of a cheese, the name of a category or tag, the timeline of a state. */
  readonly text: string | null;
}

export const searchIndexQueries = queriesOn((tx) => ({
  /** Whether more cheeses than a number have changed since a place. Reads only the index, at 50 ns for each. */
  hasMoreChanges: async ({ version, id }: ChangePlace, count: number) =>
    (await tx.get(sql`
      select 1 as one from cheese where (changed_in, id) > (${version}, ${id})
      order by changed_in, id limit 1 offset ${count}`)) !== undefined,

  /**
   * The state of the catalogue, cheeses by id, and up to `limit` changes of each kind: all as of one moment, because it is
   * one statement.
   */
  readChanges: (ids: readonly number[], { cheeses, tombstones, termId }: ReadPlace, limit: number) =>
    tx.all<IndexRow>(sql`
      select 'state' as kind, version as id, tombstones_after as version, ${databaseTimeline} as text from catalogue
      union all
      select * from (
        select 'changed' as kind, id, changed_in, body from cheese
        where (changed_in, id) > (${cheeses.version}, ${cheeses.id}) order by changed_in, id limit ${limit}) changed
      union all
      select * from (
        select 'deleted' as kind, cheese_id, changed_in, null as body from cheese_tombstone
        where (changed_in, cheese_id) > (${tombstones.version}, ${tombstones.id})
        order by changed_in, cheese_id limit ${limit}) deleted
      union all
      select * from (
        select kind, id, 0 as changed_in, name from term
        where id > ${termId} order by id limit ${limit}) named
      ${
        ids.length === 0
          ? sql``
          : sql`union all select 'cheese' as kind, c.id, 0 as changed_in, c.body
              from ${valuesFromJson(ids)} join cheese c on c.id = cast(value as bigint)`
      }`),
}));
