/** What can be ordered of cheeses, for visitors of a shop: no stock level is public. */
import { type Portion, pieceCents, smallestGrams } from '../cheeses/portions.ts';
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { Database } from '../database/database.ts';
import { dollars, gramsToKilograms } from '../decimal.ts';
import type { Versioned } from '../versioned.ts';
import { countAvailable } from './levels.ts';
import { type Levels, stockQueries } from './queries.ts';
import { type Availability, shownKilogramsMax } from './schemas.ts';

export type AvailabilityReader = ReturnType<typeof createAvailabilityReader>;

/** @param requirePrice whether orders of cheeses without a price are refused */
export function createAvailabilityReader(
  database: Database,
  cheeses: Pick<CheeseService, 'find' | 'findIfThere'>,
  requirePrice: boolean,
) {
  function toAvailability({ id, body }: Versioned, levels: Levels | undefined): Availability {
    const { status, pricePerKg, portions = [] } = parseCheese(body);
    const isOffered = status === 'available' && (pricePerKg !== undefined || !requirePrice);
    const grams = !isOffered
      ? 0
      : levels === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(0, countAvailable(levels));
    // An order refuses pieces that cost less than a cent.
    const isSold = (portion: Portion) => !pricePerKg || pieceCents(pricePerKg, portion.grams) > 0;
    const pieces = portions.map((portion) => ({
      ...portion,
      price: pricePerKg === undefined ? null : dollars(pieceCents(pricePerKg, portion.grams)),
      quantity: isSold(portion) ? Math.min(shownKilogramsMax, Math.floor(grams / portion.grams)) : 0,
    }));
    return {
      cheeseId: id,
      orderable: grams >= smallestGrams({ portions: portions.filter(isSold) }),
      kilograms: levels === undefined ? null : Math.min(shownKilogramsMax, gramsToKilograms(grams)),
      ...(pieces.length === 0 ? {} : { portions: pieces }),
    };
  }

  return {
    /** @throws AppError notFound */
    async find(cheeseId: number): Promise<Availability> {
      const [cheese, levels] = await Promise.all([
        cheeses.find(cheeseId),
        stockQueries(database).find(cheeseId),
      ]);
      return toAvailability(cheese, levels);
    },

    /** Leaves out cheeses that do not exist, and keeps the order of the ids. */
    async list(cheeseIds: readonly number[]): Promise<Availability[]> {
      const ids = [...new Set(cheeseIds)];
      const [rows, stock] = await Promise.all([
        Promise.all(ids.map((id) => cheeses.findIfThere(id))),
        stockQueries(database).listOf(ids),
      ]);
      const levelsOf = new Map(stock.map((levels) => [levels.cheese_id, levels]));
      return rows.flatMap((row) => (row === undefined ? [] : [toAvailability(row, levelsOf.get(row.id))]));
    },
  };
}
