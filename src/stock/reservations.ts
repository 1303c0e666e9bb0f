/** Reserves stock for orders. The caller has locked the orders; stock is locked after them. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { availableOf, recordLevelChanges } from './levels.ts';
import { type Kilograms, type StockRow, stockQueries } from './queries.ts';

export type { Kilograms };

export interface StockReservations {
  /**
   * Reserves kilograms of tracked cheeses. Returns null, or where a cheese has less, the kilograms that are left of each
   * cheese: then the caller must roll back.
   */
  reserve(tx: Sql, context: Context, kilograms: Kilograms): Promise<Kilograms | null>;
  /** Ends reservations of orders that were cancelled. */
  release(tx: Sql, context: Context, kilograms: Kilograms): Promise<void>;
  /**
   * Takes reserved kilograms of an order that ships out of the storeroom. Returns null, or where less is on hand, the
   * kilograms on hand of these cheeses: then the caller must roll back.
   */
  consume(tx: Sql, kilograms: Kilograms): Promise<Kilograms | null>;
  /** Those cheeses that are sold because nothing was available, and not because an operator has set the status. */
  soldByRule(tx: Sql, cheeseIds: readonly number[]): Promise<ReadonlySet<number>>;
}

export function createStockReservations(clock: Clock): StockReservations {
  /** @param moved kilograms by which `reserved` has increased */
  function record(tx: Sql, context: Context, rows: readonly StockRow[], moved: (id: number) => number) {
    const changes = rows
      .toSorted((a, b) => a.cheese_id - b.cheese_id)
      .map((after) => ({
        before: { ...after, reserved: after.reserved - moved(after.cheese_id) },
        after,
        adjusted: null,
      }));
    return recordLevelChanges(tx, context, timestamp(clock.now()), changes);
  }

  const kilogramsOf = (kilograms: Kilograms, id: number) => kilograms.get(id) ?? 0;

  return {
    async reserve(tx, context, kilograms) {
      const queries = stockQueries(tx);
      const rows = await queries.reserve(kilograms);
      if (rows.length < kilograms.size) {
        const reserved = new Map(rows.map(({ cheese_id }) => [cheese_id, kilogramsOf(kilograms, cheese_id)]));
        // The statement has locked all rows, so that these are the numbers that it compared.
        const left = await queries.listOf([...kilograms.keys()]);
        return new Map(
          left.map((row) => [row.cheese_id, availableOf(row) + kilogramsOf(reserved, row.cheese_id)]),
        );
      }
      await record(tx, context, rows, (id) => kilogramsOf(kilograms, id));
      return null;
    },

    async release(tx, context, kilograms) {
      if (kilograms.size > 0) {
        const rows = await stockQueries(tx).release(kilograms);
        await record(tx, context, rows, (id) => -kilogramsOf(kilograms, id));
      }
    },

    async consume(tx, kilograms) {
      const queries = stockQueries(tx);
      const consumed = new Set((await queries.consume(kilograms)).map(({ cheese_id }) => cheese_id));
      if (consumed.size === kilograms.size) {
        return null;
      }
      const short = [...kilograms.keys()].filter((id) => !consumed.has(id));
      return new Map((await queries.listOf(short)).map(({ cheese_id, on_hand }) => [cheese_id, on_hand]));
    },

    async soldByRule(tx, cheeseIds) {
      const rows = await stockQueries(tx).listOf(cheeseIds);
      return new Set(rows.filter(({ set_sold }) => set_sold === 1).map(({ cheese_id }) => cheese_id));
    },
  };
}
