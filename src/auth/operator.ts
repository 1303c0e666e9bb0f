/** The check of operations that only operators perform. */
import { AppError } from '../errors.ts';
import type { Principal } from './principal.ts';

/** @throws AppError forbidden when the request acts for a customer, also if its API key has the scope admin */
export function requireOperator({ confinedTo }: Principal): void {
  if (confinedTo !== null) {
    throw new AppError(
      'forbidden',
      'This request acts for a customer, who may not do this. Send the API key without the session or token.',
    );
  }
}
