/**
 * Wakes what waits for new events: long polls and streams. On SQLite, a commit of this process wakes them; for commits of
 * commands, the data version is checked while there is a waiter. On PostgreSQL, each pass sends a notification, and the
 * log is checked every second, because a notification can be lost.
 */
import type { Database } from '../../database/database.ts';
import type { Loops } from '../../jobs/loops.ts';
import { RepeatedWork } from '../../jobs/repeated-work.ts';
import type { Log } from '../../log.ts';
import { eventLogQueries } from '../log-queries.ts';
import { createEventTail, type EventTail, type TailPart } from './tail.ts';

const sqlitePollMs = 100;
const postgresPollMs = 1000;
/** Time between two looks if notifications do not arrive: a pooler in transaction mode swallows them. */
const pollWithoutNotificationsMs = 250;
/** How long the test notification may take. */
const testMs = 1000;
/** The channel that passes notify: migrations name it too. */
const channel = 'curd_events';
/** How long the connection that listens is kept without a waiter. */
const idleMs = 60_000;

interface Waiter {
  readonly after: number;
  readonly end: (isNew: boolean) => void;
}

export class EventHub {
  readonly #database: Database;
  readonly #log: Pick<Log, 'warn'>;
  readonly #tail: EventTail;
  /** Reads new events once for all waiters. */
  readonly #looks: RepeatedWork;
  readonly #stopping = new AbortController();
  readonly #waiters = new Set<Waiter>();
  readonly #stopCommits: () => void;
  #isPolling = false;
  #idle: NodeJS.Timeout | undefined;
  #stopListening: Promise<() => Promise<void>> | null = null;
  #test: NodeJS.Timeout | undefined;
  #isWarned = false;

  constructor(database: Database, log: Pick<Log, 'warn'>, loops: Loops) {
    this.#database = database;
    this.#log = log;
    this.#tail = createEventTail(database);
    this.#looks = new RepeatedWork({
      loops,
      name: 'event.hub',
      everyMs: database.notifies ? postgresPollMs : sqlitePollMs,
      run: () => this.#look(),
    });
    this.#stopCommits = database.onCommit(() => {
      if (this.#waiters.size > 0 && !database.notifies) {
        this.#looks.wake();
      }
    });
  }

  /** Aborted when the server stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The events after a number as of the last look; null if they are not all in memory. */
  tailAfter(sequence: number): TailPart | null {
    return this.#tail.after(sequence);
  }

  /**
   * Waits until the log has a number above `after`, `timeoutMs` is over, the hub stops, or `signal` aborts.
   * @returns whether there are such events
   */
  wait(after: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.stopping.aborted || signal?.aborted) {
      return Promise.resolve(false);
    }
    this.#start();
    return new Promise((resolve) => {
      const end = (isNew: boolean) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiters.delete(waiter);
        this.#pauseWhenIdle();
        resolve(isNew);
      };
      const abort = () => end(false);
      const waiter: Waiter = { after, end };
      const timer = setTimeout(() => end(false), timeoutMs);
      signal?.addEventListener('abort', abort);
      this.#waiters.add(waiter);
      // Events may have come between the read of the caller and now.
      this.#looks.wake();
    });
  }

  /** Ends all waits: the server stops. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#idle);
    this.#stopCommits();
    for (const waiter of this.#waiters) {
      waiter.end(false);
    }
    await this.#pause();
    await this.#looks.stop();
  }

  async #look(): Promise<void> {
    if (this.#waiters.size === 0) {
      return;
    }
    const now = await this.#tail.refresh();
    for (const waiter of this.#waiters) {
      if (now > waiter.after) {
        waiter.end(true);
      }
    }
  }

  #start(): void {
    clearTimeout(this.#idle);
    if (!this.#isPolling) {
      this.#isPolling = true;
      this.#looks.start();
    }
    this.#stopListening ??= this.#listen();
  }

  #pauseWhenIdle(): void {
    if (this.#waiters.size === 0 && !this.stopping.aborted) {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => void this.#pause(), idleMs).unref();
    }
  }

  async #pause(): Promise<void> {
    this.#looks.pause();
    this.#isPolling = false;
    clearTimeout(this.#test);
    this.#tail.clear();
    const stop = this.#stopListening;
    this.#stopListening = null;
    // Fails if the connection was lost with its pool: then there is nothing left to end.
    await (await stop)?.().catch(() => {});
  }

  /** Listens, and sends a notification to find out whether any arrives. */
  async #listen(): Promise<() => Promise<void>> {
    let isHeard = false;
    let isSent = false;
    const stop = await this.#database
      .listen(channel, () => {
        isHeard ||= isSent;
        this.#looks.wake();
      })
      .catch(() => async () => {});
    if (this.#database.notifies && !this.stopping.aborted) {
      isSent = true;
      await eventLogQueries(this.#database)
        .notify(channel)
        .catch(() => {});
      this.#test = setTimeout(() => {
        if (!isHeard && this.#isPolling) {
          this.#pollWithoutNotifications();
        }
      }, testMs).unref();
    }
    return stop;
  }

  #pollWithoutNotifications(): void {
    this.#looks.start(pollWithoutNotificationsMs);
    if (!this.#isWarned) {
      this.#isWarned = true;
      this.#log.warn(
        'PostgreSQL notifications do not arrive, as behind a pooler in transaction mode: events reach streams up to 250 ms later. Connect to PostgreSQL directly, or use a pooler in session mode.',
      );
    }
  }
}
