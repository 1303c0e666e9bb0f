/**
 * The state of a shop that is not in production: how far its clock was moved, and how often it was restored. It is one row
 * of the database. Each process keeps it in memory, and reads it again before a request if it may have changed. A
 * production shop has no such state.
 */
import type { Database } from '../database/database.ts';
import { createLookup, readAlong } from '../database/lookup.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import { type TestStateRow, testStateQueries, testStateStatement } from './queries.ts';

export interface TestState {
  /** The state as it was last read. */
  current(): TestStateRow;
  /** Learns what another process has written. */
  refresh(): MaybePromise<void>;
  /** Learns a row that this process has written. */
  note(row: TestStateRow): void;
  /**
   * The prefix of all ETags; empty for a shop that was never restored. Ids return with a restore, and versions begin at
   * 1: without a prefix, an ETag of before could be that of another row with the same id.
   */
  tagPrefix(): string;
}

export async function openTestState(database: Database): Promise<TestState> {
  let known = (await testStateQueries(database).find()) as TestStateRow;

  /** Rows of concurrent reads arrive in any order. The clock goes back only by a reset, and a restore is one. */
  function note(row: TestStateRow): void {
    const isLater =
      row.state_resets === known.state_resets
        ? row.state_advanced_ms >= known.state_advanced_ms
        : row.state_resets > known.state_resets;
    if (isLater) {
      known = row;
    }
  }

  const find = createLookup<TestStateRow>(database, {
    one: () => testStateStatement,
    many: () => testStateStatement,
    keyOf: () => '',
  });
  readAlong(database, { statement: testStateStatement, note });

  return {
    current: () => known,
    refresh: () => chain(find(''), (row) => note(row as TestStateRow)),
    note,
    tagPrefix: () => (known.state_restores === 0 ? '' : `r${known.state_restores}.`),
  };
}
