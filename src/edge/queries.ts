/** Statements on the table `edge_purger`. */
import { queriesOn } from '../database/database.ts';
import { sql } from '../database/sql.ts';

export interface PurgerRow {
  readonly purge_url: string;
  /** Events up to this position are purged. */
  readonly position: string;
  /** The newest epoch of the event log at that time. */
  readonly epoch: string;
  readonly updated_at: string;
}

export const purgerQueries = queriesOn((tx) => ({
  find: (url: string) =>
    tx.get<PurgerRow>(sql`
      select purge_url, position, epoch, updated_at from edge_purger where purge_url = ${url}`),

  list: () =>
    tx.all<PurgerRow>(sql`select purge_url, position, epoch, updated_at from edge_purger order by purge_url`),

  store: ({ purge_url, position, epoch, updated_at }: PurgerRow) =>
    tx.run(sql`
      insert into edge_purger (purge_url, position, epoch, updated_at)
      values (${purge_url}, ${position}, ${epoch}, ${updated_at})
      on conflict (purge_url) do update set
        position = excluded.position, epoch = excluded.epoch, updated_at = excluded.updated_at`),

  delete: (url: string) => tx.run(sql`delete from edge_purger where purge_url = ${url}`),
}));
