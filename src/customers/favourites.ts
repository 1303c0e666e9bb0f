/** The favourite cheeses of customers. */
import type { CheeseService } from '../cheeses/service.ts';
import type { Sql } from '../database/database.ts';
import { validationError } from '../errors.ts';
import type { Versioned } from '../versioned.ts';
import type { CustomerRow } from './queries.ts';
import type { CustomerInput } from './schemas.ts';

/** Cheeses that are locked, by id. */
export type Favourites = ReadonlyMap<number, Versioned>;

/** Locks the favourites of new profiles before their customers, because a deletion of a cheese changes customers. */
export function lockFavourites(
  tx: Sql,
  cheeses: Pick<CheeseService, 'lockForShare'>,
  inputs: readonly CustomerInput[],
): Promise<Favourites> {
  const ids = inputs.flatMap(({ favouriteCheese }) => favouriteCheese?.id ?? []);
  return cheeses.lockForShare(tx, ids.filter(Number.isSafeInteger));
}

/** @throws AppError validation */
export function findFavourite(
  { favouriteCheese }: CustomerInput,
  favourites: Favourites,
): Versioned | undefined {
  const { id, name } = favouriteCheese ?? {};
  if (id === undefined) {
    return undefined;
  }
  if (name !== undefined) {
    throw validationError([{ field: 'favouriteCheese', message: 'must have an id or a name, not both' }]);
  }
  const cheese = favourites.get(id);
  if (cheese === undefined) {
    throw validationError([{ field: 'favouriteCheese.id', message: 'there is no cheese with this id' }]);
  }
  return cheese;
}

/**
 * The favourite of a customer who is locked. The cheese is not: it comes before the customer in the lock order, and its
 * deletion waits for the customer.
 */
export async function currentFavourite(
  tx: Sql,
  cheeses: Pick<CheeseService, 'readIn'>,
  { favourite_id }: CustomerRow,
): Promise<Versioned | undefined> {
  return favourite_id === null ? undefined : cheeses.readIn(tx, favourite_id);
}
