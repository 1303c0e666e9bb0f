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

const kilogramsOf = (kilograms: Kilograms, id: number) => kilograms.get(id) ?? 0;

/**
 * Runs a statement that changes stock. Several rows are locked first, in order. PostgreSQL runs the statements one after
 * another, without a round trip between them. The second one sees what others had committed before the lock.
 */
async function moveLocked(
  tx: Sql,
  kilograms: Kilograms,
  move: () => Promise<StockRow[]>,
): Promise<StockRow[]> {
  const locking = kilograms.size > 1 ? stockQueries(tx).lockAll([...kilograms.keys()]) : null;
  return (await Promise.all([locking, move()]))[1];
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

  return {
    async reserve(tx, context, kilograms) {
      const queries = stockQueries(tx);
      const [only = [0, 0]] = kilograms;
      let rows =
        kilograms.size === 1
          ? await queries.reserveOne(...only)
          : await moveLocked(tx, kilograms, () => queries.reserve(kilograms));
      if (rows.length < kilograms.size) {
        const reserved = new Map(rows.map(({ cheese_id }) => [cheese_id, kilogramsOf(kilograms, cheese_id)]));
        const locked = await queries.lockAll([...kilograms.keys()]);
        const left = new Map(
          locked.map((row) => [row.cheese_id, availableOf(row) + kilogramsOf(reserved, row.cheese_id)]),
        );
        if ([...kilograms].some(([id, wanted]) => kilogramsOf(left, id) < wanted)) {
          return left;
        }
        // One cheese, of which enough was released before its row was locked.
        rows = await queries.reserve(kilograms);
      }
      await record(tx, context, rows, (id) => kilogramsOf(kilograms, id));
      return null;
    },

    async release(tx, context, kilograms) {
      if (kilograms.size > 0) {
        const rows = await moveLocked(tx, kilograms, () => stockQueries(tx).release(kilograms));
        await record(tx, context, rows, (id) => -kilogramsOf(kilograms, id));
      }
    },

    async consume(tx, kilograms) {
      const queries = stockQueries(tx);
      const before = await queries.lockAll([...kilograms.keys()]);
      const short = before.filter(({ cheese_id, on_hand }) => on_hand < kilogramsOf(kilograms, cheese_id));
      if (short.length > 0) {
        return new Map(short.map(({ cheese_id, on_hand }) => [cheese_id, on_hand]));
      }
      await queries.consume(kilograms);
      return null;
    },

    async soldByRule(tx, cheeseIds) {
      const rows = await stockQueries(tx).listOf(cheeseIds);
      return new Set(rows.filter(({ set_sold }) => set_sold === 1).map(({ cheese_id }) => cheese_id));
    },
  };
}
