/** What the error codes of SQLite mean for the rest of the program. */
import { AppError, unavailable } from '../errors.ts';
import { ConstraintError } from './database.ts';

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;

function errorCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined;
}

/** Whether another process has the lock. */
export function isBusy(error: unknown): boolean {
  const code = errorCode(error);
  // The low byte is the primary code; the rest says which kind of busy it was.
  return code !== undefined && (code & 0xff) === SQLITE_BUSY;
}

/** Whether a write failed because the disk or a quota is full. @param failure as `translate` returns it */
export function isFull(failure: unknown): boolean {
  return failure instanceof AppError && errorCode(failure.cause) === SQLITE_FULL;
}

/** The error that the rest of the program understands, or the same error. */
export function translate(error: unknown): unknown {
  switch (errorCode(error)) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
      return new ConstraintError((error as Error).message.replace(/^UNIQUE constraint failed: /, ''), error);
    case SQLITE_FULL:
      return unavailable('The disk is full: nothing was changed.', 60, error);
    default:
      return error;
  }
}
