/**
 * The hourly quota on SQLite. It is renewed as requests become older than an hour: they are counted by the minute in the
 * database, and never more than the quota within any 3,600 seconds, even if the server is restarted or killed.
 *
 * A server stores what it may let through in advance. For the current minute, it takes a share of a hundredth of the quota at a
 * time, and returns the unused rest when it renews the share. So most requests write nothing; a crash can cost a caller
 * up to a hundredth of the quota, and never gives more than the quota.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { createGenerationalCache } from './generational-cache.ts';
import { sqliteQuotaQueries } from './queries.ts';
import { hourState } from './usage-counter.ts';

const minuteMs = 60_000;
/** The current minute and the 60 before it: at least an hour, wherever in the minute it starts. */
const minutesCounted = 61;
/** A subject is forgotten once its requests are older than an hour: its share has expired by then. */
const subjectsMax = 20_000;

/** Requests that one server may let through within a minute without asking the database. */
export interface Share {
  readonly minute: number;
  readonly limit: number;
  left: number;
  /** What remained of the quota beyond the share when it was written. */
  readonly beyond: number;
  /** When more will remain than now, in milliseconds since the epoch. */
  readonly freedAt: number;
}

interface Subject {
  share: Share | null;
  renewal: Promise<void> | null;
}

export type HourlyShares = ReturnType<typeof createHourlyShares>;

/** The shares of this server. */
export function createHourlyShares(database: Database, clock: Clock) {
  const subjects = createGenerationalCache<Subject>(subjectsMax, minutesCounted * minuteMs, clock);
  const minuteOf = (now: number) => Math.floor(now / minuteMs);

  /** Counts a request; null if the quota is used up. */
  function take(name: string, limit: number): MaybePromise<Share | null> {
    const subject = subjects.get(name) ?? subjects.set(name, { share: null, renewal: null });
    const { share } = subject;
    const now = clock.now();
    if (share !== null && share.limit === limit && share.minute === minuteOf(now)) {
      if (share.left > 0) {
        share.left -= 1;
        return share;
      }
      if (share.beyond === 0 && now < share.freedAt) {
        return null;
      }
    }
    subject.renewal ??= renewShare(name, subject, limit).finally(() => {
      subject.renewal = null;
    });
    return subject.renewal.then(() => take(name, limit));
  }

  async function renewShare(name: string, subject: Subject, limit: number): Promise<void> {
    const wanted = Math.max(1, Math.floor(limit / 100));
    subject.share = await writeShare(name, subject.share, limit, wanted);
  }

  /** Returns the rest of the previous share, and writes a new one of at most `wanted` requests. */
  function writeShare(name: string, previous: Share | null, limit: number, wanted: number): Promise<Share> {
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

    /** Gives a request back. Has no effect once the minute of the share is over. */
    refund(name: string, share: Share) {
      if (subjects.get(name)?.share === share && share.minute === minuteOf(clock.now())) {
        share.left += 1;
      }
    },

    /** Call it after `take`. */
    state(name: string, limit: number) {
      const share = subjects.get(name)?.share ?? null;
      return share === null
        ? hourState(limit, limit, 0)
        : hourState(limit, share.left + share.beyond, Math.max(0, share.freedAt - clock.now()));
    },

    /** The state of any subject, without counting. */
    async read(name: string, limit: number) {
      const now = clock.now();
      const uses = recentUses(await sqliteQuotaQueries(database).findUses(name), minuteOf(now));
      const share = subjects.get(name)?.share ?? null;
      const left = share !== null && uses.has(share.minute) ? share.left : 0;
      const used = [...uses.values()].reduce((sum, count) => sum + count, -left);
      const counted = [...uses].sort(([a], [b]) => a - b);
      const freedAt = (minuteFreeing(counted, Math.max(0, used - limit)) + minutesCounted) * minuteMs;
      return hourState(limit, Math.max(0, limit - used), used === 0 ? 0 : Math.max(0, freedAt - now));
    },

    /** Returns the unused rest of all shares. */
    async close() {
      const writes = [...subjects.entries()].map(async ([name, { share }]) => {
        if (share !== null && share.left > 0) {
          await writeShare(name, share, share.limit, 0);
        }
      });
      // If the database cannot be reached, callers lose the rest of their shares: the server still has to stop.
      await Promise.allSettled(writes);
    },

    /** Deletes quotas whose requests are older than an hour. */
    async purge() {
      const now = clock.now();
      const latest = timestamp(now + 2 * minutesCounted * minuteMs);
      await purgeInSlices(database, (tx, limit) =>
        sqliteQuotaQueries(tx).deletePast(timestamp(now), latest, limit),
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
