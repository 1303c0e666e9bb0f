/** Statements on snapshots, and on what resets and restores have in common. */
import { queriesOn } from '../../database/database.ts';
import { generatedId, sql } from '../../database/sql.ts';

export interface SnapshotRow {
  readonly id: number;
  readonly name: string;
  readonly place: string;
  readonly bytes: number;
  readonly last_ids: string;
  readonly migration: number;
  readonly advanced_ms: number;
  readonly created_at: string;
}

const columns = sql`id, name, place, bytes, last_ids, migration, advanced_ms, created_at`;

export const snapshotQueries = queriesOn((tx) => ({
  list: () => tx.all<SnapshotRow>(sql`select ${columns} from snapshot order by id`),

  find: (id: number) => tx.get<SnapshotRow>(sql`select ${columns} from snapshot where id = ${id}`),

  insert: async (row: Omit<SnapshotRow, 'id'>) =>
    (await tx.get<SnapshotRow>(sql`
      insert into snapshot (${columns}) values (${generatedId}, ${row.name}, ${row.place}, ${row.bytes},
        ${row.last_ids}, ${row.migration}, ${row.advanced_ms}, ${row.created_at}) returning ${columns}`)) as SnapshotRow,

  delete: (id: number) => tx.run(sql`delete from snapshot where id = ${id}`),

  /** Returns how many restores there were, this one included. */
  countRestore: async () => {
    const row = await tx.get<{ restores: number }>(
      sql`update snapshot_state set restores = restores + 1 where id = 1 returning restores`,
    );
    return row?.restores ?? 0;
  },

  /** Returns 0 where a reset, copy or restore runs. */
  markBusy: (now: string, until: string) =>
    tx.run(sql`update snapshot_state set busy_until = ${until} where id = 1 and busy_until < ${now}`),

  /** Ends what `markBusy` began with the same time. */
  markIdle: (until: string) =>
    tx.run(sql`update snapshot_state set busy_until = '' where id = 1 and busy_until = ${until}`),
}));

/** The number of restores so far. */
export const restoresLookup = sql`select id, restores from snapshot_state where id = 1`;
