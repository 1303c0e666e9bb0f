/** Ids in paths. */
import { AppError } from '../errors.ts';

/**
 * The id of a path segment. Whatever cannot be the id of anything is simply not found, up to 2^63 and beyond:
 * ids are handed out from 1 and stay below 2^53, so no number is ever rounded onto another.
 */
export function parsePathId(segment: string | undefined, message: string): number {
  const id = Number(segment);
  if (segment === undefined || !/^[1-9]\d{0,15}$/.test(segment) || !Number.isSafeInteger(id)) {
    throw new AppError('notFound', message);
  }
  return id;
}
