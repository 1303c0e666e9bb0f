/** Records prices in the transactions of their changes, which have locked the catalogue. */
import type { Sql } from '../../database/database.ts';
import type { Cheese } from '../schemas.ts';
import { priceQueries } from './queries.ts';

/** The prices of a cheese that are kept, the newest: a request for its prices may read all of them. */
export const pricesMax = 10_000;

/** The first prices of new cheeses. */
export async function recordFirstPrices(tx: Sql, cheeses: readonly Cheese[]): Promise<void> {
  await priceQueries(tx).insert(
    cheeses.map(({ id, createdAt, pricePerKg = null }) => ({
      cheese_id: id,
      since: createdAt,
      price: pricePerKg,
    })),
  );
}

/** @param version of the cheese: it has at most as many prices */
export async function recordPriceChange(
  tx: Sql,
  { id, updatedAt: since, pricePerKg }: Cheese,
  version: number,
): Promise<void> {
  const queries = priceQueries(tx);
  // Several changes can be made within a millisecond. A price that has lasted no time is replaced.
  await queries.deleteAt(id, since);
  await queries.insertIfNew({ cheese_id: id, since, price: pricePerKg ?? null });
  if (version > pricesMax) {
    await queries.deleteBeyond(id, pricesMax);
  }
}

/** Deletes the prices of a cheese that is deleted. */
export async function deletePrices(tx: Sql, cheeseId: number): Promise<void> {
  await priceQueries(tx).deleteOf(cheeseId);
}
