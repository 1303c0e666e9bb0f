/**
 * The transitions of an order: one conditional update each, with the changes and the event that belong to it. Of
 * several concurrent transitions of an order, one succeeds. A trigger on the table of orders records each change of a
 * status for the counts of orders (count-queries.ts).
 */

import { forEachBlock } from '../../blocks.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { dollars, gramsToKilograms } from '../../decimal.ts';
import { computeShipDay, type DeliverySchedule, hasShipDays, toNoon } from '../../delivery/ship-days.ts';
import { giveBackUses } from '../../discounts/uses.ts';
import { AppError } from '../../errors.ts';
import type { NewEvent } from '../../event-log/define.ts';
import { recordEvents, recordOutsideLog } from '../../event-log/record.ts';
import { jobQueue } from '../../jobs/queue.ts';
import type { StockReservations } from '../../stock/reservations.ts';
import { orderEvents } from '../event-types.ts';
import { findRow, listCheeseIds } from '../order.ts';
import { firstRealId, type OrderRow, orderQueries, type PlacedOrder } from '../queries.ts';
import type { OrderItem } from '../schemas.ts';
import type { AutomaticSteps } from './automatic-steps.ts';
import { allowedFrom, nextStatusText, type OrderStatus } from './order-status.ts';

/** The background job that approves an order after CURD_APPROVAL_DELAY: one for each placed order with prices. */
export const orderApprovalKind = 'order.approval';

/** The slowest statement of a block of orders with 100 lines each takes 5 to 15 ms on SQLite. */
const blockSize = 20;

export interface Transition {
  readonly to: OrderStatus;
  /** Shown in the timeline. */
  readonly reason: string | null;
  /** undefined keeps the stored date. */
  readonly shipDate: string | null | undefined;
}

interface Dependencies {
  readonly clock: Clock;
  readonly stock: StockReservations;
  readonly automaticSteps: AutomaticSteps;
  /** Time from the approval to the estimated shipDate. */
  readonly shippingTimeMs: number;
  /** See `firstIdIn`. */
  readonly firstId: number;
}

export type Transitions = ReturnType<typeof createTransitions>;

