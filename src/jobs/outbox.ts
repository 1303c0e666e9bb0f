/**
 * Sends what waits in a queue to where no transaction reaches: webhook deliveries and mails. An attempt has three parts:
 * `load` begins it in a transaction, under a lease; `send` runs outside of any; `end` stores its result in a second
 * transaction, together with the end of the job or the time of the next attempt. A process that dies in between has sent
 * or not, and another attempt follows when its lease has ended. So what is sent has an id by which the receiver knows it.
 */
import type { Clock } from '../clock.ts';
import { batchCalls } from '../database/batch-calls.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Log } from '../log.ts';
import { LeaseWorker } from './lease-worker.ts';
import { type LeasedAttempt, type LeasedJob, leasedJobs } from './leases.ts';
import type { Loops } from './loops.ts';

/** A process that has not renewed its leases for so long is dead. */
const leaseMs = 10_000;
/** Jobs of a deleted lane that a claim deletes. */
const orphansMax = 500;

/** Calls a function after the commit, once: a transaction can be run again. */
export type AfterCommit = (report: () => void) => void;

/** Leases due jobs. @param runningMax of the lane in all processes */
export type Lease = (
  runningMax: number,
) => Promise<{ readonly jobs: readonly LeasedJob[]; readonly now: number }>;

export interface Loaded<A extends LeasedAttempt> {
  readonly attempts: readonly A[];
  /** Jobs that have nothing to send any more. */
  readonly over: readonly LeasedJob[];
}

export const nothingLoaded = { attempts: [], over: [] };

/** An attempt with its result. */
export interface Finished<A extends LeasedAttempt, Result> {
  readonly attempt: A;
  readonly result: Result;
  /** Whether there is no further attempt. */
  readonly isOver: boolean;
  readonly now: number;
}

/** What an area sends. `Target` is what its lanes lead to, such as an endpoint. */
export interface OutboxContent<A extends LeasedAttempt, Result, Target> {
  readonly kind: string;
  /** Most attempts of a lane at once in a process. */
  readonly laneMax: number;
  /** Whether results of a lane that arrive while others are stored share a transaction, because each locks the target. */
  readonly storesTogether: boolean;
  /**
   * Locks what other claims of the lane lock too, calls `lease` if anything may be sent now, and begins the attempts of
   * the jobs. Jobs that are neither attempted nor over keep their leases until these end. null: the lane was deleted.
   */
  load(tx: Sql, lane: string, lease: Lease, afterCommit: AfterCommit): Promise<Loaded<A> | null>;
  send(attempt: A): Promise<Result>;
  /** When the next attempt follows (retry-schedule.ts), and why. `afterMs` is null if there is none. */
  next(attempt: A, result: Result): { readonly afterMs: number | null; readonly error: string };
  /** What results of a lane lock before the job; null: it was deleted, and results are lost with it. */
  lock(tx: Sql, lane: string): Promise<Target | null>;
  /** Stores a result. Not called if another attempt has begun since. Returns what it has made of the target. */
  end(tx: Sql, target: Target, finished: Finished<A, Result>, afterCommit: AfterCommit): Promise<Target>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly loops: Loops;
}

/** The worker that sends. */
export function createOutbox<A extends LeasedAttempt, Result, Target>(
  { database, clock, log, loops }: Dependencies,
  content: OutboxContent<A, Result, Target>,
): LeaseWorker<A, Result> {
  const { kind, laneMax, storesTogether } = content;
  type Stored = Pick<Finished<A, Result>, 'attempt' | 'result'>;
  const storers = new Map<string, (stored: Stored) => Promise<void>>();

  async function commit<Out>(work: (tx: Sql, afterCommit: AfterCommit) => Promise<Out>): Promise<Out> {
    let reports: (() => void)[] = [];
    const out = await database.transaction((tx) => {
      reports = [];
      return work(tx, (report) => reports.push(report));
    });
    for (const report of reports) {
      report();
    }
    return out;
  }

  function claim(lane: string, max: number, onLease: (now: number) => void): Promise<readonly A[]> {
    return commit(async (tx, afterCommit) => {
      const queue = leasedJobs(tx);
      const lease: Lease = async (runningMax) => {
        const now = clock.now();
        onLease(now);
        return { jobs: await queue.lease({ kind, lane }, { max, runningMax }, now, leaseMs), now };
      };
      const loaded = await content.load(tx, lane, lease, afterCommit);
      if (loaded === null) {
        await queue.deleteLane({ kind, lane }, orphansMax);
        return [];
      }
      for (const job of loaded.over) {
        await queue.end(kind, job);
      }
      return loaded.attempts;
    });
  }

  function storeResults(lane: string, results: readonly Stored[]): Promise<void> {
    return commit(async (tx, afterCommit) => {
      let target = await content.lock(tx, lane);
      for (const { attempt, result } of results) {
        const now = clock.now();
        const { afterMs, error } = content.next(attempt, result);
        if (
          target !== null &&
          (await endJob(tx, attempt.job, afterMs === null ? null : now + afterMs, error))
        ) {
          target = await content.end(
            tx,
            target,
            { attempt, result, isOver: afterMs === null, now },
            afterCommit,
          );
        }
      }
    });
  }

  /** Returns false if the attempt is not the latest one. */
  function endJob(tx: Sql, job: LeasedJob, dueAt: number | null, error: string): Promise<boolean> {
    return dueAt === null ? leasedJobs(tx).end(kind, job) : leasedJobs(tx).postpone(kind, job, dueAt, error);
  }

  function store(attempt: A, result: Result): Promise<void> {
    const { lane } = attempt.job;
    if (!storesTogether) {
      return storeResults(lane, [{ attempt, result }]);
    }
    let storer = storers.get(lane);
    if (storer === undefined) {
      storer = batchCalls(async (results) => {
        await storeResults(lane, results);
        return [];
      });
      storers.set(lane, storer);
    }
    return storer({ attempt, result });
  }

  const handler = { kind, laneMax, leaseMs, claim, run: content.send, store };
  return new LeaseWorker({ database, clock, log, loops, handler });
}
