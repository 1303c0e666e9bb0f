/**
 * Orders: what it takes to place one, and how it moves on. history.ts reads them back, worker.ts moves them by itself.
 *
 * On PostgreSQL, whoever needs several rows takes them in one order, so that no two wait for each other: the customer,
 * then the cheeses, then the job, then the order.
 */
import type { Principal } from '../auth/principal.ts';
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { CustomerService } from '../customers/service.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError, type FieldError, invalidCredential, validationError } from '../errors.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { addApprovalJob, claimApprovalJob } from './approval-job.ts';
import { totalCents } from './money.ts';
import { cheesesOf, findRow, requireOwner, toOrder } from './order.ts';
import { firstRealId, type OrderRow, orderQueries } from './queries.ts';
import type { OrderInput, OrderItem, ShippingAddress } from './schemas.ts';
import type { Transition, Transitions } from './transitions.ts';

const hourMs = 60 * 60_000;

export interface OrderService {
  /** @throws AppError validation where a cheese cannot be ordered, rateLimited */
  place(context: Context, principal: Principal, input: OrderInput): Promise<Versioned>;
  /** @throws AppError notFound, forbidden */
  find(id: number, principal: Principal): Promise<Versioned>;
  /**
   * Cancelling again changes nothing.
   * @throws AppError notFound, forbidden, preconditionFailed, conflict where it has shipped
   */
  cancel(
    context: Context,
    id: number,
    principal: Principal | null,
    precondition?: Precondition,
  ): Promise<Versioned>;
  /** By a person, who may also approve what has no price. @throws AppError notFound, preconditionFailed, conflict */
  approve(context: Context, id: number, precondition?: Precondition): Promise<Versioned>;
  /** @throws AppError notFound, preconditionFailed, conflict */
  ship(context: Context, id: number, precondition?: Precondition): Promise<Versioned>;
  /** The customer's tier may rise. @throws AppError notFound, preconditionFailed, conflict */
  deliver(context: Context, id: number, precondition?: Precondition): Promise<Versioned>;
  /** Approves an order whose time has come, or cancels it where a cheese is no longer to be had. */
  approveDue(tx: Sql, context: Context, id: number): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly cheeses: CheeseService;
  readonly customers: CustomerService;
  readonly steps: Transitions;
  readonly settings: {
    readonly approvalDelayMs: number;
    readonly requirePrice: boolean;
    readonly ordersPerHour: number | null;
  };
  /** See `firstIdIn`. */
  readonly firstId: number;
}

