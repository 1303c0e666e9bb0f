/** What the error codes of SQLite mean for the rest of the program. */
import { AppError, diskFault, unavailable } from '../../errors.ts';
import { ConstraintError, NotNullError } from '../database.ts';

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_NOTNULL = 1299;

function errorCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined;
}

/** The low byte of a code is its class; the other bytes say more. */
function primaryCode(error: unknown): number {
  return (errorCode(error) ?? 0) & 0xff;
}

/** Whether another process has the lock. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

/** Whether the file could not be opened: permissions, or a read-only file system. Nothing is known about its content. */
export function isUnopened(error: unknown): boolean {
  return primaryCode(error) === SQLITE_CANTOPEN;
}

/** Text without a full stop, because the cause follows in parentheses. */
export function unopenedText(file: string): string {
  return `The database ${file} cannot be opened: this user must be able to read and write it and its folder, and the file system must not be read-only`;
}

/** Whether a file could not grow. */
export function isOutOfSpace(error: unknown): boolean {
  return primaryCode(error) === SQLITE_FULL;
}

/**
 * Whether the disk or a quota is full, or the disk refused access. SQLite reports an exceeded quota (EDQUOT) like a
 * faulty disk (EIO). @param failure as `translateSqliteError` returns it
 */
export function isDiskFull(failure: unknown): boolean {
  return failure instanceof AppError && [SQLITE_FULL, SQLITE_IOERR].includes(primaryCode(failure.cause));
}

/**
 * Translates an error of SQLite to an AppError, ConstraintError or NotNullError; returns other errors unchanged.
 * @param isCommit thrown by a commit: after a disk failure, the change may be in the log or not
 */
export function translateSqliteError(error: unknown, isCommit = false): unknown {
  switch (errorCode(error)) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
      return new ConstraintError((error as Error).message.replace(/^UNIQUE constraint failed: /, ''), error);
    case SQLITE_CONSTRAINT_NOTNULL:
      return new NotNullError((error as Error).message.replace(/^NOT NULL constraint failed: /, ''), error);
  }
  switch (primaryCode(error)) {
    case SQLITE_FULL:
      return unavailable('The disk is full: nothing was changed.', 60, error);
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return diskFault(error, isCommit);
    default:
      return error;
  }
}
