/**
 * Wakes what waits for new events: long polls and streams. On SQLite, a commit of this process wakes them; for commits of
 * commands, the data version is checked while there is a waiter. On PostgreSQL, each pass sends a notification, and the
 * log is checked every second, because a notification can be lost.
 */
import type { Database } from '../../database/database.ts';
import type { Log } from '../../log.ts';
import { eventLogQueries } from '../log-queries.ts';
import { createEventTail, type TailPart } from './tail.ts';

const sqlitePollMs = 100;
const postgresPollMs = 1000;
/** Where notifications do not arrive: a pooler in transaction mode swallows them. */
const pollWithoutNotificationsMs = 250;
/** How long the test notification may take. */
const testMs = 1000;
/** The channel that passes notify: migrations name it too. */
const channel = 'curd_events';
/** How long the connection that listens is kept without a waiter. */
const idleMs = 60_000;

export interface EventHub {
  /**
   * Waits until the log has a number above `after`, `timeoutMs` is over, the hub stops, or `signal` aborts.
   * @returns whether there are such events
   */
  wait(after: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** The events after a number as of the last look; null where they are not all in memory. */
  tailAfter(sequence: number): TailPart | null;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  isStopped(): boolean;
  /** Ends all waits: the server stops. */
  stop(): Promise<void>;
}

interface Waiter {
  readonly after: number;
  readonly end: (isNew: boolean) => void;
}

export function createEventHub(database: Database, log: Pick<Log, 'warn'>): EventHub {
  const tail = createEventTail(database);
  const stopping = new AbortController();
  const waiters = new Set<Waiter>();
  let isStopped = false;
  let poll: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let isLookDue = false;
  let version: number | null = null;
  let stopListening: Promise<() => Promise<void>> | null = null;
  let test: NodeJS.Timeout | undefined;
  let isWarned = false;

  /** Reads new events once for all waiters. */
  function look(): void {
    isLookDue = true;
    looking ??= (async () => {
      while (isLookDue && waiters.size > 0) {
        isLookDue = false;
        const now = await tail.refresh();
        for (const waiter of waiters) {
          if (now > waiter.after) {
            waiter.end(true);
          }
        }
      }
    })()
      // The next look tries again.
      .catch(() => {})
      .finally(() => {
        looking = null;
      });
  }

  const stopCommits = database.onCommit(() => {
    if (waiters.size > 0 && !database.notifies) {
      look();
    }
  });

  function pollEvery(intervalMs: number): NodeJS.Timeout {
    return setInterval(() => {
      const now = database.dataVersion();
      if (now === null || now !== version) {
        version = now;
        look();
      }
    }, intervalMs).unref();
  }

  function start(): void {
    clearTimeout(idle);
    poll ??= pollEvery(database.notifies ? postgresPollMs : sqlitePollMs);
    stopListening ??= listen();
  }

  /** Listens, and sends a notification to find out whether any arrives. */
  async function listen(): Promise<() => Promise<void>> {
    let isHeard = false;
    let isSent = false;
    const stop = await database
      .listen(channel, () => {
        isHeard ||= isSent;
        look();
      })
      .catch(() => async () => {});
    if (database.notifies && !isStopped) {
      isSent = true;
      await eventLogQueries(database)
        .notify(channel)
        .catch(() => {});
      test = setTimeout(() => {
        if (!isHeard && poll !== undefined) {
          clearInterval(poll);
          poll = pollEvery(pollWithoutNotificationsMs);
          if (!isWarned) {
            isWarned = true;
            log.warn(
              'PostgreSQL notifications do not arrive, as behind a pooler in transaction mode: events reach streams up to 250 ms later. Connect to PostgreSQL directly, or use a pooler in session mode.',
            );
          }
        }
      }, testMs).unref();
    }
    return stop;
  }

  async function pause(): Promise<void> {
    clearInterval(poll);
    clearTimeout(test);
    poll = undefined;
    tail.clear();
    const stop = stopListening;
    stopListening = null;
    // Fails where the connection was lost with its pool: then there is nothing left to end.
    await (await stop)?.().catch(() => {});
  }

  return {
    wait(after, timeoutMs, signal) {
      if (isStopped || signal?.aborted) {
        return Promise.resolve(false);
      }
      start();
      return new Promise((resolve) => {
        const end = (isNew: boolean) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          waiters.delete(waiter);
          if (waiters.size === 0 && !isStopped) {
            clearTimeout(idle);
            idle = setTimeout(() => void pause(), idleMs).unref();
          }
          resolve(isNew);
        };
        const abort = () => end(false);
        const waiter: Waiter = { after, end };
        const timer = setTimeout(() => end(false), timeoutMs);
        signal?.addEventListener('abort', abort);
        waiters.add(waiter);
        // Events may have come between the read of the caller and now.
        look();
      });
    },

    tailAfter: tail.after,
    stopping: stopping.signal,
    isStopped: () => isStopped,

    async stop() {
      isStopped = true;
      stopping.abort();
      clearTimeout(idle);
      stopCommits();
      for (const waiter of waiters) {
        waiter.end(false);
      }
      await pause();
      await looking;
    },
  };
}
