/**
 * Notes beside an SQLite database where its event log ends, so that a start notices an older database: a server that was
 * killed leaves changes in the write-ahead log, and SQLite opens a database without this file as if nothing were missing.
 */
import type { App } from '../../app/build-app.ts';
import { commandName } from '../../command-name.ts';
import type { ServerLock } from '../../database/sqlite/server-lock.ts';
import { readLogState } from '../../event-log/reading/log-reader.ts';
import type { LogState } from '../../event-log/reading/positions.ts';
import { RepeatedWork } from '../../jobs/repeated-work.ts';

const notedMs = 1000;

interface Noted {
  readonly epoch: string;
  readonly last: number;
}

/** Whether changes are missing. A restored or copied database has an epoch that no server has noted. */
function isOlder({ last, epochs }: LogState, before: Noted): boolean {
  const newest = epochs.at(-1);
  if (newest?.name === before.epoch) {
    return last < before.last;
  }
  const isReplaced = newest?.cause === 'restored' || newest?.cause === 'copied';
  return !isReplaced && !epochs.some(({ name }) => name === before.epoch);
}

/** Warns if the database is older than what the last server noted, and notes the position every second from now on. */
export async function noteLogPosition(
  { database, config, log, loops }: App,
  lock: ServerLock,
): Promise<void> {
  const before: Noted | null = lock.note === null ? null : JSON.parse(lock.note);
  const state = await readLogState(database);
  const { last } = state;
  if (before !== null && isOlder(state, before)) {
    const { file } = config.database as { file: string };
    log.error(
      { last, lastBefore: before.last },
      `The database is older than at the end of the last server: its event log ends at ${last} and ended at ${before.last}. Changes since are missing, and their ids will be given again. Such changes were in ${file}-wal: this file was deleted, or the database was copied without it. If you need them, stop the server and restore a backup ("${commandName} restore"). "${commandName} doctor" checks what is there.`,
    );
  }
  let stamp: number | null = null;
  const work = new RepeatedWork({
    loops,
    name: 'log.position',
    everyMs: notedMs,
    run: async () => {
      const now = database.dataVersion();
      if (now !== stamp) {
        const { last: end, epochs } = await readLogState(database);
        const noted: Noted = { epoch: epochs.at(-1)?.name ?? '', last: end };
        lock.write(JSON.stringify(noted));
        stamp = now;
      }
    },
  });
  work.start();
}
