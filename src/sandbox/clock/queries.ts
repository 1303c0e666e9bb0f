/** Statements on the table `clock_target`. */
import { queriesOn } from '../../database/database.ts';
import { deleteSlice, sql } from '../../database/sql.ts';

export const clockQueries = queriesOn((tx) => ({
  findTarget: (id: string, now: string) =>
    tx.get<{ advance: string; target: number }>(
      sql`select advance, target from clock_target where id = ${id} and expires_at > ${now}`,
    ),

  upsertTarget: (id: string, advance: string, target: number, expiresAt: string) =>
    tx.run(sql`
      insert into clock_target (id, advance, target, expires_at)
      values (${id}, ${advance}, ${target}, ${expiresAt})
      on conflict (id) do update set advance = excluded.advance, target = excluded.target,
        expires_at = excluded.expires_at`),

  deleteExpiredTargets: (now: string, limit: number) =>
    tx.run(deleteSlice('clock_target', 'id', 'expires_at', sql`expires_at <= ${now}`, limit)),
}));
