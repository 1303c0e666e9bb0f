/**
 * Runs background jobs whose work is done in the database, when they are due. A handler deletes its jobs and does their
 * work in one transaction, so a crash at any point neither loses a job nor runs it twice, and two workers never run the
 * same one.
 */
import { type Clock, timestamp } from '../clock.ts';
import { commandName } from '../command-name.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Loops } from './loops.ts';
import { type DueJob, type DuePosition, firstDue, type Job, jobQueue } from './queue.ts';
import { RepeatedWork } from './repeated-work.ts';

const pollMs = 250;
/** Most jobs in one transaction, and most jobs of a kind that run at once if each has its own. */
const batchMax = 64;
const retryMs = 1000;
const retryMsMax = 60_000;
const errorLengthMax = 200;
/** See `nextDueAt`. */
const togetherMs = 100;
const maxTime = Date.parse('9999-12-31T23:59:59.999Z');

/** How the jobs of one kind are run. */
export interface JobHandler {
  readonly kind: string;
  /** A job that has failed so often is parked: it is kept with its error and not tried again. */
  readonly attemptsMax: number;
  /** Claims a job with `claim` of the queue, after locking rows that come first in the lock order, and does its work. */
  run(tx: Sql, job: Job): Promise<void>;
  /**
   * Does the work of many jobs in one transaction, which has locked them, and deletes them. It never waits for a row,
   * so the lock order does not concern it: it leaves jobs whose rows others have locked, and these are tried again a
   * moment later. Returns the jobs that must run alone. If it fails, all jobs run alone.
   */
  runBatch?(tx: Sql, jobs: readonly Job[]): Promise<readonly Job[]>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly loops: Loops;
  readonly handlers: readonly JobHandler[];
}

export class JobWorker {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #handlers: readonly JobHandler[];
  readonly #polls: RepeatedWork;
  #running: Promise<void> = Promise.resolve();
  #done = 0;

  constructor({ database, clock, log, loops, handlers }: Dependencies) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
    this.#handlers = handlers;
    this.#polls = new RepeatedWork({
      loops,
      name: 'job.worker',
      everyMs: pollMs,
      run: () => this.#poll(),
      onError: (error) => log.error({ err: error }, 'due jobs could not be read; it is tried again'),
    });
  }

  /** Looks for due jobs four times a second from now on. */
  start(): void {
    this.#polls.start();
  }

  /** Looks for no more jobs, and waits for those that run. */
  async stop(): Promise<void> {
    await this.#polls.stop();
    await this.#running;
  }

  /**
   * Runs all jobs that are due now, also while the clock is being moved. A run begins when the one before has ended.
   * @param mayContinue asked before each transaction
   */
  run(mayContinue = () => true): Promise<void> {
    const next = this.#running.then(async () => {
      await Promise.all(this.#handlers.map((handler) => this.#runKind(handler, mayContinue)));
    });
    this.#running = next.catch(() => {});
    return next;
  }

  /**
   * The time at which the next jobs after a time can run: those that are due within a tenth of a second run together,
   * because looking for due jobs four times a second delays them more. null without one.
   */
  async nextDueAt(after: number): Promise<number | null> {
    const first = Math.min(...(await this.#dueTimes(after, maxTime)).map((row) => Date.parse(row.first)));
    if (first === Infinity) {
      return null;
    }
    const together = await this.#dueTimes(after, first + togetherMs);
    return Math.max(first, ...together.map((row) => Date.parse(row.last)));
  }

  /** How many due jobs this process has seen since its start. */
  done(): number {
    return this.#done;
  }

  async #poll(): Promise<void> {
    await this.#clock.refresh();
    if (!this.#clock.isAdvancing()) {
      await this.run();
    }
  }

  async #runKind(handler: JobHandler, mayContinue: () => boolean): Promise<void> {
    const { kind } = handler;
    // Most of the times nothing is due: then no transaction is needed.
    const [first] = await jobQueue(this.#database).listDue(kind, this.#now(), firstDue, 1);
    let last: DuePosition | undefined = first === undefined ? undefined : firstDue;
    while (last !== undefined && !this.#polls.isStopped && mayContinue()) {
      const { due, alone } = await this.#runTogether(handler, last);
      // They run in parallel: on SQLite the transactions share a commit.
      await Promise.all(alone.map((job) => this.#runAlone(handler, job)));
      this.#done += due.length;
      // Jobs that were left do not come again in this run, however many they are.
      last = due.length === batchMax ? due.at(-1) : undefined;
    }
  }

  /** Runs the first due jobs after a position. Returns them, and those that must run alone. */
  async #runTogether(
    { kind, runBatch }: JobHandler,
    after: DuePosition,
  ): Promise<{ due: readonly DueJob[]; alone: readonly Job[] }> {
    const now = this.#now();
    if (runBatch === undefined) {
      const due = await jobQueue(this.#database).listDue(kind, now, after, batchMax);
      return { due, alone: due };
    }
    let due: readonly DueJob[] = [];
    try {
      return await this.#database.transaction(async (tx) => {
        due = [];
        due = await jobQueue(tx).lockDue(kind, now, after, batchMax);
        // A job that failed would probably fail its batch.
        const failed = due.filter(({ attempts }) => attempts > 0);
        const others = due.filter(({ attempts }) => attempts === 0);
        return { due, alone: [...failed, ...(others.length > 0 ? await runBatch(tx, others) : [])] };
      });
    } catch (error) {
      if (due.length === 0) {
        throw error;
      }
      this.#log.warn(
        { err: error, kind, jobs: due.length },
        'a batch of jobs failed; each of them is run alone',
      );
      return { due, alone: due };
    }
  }

  async #runAlone(handler: JobHandler, job: Job): Promise<void> {
    try {
      await this.#database.transaction((tx) => handler.run(tx, job));
    } catch (error) {
      await this.#recordFailure(handler, job, error);
    }
  }

  async #recordFailure({ kind, attemptsMax }: JobHandler, job: Job, failure: unknown): Promise<void> {
    const { key, attempts } = job;
    const isLast = attempts + 1 >= attemptsMax;
    const message = isLast
      ? `a job failed too often and was parked; "${commandName} doctor" says what to do`
      : 'a job failed; it is tried again later';
    this.#log.error({ err: failure, kind, key, attempts: attempts + 1 }, message);
    const now = this.#clock.now();
    const error = failure instanceof Error ? failure.message : String(failure);
    try {
      await jobQueue(this.#database).recordFailure(kind, job, {
        dueAt: timestamp(now + Math.min(retryMsMax, retryMs * 2 ** attempts)),
        error: error.slice(0, errorLengthMax),
        parkedAt: isLast ? timestamp(now) : null,
      });
    } catch (err) {
      this.#log.error({ err, kind, key }, 'the failure of a job could not be stored; the job stays due');
    }
  }

  /** When the first and the last job of each kind in a period are due, of the kinds that have some. */
  async #dueTimes(after: number, until: number): Promise<{ first: string; last: string }[]> {
    const [from, to] = [timestamp(after), timestamp(until)];
    const rows = await Promise.all(
      this.#handlers.map(({ kind }) => jobQueue(this.#database).findDueTimes(kind, from, to)),
    );
    return rows.flatMap((row) => (row?.first && row.last ? [{ first: row.first, last: row.last }] : []));
  }

  #now(): string {
    return timestamp(this.#clock.now());
  }
}
