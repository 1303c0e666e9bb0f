/**
 * Runs background jobs of one kind under leases: a transaction claims them, their work runs outside of any transaction,
 * and its result is stored in a second one. Lanes are taken in turn, so a lane with many due jobs delays no other.
 *
 * States of a lane:
 *
 *   idle      Four times a second, and when something wakes the worker, a look finds lanes with due jobs: -> claiming.
 *   claiming  A claim runs (#claims). -> idle when it has leased jobs, -> delayed when it found none or failed.
 *   outdated  Claiming, and woken since (#outdated): the claim may not have seen new jobs. -> idle, and a look at once.
 *   delayed   No claim for a second (#delays). -> idle afterwards, or when the lane is woken.
 *
 * Jobs that were leased run in any of these states (#runs), and wake their lane when they end.
 */
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { LeaseResults } from './lease-results.ts';
import { watchLeases } from './lease-watch.ts';
import { type JobLease, type LeasedAttempt, leasedJobs } from './leases.ts';
import type { Loops } from './loops.ts';
import { RepeatedWork } from './repeated-work.ts';

const pollMs = 250;
/** Most jobs of the kind that run at once in this process. */
const runningMax = 64;
/** Wait before the next attempt for a lane in which nothing could be claimed, or whose claim failed. */
const laneDelayMs = 1000;
/** How often leases are renewed, and those of others are read, within the time after which they end. */
const renewalsOfLease = 5;

export interface LeaseHandler<Work extends LeasedAttempt, Result> {
  readonly kind: string;
  /** Most jobs of a lane that run at once. */
  readonly laneMax: number;
  /** A lease that was not renewed for so long is ended. */
  readonly leaseMs: number;
  /**
   * Leases at most `max` jobs of a lane in a transaction, none if none may run now.
   * @param onLease called with the time of the lease, before the commit
   */
  claim(lane: string, max: number, onLease: (now: number) => void): Promise<readonly Work[]>;
  run(work: Work): Promise<Result>;
  /** Stores a result in a transaction, again after a failure: whether that was committed is not known. */
  store(work: Work, result: Result): Promise<void>;
}

interface Dependencies<Work extends LeasedAttempt, Result> {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly loops: Loops;
  readonly handler: LeaseHandler<Work, Result>;
}

export class LeaseWorker<Work extends LeasedAttempt, Result> {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Pick<Log, 'warn' | 'error'>;
  readonly #handler: LeaseHandler<Work, Result>;
  readonly #results: LeaseResults<Work, Result>;
  readonly #looks: RepeatedWork;
  readonly #renewals: RepeatedWork;
  readonly #findAbandoned: (leases: readonly JobLease[]) => JobLease[];
  readonly #claims = new Map<string, Promise<void>>();
  readonly #runs = new Map<Work, Promise<void>>();
  /** Lanes that are not tried before a time. */
  readonly #delays = new Map<string, number>();
  /** Lanes that were woken while a claim runs. The claim may have missed the new jobs, so another one follows. */
  readonly #outdated = new Set<string>();
  /** Jobs that run or may be claimed by a claim that runs. */
  #taken = 0;
  #lastLane = '';
  /** Whether jobs may be claimed while the clock is being moved. */
  #mayClaim = () => false;
  #renewalCount = 0;

