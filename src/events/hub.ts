/**
 * Wakes what waits for new events: long polls and streams. On SQLite by the commits of this process and, for those of
 * commands, by the data version, looked at while there is a waiter. On PostgreSQL by a notification of each pass, and
 * by a look every second, because a notification can be lost.
 */
import type { Database } from '../database/database.ts';
import { eventLogQueries } from './log-queries.ts';

const sqlitePollMs = 100;
const postgresPollMs = 1000;
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
  isStopped(): boolean;
  /** Ends all waits: the server stops. */
  stop(): Promise<void>;
}

interface Waiter {
  readonly after: number;
  readonly end: (isNew: boolean) => void;
}

export function createEventHub(database: Database): EventHub {
  const waiters = new Set<Waiter>();
  let isStopped = false;
  let poll: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let isLookDue = false;
  let version: number | null = null;
  let stopListening: Promise<() => Promise<void>> | null = null;

  async function last(): Promise<number> {
    return (await eventLogQueries(database).findLog())?.last ?? 0;
  }

  /** Reads the last number once for all waiters. */
  function look(): void {
    isLookDue = true;
    looking ??= (async () => {
      while (isLookDue && waiters.size > 0) {
        isLookDue = false;
        const now = await last();
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
    if (waiters.size > 0 && database.engine === 'sqlite') {
      look();
    }
  });

  function start(): void {
    clearTimeout(idle);
    poll ??= setInterval(
      () => {
        const now = database.dataVersion();
        if (now === null || now !== version) {
          version = now;
          look();
        }
      },
      database.engine === 'sqlite' ? sqlitePollMs : postgresPollMs,
    ).unref();
    stopListening ??= database.listen(channel, look).catch(() => async () => {});
  }

  async function pause(): Promise<void> {
    clearInterval(poll);
    poll = undefined;
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

    isStopped: () => isStopped,

    async stop() {
      isStopped = true;
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