export function createTransitions({ clock, stock, automaticSteps, shippingTimeMs, firstId }: Dependencies) {
  /**
   * Returns the orders whose status has changed, by their ids.
   * @param released gets the grams that orders had reserved. The caller releases them once, because stock is locked
   * after all orders.
   */
  async function updateStatuses(
    tx: Sql,
    context: Context,
    ids: readonly number[],
    { to, reason, shipDate }: Transition,
    released: Map<number, number>,
  ): Promise<OrderRow[]> {
    const queries = orderQueries(tx);
    const now = timestamp(clock.now());
    const changed = await queries.updateStatuses(ids, allowedFrom(to), { status: to, shipDate, now });
    const rows = changed.toSorted((a, b) => a.id - b.id);
    if (rows.length > 0 && (to === 'delivered' || to === 'cancelled')) {
      const ended = await queries.deleteOpenCheeses(
        rows.flatMap(({ id, items }) =>
          listCheeseIds(JSON.parse(items)).map((cheeseId) => [cheeseId, id] as const),
        ),
      );
      for (const { cheese_id, reserved } of ended) {
        if (reserved > 0) {
          released.set(cheese_id, (released.get(cheese_id) ?? 0) + reserved);
        }
      }
    }
    await recordStatuses(tx, context, now, rows, reason);
    return rows;
  }

  /** Takes what an order has reserved out of the storeroom. @throws AppError conflict when less is on hand */
  async function consumeStock(tx: Sql, { id, items }: OrderRow): Promise<void> {
    const queries = orderQueries(tx);
    const lines = JSON.parse(items) as OrderItem[];
    const reservations = await queries.listReservations(
      listCheeseIds(lines).map((cheeseId) => [cheeseId, id] as const),
    );
    if (reservations.length === 0) {
      return;
    }
    const grams = new Map(reservations.map(({ cheese_id, reserved }) => [cheese_id, reserved]));
    const short = await stock.consume(tx, grams);
    if (short !== null) {
      const missing = [...short].map(([cheeseId, onHand]) => {
        const name = lines.find((line) => line.cheeseId === cheeseId)?.cheeseName;
        return `${name} (${gramsToKilograms(grams.get(cheeseId) ?? 0)} kg ordered, ${gramsToKilograms(onHand)} kg on hand)`;
      });
      throw new AppError(
        'conflict',
        `Less is on hand than the order needs: ${missing.join(', ')}. Adjust the stock when more has arrived, or cancel the order.`,
      );
    }
    await queries.updateReserved(reservations.map(({ cheese_id }) => [cheese_id, id, 0]));
  }

  /** When an order that is approved now leaves the shop. */
  function shipDateOf(delivery: string | null): string {
    const now = clock.now();
    const schedule: DeliverySchedule | null = delivery === null ? null : JSON.parse(delivery);
    return timestamp(
      schedule === null || !hasShipDays(schedule)
        ? now + shippingTimeMs
        : toNoon(computeShipDay(now, schedule), schedule.timeZone),
    );
  }

  const transitions = {
    approval: ({ delivery }: Pick<OrderRow, 'delivery'>): Transition => ({
      to: 'approved',
      reason: null,
      shipDate: shipDateOf(delivery),
    }),
    shipping: (): Transition => ({ to: 'shipped', reason: null, shipDate: timestamp(clock.now()) }),
    delivery: (): Transition => ({ to: 'delivered', reason: null, shipDate: undefined }),
    cancellation: (reason: string | null): Transition => ({ to: 'cancelled', reason, shipDate: null }),

    /** Records the event of a new order. */
    recordPlaced: (tx: Sql, context: Context, row: OrderRow): Promise<void> =>
      recordStatuses(tx, context, row.updated_at, [row], null),

    /** @throws AppError notFound, conflict when the status of the order does not allow the transition */
    async changeStatus(tx: Sql, context: Context, id: number, transition: Transition): Promise<OrderRow> {
      const row = await transitions.tryChangeStatus(tx, context, id, transition);
      if (row === undefined) {
        const { status } = await findRow(tx, id, firstId);
        throw new AppError('conflict', `The order is ${status}. ${nextStatusText(status)}`);
      }
      return row;
    },

    /** Returns undefined if `changeStatus` throws because of the order's status, or finds no order. */
    async tryChangeStatus(
      tx: Sql,
      context: Context,
      id: number,
      transition: Transition,
    ): Promise<OrderRow | undefined> {
      if (id < firstId) {
        return undefined;
      }
      if (transition.to === 'approved' || transition.to === 'cancelled') {
        await jobQueue(tx).delete(orderApprovalKind, String(id));
      }
      return transitions.tryChangeClaimed(tx, context, id, transition);
    },

    /** Works like `tryChangeStatus`, for callers that have claimed the order's job: it leaves the approval job. */
    async tryChangeClaimed(tx: Sql, context: Context, id: number, transition: Transition) {
      const released = new Map<number, number>();
      const [row] = await updateStatuses(tx, context, [id], transition, released);
      if (row?.status === 'approved') {
        await automaticSteps.onApproval(tx, [id], row.ship_date ?? row.updated_at);
      } else if (row?.status === 'shipped') {
        await consumeStock(tx, row);
        await automaticSteps.onShipping(tx, id);
      }
      await stock.release(tx, context, released);
      if (row?.status === 'cancelled') {
        await giveBack(tx, [row]);
      }
      return row;
    },

    /** Cancels those orders whose status allows it. */
    async cancelAll(tx: Sql, context: Context, ids: readonly number[], reason: string): Promise<void> {
      const real = ids.filter((id) => id >= firstId);
      // All jobs before the first order: two transactions with common orders cannot deadlock.
      await jobQueue(tx).deleteAll(orderApprovalKind, real.map(String));
      const released = new Map<number, number>();
      const cancelled: OrderRow[] = [];
      await forEachBlock(real, blockSize, async (block) => {
        cancelled.push(
          ...(await updateStatuses(tx, context, block, transitions.cancellation(reason), released)),
        );
      });
      await stock.release(tx, context, released);
      await giveBack(tx, cancelled);
    },

    /** Approves placed orders that the caller has locked. */
    async approveLocked(tx: Sql, context: Context, orders: readonly PlacedOrder[]): Promise<void> {
      const now = timestamp(clock.now());
      const ids = orders.map(({ id }) => id);
      await jobQueue(tx).deleteAll(orderApprovalKind, ids.map(String));
      for (const [shipDate, some] of Map.groupBy(orders, ({ delivery }) => shipDateOf(delivery))) {
        const own = some.map(({ id }) => id);
        await orderQueries(tx).approveLocked(own, shipDate, now);
        await automaticSteps.onApproval(tx, own, shipDate);
      }
      const approved = orders.map(({ id, total_cents }) => ({
        id,
        status: 'approved' as const,
        total_cents,
        breakdown: null,
      }));
      await recordStatuses(tx, context, now, approved, null);
    },
  };
  return transitions;
}

/** Gives back the uses of discount codes that cancelled orders have. */
async function giveBack(tx: Sql, orders: readonly OrderRow[]): Promise<void> {
  // An order without a breakdown has no code.
  const ids = orders.filter(({ breakdown }) => breakdown !== null).map(({ id }) => id);
  if (ids.length > 0) {
    await giveBackUses(tx, ids);
  }
}

type ChangedOrder = Pick<OrderRow, 'id' | 'status' | 'total_cents' | 'breakdown'>;

/** The log has no events of test orders: every start restores them, and deletes what their timelines gained. */
async function recordStatuses(
  tx: Sql,
  { origin }: Context,
  at: string,
  orders: readonly ChangedOrder[],
  reason: string | null,
): Promise<void> {
  const { tests = [], real = [] } = Object.groupBy(orders, ({ id }) => (id < firstRealId ? 'tests' : 'real'));
  if (tests.length > 0) {
    await recordOutsideLog(
      tx,
      origin,
      at,
      tests.map((order) => eventOf(order, reason)),
    );
  }
  await recordEvents(
    tx,
    origin,
    at,
    real.map((order) => eventOf(order, reason)),
  );
}

function eventOf({ id, status, total_cents, breakdown }: ChangedOrder, reason: string | null): NewEvent {
  const data = { id, status, total: dollars(total_cents), reason };
  return status === 'placed' && breakdown !== null
    ? orderEvents.placed.of(`order:${id}`, { ...data, breakdown: JSON.parse(breakdown) })
    : orderEvents[status].of(`order:${id}`, data);
}