export function createOrderService(dependencies: Dependencies): OrderService {
  const { database, clock, cheeses, customers, steps, settings, firstId } = dependencies;

  /** The lines of an order with the names and prices of now. @throws AppError validation */
  function price(
    lines: OrderInput['items'],
    rows: Awaited<ReturnType<CheeseService['lockForShare']>>,
  ): { items: OrderItem[]; isPriced: boolean } {
    const known = new Map([...rows].map(([id, { body }]) => [id, parseCheese(body)]));
    const errors: FieldError[] = [];
    const items = lines.map(({ cheeseId, quantity }, index): OrderItem => {
      const cheese = known.get(cheeseId);
      const message =
        cheese === undefined
          ? 'there is no cheese with this id'
          : cheese.status !== 'available'
            ? `the cheese is not available: it is ${cheese.status}`
            : settings.requirePrice && cheese.pricePerKg === undefined
              ? 'the cheese has no price yet'
              : null;
      if (message !== null) {
        errors.push({ field: `items[${index}].cheeseId`, message });
      }
      return { cheeseId, cheeseName: cheese?.name ?? '', quantity, pricePerKg: cheese?.pricePerKg ?? 0 };
    });
    if (errors.length > 0) {
      throw validationError(errors);
    }
    return { items, isPriced: [...known.values()].every(({ pricePerKg }) => pricePerKg !== undefined) };
  }

  /** @throws AppError rateLimited */
  async function requireVelocity(tx: Sql, placedBy: string): Promise<void> {
    if (settings.ordersPerHour === null) {
      return;
    }
    await orderQueries(tx).lockPlacer(placedBy);
    // Orders that are further ahead than an hour were placed while the clock was ahead.
    const [since, until] = [timestamp(clock.now() - hourMs), timestamp(clock.now() + hourMs)];
    const recent = await orderQueries(tx).listRecent(placedBy, since, until);
    const oldest = recent.at(-settings.ordersPerHour);
    if (oldest !== undefined) {
      const retryAfterMs = Date.parse(oldest.created_at) + hourMs - clock.now();
      throw new AppError(
        'rateLimited',
        `Too many orders within an hour: ${settings.ordersPerHour} are permitted.`,
        { details: { retryAfterMs } },
      );
    }
  }

  /** Names of cheeses of an order that cannot be had now. Test orders are of cheeses that no catalogue holds. */
  async function missingOf(tx: Sql, { id, items }: OrderRow): Promise<string[]> {
    if (id < firstRealId) {
      return [];
    }
    const lines = JSON.parse(items) as OrderItem[];
    const rows = await cheeses.lockForShare(tx, cheesesOf(lines));
    const missing = lines.filter(({ cheeseId }) => {
      const row = rows.get(cheeseId);
      return row === undefined || parseCheese(row.body).status !== 'available';
    });
    return [...new Set(missing.map(({ cheeseName }) => cheeseName))];
  }

  /**
   * Takes a step with an order at the version that the client saw.
   * @param known the order as it was read without a lock, since the step locks the job first
   * @throws AppError preconditionFailed, conflict
   */
  async function move(
    tx: Sql,
    context: Context,
    known: OrderRow,
    step: Transition,
    precondition: Precondition | undefined,
  ): Promise<OrderRow> {
    precondition?.(known.version);
    const row = await steps.transition(tx, context, known.id, step);
    // Another transition may have been committed after the order was read.
    precondition?.(row.version - 1);
    return row;
  }

  return {
    place: (context, principal, input) =>
      context.transaction(async (tx) => {
        const { customerId } = principal;
        // Cheeses before the customer, as everywhere: their favourite may be deleted right now.
        const rows = await cheeses.lockForShare(tx, cheesesOf(input.items).filter(Number.isSafeInteger));
        if (customerId !== null && !(await customers.lockForShare(tx, customerId))) {
          throw invalidCredential('The customer of this session is gone.');
        }
        await requireVelocity(tx, principal.id);
        const { items, isPriced } = price(input.items, rows);
        const now = clock.now();
        const queries = orderQueries(tx);
        const row = await queries.insert({
          placed_by: principal.id,
          customer_id: customerId,
          items: JSON.stringify(items),
          address: JSON.stringify(toShippingAddress(input.shippingAddress)),
          notes: input.notes ?? null,
          total_cents: totalCents(items),
          created_at: timestamp(now),
        });
        // Sent together: PostgreSQL does one after the other without waiting for us in between.
        await Promise.all([
          queries.insertOpenCheeses(row.id, cheesesOf(items)),
          // What has no price waits for a person.
          isPriced ? addApprovalJob(tx, row.id, timestamp(now + settings.approvalDelayMs)) : null,
          steps.record(tx, context, row, null),
        ]);
        return toOrder(row);
      }),

    async find(id, principal) {
      const row = await findRow(database, id, firstId);
      requireOwner(row, principal);
      return toOrder(row);
    },

    async cancel(context, id, principal, precondition) {
      const known = await findRow(database, id, firstId);
      if (principal !== null) {
        requireOwner(known, principal);
      }
      return context.transaction(async (tx) => {
        const cancelled = await steps.tryTransition(tx, context, id, steps.cancellation(null));
        const row = cancelled ?? (await findRow(tx, id, firstId));
        precondition?.(cancelled === undefined ? row.version : row.version - 1);
        if (row.status !== 'cancelled') {
          throw new AppError('conflict', `The order is ${row.status}: what has shipped cannot be cancelled.`);
        }
        return toOrder(row);
      });
    },

    approve: (context, id, precondition) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        precondition?.(known.version);
        const missing = await missingOf(tx, known);
        if (known.status === 'placed' && missing.length > 0) {
          throw new AppError(
            'conflict',
            `Not available now: ${missing.join(', ')}. Cancel the order, or wait.`,
          );
        }
        return toOrder(await move(tx, context, known, steps.approval(), precondition));
      }),

    ship: (context, id, precondition) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        return toOrder(await move(tx, context, known, steps.shipping(), precondition));
      }),

    deliver: (context, id, precondition) =>
      context.transaction(async (tx) => {
        const known = await findRow(tx, id, firstId);
        const { customer_id } = known;
        const isTheirs = customer_id !== null && (await customers.lockForUpdate(tx, customer_id));
        const row = await move(tx, context, known, steps.delivery(), precondition);
        if (isTheirs) {
          await customers.credit(tx, context, customer_id, row.total_cents);
        }
        return toOrder(row);
      }),

    async approveDue(tx, context, id) {
      const missing = await missingOf(tx, await findRow(tx, id, firstId));
      if (await claimApprovalJob(tx, id, timestamp(clock.now()))) {
        const step =
          missing.length === 0
            ? steps.approval()
            : steps.cancellation(`no longer available: ${missing.join(', ')}`);
        await steps.changeStatus(tx, context, id, step);
      }
    },
  };
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
