/**
 * The clock of a shop whose time can be moved forward: the clock of the machine plus an offset, which is one row of the
 * database. Each process keeps the offset in memory, and reads the row again before a request where it may have changed.
 */
import { type Clock, machineTime } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Database, Sql } from '../../database/database.ts';
import { createLookup, readAlong } from '../../database/lookup.ts';
import { chain } from '../../maybe-promise.ts';
import type { Config } from '../../settings/config.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { type ClockRow, clockQueries, clockStatement } from './queries.ts';

export interface MovableClock extends Clock {
  /** Learns a row that this process has written. */
  note(row: ClockRow): void;
}

/** A clock that is not ahead, until `refresh` has read the row. */
function createMovableClock(database: Database, base: Clock): MovableClock {
  let known: ClockRow = { clock_resets: 0, clock_advanced_ms: 0, clock_advancing_until: 0 };

  /** Rows of concurrent reads arrive in any order, and the clock never goes back but by a reset. */
  function note(row: ClockRow): void {
    const isLater =
      row.clock_resets === known.clock_resets
        ? row.clock_advanced_ms >= known.clock_advanced_ms
        : row.clock_resets > known.clock_resets;
    if (isLater) {
      known = row;
    }
  }

  const find = createLookup<ClockRow>(database, {
    one: () => clockStatement,
    many: () => clockStatement,
    keyOf: () => '',
  });
  readAlong(database, { statement: clockStatement, note });

  return {
    ...base,
    now: () => base.now() + known.clock_advanced_ms,
    advancedMs: () => known.clock_advanced_ms,
    refresh: () => chain(find(''), (row) => note(row as ClockRow)),
    isAdvancing: () => known.clock_advancing_until > 0 && known.clock_advancing_until > machineTime(base),
    note,
  };
}

/**
 * The clock of a shop by its settings.
 * @throws ConfigError where the clock was moved, and the setting does not permit that
 */
export async function openClock(
  database: Database,
  base: Clock,
  { clock }: Pick<Config, 'clock'>,
): Promise<Clock | MovableClock> {
  if (clock === 'system') {
    await requireUnmoved(database);
    return base;
  }
  const movable = createMovableClock(database, base);
  await movable.refresh();
  return movable;
}

/** @throws ConfigError where the clock of the shop was moved */
async function requireUnmoved(database: Sql): Promise<void> {
  const row = await clockQueries(database).find();
  if ((row?.clock_advanced_ms ?? 0) > 0) {
    throw new ConfigError(
      `The clock of this shop was moved forward: its orders, sessions and keys have times that are in the future. Set CURD_CLOCK=movable, or empty the shop, which sets the clock back: ${commandName} reset --clock movable`,
    );
  }
}

/** Sets the clock back, for a shop that is emptied or restored. @param advancedMs how far it is ahead then */
export async function resetClock(tx: Sql, advancedMs: number): Promise<void> {
  await clockQueries(tx).reset(advancedMs);
}

export function isMovable(clock: Clock): clock is MovableClock {
  return 'note' in clock;
}
