/**
 * The hourly quota on SQLite. It is renewed as requests become older than an hour: they are counted by the minute in the
 * database, and never more than the quota within any 3,600 seconds, even if the server is restarted or killed.
 *
 * A server stores what it may let through in advance. For the current minute, it leases a hundredth of the quota at a
 * time, and returns the unused rest when it renews the lease. So most requests write nothing; a crash can cost a caller
 * up to a hundredth of the quota, and never gives more than the quota.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import type { LimitState } from '../errors.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { sqliteQuotaQueries } from './queries.ts';
import { hourState } from './usage-counter.ts';

const minuteMs = 60_000;
/** The current minute and the 60 before it: at least an hour, wherever in the minute it starts. */
const minutesCounted = 61;
/** A subject is forgotten once its requests are older than an hour: its lease has expired by then. */
const subjectsMax = 20_000;

/** Requests that one server may let through within a minute without asking the database. */
export interface Lease {
  readonly minute: number;
  readonly limit: number;
  left: number;
  /** What remained of the quota beyond the lease when it was written. */
  readonly beyond: number;
  /** When more will remain than now, in milliseconds since the epoch. */
  readonly freedAt: number;
}

interface Subject {
  lease: Lease | null;
  renewal: Promise<void> | null;
}

export interface HourlyLeases {
  /** Counts a request; null where the quota is used up. */
  take(subject: string, limit: number): MaybePromise<Lease | null>;
  /** Gives a request back. Has no effect once the minute of the lease is over. */
  refund(subject: string, lease: Lease): void;
  /** Call it after `take`. */
  state(subject: string, limit: number): LimitState;
  /** The state of any subject, without counting. */
  read(subject: string, limit: number): Promise<LimitState>;
  /** Returns the unused rest of all leases. */
  close(): Promise<void>;
  /** Deletes quotas whose requests are older than an hour. */
  purge(): Promise<void>;
}

/** The leases of this server. */
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
    subject.renewal ??= renewLease(name, subject, limit).finally(() => {
      subject.renewal = null;
    });
    return subject.renewal.then(() => take(name, limit));
  }

  async function renewLease(name: string, subject: Subject, limit: number): Promise<void> {
    const wanted = Math.max(1, Math.floor(limit / 100));
    subject.lease = await writeLease(name, subject.lease, limit, wanted);
  }

  /** Returns the rest of the previous lease, and writes a new one of at most `wanted` requests. */
  function writeLease(name: string, previous: Lease | null, limit: number, wanted: number): Promise<Lease> {
    return database.transaction(async (tx) => {
      const queries = sqliteQuotaQueries(tx);
      const now = clock.now();
      const minute = minuteOf(now);
      await queries.insert(name);
      const uses = recentUses(await queries.findUses(name), minute);
      if (previous !== null && uses.has(previous.minute)) {
        uses.set(previous.minute, (uses.get(previous.minute) ?? 0) - previous.left);
      }
      const used = [...uses.values()].reduce((sum, count) => sum + count, 0);
      const left = Math.max(0, Math.min(wanted, limit - used));
      uses.set(minute, (uses.get(minute) ?? 0) + left);
      const counted = [...uses].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
      const endsAt = timestamp((minute + minutesCounted) * minuteMs);
      await queries.updateUses(name, JSON.stringify(Object.fromEntries(counted)), endsAt);
      return {
        minute,
        limit,
        left,
        beyond: Math.max(0, limit - used - left),
        freedAt: (minuteFreeing(counted, used + left - limit) + minutesCounted) * minuteMs,
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

    async read(name, limit) {
      const now = clock.now();
      const uses = recentUses(await sqliteQuotaQueries(database).findUses(name), minuteOf(now));
      const lease = subjects.get(name)?.lease ?? null;
      const left = lease !== null && uses.has(lease.minute) ? lease.left : 0;
      const used = [...uses.values()].reduce((sum, count) => sum + count, -left);
      const counted = [...uses].sort(([a], [b]) => a - b);
      const freedAt = (minuteFreeing(counted, Math.max(0, used - limit)) + minutesCounted) * minuteMs;
      return hourState(limit, Math.max(0, limit - used), used === 0 ? 0 : Math.max(0, freedAt - now));
    },

    async close() {
      const writes = [...subjects.entries()].map(async ([name, { lease }]) => {
        if (lease !== null && lease.left > 0) {
          await writeLease(name, lease, lease.limit, 0);
        }
      });
      // If the database cannot be reached, callers lose the rest of their leases: the server still has to stop.
      await Promise.allSettled(writes);
    },

    async purge() {
      const now = clock.now();
      const latest = timestamp(now + 2 * minutesCounted * minuteMs);
      await purgeInSlices(database, (limit) =>
        sqliteQuotaQueries(database).deletePast(timestamp(now), latest, limit),
      );
    },
  };
}

/** The counted requests by minute. */
function recentUses(stored: string | undefined, minute: number): Map<number, number> {
  const uses = Object.entries(JSON.parse(stored ?? '{}') as Record<string, number>);
  return new Map(
    uses
      .map(([key, count]) => [Number(key), count] as const)
      // Requests more than an hour ahead were counted while the clock was ahead.
      .filter(([key]) => Math.abs(key - minute) < minutesCounted),
  );
}

/** The minute after which more than `excess` of the counted requests, which are in order, will be older than an hour. */
function minuteFreeing(
  counted: readonly (readonly [minute: number, count: number])[],
  excess: number,
): number {
  let freed = 0;
  for (const [minute, count] of counted) {
    freed += count;
    if (freed > excess) {
      return minute;
    }
  }
  return counted.at(-1)?.[0] ?? 0;
}
