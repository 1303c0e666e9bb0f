/**
 * Runs background jobs of one kind under leases: a transaction claims them, their work runs outside of any transaction,
 * and its result is stored in a second one. Lanes are taken in turn, so a lane with many due jobs delays no other.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { watchLeases } from './lease-watch.ts';
import { endLeases, type LeasedJob, listDueLanes, listLeases, releaseLeases, renewLeases } from './leases.ts';

const pollMs = 250;
/** Most jobs of the kind that run at once in this process. */
const runningMax = 64;
/** A lane where nothing could be claimed, or whose claim failed, is not tried again for so long. */
const laneDelayMs = 1000;
/** How often leases are renewed, and those of others are read, within the time after which they end. */
const renewalsOfLease = 5;
/** Wait after a result that could not be stored. */
const storeRetryMs = 500;
/** How long a result is stored again, and may have to be once more. */
const storeMs = 60_000;
/** Most stored results that are kept. */
const recentMax = 256;

/** What a claim has leased. */
export interface LeasedWork {
  readonly job: LeasedJob;
}

export interface LeaseHandler<Work extends LeasedWork, Result> {
  readonly kind: string;
  /** Most jobs of a lane that run at once. */
  readonly laneMax: number;
  /** A lease that was not renewed for so long is ended. */
  readonly leaseMs: number;
  /**
   * Leases at most `max` jobs of a lane in a transaction, none where none may run now.
   * @param onLease called with the time of the lease, before the commit
   */
  claim(lane: string, max: number, onLease: (now: number) => void): Promise<readonly Work[]>;
  run(work: Work): Promise<Result>;
  /** Stores a result in a transaction, again after a failure: whether that was committed is not known. */
  store(work: Work, result: Result): Promise<void>;
}

export interface LeaseWorker {
  /** Looks for due jobs four times a second from now on. */
  start(): void;
  /** Looks for due jobs now: some were added to this lane, or its jobs may run again. */
  wake(lane: string): void;
  /** Claims no more jobs, and waits for those that run. */
  stop(): Promise<void>;
  /**
   * Runs all jobs that are due now and may run, also while the clock is being moved.
   * @param mayContinue asked before jobs are claimed
   */
  run(mayContinue?: () => boolean): Promise<void>;
}

interface Dependencies<Work extends LeasedWork, Result> {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly handler: LeaseHandler<Work, Result>;
}

