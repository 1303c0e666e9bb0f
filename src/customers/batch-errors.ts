/** Why requests of and about customers are refused. */

import { AppError, joinErrors } from '../errors.ts';

/** Why an entry of a batch was refused. What is no fault of the entry fails the batch. */
export function entryError(error: unknown): string {
  if (error instanceof AppError && error.code === 'validation') {
    return joinErrors(error.errors);
  }
  if (error instanceof AppError && error.code === 'conflict') {
    return error.message;
  }
  throw error;
}

export function notFound(): AppError {
  return new AppError('notFound', 'There is no customer with this username.');
}
