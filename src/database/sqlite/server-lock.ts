/**
 * One server for each SQLite database: a lock that the operating system releases when the process ends, also after
 * SIGKILL. So there is no stale lock, and it does not depend on process ids, which containers reuse. Node has no file
 * locks, but SQLite does: the server keeps a transaction open on an empty second database. Commands open only the real
 * one, so they work beside a server.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../errors.ts';
import { isBusy } from './sqlite-errors.ts';

/**
 * Returns a function that releases the lock; null when another process has it.
 * @param file of the database @throws AppError unavailable
 */
export function lockServer(file: string): (() => void) | null {
  const lockFile = `${file}-server`;
  let connection: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    connection = new DatabaseSync(lockFile, { timeout: 0 });
    connection.exec('begin exclusive');
  } catch (error) {
    connection?.close();
    if (isBusy(error)) {
      return null;
    }
    throw new AppError(
      'unavailable',
      `The lock file of the server, ${lockFile}, cannot be opened: this user must be able to read and write it`,
      { cause: error },
    );
  }
  return () => connection.close();
}
