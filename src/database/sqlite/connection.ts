/** Connections of the embedded engine: their settings, and the start of a transaction. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, unavailable } from '../../errors.ts';
import { restrict } from '../../file-permissions.ts';
import { isBusy, unopenedText } from './sqlite-errors.ts';

/** Another process, such as an import, may have the write lock. Reads are not blocked meanwhile. */
const lockWaitMs = 10_000;

/** Connects to a database file; creates it and its folder when they do not exist. @throws AppError unavailable */
export function createFile(file: string): DatabaseSync {
  restrict(file, `${file}-wal`, `${file}-shm`);
  let what = `The data folder ${dirname(file)} cannot be written`;
  try {
    // The folder is for its owner alone: the database contains shipping addresses of customers.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    what = unopenedText(file);
    return connectToFile(file);
  } catch (error) {
    throw new AppError('unavailable', what, { cause: error });
  }
}

/** Connects to a database file. */
export function connectToFile(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: 0 });
  retryWhileBusy(() => connection.exec('pragma journal_mode = wal'));
  // FULL: a commit returns when the log is on disk, so a write that has resolved survives a power cut.
  connection.exec(`
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma secure_delete = on;
    pragma cache_size = -10000;
    pragma wal_autocheckpoint = 10000;
    pragma journal_size_limit = 67108864;
  `);
  return connection;
}

/** The switch to WAL locks the database for milliseconds, and a second process may start meanwhile. */
function retryWhileBusy(step: () => void): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      step();
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === 100) {
        throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

/** Begins a transaction that writes. @throws AppError unavailable when another process has the lock for long */
export async function beginWrite(connection: DatabaseSync): Promise<void> {
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    try {
      connection.exec('begin immediate');
      return;
    } catch (error) {
      if (!isBusy(error)) {
        throw error;
      }
      if (performance.now() > deadline) {
        throw unavailable('Another process is writing to the database. Try again shortly.', 1, error);
      }
      await sleep(2);
    }
  }
}
