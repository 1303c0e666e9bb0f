/**
 * One server for each SQLite database: a lock that the operating system releases when the process ends, however it
 * ends. So there is no stale lock after SIGKILL, and process ids, which containers reuse, play no part. Node has no
 * file locks, but SQLite does: the server keeps a transaction open on an empty database beside the real one. Commands
 * open the real one only, so they work beside a server.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../errors.ts';
import { isBusy } from './sqlite-errors.ts';

/**
 * Returns a function that releases the lock; null where another process has it.
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
      `The lock of the server, ${lockFile}, cannot be opened: it must be a file that this user may read and write`,
      { cause: error },
    );
  }
  return () => connection.close();
}
