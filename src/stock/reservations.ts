/** Reserves stock for orders. The caller has locked the orders; stock is locked after them. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { countAvailable, isDepleted, isLow, recordLevelChanges } from './levels.ts';
import { type Grams, type Levels, stockQueries } from './queries.ts';

export type { Grams };

const gramsFor = (grams: Grams, id: number) => grams.get(id) ?? 0;

export type StockReservations = ReturnType<typeof createStockReservations>;

export function createStockReservations(clock: Clock) {
  /** @param moved grams by which `reserved` has increased */
  function record(tx: Sql, context: Context, rows: readonly Levels[], moved: (id: number) => number) {
    const changes = rows
      .toSorted((a, b) => a.cheese_id - b.cheese_id)
      .map((after) => ({
        before: { ...after, reserved: after.reserved - moved(after.cheese_id) },
        after,
        adjusted: null,
      }));
    return recordLevelChanges(tx, context, timestamp(clock.now()), changes);
  }

  return {
    /** Grams of tracked cheeses that nobody has reserved. */
    async readAvailable(sql: Sql, ids: readonly number[]): Promise<Grams> {
      const rows = await stockQueries(sql).listOf(ids);
      return new Map(rows.map((row) => [row.cheese_id, countAvailable(row)]));
    },

    /**
     * Reserves grams of tracked cheeses. Returns null, or if a cheese has less, the grams that are left of each
     * cheese: then the caller must roll back, because more is reserved than there is.
     */
    async reserve(tx: Sql, context: Context, grams: Grams): Promise<Grams | null> {
      const queries = stockQueries(tx);
      // Sent together, and run one after another, so rows are locked in the order of their ids.
      const statements = [...grams]
        .sort(([one], [other]) => one - other)
        .map(([id, wanted]) => queries.reserve(id, wanted));
      const rows = (await Promise.all(statements)).flat();
      if (rows.some((row) => countAvailable(row) < 0)) {
        return new Map(
          rows.map((row) => [row.cheese_id, countAvailable(row) + gramsFor(grams, row.cheese_id)]),
        );
      }
      // Most orders leave more, so nothing follows from them.
      const reached = rows.filter((row) => isDepleted(row) || isLow(row));
      if (reached.length > 0) {
        await record(tx, context, reached, (id) => gramsFor(grams, id));
      }
      return null;
    },

    /** Ends reservations of orders that were cancelled. */
    async release(tx: Sql, context: Context, grams: Grams) {
      if (grams.size === 0) {
        return;
      }
      const queries = stockQueries(tx);
      // Several rows are locked first, in order. The second statement sees what others had committed before the lock.
      const [, rows] = await Promise.all([
        grams.size > 1 ? queries.lockAll([...grams.keys()]) : null,
        queries.release(grams),
      ]);
      await record(tx, context, rows, (id) => -gramsFor(grams, id));
    },

    /**
     * Takes reserved grams of an order that ships out of the storeroom. Returns null, or if less is on hand, the
     * grams on hand of these cheeses: then the caller must roll back.
     */
    async consume(tx: Sql, grams: Grams): Promise<Grams | null> {
      const queries = stockQueries(tx);
      const before = await queries.lockAll([...grams.keys()]);
      const short = before.filter(({ cheese_id, on_hand }) => on_hand < gramsFor(grams, cheese_id));
      if (short.length > 0) {
        return new Map(short.map(({ cheese_id, on_hand }) => [cheese_id, on_hand]));
      }
      await queries.consume(grams);
      return null;
    },

    /** Those cheeses that are sold because nothing was available, and not because an operator has set the status. */
    async soldByRule(tx: Sql, cheeseIds: readonly number[]): Promise<ReadonlySet<number>> {
      const rows = await stockQueries(tx).listOf(cheeseIds);
      return new Set(rows.filter(({ set_sold }) => set_sold === 1).map(({ cheese_id }) => cheese_id));
    },
  };
}
