/** Statements on the table `snapshot`. */
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
}));
