/**
 * Calls counted in the database, for all servers on it: exact whichever of them is called, in one statement for all
 * calls that come while the one before is under way. The function is in migrations/0008-clock-ahead.postgres.sql.
 */
import type { Clock } from '../clock.ts';
import { batchCalls } from '../database/batch-calls.ts';
import type { Database } from '../database/database.ts';
import { deleteUnlocked, sql } from '../database/sql.ts';
import type { LimitState } from '../errors.ts';
import type { PlanLimits } from '../settings/config.ts';
import { burstState, type CountedUse, hourState, type UsageCounter } from './usage-counter.ts';

/** Twice as long as calls count: no clock is as wrong as that. */
const keptMs = 2 * 60 * 60 * 1000;

/** A call to be counted, or one that was and is given back. */
interface Entry {
  readonly subject: string;
  readonly limits: PlanLimits;
  /** null for a call; else the end of the minute from which one is taken away. */
  readonly givenBack: number | null;
}

/** Calls on one account under the same limits. */
interface Group {
  readonly subject: string;
  readonly limits: PlanLimits;
  calls: number;
  givenBack: number;
  givenTo: number;
}

/** Times are milliseconds since the epoch, by the database's clock. */
interface CountRow {
  readonly passed: number;
  readonly now_ms: number;
  readonly minute_ends: number;
  readonly in_second: number;
  readonly second_until: number;
  readonly in_hour: number;
  readonly hour_until: number;
}

/** Counts in PostgreSQL, for all servers on it together. `purge` is to be called now and then. */
export function createPostgresCounter(database: Database, clock: Clock): UsageCounter {
  const enter = batchCalls(count);

  async function count(entries: readonly Entry[]): Promise<CountedUse[]> {
    const groups = new Map<string, Group>();
    const places = entries.map(({ subject, limits, givenBack }) => {
      const name = `${subject} ${limits.burst} ${limits.perHour}`;
      const group = groups.get(name) ?? { subject, limits, calls: 0, givenBack: 0, givenTo: 0 };
      groups.set(name, group);
      if (givenBack === null) {
        group.calls += 1;
        return { group, place: group.calls };
      }
      // Of two minutes the older is over: nothing can be given back to it.
      if (givenBack > group.givenTo) {
        group.givenBack = 0;
        group.givenTo = givenBack;
      }
      group.givenBack += givenBack === group.givenTo ? 1 : 0;
      return { group, place: 0 };
    });
    const requests = [...groups.values()].map(({ subject, limits, calls, givenBack, givenTo }) => [
      subject,
      calls,
      limits.burst,
      limits.perHour,
      givenBack,
      givenTo,
    ]);
    const rows = await database.all<CountRow>(sql`
      select passed, now_ms, minute_ends, in_second, second_until, in_hour, hour_until
      from count_calls(${JSON.stringify(requests)}::text::jsonb, ${clock.isSystem ? null : clock.now()}) order by place`);
    const rowOf = new Map([...groups.values()].map((group, index) => [group, rows[index] as CountRow]));
    return places.map(
      ({ group, place }) => new PostgresUse(rowOf.get(group) as CountRow, place, group, giveBack),
    );
  }

  function giveBack(subject: string, limits: PlanLimits, minuteEnds: number): void {
    // Where the database is gone, the caller loses a call that would have cost nothing.
    enter({ subject, limits, givenBack: minuteEnds }).catch(() => {});
  }

  return {
    count: (subject, limits) => enter({ subject, limits, givenBack: null }),
    close: async () => {},
    async purge() {
      const [over, ahead] = [clock.now() - keptMs, clock.now() + keptMs];
      const isOver = sql`coalesce(hour_times[cardinality(hour_times)], 0) not between ${over} and ${ahead}
        and coalesce(second_times[cardinality(second_times)], 0) not between ${over} and ${ahead}`;
      await database.run(deleteUnlocked('quota', 'subject', isOver));
    },
  };
}

class PostgresUse implements CountedUse {
  readonly refusedBy: CountedUse['refusedBy'];
  readonly #row: CountRow;
  /** Calls of its group that passed after it. */
  readonly #later: number;
  readonly #subject: string;
  readonly #limits: PlanLimits;
  readonly #onGiveBack: (subject: string, limits: PlanLimits, minuteEnds: number) => void;
  #isGivenBack = false;

  constructor(
    row: CountRow,
    place: number,
    { subject, limits }: Group,
    onGiveBack: (subject: string, limits: PlanLimits, minuteEnds: number) => void,
  ) {
    this.#row = row;
    this.#later = Math.max(0, row.passed - place);
    this.#subject = subject;
    this.#limits = limits;
    this.#onGiveBack = onGiveBack;
    this.refusedBy = place <= row.passed ? null : row.in_second >= limits.burst ? 'burst' : 'hour';
  }

  burst(): LimitState {
    const { now_ms, in_second, second_until } = this.#row;
    const { burst } = this.#limits;
    return burstState(burst, Math.max(0, burst - in_second + this.#later), second_until - now_ms);
  }

  hour(): LimitState | null {
    const { now_ms, in_hour, hour_until } = this.#row;
    const { perHour } = this.#limits;
    const used = in_hour - this.#later - (this.#isGivenBack ? 1 : 0);
    return perHour === null ? null : hourState(perHour, Math.max(0, perHour - used), hour_until - now_ms);
  }

  refund(): void {
    if (this.#limits.perHour !== null && !this.#isGivenBack) {
      this.#isGivenBack = true;
      this.#onGiveBack(this.#subject, this.#limits, this.#row.minute_ends);
    }
  }
}
