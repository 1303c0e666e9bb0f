/**
 * The rules for placing, approving, shipping, delivering and cancelling orders. order-reader.ts reads orders.
 * Transactions lock in the order of database/lock-order.ts.
 */
import type { Principal } from '../access/principal.ts';
import type { KeyBudgets } from '../auth/keys/budgets.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { CustomerService } from '../customers/service.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError, invalidCredential } from '../errors.ts';
import type { StockReservations } from '../stock/reservations.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { totalCents } from './money.ts';
import { cheesesOf, findRow, requireOwner, toOrder } from './order.ts';
import {
  lineErrors,
  priceLines,
  requireConfinedLines,
  requireMaximum,
  requireSum,
  trackedKilograms,
} from './order-lines.ts';
import { type OrderRow, orderQueries } from './queries.ts';
import type { OrderInput, ShippingAddress } from './schemas.ts';
import type { ShipmentInput } from './shipments/schemas.ts';
import type { Shipments } from './shipments/shipments.ts';
import { addOrderApprovalJob } from './transitions/approval-job.ts';
import type { OrderApprovals } from './transitions/order-approvals.ts';
import type { TestValues } from './transitions/test-values.ts';
import type { Transition, Transitions } from './transitions/transitions.ts';

const hourMs = 60 * 60_000;

export interface PlaceOptions {
  /** The customer for whom an operator places the order; otherwise it is that of the principal. */
  readonly customerId?: number | undefined;
  /** The highest total. */
  readonly maxCents?: number | undefined;
}

export interface OrderService {
  /**
   * @throws AppError validation when a cheese cannot be ordered, rateLimited, forbidden, notFound, conflict above the
   * maximum
   */
  place(
    context: Context,
    principal: Principal,
    input: OrderInput,
    options?: PlaceOptions,
  ): Promise<Versioned>;
  /** @throws AppError notFound, forbidden */
  find(id: number, principal: Principal | null): Promise<Versioned>;
  /**
   * Cancelling a cancelled order changes nothing.
   * @throws AppError notFound, forbidden, preconditionFailed, conflict when it has shipped
   */
  cancel(
    context: Context,
    id: number,
    principal: Principal | null,
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** Approval by an operator, also of orders without prices. @throws AppError notFound, preconditionFailed, conflict */
  approve(context: Context, id: number, precondition?: Precondition): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict */
  ship(
    context: Context,
    id: number,
    precondition?: Precondition,
    shipment?: ShipmentInput,
  ): Promise<Versioned>;
  /** The customer's tier may rise. @throws AppError notFound, preconditionFailed, conflict */
  deliver(context: Context, id: number, precondition?: Precondition): Promise<Versioned>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cheeses: CheeseService;
  readonly customers: CustomerService;
  readonly transitions: Transitions;
  readonly approvals: OrderApprovals;
  readonly testValues: Pick<TestValues, 'noteOf'>;
  readonly stock: StockReservations;
  readonly budgets: Pick<KeyBudgets, 'spend'>;
  readonly shipments: Pick<Shipments, 'add'>;
  readonly settings: {
    readonly approvalDelayMs: number;
    readonly requirePrice: boolean;
    readonly ordersPerHour: number | null;
  };
  /** See `firstIdIn`. */
  readonly firstId: number;
}

export function createOrderService(dependencies: Dependencies): OrderService {
  const { database, clock, cheeses, customers, transitions, approvals, testValues } = dependencies;
  const { stock, shipments, budgets, settings, firstId } = dependencies;

  /** Creation times of the placer's orders within an hour, which are locked. Empty where their number has no limit. */
  async function lockRecent(tx: Sql, placedBy: string): Promise<readonly string[]> {
    if (settings.ordersPerHour === null) {
      return [];
    }
    // Orders more than an hour in the future were placed while the clock was ahead.
    const [since, until] = [timestamp(clock.now() - hourMs), timestamp(clock.now() + hourMs)];
    const [, recent] = await Promise.all([
      orderQueries(tx).lockPlacer(placedBy),
      orderQueries(tx).listRecent(placedBy, since, until),
    ]);
    return recent.map(({ created_at }) => created_at);
  }

  /** @throws AppError rateLimited */
  function requireVelocity(recent: readonly string[]): void {
    const oldest = settings.ordersPerHour === null ? undefined : recent.at(-settings.ordersPerHour);
    if (oldest !== undefined) {
      const retryAfterMs = Date.parse(oldest) + hourMs - clock.now();
      throw new AppError(
        'rateLimited',
        `Too many orders within an hour: the limit is ${settings.ordersPerHour}.`,
        { details: { retryAfterMs } },
      );
    }
  }

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
    const row = await transitions.transition(tx, context, known.id, transition);
    // Another transition may have been committed after the order was read.
    precondition?.(row.version - 1);
    return row;
  }

