import { AppError, type FieldError } from '../errors.ts';

/** Why an entry of a batch was refused. What is no fault of the entry fails the batch. */
export function refusal(error: unknown): string {
  if (error instanceof AppError && error.code === 'validation') {
    return inWords(error.errors);
  }
  if (error instanceof AppError && error.code === 'conflict') {
    return error.message;
  }
  throw error;
}

/** All faults in one sentence. */
export function inWords(errors: readonly FieldError[]): string {
  return errors.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ');
}
