/**
 * One server for each SQLite database: a lock that the operating system releases when the process ends, also after
 * SIGKILL. So there is no stale lock, and it does not depend on process ids, which containers reuse. Node has no file
 * locks, but SQLite does: the server keeps the lock of a second database, which has one row with a note for the next
 * server. Commands open only the real one, so they work beside a server.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../errors.ts';
import { isBusy } from './sqlite-errors.ts';

export interface ServerLock {
  /** What the last server wrote; null before the first. */
  readonly note: string | null;
  /** Writes a note, which a crash of the machine can undo. */
  write(note: string): void;
  release(): void;
}

/**
 * Locks a database; null when another process has the lock.
 * @param file of the database @throws AppError unavailable
 */
export function lockServer(file: string): ServerLock | null {
  const lockFile = `${file}-server`;
  let connection: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    connection = new DatabaseSync(lockFile, { timeout: 0 });
    // The lock stays after the commit.
    connection.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = memory;
      pragma synchronous = off;
      begin exclusive;
      create table if not exists note (text text not null);
      commit;
    `);
    return lockOn(connection);
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
}

function lockOn(connection: DatabaseSync): ServerLock {
  const row = connection.prepare('select text from note').get();
  return {
    note: row === undefined ? null : String(row.text),
    write(note) {
      connection.exec('begin; delete from note');
      connection.prepare('insert into note (text) values (?)').run(note);
      connection.exec('commit');
    },
    release: () => connection.close(),
  };
}
