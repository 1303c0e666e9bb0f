/**
 * Runs background jobs whose work is done in the database, when they are due. A handler deletes its jobs and does their work in one transaction, so a crash
 * at any point neither loses a job nor runs it twice, and two workers never run the same one.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type Job, jobQueries } from './queries.ts';

const pollMs = 250;
/** Most jobs of a kind that run at once. */
const runningMax = 64;
const retryMs = 1000;
const retryMsMax = 60_000;
const errorLengthMax = 200;

/** How the jobs of one kind are run. */
export interface JobHandler {
  readonly kind: string;
  /** Most jobs in one transaction. If it fails, each of them is run alone. */
  readonly batchMax: number;
  /** A job that has failed so often is parked: it is kept with its error and not tried again. */
  readonly attemptsMax: number;
  /** Claims jobs with `claimJobs`, after locking rows that come first in the lock order, and does their work. */
  run(tx: Sql, jobs: readonly Job[]): Promise<void>;
}

export interface JobWorker {
  /** Looks for due jobs four times a second from now on. */
  start(): void;
  /** Looks for no more jobs, and waits for those that run. */
  stop(): Promise<void>;
  /** Runs all jobs that are due now. */
  run(): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly handlers: readonly JobHandler[];
}

export function createJobWorker({ database, clock, log, handlers }: Dependencies): JobWorker {
  let running: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function runBatch(handler: JobHandler, jobs: readonly Job[]): Promise<void> {
    try {
      await database.transaction((tx) => handler.run(tx, jobs));
    } catch (error) {
      const [job] = jobs;
      if (job !== undefined && jobs.length === 1) {
        await recordFailure(handler, job, error);
      } else {
        await Promise.all(jobs.map((one) => runBatch(handler, [one])));
      }
    }
  }

  async function recordFailure({ kind, attemptsMax }: JobHandler, job: Job, failure: unknown): Promise<void> {
    const { key, attempts } = job;
    const isLast = attempts + 1 >= attemptsMax;
    const message = isLast
      ? 'a job failed too often and was parked; "curd doctor" says what to do'
      : 'a job failed; it is tried again later';
    log.error({ err: failure, kind, key, attempts: attempts + 1 }, message);
    const now = clock.now();
    const error = failure instanceof Error ? failure.message : String(failure);
    try {
      await jobQueries(database).recordFailure(kind, job, {
        dueAt: timestamp(now + Math.min(retryMsMax, retryMs * 2 ** attempts)),
        error: error.slice(0, errorLengthMax),
        parkedAt: isLast ? timestamp(now) : null,
      });
    } catch (err) {
      log.error({ err, kind, key }, 'the failure of a job could not be stored; the job stays due');
    }
  }

  async function runKind(handler: JobHandler): Promise<void> {
    for (;;) {
      const due = await jobQueries(database).listDue(handler.kind, timestamp(clock.now()), runningMax);
      const batches: Job[][] = [];
      for (let first = 0; first < due.length; first += handler.batchMax) {
        batches.push(due.slice(first, first + handler.batchMax));
      }
      // In parallel: on SQLite the transactions share a commit.
      await Promise.all(batches.map((jobs) => runBatch(handler, jobs)));
      if (due.length < runningMax || isStopped) {
        return;
      }
    }
  }

  async function run(): Promise<void> {
    await Promise.all(handlers.map(runKind));
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = run()
        .catch((error) => log.error({ err: error }, 'due jobs could not be read; it is tried again'))
        .finally(() => {
          if (!isStopped) {
            schedule();
          }
        });
    }, pollMs).unref();
  }

  return {
    start: schedule,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
    run,
  };
}
