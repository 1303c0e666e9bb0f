/**
 * The rules for approving, shipping, delivering and cancelling orders. placing/ places them, order-reader.ts reads them.
 * Transactions lock in the order of database/lock-order.ts.
 */
import type { Principal } from '../access/principal.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError } from '../errors.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { findRow, requireOwner, toOrder } from './order.ts';
import { createOrderPlacing, type PlacingDependencies } from './placing/order-placing.ts';
import type { OrderRow } from './queries.ts';
import type { ShipmentInput } from './shipments/schemas.ts';
import type { Shipments } from './shipments/shipments.ts';
import type { OrderApprovals } from './transitions/order-approvals.ts';
import type { Transition } from './transitions/transitions.ts';

interface Dependencies extends PlacingDependencies {
  readonly database: Database;
  readonly approvals: OrderApprovals;
  readonly shipments: Pick<Shipments, 'add'>;
  /** See `firstIdIn`. */
  readonly firstId: number;
}

export type OrderService = ReturnType<typeof createOrderService>;

export function createOrderService(dependencies: Dependencies) {
  const { database, customers, transitions, approvals, shipments, firstId } = dependencies;

  /**
   * Makes a transition of an order, if the client knows its version.
   * @param known the order as read without a lock, because the transition locks the job first
   * @throws AppError preconditionFailed, conflict
   */
  async function move(
    tx: Sql,
    context: Context,
    known: OrderRow,
    transition: Transition,
    precondition: Precondition | undefined,
  ): Promise<OrderRow> {
    precondition?.(known.version);
    const row = await transitions.changeStatus(tx, context, known.id, transition);
    // Another transition may have been committed after the order was read.
    precondition?.(row.version - 1);
    return row;
  }

  return {
    place: createOrderPlacing(dependencies),

    /** @throws AppError notFound, forbidden */
    async find(id: number, principal: Principal | null): Promise<Versioned> {
      const row = await findRow(database, id, firstId);
      requireOwner(row, principal);
      return toOrder(row);
    },

    /**
     * Cancelling a cancelled order changes nothing.
     * @throws AppError notFound, forbidden, preconditionFailed, conflict when it has shipped
     */
    cancel: (context: Context, id: number, principal: Principal | null, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        requireOwner(known, principal);
        const cancelled = await transitions.tryChangeStatus(tx, context, id, transitions.cancellation(null));
        const row = cancelled ?? (await findRow(tx, id, firstId));
        precondition?.(cancelled === undefined ? row.version : row.version - 1);
        if (row.status !== 'cancelled') {
          throw new AppError(
            'conflict',
            `The order is ${row.status}. Orders that have shipped cannot be cancelled.`,
          );
        }
        return toOrder(row);
      }),

    /** Approval by an operator, also of orders without prices. @throws AppError notFound, preconditionFailed, conflict */
    approve: (context: Context, id: number, precondition?: Precondition): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        precondition?.(known.version);
        const missing = await approvals.lockCheeses(tx, known);
        if (known.status === 'placed' && missing.length > 0) {
          throw new AppError(
            'conflict',
            `These cheeses are not available: ${missing.join(', ')}. Cancel the order, or approve it later.`,
          );
        }
        return toOrder(await move(tx, context, known, transitions.approval(known), precondition));
      }),

    /** @throws AppError notFound, preconditionFailed, conflict */
    ship: (context: Context, id: number, precondition?: Precondition, shipment?: ShipmentInput) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        const row = await move(tx, context, known, transitions.shipping(), precondition);
        await shipments.add(tx, id, shipment ?? {});
        return toOrder(row);
      }),

    /** The customer's tier may rise. @throws AppError notFound, preconditionFailed, conflict */
    deliver: (context: Context, id: number, precondition?: Precondition): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        const { customer_id } = known;
        const isTheirs = customer_id !== null && (await customers.lockForUpdate(tx, customer_id));
        const row = await move(tx, context, known, transitions.delivery(), precondition);
        if (isTheirs) {
          await customers.credit(tx, context, customer_id, row.goods_cents);
        }
        return toOrder(row);
      }),
  };
}
