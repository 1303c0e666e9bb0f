/** Errors of requests about customers. */
import { AppError, joinErrors } from '../errors.ts';

/** The text for an entry of a batch that was refused. Throws errors that fail the whole batch. */
export function entryError(error: unknown): string {
  if (error instanceof AppError && error.code === 'validation') {
    return joinErrors(error.errors);
  }
  if (error instanceof AppError && error.code === 'conflict') {
    return error.message;
  }
  throw error;
}

export function customerNotFound(): AppError {
  return new AppError('notFound', 'There is no customer with this username.');
}
