/** Ids in paths. */
import { AppError } from '../../errors.ts';

/**
 * The id in a path segment. Ids start at 1 and stay below 2^53, so a larger number is not found instead of being rounded
 * to the id of another resource.
 * @throws AppError notFound
 */
export function parsePathId(segment: string | undefined, message: string): number {
  const id = Number(segment);
  if (segment === undefined || !/^[1-9]\d{0,15}$/.test(segment) || !Number.isSafeInteger(id)) {
    throw new AppError('notFound', message);
  }
  return id;
}
