/**
 * The transitions of an order: one conditional update each, with the changes and the event that belong to it. Of
 * several concurrent transitions of an order, one succeeds.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import { deleteApprovalJob } from './approval-job.ts';
import { dollars } from './money.ts';
import { cheesesOf, findRow } from './order.ts';
import { allowedFrom, nextStatusText, type OrderStatus } from './order-status.ts';
import { type OrderRow, orderQueries } from './queries.ts';

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
  /** The same for a caller that has claimed the approval job of the order. */
  changeStatus(tx: Sql, context: Context, id: number, transition: Transition): Promise<OrderRow | undefined>;
  /** @throws AppError notFound, conflict */
  transition(tx: Sql, context: Context, id: number, transition: Transition): Promise<OrderRow>;
}

/** @param shippingTimeMs from the approval to the estimated shipDate @param firstId see `firstIdIn` */
export function createTransitions(clock: Clock, shippingTimeMs: number, firstId: number): Transitions {
  const transitions: Transitions = {
    approval: () => ({ to: 'approved', reason: null, shipDate: timestamp(clock.now() + shippingTimeMs) }),
    shipping: () => ({ to: 'shipped', reason: null, shipDate: timestamp(clock.now()) }),
    delivery: () => ({ to: 'delivered', reason: null, shipDate: undefined }),
    cancellation: (reason) => ({ to: 'cancelled', reason, shipDate: null }),

    async record(tx, context, { id, status, total_cents, updated_at }, reason) {
      // Neither address nor notes: events must not contain personal data, because they outlive the customer.
      const data = JSON.stringify({ id, status, total: dollars(total_cents), reason });
      await recordEvents(tx, context.origin, updated_at, [
        { type: `order.${status}`, subject: `order:${id}`, data },
      ]);
    },

    async tryTransition(tx, context, id, transition) {
      if (id < firstId) {
        return undefined;
      }
      if (transition.to === 'approved' || transition.to === 'cancelled') {
        await deleteApprovalJob(tx, id);
      }
      return transitions.changeStatus(tx, context, id, transition);
    },

    async changeStatus(tx, context, id, { to, reason, shipDate }) {
      const queries = orderQueries(tx);
      const now = timestamp(clock.now());
      const row = await queries.updateStatus(id, allowedFrom(to), { status: to, shipDate, now });
      if (row === undefined) {
        return undefined;
      }
      if (to === 'delivered' || to === 'cancelled') {
        await queries.deleteOpenCheeses(id, cheesesOf(JSON.parse(row.items)));
      }
      await transitions.record(tx, context, row, reason);
      return row;
    },

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
