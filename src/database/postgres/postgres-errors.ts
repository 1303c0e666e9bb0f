/** What the error codes of PostgreSQL and its driver mean for the rest of the program. */
import type { DatabaseError } from 'pg';
import { type AppError, diskFault, mayHaveBeenMade, unavailable } from '../../errors.ts';
import { ConstraintError, NotNullError } from '../database.ts';

const UNIQUE_VIOLATION = '23505';
const NOT_NULL_VIOLATION = '23502';
export const READ_ONLY = '25006';
export const IN_FAILED_TRANSACTION = '25P02';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const LOCK_NOT_AVAILABLE = '55P03';
const DISK_FULL = '53100';
const UNKNOWN_STATEMENT = '26000';
const INVALID_AUTHORIZATION = '28000';
const INVALID_PASSWORD = '28P01';
const NO_SUCH_DATABASE = '3D000';
/** Codes of our own, for errors to which the driver gives none. */
export const CONNECTION_LOST = 'CONNECTION_LOST';
export const NOT_CONNECTED = 'NOT_CONNECTED';
/** Class of errors outside of PostgreSQL, two of which have texts of their own. */
const SYSTEM_ERRORS = '58';
const IO_ERROR = '58030';
const UNDEFINED_FILE = '58P01';

/** The SQLSTATE, or the code of the driver or the operating system; empty if there is none. */
export function toErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The connection was lost: cut, or closed by a server that stops (class 57P). */
export function isLost(error: unknown): boolean {
  return /^(CONNECTION_LOST|ECONNRESET|EPIPE|ETIMEDOUT|57P0[1245])$/.test(toErrorCode(error));
}

/** No connection was made, so nothing was sent: another server may accept it. */
export function isUnconnected(error: unknown): boolean {
  return /^(NOT_CONNECTED|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|57P03)$/.test(
    toErrorCode(error),
  );
}

/** Whether the transaction was rolled back because of concurrent ones, and can be run again. */
export function isRetryable(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(toErrorCode(error)) || isStalePlan(error);
}

/**
 * The connection has no such prepared statement, or a migration has changed the types of its columns. It was not run.
 * The driver takes a statement for prepared as soon as it was sent, so if it was refused, the ones after it with the
 * same name fail too.
 */
export function isStalePlan(error: unknown): boolean {
  return (
    toErrorCode(error) === UNKNOWN_STATEMENT || (error as DatabaseError)?.routine === 'RevalidateCachedQuery'
  );
}

/** The statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return toErrorCode(error) === LOCK_NOT_AVAILABLE;
}

/** Whether no rollback to a savepoint helps: the whole transaction is lost, or must run again. */
export function endsTransaction(error: unknown): boolean {
  return isLost(error) || isUnconnected(error) || isRetryable(error) || toErrorCode(error) === READ_ONLY;
}

/** Translates the violation of a unique index or of `not null`; returns other errors unchanged. */
export function translateViolation(error: unknown): unknown {
  const { constraint = '', table, column } = error as DatabaseError;
  switch (toErrorCode(error)) {
    case UNIQUE_VIOLATION:
      return new ConstraintError(constraint, error);
    case NOT_NULL_VIOLATION:
      return new NotNullError(`${table}.${column}`, error);
    default:
      return error;
  }
}

/** Translates another error of the driver to an AppError; returns other errors unchanged. */
export function translatePostgresError(error: unknown): unknown {
  const code = toErrorCode(error);
  if (isLockTimeout(error)) {
    return unavailable('Other changes are in progress. Try again shortly.', 2, error);
  }
  if (code === DISK_FULL) {
    return unavailable('The disk of the database is full: nothing was changed.', 60, error);
  }
  if (code.startsWith(SYSTEM_ERRORS)) {
    return systemFault(code, error);
  }
  const fault = tlsFault(error) ?? signInFault(error);
  if (fault !== null) {
    return unavailable(fault, 60, error);
  }
  if (isLost(error)) {
    return unavailable(`The connection to the database was lost. ${mayHaveBeenMade}`, 1, error);
  }
  return isOutOfReach(error)
    ? unavailable('The database cannot be reached right now. Try again shortly.', 1, error)
    : error;
}

/** PostgreSQL has rolled the transaction back. If it could not, it would stop, and the connection would be lost. */
function systemFault(code: string, error: unknown): AppError {
  if (code === IO_ERROR) {
    return diskFault(error, false);
  }
  const fault =
    code === UNDEFINED_FILE
      ? 'The database server lacks a file or a library'
      : 'The system of the database server reported an error';
  return unavailable(
    `${fault} (${code}): its log names the cause for the operator. Nothing was changed.`,
    60,
    error,
  );
}

/** What is wrong with TLS and what to do; null for other errors. */
function tlsFault(error: unknown): string | null {
  if (String((error as Error).cause).includes('does not support SSL connections')) {
    return 'The database server does not accept TLS. Turn it on there, or set sslmode=disable in CURD_DATABASE.';
  }
  return /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS_CERT|HOSTNAME_MISMATCH)/.test(toErrorCode(error))
    ? 'The certificate of the database server could not be verified. Name the file of its CA with sslrootcert in CURD_DATABASE, and the host as in the certificate.'
    : null;
}

/** Why the server refuses this user or database, and what to do; null for other errors. */
function signInFault(error: unknown): string | null {
  // The driver has no code for it.
  if (String((error as Error).cause).includes('client password must be a string')) {
    return 'The database server requires a password. Write it in the URL (postgres://user:password@host/name), or set PGPASSWORD.';
  }
  switch (toErrorCode(error)) {
    case INVALID_PASSWORD:
    case INVALID_AUTHORIZATION:
      return 'The database server refuses the user or the password. Correct them in the URL (CURD_DATABASE) or in PGPASSWORD. A user needs the right to log in, and a line in pg_hba.conf.';
    case NO_SUCH_DATABASE:
      return 'The database server has no database of this name. Create it with createdb, or correct the name in the URL (CURD_DATABASE).';
    default:
      return null;
  }
}

/**
 * Refused or cut connections; a server that starts, stops, is a standby, is full or took too long (classes 08, 53, 57
 * and 25006 of PostgreSQL).
 */
function isOutOfReach(error: unknown): boolean {
  return /^(CONNECTION_|NOT_CONNECTED|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08|25006|53|57)/.test(
    toErrorCode(error),
  );
}
