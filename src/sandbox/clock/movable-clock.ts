/** The clock of a shop whose time can be moved forward: the clock of the machine plus an offset of the test state. */
import { type Clock, machineTime } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Sql } from '../../database/database.ts';
import type { Config } from '../../settings/config.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { testStateQueries } from '../queries.ts';
import type { TestState } from '../test-state.ts';

export interface MovableClock extends Clock, Pick<TestState, 'note'> {}

function createMovableClock(state: TestState, base: Clock): MovableClock {
  return {
    ...base,
    now: () => base.now() + state.current().state_advanced_ms,
    advancedMs: () => state.current().state_advanced_ms,
    refresh: state.refresh,
    isAdvancing: () => {
      const { state_advancing_until } = state.current();
      return state_advancing_until > 0 && state_advancing_until > machineTime(base);
    },
    note: state.note,
  };
}

/**
 * The clock of a shop by its settings.
 * @param state null in production
 * @throws ConfigError if the clock was moved, and the setting does not permit that
 */
export async function openClock(
  database: Sql,
  state: TestState | null,
  base: Clock,
  { clock }: Pick<Config, 'clock'>,
): Promise<Clock | MovableClock> {
  if (clock === 'movable' && state !== null) {
    return createMovableClock(state, base);
  }
  const row = await testStateQueries(database).find();
  if ((row?.state_advanced_ms ?? 0) > 0) {
    throw new ConfigError(
      `The clock of this shop was moved forward: its orders, sessions and keys have times that are in the future. Set CURD_CLOCK=movable, or empty the shop, which sets the clock back: ${commandName} reset --clock movable`,
    );
  }
  return base;
}

export function isMovable(clock: Clock): clock is MovableClock {
  return 'note' in clock;
}