  constructor({ database, clock, log, loops, handler }: Dependencies<Work, Result>) {
    const { kind, leaseMs } = handler;
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
    this.#handler = handler;
    this.#findAbandoned = watchLeases(leaseMs);
    this.#results = new LeaseResults({
      store: (work, result) => handler.store(work, result),
      release: async ({ lane, leaseEnd }) => {
        await leasedJobs(database).release({ kind, lane }, leaseEnd, clock.now());
      },
    });
    this.#looks = new RepeatedWork({
      loops,
      name: kind,
      everyMs: pollMs,
      run: async (isStopped) => {
        try {
          await this.#look(isStopped);
        } catch (error) {
          this.#results.interrupt();
          throw error;
        }
      },
      onError: (error) => log.error({ err: error, kind }, 'due jobs could not be read; it is tried again'),
    });
    this.#renewals = new RepeatedWork({
      loops,
      name: `${kind}.leases`,
      everyMs: leaseMs / renewalsOfLease,
      run: () => this.#renewAndWatch(),
    });
  }

  /** Looks for due jobs four times a second from now on. */
  start(): void {
    for (const work of [this.#looks, this.#renewals]) {
      work.start();
      work.wake();
    }
  }

  /** Looks for due jobs now: some were added to this lane, or its jobs may run again. */
  wake(lane: string): void {
    this.#delays.delete(lane);
    if (this.#claims.has(lane)) {
      this.#outdated.add(lane);
    }
    this.#looks.wake();
  }

  /** Claims no more jobs, and waits for those that run. */
  async stop(): Promise<void> {
    await this.#looks.stop();
    await this.#finish();
    await this.#renewals.stop();
  }

  /**
   * Runs all jobs that are due now and may run, also while the clock is being moved.
   * @param mayContinue asked before jobs are claimed
   */
  async run(mayContinue = () => true): Promise<void> {
    this.#delays.clear();
    this.#mayClaim = mayContinue;
    this.#looks.wake();
    await this.#finish();
    this.#mayClaim = () => false;
  }

  async #finish(): Promise<void> {
    while (this.#looks.running !== null || this.#claims.size > 0 || this.#runs.size > 0) {
      await Promise.all([this.#looks.running, ...this.#claims.values(), ...this.#runs.values()]);
    }
  }

  /** Begins claims for lanes with due jobs. */
  async #look(isStopped: () => boolean): Promise<void> {
    const { kind, laneMax } = this.#handler;
    await this.#results.recover();
    await this.#clock.refresh();
    if (this.#clock.isAdvancing() && !this.#mayClaim()) {
      return;
    }
    const lanes = inTurn(await this.#listClaimableLanes(kind), this.#lastLane);
    for (const [index, lane] of lanes.entries()) {
      const free = runningMax - this.#taken;
      if (free <= 0 || isStopped()) {
        return;
      }
      this.#lastLane = lane;
      const share = Math.ceil(free / (lanes.length - index));
      this.#claims.set(lane, this.#claim(lane, Math.min(share, laneMax)));
    }
  }

  async #listClaimableLanes(kind: string): Promise<string[]> {
    const now = performance.now();
    for (const [lane, until] of this.#delays) {
      if (until <= now) {
        this.#delays.delete(lane);
      }
    }
    return (await leasedJobs(this.#database).listDueLanes(kind, this.#clock.now()))
      .map(({ lane }) => lane)
      .filter((lane) => !this.#claims.has(lane) && !this.#delays.has(lane));
  }

  async #claim(lane: string, max: number): Promise<void> {
    this.#taken += max;
    const claimed = await this.#tryClaim(lane, max);
    this.#taken -= max - claimed.length;
    this.#claims.delete(lane);
    if (this.#outdated.delete(lane)) {
      this.#looks.wake();
    } else if (claimed.length === 0) {
      this.#delays.set(lane, performance.now() + laneDelayMs);
    }
    for (const work of claimed) {
      this.#runs.set(
        work,
        this.#run(lane, work).finally(() => this.#runs.delete(work)),
      );
    }
  }

  async #tryClaim(lane: string, max: number): Promise<readonly Work[]> {
    const { kind, leaseMs } = this.#handler;
    let leasedAt: number | undefined;
    try {
      return await this.#handler.claim(lane, max, (now) => {
        leasedAt = now;
      });
    } catch (error) {
      this.#results.interrupt(leasedAt === undefined ? undefined : { lane, leaseEnd: leasedAt + leaseMs });
      this.#log.error({ err: error, kind, lane }, 'jobs could not be claimed; it is tried again');
      return [];
    }
  }

  async #run(lane: string, work: Work): Promise<void> {
    try {
      await this.#results.store(work, await this.#handler.run(work), () => this.#looks.isStopped);
    } catch (error) {
      const { kind } = this.#handler;
      this.#log.error({ err: error, kind, lane }, 'a job failed; it is tried again when its lease has ended');
    }
    this.#taken -= 1;
    this.wake(lane);
  }

  /** Renews the leases of the jobs of this process, and ends leases that another process no longer renews. */
  async #renewAndWatch(): Promise<void> {
    const { kind, leaseMs } = this.#handler;
    const running = [...this.#runs.keys()].map(({ job }) => job);
    if (running.length > 0) {
      // The end of a lease differs each time, even if the clock does not move.
      this.#renewalCount = (this.#renewalCount + 1) % 1000;
      await leasedJobs(this.#database).renew(kind, running, this.#clock.now() + leaseMs + this.#renewalCount);
    }
    const own = new Map(running.map(({ key, attempts }) => [key, attempts]));
    const abandoned = this.#findAbandoned(await leasedJobs(this.#database).listLeases(kind)).filter(
      ({ key, attempts }) => own.get(key) !== attempts,
    );
    const jobs =
      abandoned.length === 0
        ? 0
        : await leasedJobs(this.#database).endLeases(kind, abandoned, this.#clock.now());
    if (jobs > 0) {
      this.#log.warn({ kind, jobs }, 'a server that ran jobs was stopped; they are run again');
      for (const lane of new Set(abandoned.map((lease) => lease.lane))) {
        this.wake(lane);
      }
    }
  }
}

/** The lanes in order, from the one after the last that had its turn. */
function inTurn(lanes: readonly string[], last: string): string[] {
  return [...lanes.filter((lane) => lane > last), ...lanes.filter((lane) => lane <= last)];
}
