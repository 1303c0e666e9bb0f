/** Statements on the only row of the table `test_state`. Durations and times of machines are in milliseconds. */
import { queriesOn } from '../database/database.ts';
import { type Statement, sql } from '../database/sql.ts';

export interface TestStateRow {
  /** How often the clock was set back to that of the machine. */
  readonly state_resets: number;
  readonly state_advanced_ms: number;
  /** The time of the machine until which a process moves the clock. */
  readonly state_advancing_until: number;
  readonly state_restores: number;
}

const columns = sql`
  resets as state_resets, advanced_ms as state_advanced_ms, advancing_until as state_advancing_until,
  restores as state_restores`;

export const testStateStatement: Statement = sql`select ${columns} from test_state`;

/** The end of a lease, and the process that has it. */
interface AdvanceLease {
  readonly owner: string;
  readonly until: number;
}

export const testStateQueries = queriesOn((tx) => ({
  find: () => tx.get<TestStateRow>(testStateStatement),

  /** Returns 0 while another process moves the clock. @param now the time of the machine */
  lease: ({ owner, until }: AdvanceLease, now: number) =>
    tx.run(sql`
      update test_state set advanced_by = ${owner}, advancing_until = ${until}
      where advancing_until <= ${now} or advanced_by = ${owner}`),

  /** Moves the clock forward and renews the lease. Returns no row if the process has the lease no more. */
  advance: ({ owner, until }: AdvanceLease, advancedMs: number) =>
    tx.get<TestStateRow>(sql`
      update test_state set advancing_until = ${until},
        advanced_ms = case when advanced_ms < ${advancedMs} then ${advancedMs} else advanced_ms end
      where advanced_by = ${owner}
      returning ${columns}`),

  release: (owner: string) =>
    tx.run(sql`update test_state set advanced_by = null, advancing_until = 0 where advanced_by = ${owner}`),

  /** Sets the clock back. Who moves it at this moment stops. @param advancedMs 0: the clock of the machine */
  resetClock: (advancedMs: number) =>
    tx.run(sql`
      update test_state set resets = resets + 1, advanced_ms = ${advancedMs}, advanced_by = null, advancing_until = 0`),

  /** Returns how many restores there were, this one included. */
  countRestore: async () => {
    const row = await tx.get<{ restores: number }>(
      sql`update test_state set restores = restores + 1 returning restores`,
    );
    return row?.restores ?? 0;
  },

  /** Returns 0 while a reset, copy or restore runs. */
  markBusy: (now: string, until: string) =>
    tx.run(sql`update test_state set busy_until = ${until} where busy_until < ${now}`),

  /** Ends what `markBusy` began with the same time. */
  markIdle: (until: string) => tx.run(sql`update test_state set busy_until = '' where busy_until = ${until}`),
}));
