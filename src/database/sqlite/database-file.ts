/** Operations on the whole file of an SQLite database. */
import { chmodSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../errors.ts';
import { restrict } from '../../file-permissions.ts';
import { fsyncPath } from '../../files/folder.ts';
import type { Environment } from '../../settings/config.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { isOutOfSpace, isUnopened, unopenedText } from './sqlite-errors.ts';

/** Writes a snapshot of the database to a new file. Other processes may read and write meanwhile. */
export function copyDatabaseFile(file: string, target: string): void {
  const connection = new DatabaseSync(file, { timeout: 10_000 });
  try {
    connection.prepare('vacuum into ?').run(target);
  } catch (error) {
    throw isOutOfSpace(error)
      ? new ConfigError(
          `The disk of ${target} is full. Nothing was changed. Free some space, or choose another path.`,
        )
      : error;
  } finally {
    connection.close();
  }
}

/** Stores when the shop was backed up. */
export function storeBackupTime(file: string, at: string): void {
  const connection = new DatabaseSync(file, { timeout: 10_000 });
  try {
    connection.prepare('update shop set last_backup_at = ?').run(at);
  } finally {
    connection.close();
  }
}

/** Errors in the file; empty when there are none. @throws AppError unavailable when it cannot be opened */
export function integrityErrors(file: string): string[] {
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly: true });
    const broken = connection.prepare('pragma integrity_check(10)').all();
    const dangling = connection.prepare('pragma foreign_key_check').all();
    return [
      ...broken.map((row) => String(row.integrity_check)).filter((text) => text !== 'ok'),
      ...dangling.slice(0, 10).map(({ table, parent }) => `a row of ${table} refers to none of ${parent}`),
    ];
  } catch (error) {
    if (isUnopened(error)) {
      throw new AppError('unavailable', unopenedText(file), { cause: error });
    }
    return [(error as Error).message];
  } finally {
    connection?.close();
  }
}

/** The environment of the shop in the file; null when it is unknown or there is no file. */
export function environmentIn(file: string): Environment | null {
  if (!existsSync(file)) {
    return null;
  }
  let connection: DatabaseSync | undefined;
  try {
    // A read-only connection would leave the log files behind.
    connection = new DatabaseSync(file);
    const row = connection.prepare('select environment from shop').get();
    return (row?.environment ?? null) as Environment | null;
  } catch {
    // The file is no database of a shop, or a damaged one.
    return null;
  } finally {
    connection?.close();
  }
}

/** Whether another process has the database open: its WAL mode cannot be ended then. */
export function isInUse(file: string): boolean {
  if (!existsSync(file)) {
    return false;
  }
  const connection = new DatabaseSync(file, { timeout: 0 });
  try {
    connection.exec('pragma journal_mode = delete');
    return connection.prepare('pragma journal_mode').get()?.journal_mode !== 'delete';
  } catch (error) {
    if (/locked|busy/.test((error as Error).message)) {
      return true;
    }
    // Damaged: no process can use it, and it is about to be replaced.
    return false;
  } finally {
    connection.close();
  }
}

/** Replaces `file` by `source` in one step, and keeps the old file under the name `kept`. */
export async function replaceDatabaseFile(file: string, source: string, kept: string): Promise<void> {
  for (const log of [`${file}-wal`, `${file}-shm`]) {
    rmSync(log, { force: true });
  }
  const isThere = existsSync(file);
  restrict(file);
  // The copy gets the permissions of the old file. A new file is only for its owner.
  chmodSync(source, isThere ? statSync(file).mode : 0o600);
  await fsyncPath(source);
  if (isThere) {
    linkSync(file, kept);
  }
  renameSync(source, file);
  await fsyncPath(dirname(file));
}