  return {
    place: (context, principal, input, { customerId: ordering, maxCents } = {}) =>
      context.transaction(async (tx) => {
        if (ordering !== undefined) {
          requireOperator(principal);
        }
        const customerId = ordering ?? principal.customerId;
        // Sorted for the lock order: cheeses, the customer (whose favourite cheese may be deleted at the same time, and
        // whose orders get their ids one after another: see `listSold`), the placer (with a limit of orders an hour),
        // stock. PostgreSQL runs the statements one after another, without a round trip between them.
        const [rows, hasCustomer, recent, id] = await Promise.all([
          cheeses.lockForShare(tx, cheesesOf(input.items).filter(Number.isSafeInteger)),
          customerId === null || customers.lockForUpdate(tx, customerId),
          lockRecent(tx, principal.id),
          orderQueries(tx).reserveId(),
        ]);
        if (!hasCustomer) {
          throw ordering === undefined
            ? invalidCredential('The customer of this session is gone.')
            : new AppError('notFound', `There is no customer with the id ${ordering}.`);
        }
        requireVelocity(recent);
        requireConfinedLines(input.items, rows, principal.limits);
        const lines = priceLines(input.items, rows, settings.requirePrice);
        const kilograms = trackedKilograms(lines, rows);
        const reserve = () => (kilograms.size === 0 ? null : stock.reserve(tx, context, kilograms));
        if (lines.errors.length > 0) {
          throw lineErrors(lines, await reserve());
        }
        const { items, isPriced } = lines;
        if (maxCents !== undefined) {
          requireMaximum(lines, maxCents);
        }
        requireSum(lines, principal.limits);
        const now = clock.now();
        const queries = orderQueries(tx);
        const order = {
          placed_by: principal.id,
          customer_id: customerId,
          items: JSON.stringify(items),
          address: JSON.stringify(toShippingAddress(input.shippingAddress)),
          notes: input.notes ?? null,
          total_cents: totalCents(items),
          created_at: timestamp(now),
        };
        const note = testValues.noteOf(order.notes);
        // An order without prices waits for an operator.
        const needsApproval = note === null ? !isPriced : note === 'test:never-approve';
        // An order that is refused because of its stock has used up an id on PostgreSQL.
        const [, row, left] = await Promise.all([
          principal.kind === 'restricted' ? budgets.spend(tx, principal, order.total_cents) : null,
          queries.insert(id, order, needsApproval),
          reserve(),
        ]);
        if (left !== null) {
          throw lineErrors(lines, left);
        }
        // Sent together with the order and the commit.
        await Promise.all([
          queries.insertOpenCheeses(row.id, cheesesOf(items), kilograms),
          needsApproval ? null : addOrderApprovalJob(tx, row.id, timestamp(now + settings.approvalDelayMs)),
          transitions.record(tx, context, row, null),
        ]);
        return toOrder(row);
      }),

    async find(id, principal) {
      const row = await findRow(database, id, firstId);
      requireOwner(row, principal);
      return toOrder(row);
    },

    cancel: (context, id, principal, precondition) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        if (principal !== null) {
          requireOwner(known, principal);
        }
        const cancelled = await transitions.tryTransition(tx, context, id, transitions.cancellation(null));
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

    approve: (context, id, precondition) =>
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
        return toOrder(await move(tx, context, known, transitions.approval(), precondition));
      }),

    ship: (context, id, precondition, shipment) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        const row = await move(tx, context, known, transitions.shipping(), precondition);
        await shipments.add(tx, id, shipment ?? {});
        return toOrder(row);
      }),

    deliver: (context, id, precondition) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        const { customer_id } = known;
        const isTheirs = customer_id !== null && (await customers.lockForUpdate(tx, customer_id));
        const row = await move(tx, context, known, transitions.delivery(), precondition);
        if (isTheirs) {
          await customers.credit(tx, context, customer_id, row.total_cents);
        }
        return toOrder(row);
      }),
  };
}

/** @throws AppError forbidden where the principal may not place orders for customers */
function requireOperator({ scopes, confinedTo }: Principal): void {
  if (!scopes.has('admin') || confinedTo !== null) {
    throw new AppError(
      'forbidden',
      'customerId is for operators: it needs the scope admin, and no credential of a customer beside the key.',
      { details: { scopes: ['admin'] } },
    );
  }
}

function toShippingAddress({
  street,
  city,
  state,
  zipCode,
  country,
}: OrderInput['shippingAddress']): ShippingAddress {
  return {
    street,
    city,
    state: state ?? null,
    ...(zipCode === undefined ? {} : { zipCode }),
    country: country.toUpperCase(),
  };
}
