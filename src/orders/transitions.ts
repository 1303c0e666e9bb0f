/**
 * The transitions of an order: one conditional update each, with the changes and the event that belong to it. Of
 * several concurrent transitions of an order, one succeeds.
 */
import { forEachBlock } from '../blocks.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { NewEvent } from '../events/define.ts';
import { recordEvents, recordOutsideLog } from '../events/record.ts';
import { deleteApprovalJob, deleteApprovalJobs } from './approval-job.ts';
import { orderEvents } from './event-types.ts';
import { dollars } from './money.ts';
import { cheesesOf, findRow } from './order.ts';
import { allowedFrom, nextStatusText, type OrderStatus } from './order-status.ts';
import { firstRealId, type OrderRow, orderQueries } from './queries.ts';

/** With 100 lines in each order, the slowest statement of a block takes 5 to 15 ms on SQLite. */
const blockSize = 20;

export interface Transition {
  readonly to: OrderStatus;
  /** For the timeline. */
  readonly reason: string | null;
  /** undefined keeps the stored date. */
  readonly shipDate: string | null | undefined;
}

export interface Transitions {
  readonly approval: () => Transition;
  readonly shipping: () => Transition;
  readonly delivery: () => Transition;
  readonly cancellation: (reason: string | null) => Transition;
  /** Records the event of an order's new status. */
  record(tx: Sql, context: Context, order: OrderRow, reason: string | null): Promise<void>;
  /** Returns undefined when the status of the order does not allow the transition. */
  tryTransition(tx: Sql, context: Context, id: number, transition: Transition): Promise<OrderRow | undefined>;
  /** Makes the transition of those orders whose status allows it. */
  tryTransitions(tx: Sql, context: Context, ids: readonly number[], transition: Transition): Promise<void>;
  /** The same as `tryTransition` for a caller that has claimed the approval job of the order. */
  changeStatus(tx: Sql, context: Context, id: number, transition: Transition): Promise<OrderRow | undefined>;
  /** @throws AppError notFound, conflict */
  transition(tx: Sql, context: Context, id: number, transition: Transition): Promise<OrderRow>;
}

/** @param shippingTimeMs from the approval to the estimated shipDate @param firstId see `firstIdIn` */
export function createTransitions(clock: Clock, shippingTimeMs: number, firstId: number): Transitions {
  /** Returns the orders whose status has changed, by their ids. */
  async function changeStatuses(
    tx: Sql,
    context: Context,
    ids: readonly number[],
    { to, reason, shipDate }: Transition,
  ): Promise<OrderRow[]> {
    const queries = orderQueries(tx);
    const now = timestamp(clock.now());
    const changed = await queries.updateStatuses(ids, allowedFrom(to), { status: to, shipDate, now });
    const rows = changed.toSorted((a, b) => a.id - b.id);
    if (rows.length > 0 && (to === 'delivered' || to === 'cancelled')) {
      await queries.deleteOpenCheeses(
        rows.flatMap(({ id, items }) =>
          cheesesOf(JSON.parse(items)).map((cheeseId) => [cheeseId, id] as const),
        ),
      );
    }
    await recordEvents(
      tx,
      context.origin,
      now,
      rows.map((row) => eventOf(row, reason)),
    );
    return rows;
  }

  const transitions: Transitions = {
    approval: () => ({ to: 'approved', reason: null, shipDate: timestamp(clock.now() + shippingTimeMs) }),
    shipping: () => ({ to: 'shipped', reason: null, shipDate: timestamp(clock.now()) }),
    delivery: () => ({ to: 'delivered', reason: null, shipDate: undefined }),
    cancellation: (reason) => ({ to: 'cancelled', reason, shipDate: null }),

    record: (tx, context, row, reason) =>
      (row.id < firstRealId ? recordOutsideLog : recordEvents)(tx, context.origin, row.updated_at, [
        eventOf(row, reason),
      ]),

    async tryTransition(tx, context, id, transition) {
      if (id < firstId) {
        return undefined;
      }
      if (transition.to === 'approved' || transition.to === 'cancelled') {
        await deleteApprovalJob(tx, id);
      }
      return transitions.changeStatus(tx, context, id, transition);
    },

    async tryTransitions(tx, context, ids, transition) {
      const real = ids.filter((id) => id >= firstId);
      if (transition.to === 'approved' || transition.to === 'cancelled') {
        // All jobs before the first order: two transactions with common orders cannot deadlock.
        await deleteApprovalJobs(tx, real);
      }
      await forEachBlock(real, blockSize, async (block) => {
        await changeStatuses(tx, context, block, transition);
      });
    },

    changeStatus: async (tx, context, id, transition) =>
      (await changeStatuses(tx, context, [id], transition))[0],

    async transition(tx, context, id, transition) {
      const row = await transitions.tryTransition(tx, context, id, transition);
      if (row === undefined) {
        const { status } = await findRow(tx, id, firstId);
        throw new AppError('conflict', `The order is ${status}. ${nextStatusText(status)}`);
      }
      return row;
    },
  };
  return transitions;
}

function eventOf({ id, status, total_cents }: OrderRow, reason: string | null): NewEvent {
  return orderEvents[status].of(`order:${id}`, { id, status, total: dollars(total_cents), reason });
}
