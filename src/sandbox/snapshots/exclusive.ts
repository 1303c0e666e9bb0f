/** Resets, copies and restores of a shop run one at a time, on all instances. */
import { systemClock, timestamp } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { testStateQueries } from '../queries.ts';

/** How long the next work is refused after a server was killed. Longer work still runs one at a time in the database. */
const busyMs = 60_000;

export type RunExclusively = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs work unless other work runs. The time is that of the machine, because the clock of the shop
 * goes back with a restore.
 */
export function createExclusive(database: Database): RunExclusively {
  const queries = testStateQueries(database);
  /** The work of this process. On SQLite, the next one would wait for the database to learn of it. */
  let isBusy = false;
  return async (work) => {
    const now = systemClock.now();
    const until = timestamp(now + busyMs);
    if (isBusy) {
      throw busy();
    }
    isBusy = true;
    try {
      if ((await queries.markBusy(timestamp(now), until)) === 0) {
        throw busy();
      }
      try {
        return await work();
      } finally {
        await queries.markIdle(until);
      }
    } finally {
      isBusy = false;
    }
  };
}

function busy(): AppError {
  return new AppError(
    'conflict',
    'The shop is being reset, copied or restored. Wait until that has ended, and send the request again.',
  );
}
