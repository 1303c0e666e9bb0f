/**
 * Counts new events every two seconds. A reader that waits for events would cost more: it reads each event after its
 * commit, and on SQLite looks for commits of other processes ten times a second.
 */
import type { Database } from '../database/database.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';
import { countPage } from './counting.ts';

const intervalMs = 2000;

export function createStatisticsCounter(database: Database, log: Pick<Log, 'error'>): RepeatedWork {
  /** Version at the last count: the database has not changed while it has the same version. */
  let counted: number | null = null;

  async function countRest(isStopped: () => boolean): Promise<void> {
    const version = database.dataVersion();
    if (version !== null && version === counted) {
      return;
    }
    while (!isStopped() && (await countPage(database)) === 'counted') {}
    counted = version;
  }

  return new RepeatedWork(intervalMs, countRest, (error) =>
    log.error({ err: error }, 'statistics could not be counted; it is tried again'),
  );
}
