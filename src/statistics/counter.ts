/**
 * Counts new events every two seconds. A reader that waits for events would cost more: it reads each event after its
 * commit, and on SQLite looks for commits of other processes ten times a second.
 */
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { countPage } from './counting.ts';

const intervalMs = 2000;

export interface StatisticsCounter {
  /** Counts from now on. */
  start(): void;
  /** Counts all events that are in the log now: for tests. */
  run(): Promise<void>;
  /** Ends after the page that is being counted. */
  stop(): Promise<void>;
}

export function createStatisticsCounter(database: Database, log: Pick<Log, 'error'>): StatisticsCounter {
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** At the last count: the database has not changed while it has the same version. */
  let counted: number | null = null;

  async function countRest(): Promise<void> {
    const version = database.dataVersion();
    if (version !== null && version === counted) {
      return;
    }
    while (!isStopped && (await countPage(database)) === 'counted') {}
    counted = version;
  }

  function run(): Promise<void> {
    running ??= countRest()
      .catch((error) => log.error({ err: error }, 'statistics could not be counted; it is tried again'))
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    start() {
      timer ??= setInterval(() => void run(), intervalMs).unref();
    },
    run,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
