/**
 * Stock of the cheeses for which an operator tracks it, in grams. reservations.ts reserves it for orders.
 * Transactions lock in the order of database/lock-order.ts.
 */
import { requireWithin } from '../access/confinement.ts';
import { smallestGrams } from '../cheeses/portions.ts';
import { type Cheese, parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import { commandName } from '../command-name.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { gramsToKilograms, kilogramsToGrams } from '../decimal.ts';
import { AppError, validationError } from '../errors.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { type LevelChange, recordLevelChanges, toKilograms } from './levels.ts';
import { type StockRow, stockQueries } from './queries.ts';
import { onHandSchema, type Stock, type StockAdjustment, type StockInput } from './schemas.ts';

/** Reservations of orders, which the area of orders stores. */
export interface OpenOrders {
  /** Reserves a cheese for its orders that have not shipped, and returns the grams. The cheese is locked. */
  reserve(tx: Sql, cheeseId: number): Promise<number>;
  /** Ends the reservations of a cheese. The cheese is locked. */
  clearReservations(tx: Sql, cheeseId: number): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cheeses: CheeseService;
  readonly openOrders: OpenOrders;
}

/** The version contains when tracking began, because numbers start again at 1. */
function toVersioned(row: StockRow): Versioned {
  const version = `${Date.parse(row.tracked_since).toString(36)}-${row.version}`;
  return { id: row.cheese_id, version, body: JSON.stringify(toStock(row)) };
}

/** Converts a row to the stock that the API shows. */
export function toStock(row: StockRow): Stock {
  return { ...toKilograms(row), trackedSince: row.tracked_since };
}

export type StockService = ReturnType<typeof createStockService>;

export function createStockService(dependencies: Dependencies) {
  const { database, clock, cheeses, openOrders } = dependencies;
  const now = () => timestamp(clock.now());

  function changed(before: StockRow, after: StockRow, reason: StockAdjustment['reason']): LevelChange {
    return { before, after, adjusted: { delta: after.on_hand - before.on_hand, reason } };
  }

  /** @throws AppError notFound */
  async function requireRow(cheeseId: number, row: StockRow | undefined): Promise<StockRow> {
    if (row === undefined) {
      await cheeses.find(cheeseId);
      throw new AppError(
        'notFound',
        `The stock of cheese ${cheeseId} is not tracked. To track it, send PUT /v2/cheeses/${cheeseId}/stock or run "${commandName} stock set ${cheeseId} <kg>" with what is in the storeroom.`,
      );
    }
    return row;
  }

  /** @throws AppError forbidden if the key that changes the stock is confined to other cheeses */
  async function requireConfined(tx: Sql, { origin: { limits } }: Context, cheeseId: number): Promise<void> {
    if (limits?.categories !== undefined || limits?.cheeseIds !== undefined) {
      const row = await cheeses.readIn(tx, cheeseId);
      if (row !== undefined) {
        requireWithin(limits, parseCheese(row.body));
      }
    }
  }

  /** The stock of a cheese that is tracked. If it is not, the caller locks the cheese next. */
  async function lockTracked(tx: Sql, cheeseId: number): Promise<StockRow | undefined> {
    const queries = stockQueries(tx);
    return (await queries.find(cheeseId)) === undefined ? undefined : queries.lock(cheeseId);
  }

  /** Inserts stock of cheeses that are locked and not tracked. */
  async function begin(
    tx: Sql,
    context: Context,
    rows: readonly Pick<StockRow, 'cheese_id' | 'on_hand' | 'reserved' | 'low_at' | 'smallest'>[],
  ): Promise<void> {
    const queries = stockQueries(tx);
    await queries.insert(rows.map((row) => ({ ...row, tracked_since: now() })));
    await cheeses.setTracked(
      tx,
      rows.map(({ cheese_id }) => cheese_id),
      true,
    );
    await recordLevelChanges(
      tx,
      context,
      now(),
      rows.map((after) => ({
        before: null,
        after,
        adjusted: { delta: after.on_hand, reason: 'tracking_started' },
      })),
    );
    await queries.addToCount(rows.length);
  }

  return {
    /** @throws AppError notFound when the cheese is unknown or not tracked */
    find: async (cheeseId: number): Promise<Versioned> =>
      toVersioned(await requireRow(cheeseId, await stockQueries(database).find(cheeseId))),

    /**
     * Sets the counted quantity, and begins tracking if the cheese is not tracked. One cheese in a transaction, because
     * orders are locked before stock. Without `lowAt` the stored one stays.
     * @throws AppError notFound when there is no such cheese, preconditionFailed
     */
    replace: (
      context: Context,
      cheeseId: number,
      { onHand, lowAt }: StockInput,
      precondition?: Precondition,
    ): Promise<{ readonly stock: Versioned; readonly isNew: boolean }> =>
      context.transaction(async (tx) => {
        await requireConfined(tx, context, cheeseId);
        const queries = stockQueries(tx);
        const on_hand = kilogramsToGrams(onHand);
        const lowGrams = lowAt === undefined || lowAt === null ? lowAt : kilogramsToGrams(lowAt);
        let before = await lockTracked(tx, cheeseId);
        if (before === undefined) {
          // Placements under way end before this lock is granted; then another request may have begun to track.
          if ((await cheeses.lock(tx, cheeseId)) === undefined) {
            throw new AppError('notFound', `There is no cheese with the id ${cheeseId}.`);
          }
          before = await lockTracked(tx, cheeseId);
        }
        if (before === undefined) {
          if (precondition !== undefined) {
            throw new AppError('preconditionFailed', 'The stock of this cheese is not tracked.');
          }
          const { body } = (await cheeses.readIn(tx, cheeseId)) as Versioned;
          const smallest = smallestGrams(parseCheese(body));
          const reserved = await openOrders.reserve(tx, cheeseId);
          await begin(tx, context, [
            { cheese_id: cheeseId, on_hand, reserved, low_at: lowGrams ?? null, smallest },
          ]);
          return { stock: toVersioned((await queries.find(cheeseId)) as StockRow), isNew: true };
        }
        precondition?.(toVersioned(before).version);
        const low_at = lowGrams === undefined ? before.low_at : lowGrams;
        if (before.on_hand === on_hand && before.low_at === low_at) {
          return { stock: toVersioned(before), isNew: false };
        }
        const after = await queries.update({ ...before, on_hand, low_at });
        await recordLevelChanges(tx, context, now(), [changed(before, after, 'counted')]);
        return { stock: toVersioned(after), isNew: false };
      }),

    /** @throws AppError notFound, validation when less than nothing would be on hand */
    adjust: (context: Context, cheeseId: number, { deltaKg, reason }: StockAdjustment) =>
      context.transaction(async (tx) => {
        await requireConfined(tx, context, cheeseId);
        const queries = stockQueries(tx);
        const before = await requireRow(cheeseId, await queries.lock(cheeseId));
        const on_hand = before.on_hand + kilogramsToGrams(deltaKg);
        const held = gramsToKilograms(before.on_hand);
        const message =
          deltaKg === 0
            ? 'must not be 0'
            : on_hand < 0
              ? `only ${held} kg are on hand`
              : on_hand > kilogramsToGrams(onHandSchema.maximum)
                ? `${held} kg are on hand, and at most ${onHandSchema.maximum} kg can be`
                : null;
        if (message !== null) {
          throw validationError([{ field: 'deltaKg', message }]);
        }
        const after = await queries.update({ ...before, on_hand });
        await recordLevelChanges(tx, context, now(), [changed(before, after, reason)]);
        return toVersioned(after);
      }),

    /** Ends tracking. @throws AppError notFound */
    untrack: (context: Context, cheeseId: number) =>
      context.transaction(async (tx) => {
        await requireConfined(tx, context, cheeseId);
        const queries = stockQueries(tx);
        // The cheese may become available, and the catalogue is locked before cheeses.
        await cheeses.lockCatalogue(tx);
        await cheeses.lock(tx, cheeseId);
        await requireRow(cheeseId, await queries.find(cheeseId));
        await openOrders.clearReservations(tx, cheeseId);
        const before = (await queries.lock(cheeseId)) as StockRow;
        await queries.delete(cheeseId);
        await cheeses.setTracked(tx, [cheeseId], false);
        if (before.set_sold === 1) {
          await cheeses.updateIn(tx, context, cheeseId, { status: 'available' });
        }
        // No job and no warning follow: untracked, the cheese is sold without limit.
        const after = { ...before, on_hand: 0, reserved: 0 };
        await recordLevelChanges(tx, context, now(), [
          {
            before: after,
            after,
            adjusted: { delta: -before.on_hand, reason: 'tracking_ended' },
          },
        ]);
        await queries.addToCount(-1);
      }),

    /**
     * Begins tracking for cheeses that this transaction has created, so that no order contains them.
     * @param tracked the cheeses, with the kilograms on hand
     */
    async trackNew(
      tx: Sql,
      context: Context,
      tracked: readonly { readonly cheese: Cheese; readonly onHand: number }[],
    ) {
      if (tracked.length > 0) {
        const rows = tracked.map(({ cheese, onHand }) => ({
          cheese_id: cheese.id,
          on_hand: kilogramsToGrams(onHand),
          reserved: 0,
          low_at: null,
          smallest: smallestGrams(cheese),
        }));
        await begin(tx, context, rows);
      }
    },

    /** Kilograms on hand of those cheeses that are tracked. */
    onHandOf: async (cheeseIds: readonly number[]): Promise<ReadonlyMap<number, number>> =>
      new Map(
        (await stockQueries(database).listOf(cheeseIds)).map(({ cheese_id, on_hand }) => [
          cheese_id,
          gramsToKilograms(on_hand),
        ]),
      ),

    /** Deletes the stock of a cheese that is deleted, after its orders were cancelled. */
    async onCheeseDelete(tx: Sql, _: Context, { id }: Cheese) {
      const queries = stockQueries(tx);
      const deleted = await queries.delete(id);
      if (deleted > 0) {
        await queries.addToCount(-deleted);
      }
    },

    /** Other portions can make a stock too small for an order, or large enough. The cheese is locked. */
    async onPortionsChange(tx: Sql, context: Context, cheese: Cheese) {
      const queries = stockQueries(tx);
      const before = await queries.lock(cheese.id);
      const smallest = smallestGrams(cheese);
      if (before !== undefined && before.smallest !== smallest) {
        const after = await queries.update({ ...before, smallest });
        await recordLevelChanges(tx, context, now(), [{ before, after, adjusted: null }]);
      }
    },

    /** An operator has changed the status: the rule of status-job.ts does not change it back. */
    async onStatusChange(tx: Sql, _: Context, { id }: Cheese) {
      await stockQueries(tx).updateSetSold(id, 0);
    },
  };
}
