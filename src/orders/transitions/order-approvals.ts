/**
 * The automatic approval of orders whose job is due. Most are approved in batches: one transaction for up to 64 orders,
 * because a transaction for each used up PostgreSQL's transaction ids and limited how many orders a shop can have.
 */
import { parseCheese } from '../../cheeses/schemas.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { jobQueue } from '../../jobs/queue.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import type { StockReservations } from '../../stock/reservations.ts';
import { findRow, listCheeseIds } from '../order.ts';
import { firstRealId, type OrderRow, orderQueries, type PlacedOrder } from '../queries.ts';
import type { OrderItem } from '../schemas.ts';
import type { OrderFates } from './order-fates.ts';
import { orderApprovalKind, type Transitions } from './transitions.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly cheeses: CheeseService;
  readonly stock: StockReservations;
  readonly transitions: Transitions;
  readonly fates: OrderFates;
}

interface OrderLines {
  readonly id: number;
  readonly lines: readonly OrderItem[];
}

export type OrderApprovals = ReturnType<typeof createOrderApprovals>;

export function createOrderApprovals(dependencies: Dependencies) {
  const { clock, cheeses, stock, transitions, fates } = dependencies;

  /**
   * The lines of orders whose cheeses are not available now. A cheese that is sold because its stock is depleted is
   * available to the orders that have reserved it.
   */
  async function missingLines(
    tx: Sql,
    orders: readonly OrderLines[],
    isAvailable: (cheeseId: number) => boolean,
  ): Promise<Map<number, OrderItem[]>> {
    const missing = orders
      .map(({ id, lines }) => ({ id, lines: lines.filter(({ cheeseId }) => !isAvailable(cheeseId)) }))
      .filter(({ lines }) => lines.length > 0);
    if (missing.length === 0) {
      return new Map();
    }
    const reserved = await orderQueries(tx).listReservations(
      missing.flatMap(({ id, lines }) => listCheeseIds(lines).map((cheeseId) => [cheeseId, id] as const)),
    );
    const sold = await stock.soldByRule(tx, [...new Set(reserved.map(({ cheese_id }) => cheese_id))]);
    const kept = new Set(
      reserved
        .filter(({ cheese_id }) => sold.has(cheese_id))
        .map(({ cheese_id, order_id }) => `${order_id} ${cheese_id}`),
    );
    return new Map(
      missing.map(({ id, lines }) => [id, lines.filter(({ cheeseId }) => !kept.has(`${id} ${cheeseId}`))]),
    );
  }

  const approvals = {
    /** Locks the cheeses of an order. Returns the names of those that are not available. */
    async lockCheeses(tx: Sql, { id, items }: Pick<OrderRow, 'id' | 'items'>): Promise<string[]> {
      // The cheeses of test orders do not exist.
      if (id < firstRealId) {
        return [];
      }
      const lines = JSON.parse(items) as OrderItem[];
      const rows = await cheeses.lockForShare(tx, listCheeseIds(lines));
      const missing = await missingLines(tx, [{ id, lines }], (cheeseId) => {
        const row = rows.get(cheeseId);
        return row !== undefined && parseCheese(row.body).status === 'available';
      });
      return [...new Set(missing.get(id)?.map(({ cheeseName }) => cheeseName))];
    },

    /** Approves an order whose job is due, or cancels it when a cheese is no longer available. */
    async approveDue(tx: Sql, context: Context, id: number): Promise<void> {
      const order = await findRow(tx, id, firstRealId);
      // Cheeses and the customer before the job, by the lock order.
      const missing = await approvals.lockCheeses(tx, order);
      await fates.lockCustomer(tx, order);
      if (await jobQueue(tx).claim(orderApprovalKind, String(id), timestamp(clock.now()))) {
        const fate = fates.fateOf(order.notes);
        const reason =
          fate?.status === 'cancelled'
            ? fate.reason
            : missing.length > 0
              ? `no longer available: ${missing.join(', ')}`
              : null;
        const transition = reason === null ? transitions.approval(order) : transitions.cancellation(reason);
        await transitions.tryChangeClaimed(tx, context, id, transition);
        if (reason === null) {
          await fates.afterApproval(tx, context, order);
        }
      }
    },

    /**
     * Approves orders whose jobs are due and locked. It waits for no lock, so that it cannot deadlock: orders that others
     * change now, and orders of cheeses that others change now, stay due. Returns the ids of orders that must run alone,
     * because they cannot be approved.
     */
    async approveBatch(tx: Sql, context: Context, ids: readonly number[]): Promise<number[]> {
      const queries = orderQueries(tx);
      const placed = new Map<number, PlacedOrder>();
      for (const order of await queries.lockPlaced(ids)) {
        placed.set(order.id, order);
      }
      const others = ids.filter((id) => !placed.has(id));
      // Orders that are placed and not locked here are locked by another transaction.
      const busy = new Set(others.length === 0 ? [] : (await queries.listPlaced(others)).map(({ id }) => id));

      const orders = [...placed.values()].map(({ id, items }) => ({
        id,
        lines: JSON.parse(items) as OrderItem[],
      }));
      const statuses = await cheeses.tryLockForShare(tx, listCheeseIds(orders.flatMap(({ lines }) => lines)));
      const isBusy = ({ cheeseId }: OrderItem) => statuses.get(cheeseId) === null;
      for (const { id, lines } of orders) {
        if (lines.some(isBusy)) {
          busy.add(id);
        }
      }
      const missing = await missingLines(
        tx,
        orders.filter(({ id }) => !busy.has(id)),
        (cheeseId) => statuses.get(cheeseId) === 'available',
      );
      const isReady = (id: number) =>
        !busy.has(id) &&
        (missing.get(id) ?? []).length === 0 &&
        fates.fateOf(placed.get(id)?.notes ?? null) === null;
      const ready = [...placed.values()].filter(({ id }) => isReady(id));
      if (ready.length > 0) {
        await transitions.approveLocked(tx, context, ready);
      }
      return ids.filter((id) => !busy.has(id) && !(placed.has(id) && isReady(id)));
    },
  };
  return approvals;
}

/** The last of 20 attempts is about 15 minutes after the first. */
export function createOrderApprovalHandler(approvals: OrderApprovals, context: Context): JobHandler {
  return {
    kind: orderApprovalKind,
    attemptsMax: 20,
    run: (tx, { key }) => approvals.approveDue(tx, context, Number(key)),
    async runBatch(tx, jobs) {
      const ids = jobs.map(({ key }) => Number(key));
      const alone = new Set(await approvals.approveBatch(tx, context, ids));
      return jobs.filter(({ key }) => alone.has(Number(key)));
    },
  };
}