export function createLeaseWorker<Work extends LeasedWork, Result>({
  database,
  clock,
  log,
  handler,
}: Dependencies<Work, Result>): LeaseWorker {
  const { kind, laneMax, leaseMs } = handler;
  const claims = new Map<string, Promise<number>>();
  const runs = new Map<Work, Promise<void>>();
  const findAbandoned = watchLeases(leaseMs);
  /** Lanes that are not tried before a time. */
  const delays = new Map<string, number>();
  /** Lanes with a claim that runs, and that may not have seen why another one would find more. */
  const outdated = new Set<string>();
  /** Claims that failed: if they were committed all the same, nothing runs their jobs. */
  const doubtful = new Set<{ readonly lane: string; readonly leaseEnd: number }>();
  /** Jobs that run or may be claimed by a claim that runs. */
  let taken = 0;
  /** Results that were stored, the newest last: a standby that replaces the primary may lack them. */
  const recent: { readonly work: Work; readonly result: Result; readonly at: number }[] = [];
  /** Whether the database was unavailable since they were stored. */
  let isInterrupted = false;
  let lastLane = '';
  let looking: Promise<void> | null = null;
  let isLookDue = false;
  let isStopped = false;
  /** Whether jobs may be claimed while the clock is being moved. */
  let mayClaim = () => false;
  let poll: NodeJS.Timeout | undefined;
  let renewals = 0;
  let tending: Promise<void> | null = null;
  let tendTimer: NodeJS.Timeout | undefined;

  async function claim(lane: string, max: number): Promise<number> {
    taken += max;
    let claimed: readonly Work[] = [];
    let leasedAt: number | undefined;
    try {
      claimed = await handler.claim(lane, max, (now) => {
        leasedAt = now;
      });
    } catch (error) {
      isInterrupted = true;
      if (leasedAt !== undefined) {
        doubtful.add({ lane, leaseEnd: leasedAt + leaseMs });
      }
      log.error({ err: error, kind, lane }, 'jobs could not be claimed; it is tried again');
    }
    taken -= max - claimed.length;
    claims.delete(lane);
    if (outdated.delete(lane)) {
      wake();
    } else if (claimed.length === 0) {
      delays.set(lane, performance.now() + laneDelayMs);
    }
    for (const work of claimed) {
      runs.set(
        work,
        runOne(lane, work).finally(() => runs.delete(work)),
      );
    }
    return claimed.length;
  }

  async function runOne(lane: string, work: Work): Promise<void> {
    try {
      await store(work, await handler.run(work));
    } catch (error) {
      log.error({ err: error, kind, lane }, 'a job failed; it is tried again when its lease has ended');
    }
    taken -= 1;
    wakeLane(lane);
  }

  /** The database may be unavailable for a moment. Without its result, the work would be done again. */
  async function store(work: Work, result: Result): Promise<void> {
    const deadline = performance.now() + storeMs;
    for (;;) {
      try {
        await handler.store(work, result);
        recent.push({ work, result, at: performance.now() });
        recent.splice(0, recent.length - recentMax);
        return;
      } catch (error) {
        isInterrupted = true;
        if (isStopped || performance.now() + storeRetryMs > deadline) {
          throw error;
        }
        await sleep(storeRetryMs);
      }
    }
  }

  /** Repeats writes that the database may lack after it was unavailable. Otherwise leases of jobs that nothing runs would have to end first. */
  async function recover(): Promise<void> {
    isInterrupted = false;
    const leased = recent.filter(({ at }) => performance.now() - at < storeMs);
    await Promise.all(leased.map(({ work, result }) => handler.store(work, result)));
    for (const one of doubtful) {
      await releaseLeases(database, { kind, lane: one.lane }, one.leaseEnd, clock.now());
      doubtful.delete(one);
    }
  }

  /** Renews the leases of jobs that run here, and ends those of processes that do so no more. */
  async function renewAndWatch(): Promise<void> {
    const running = [...runs.keys()].map(({ job }) => job);
    if (running.length > 0) {
      // Different each time, even where the clock stands still.
      renewals = (renewals + 1) % 1000;
      await renewLeases(database, kind, running, clock.now() + leaseMs + renewals);
    }
    const own = new Map(running.map(({ key, attempts }) => [key, attempts]));
    const abandoned = findAbandoned(await listLeases(database, kind)).filter(
      ({ key, attempts }) => own.get(key) !== attempts,
    );
    const jobs = abandoned.length === 0 ? 0 : await endLeases(database, kind, abandoned, clock.now());
    if (jobs > 0) {
      log.warn({ kind, jobs }, 'a server that ran jobs was stopped; they are run again');
      for (const lane of new Set(abandoned.map((lease) => lease.lane))) {
        wakeLane(lane);
      }
    }
  }

  function tend(): void {
    tending ??= renewAndWatch()
      // The next time tries again.
      .catch(() => {})
      .finally(() => {
        tending = null;
      });
  }

  async function look(): Promise<void> {
    if (isInterrupted) {
      await recover();
    }
    await clock.refresh();
    if (clock.isAdvancing() && !mayClaim()) {
      return;
    }
    const now = performance.now();
    for (const [lane, until] of delays) {
      if (until <= now) {
        delays.delete(lane);
      }
    }
    const due = (await listDueLanes(database, kind, clock.now()))
      .map(({ lane }) => lane)
      .filter((lane) => !claims.has(lane) && !delays.has(lane));
    const inTurn = [...due.filter((lane) => lane > lastLane), ...due.filter((lane) => lane <= lastLane)];
    for (const [index, lane] of inTurn.entries()) {
      const free = runningMax - taken;
      if (free <= 0 || isStopped) {
        return;
      }
      lastLane = lane;
      const share = Math.ceil(free / (inTurn.length - index));
      claims.set(lane, claim(lane, Math.min(share, laneMax)));
    }
  }

  function wakeLane(lane: string): void {
    delays.delete(lane);
    if (claims.has(lane)) {
      outdated.add(lane);
    }
    wake();
  }

  function wake(): void {
    isLookDue = !isStopped;
    looking ??= (async () => {
      while (isLookDue && !isStopped) {
        isLookDue = false;
        await look();
      }
    })()
      .catch((error) => {
        isInterrupted = true;
        log.error({ err: error, kind }, 'due jobs could not be read; it is tried again');
      })
      .finally(() => {
        looking = null;
      });
  }

  async function finish(): Promise<void> {
    while (looking !== null || claims.size > 0 || runs.size > 0) {
      await Promise.all([looking, ...claims.values(), ...runs.values()]);
    }
  }

  return {
    start() {
      poll ??= setInterval(wake, pollMs).unref();
      tendTimer ??= setInterval(tend, leaseMs / renewalsOfLease).unref();
      tend();
      wake();
    },
    wake: wakeLane,
    async stop() {
      isStopped = true;
      clearInterval(poll);
      await finish();
      clearInterval(tendTimer);
      await tending;
    },
    async run(mayContinue = () => true) {
      delays.clear();
      mayClaim = mayContinue;
      wake();
      await finish();
      mayClaim = () => false;
    },
  };
}
