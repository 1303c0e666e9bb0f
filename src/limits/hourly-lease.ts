/**
 * Requests an hour, counted by the minute in the database: never more than permitted in any 3,600 seconds, whatever is
 * restarted or killed in between.
 *
 * What a server lets through is written down before. It takes a hundredth of an hour's requests at a time, for the
 * minute that runs, and gives back with the next what it did not use: so most requests cost no write, and a crash can
 * cost its caller a hundredth of the quota, and never gain him any.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { LimitState } from '../errors.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { hourState } from './usage-counter.ts';

const minuteMs = 60_000;
/** The minute that runs and the 60 before it: an hour, wherever in a minute it begins. */
const minutesCounted = 61;
/** Kept until what they hold has left the hour: then nothing is lost by forgetting it. */
const subjectsMax = 20_000;

/** What one server may let through within a minute without asking. */
export interface Lease {
  readonly minute: number;
  readonly limit: number;
  left: number;
  /** What the hour still permits beyond that, as of the lease. */
  readonly beyond: number;
  /** When more will be permitted than now. */
  readonly freedAt: number;
}

interface Subject {
  lease: Lease | null;
  renewal: Promise<void> | null;
}

export interface HourlyLeases {
  /** Counts a request; null where the hour is used up. */
  take(subject: string, limit: number): MaybePromise<Lease | null>;
  /** A request that was counted is free of charge. In the next minute it is too late for that. */
  refund(subject: string, lease: Lease): void;
  /** After `take`. */
  state(subject: string, limit: number): LimitState;
  /** Hands back what was taken and not used. */
  close(): Promise<void>;
  /** Deletes what is over. */
  purge(): Promise<void>;
}

export function createHourlyLeases(database: Database, clock: Clock): HourlyLeases {
  const subjects = createGenerationalCache<Subject>(subjectsMax, minutesCounted * minuteMs, clock);
  const minuteOf = (now: number) => Math.floor(now / minuteMs);

  function take(name: string, limit: number): MaybePromise<Lease | null> {
    const subject = subjects.get(name) ?? subjects.set(name, { lease: null, renewal: null });
    const { lease } = subject;
    const now = clock.now();
    if (lease !== null && lease.limit === limit && lease.minute === minuteOf(now)) {
      if (lease.left > 0) {
        lease.left -= 1;
        return lease;
      }
      if (lease.beyond === 0 && now < lease.freedAt) {
        return null;
      }
    }
    subject.renewal ??= renew(name, subject, limit).finally(() => {
      subject.renewal = null;
    });
    return subject.renewal.then(() => take(name, limit));
  }

  async function renew(name: string, subject: Subject, limit: number): Promise<void> {
    const wanted = Math.max(1, Math.floor(limit / 100));
    subject.lease = await write(name, subject.lease, limit, wanted);
  }

  /** Gives back what is left of one lease, and takes another of at most `wanted`. */
  function write(name: string, held: Lease | null, limit: number, wanted: number): Promise<Lease> {
    return database.transaction(async (tx) => {
      const now = clock.now();
      const minute = minuteOf(now);
      await tx.run(
        sql`insert into quota (subject, uses, ends_at) values (${name}, '{}', '') on conflict (subject) do nothing`,
      );
      const row = await tx.get<{ uses: string }>(sql`select uses from quota where subject = ${name}`);
      const uses = new Map(
        Object.entries(JSON.parse(row?.uses ?? '{}') as Record<string, number>)
          .map(([key, count]) => [Number(key), count] as const)
          // What lies further ahead than an hour was counted while the clock was ahead.
          .filter(([key]) => Math.abs(key - minute) < minutesCounted),
      );
      if (held !== null && uses.has(held.minute)) {
        uses.set(held.minute, (uses.get(held.minute) ?? 0) - held.left);
      }
      const used = [...uses.values()].reduce((sum, count) => sum + count, 0);
      const left = Math.max(0, Math.min(wanted, limit - used));
      uses.set(minute, (uses.get(minute) ?? 0) + left);
      const counting = [...uses].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
      const endsAt = timestamp((minute + minutesCounted) * minuteMs);
      await tx.run(sql`
        update quota set uses = ${JSON.stringify(Object.fromEntries(counting))}, ends_at = ${endsAt}
        where subject = ${name}`);
      return {
        minute,
        limit,
        left,
        beyond: Math.max(0, limit - used - left),
        freedAt: (minuteFreeing(counting, used + left - limit) + minutesCounted) * minuteMs,
      };
    });
  }

  return {
    take,

    refund(name, lease) {
      if (subjects.get(name)?.lease === lease && lease.minute === minuteOf(clock.now())) {
        lease.left += 1;
      }
    },

    state(name, limit) {
      const lease = subjects.get(name)?.lease ?? null;
      return lease === null
        ? hourState(limit, limit, 0)
        : hourState(limit, lease.left + lease.beyond, Math.max(0, lease.freedAt - clock.now()));
    },

    async close() {
      const writes = [...subjects.entries()].map(async ([name, { lease }]) => {
        if (lease !== null && lease.left > 0) {
          await write(name, lease, lease.limit, 0);
        }
      });
      // Where the database is gone, the callers lose what was left: no reason not to stop.
      await Promise.allSettled(writes);
    },

    async purge() {
      const now = clock.now();
      const latest = timestamp(now + 2 * minutesCounted * minuteMs);
      await database.run(sql`delete from quota where ends_at <= ${timestamp(now)} or ends_at > ${latest}`);
    },
  };
}

/** The minute by whose end more than `excess` of what counts, which is in order, will have left the hour. */
function minuteFreeing(
  counting: readonly (readonly [minute: number, count: number])[],
  excess: number,
): number {
  let freed = 0;
  for (const [minute, count] of counting) {
    freed += count;
    if (freed > excess) {
      return minute;
    }
  }
  return counting.at(-1)?.[0] ?? 0;
}
