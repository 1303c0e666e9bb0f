/** Statements on the tables `shop_clock` and `clock_target`. */
import { queriesOn } from '../../database/database.ts';
import { deleteSlice, type Statement, sql } from '../../database/sql.ts';

/** Times and durations are in milliseconds. */
export interface ClockRow {
  /** How often the clock was set back to that of the machine. */
  readonly clock_resets: number;
  readonly clock_advanced_ms: number;
  /** The time of the machine until which a process moves the clock. */
  readonly clock_advancing_until: number;
}

export const clockStatement: Statement = sql`
  select resets as clock_resets, advanced_ms as clock_advanced_ms, advancing_until as clock_advancing_until
  from shop_clock`;

/** The end of a lease, and the process that has it. */
interface AdvanceLease {
  readonly owner: string;
  readonly until: number;
}

export const clockQueries = queriesOn((tx) => ({
  find: () => tx.get<ClockRow>(clockStatement),

  /** Returns 0 while another process moves the clock. @param now the time of the machine */
  lease: ({ owner, until }: AdvanceLease, now: number) =>
    tx.run(sql`
      update shop_clock set advanced_by = ${owner}, advancing_until = ${until}
      where advancing_until <= ${now} or advanced_by = ${owner}`),

  /** Moves the clock forward and renews the lease. Returns no row where the process has the lease no more. */
  advance: ({ owner, until }: AdvanceLease, advancedMs: number) =>
    tx.get<ClockRow>(sql`
      update shop_clock set advancing_until = ${until},
        advanced_ms = case when advanced_ms < ${advancedMs} then ${advancedMs} else advanced_ms end
      where advanced_by = ${owner}
      returning resets as clock_resets, advanced_ms as clock_advanced_ms, advancing_until as clock_advancing_until`),

  release: (owner: string) =>
    tx.run(sql`update shop_clock set advanced_by = null, advancing_until = 0 where advanced_by = ${owner}`),

  /** Sets the clock back. Who moves it at this moment stops. @param advancedMs 0: the clock of the machine */
  reset: (advancedMs: number) =>
    tx.run(sql`
      update shop_clock set resets = resets + 1, advanced_ms = ${advancedMs}, advanced_by = null, advancing_until = 0`),

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
