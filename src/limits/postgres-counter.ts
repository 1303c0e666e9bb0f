/**
 * Counts requests in PostgreSQL for all servers on it, exactly. Requests that arrive while a statement runs are batched
 * into the next one.
 */
import type { Clock } from '../clock.ts';
import { batchCalls } from '../database/batch-calls.ts';
import type { Database } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import type { LimitState } from '../errors.ts';
import type { PlanLimits } from '../settings/config.ts';
import { type CountRow, postgresQuotaQueries } from './queries.ts';
import { burstState, type CountedUse, hourState, type UsageCounter } from './usage-counter.ts';

/** Twice as long as requests count: no clock is wrong by more than that. */
const keptMs = 2 * 60 * 60 * 1000;
/** Client IPs count for a minute, and each that tries to log in has a row: an attacker may have a million of them. */
const loginsKeptMs = 10 * 60 * 1000;
/** A purge reads the whole table, which has no index on time: one would change with every request. */
const purgeIntervalMs = 10 * 60 * 1000;

/** A request to count or to refund, or a question about what remains. */
interface Entry {
  readonly subject: string;
  readonly limits: PlanLimits;
  /** The end of the minute in which the request to refund was counted; null for a request to count. */
  readonly refundOf: number | null;
  readonly isReading?: boolean;
}

/** Requests of one subject under the same limits. */
interface Group {
  readonly subject: string;
  readonly limits: PlanLimits;
  requests: number;
  refunds: number;
  refundsOf: number;
}

/** A usage counter in PostgreSQL. */
export function createPostgresCounter(database: Database, clock: Clock): UsageCounter {
  const enter = batchCalls(count);
  /** The position from which the purge continues; empty for the beginning of the table. */
  let position = '';
  let nextPurgeAt = 0;

  async function count(entries: readonly Entry[]): Promise<CountedUse[]> {
    const groups = new Map<string, Group>();
    const places = entries.map(({ subject, limits, refundOf, isReading = false }) => {
      const name = `${subject} ${limits.burst} ${limits.perHour}`;
      const group = groups.get(name) ?? { subject, limits, requests: 0, refunds: 0, refundsOf: 0 };
      groups.set(name, group);
      if (refundOf === null) {
        group.requests += isReading ? 0 : 1;
        return { group, place: group.requests };
      }
      // The database refunds to the latest minute only, so refunds of an older one are dropped.
      if (refundOf > group.refundsOf) {
        group.refunds = 0;
        group.refundsOf = refundOf;
      }
      group.refunds += refundOf === group.refundsOf ? 1 : 0;
      return { group, place: 0 };
    });
    const rows = await postgresQuotaQueries(database).count(
      [...groups.values()].map(
        ({ subject, limits, requests, refunds, refundsOf }) =>
          [subject, requests, limits.burst, limits.perHour, refunds, refundsOf] as const,
      ),
      clock,
    );
    const rowOf = new Map([...groups.values()].map((group, index) => [group, rows[index] as CountRow]));
    return places.map(
      ({ group, place }) => new PostgresUse(rowOf.get(group) as CountRow, place, group, refund),
    );
  }

  function refund(subject: string, limits: PlanLimits, minuteEnds: number): void {
    // If the database cannot be reached, the subject loses the refund.
    enter({ subject, limits, refundOf: minuteEnds }).catch(() => {});
  }

  return {
    read: (subject, limits) => enter({ subject, limits, refundOf: null, isReading: true }),
    count: (subject, limits) => enter({ subject, limits, refundOf: null }),
    close: async () => {},
    async purge() {
      if (position === '' && performance.now() < nextPurgeAt) {
        return;
      }
      await purgeInSlices(database, async (tx, limit) => {
        const queries = postgresQuotaQueries(tx);
        const { rows, last } = await queries.findSlice(position, limit);
        const now = clock.now();
        await queries.deleteUnused(position, last, now - keptMs, now - loginsKeptMs, now + keptMs);
        position = rows < limit ? '' : last;
        return rows;
      });
      nextPurgeAt = performance.now() + purgeIntervalMs;
    },
  };
}

class PostgresUse implements CountedUse {
  readonly refusedBy: CountedUse['refusedBy'];
  readonly #row: CountRow;
  /** Requests of the same group that were counted after this one. */
  readonly #later: number;
  readonly #subject: string;
  readonly #limits: PlanLimits;
  readonly #onRefund: (subject: string, limits: PlanLimits, minuteEnds: number) => void;
  #isRefunded = false;

  /** @param place of the request among those of its group, from 1; 0 for a refund */
  constructor(
    row: CountRow,
    place: number,
    { subject, limits }: Group,
    onRefund: (subject: string, limits: PlanLimits, minuteEnds: number) => void,
  ) {
    this.#row = row;
    this.#later = Math.max(0, row.passed - place);
    this.#subject = subject;
    this.#limits = limits;
    this.#onRefund = onRefund;
    this.refusedBy = place <= row.passed ? null : row.in_second >= limits.burst ? 'burst' : 'hour';
  }

  burst(): LimitState {
    const { burst } = this.#limits;
    return burstState(burst, Math.max(0, burst - (this.#row.in_second - this.#later)));
  }

  msUntilBurstPermits(): number {
    return this.#row.second_until - this.#row.now_ms;
  }

  hour(): LimitState | null {
    const { now_ms, in_hour, hour_until } = this.#row;
    const { perHour } = this.#limits;
    const used = in_hour - this.#later - (this.#isRefunded ? 1 : 0);
    return perHour === null ? null : hourState(perHour, Math.max(0, perHour - used), hour_until - now_ms);
  }

  refund(): void {
    if (this.#limits.perHour !== null && !this.#isRefunded) {
      this.#isRefunded = true;
      this.#onRefund(this.#subject, this.#limits, this.#row.minute_ends);
    }
  }
}
