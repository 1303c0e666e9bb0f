/**
 * Stores the results of leased jobs although the database may be unavailable for a moment, and repeats afterwards what
 * it may lack. Otherwise leases of jobs that nothing runs would have to end first.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Wait after a result that could not be stored. */
const storeRetryMs = 500;
/** How long a result is stored again, and may have to be once more. */
const storeMs = 60_000;
/** Most stored results that are kept. */
const recentMax = 256;

/** A claim that failed: if it was committed all the same, nothing runs its jobs. */
export interface DoubtfulClaim {
  readonly lane: string;
  readonly leaseEnd: number;
}

interface Dependencies<Work, Result> {
  /** Stores a result in a transaction, again after a failure: whether that was committed is not known. */
  readonly store: (work: Work, result: Result) => Promise<void>;
  /** Makes the jobs of a claim due. */
  readonly release: (claim: DoubtfulClaim) => Promise<void>;
}

export class LeaseResults<Work, Result> {
  readonly #store: Dependencies<Work, Result>['store'];
  readonly #release: Dependencies<Work, Result>['release'];
  /** Results that were stored, the newest last: a standby that replaces the primary may lack them. */
  readonly #recent: { readonly work: Work; readonly result: Result; readonly at: number }[] = [];
  readonly #doubtful = new Set<DoubtfulClaim>();
  /** Whether the database was unavailable since they were stored. */
  #isInterrupted = false;

  constructor({ store, release }: Dependencies<Work, Result>) {
    this.#store = store;
    this.#release = release;
  }

  /** The database was unavailable. @param claim one that may have been committed all the same */
  interrupt(claim?: DoubtfulClaim): void {
    this.#isInterrupted = true;
    if (claim !== undefined) {
      this.#doubtful.add(claim);
    }
  }

  /** Tries again while the database is unavailable: without its result, the work would be done again. */
  async store(work: Work, result: Result, isStopped: () => boolean): Promise<void> {
    const deadline = performance.now() + storeMs;
    for (;;) {
      try {
        await this.#store(work, result);
        this.#recent.push({ work, result, at: performance.now() });
        this.#recent.splice(0, this.#recent.length - recentMax);
        return;
      } catch (error) {
        this.#isInterrupted = true;
        if (isStopped() || performance.now() + storeRetryMs > deadline) {
          throw error;
        }
        await sleep(storeRetryMs);
      }
    }
  }

  /** Repeats writes that the database may lack, if it was unavailable. */
  async recover(): Promise<void> {
    if (!this.#isInterrupted) {
      return;
    }
    this.#isInterrupted = false;
    const stored = this.#recent.filter(({ at }) => performance.now() - at < storeMs);
    await Promise.all(stored.map(({ work, result }) => this.#store(work, result)));
    for (const claim of this.#doubtful) {
      await this.#release(claim);
      this.#doubtful.delete(claim);
    }
  }
}
