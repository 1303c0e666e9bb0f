/** The rules for placing an order. The transaction locks in the order of database/lock-order.ts. */
import type { Principal } from '../../access/principal.ts';
import type { KeyBudgets } from '../../auth/keys/budgets.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import { type Clock, timestamp } from '../../clock.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { Context } from '../../database/context.ts';
import type { Sql } from '../../database/database.ts';
import { useDiscount } from '../../discounts/uses.ts';
import { type WrongCodes, wrongCodesError } from '../../discounts/wrong-codes.ts';
import { AppError, invalidCredential, requireNoErrors } from '../../errors.ts';
import { jobQueue } from '../../jobs/queue.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import type { Grams, StockReservations } from '../../stock/reservations.ts';
import type { Versioned } from '../../versioned.ts';
import { listCheeseIds, toOrder } from '../order.ts';
import { orderQueries } from '../queries.ts';
import type { Gift, ShippingAddress } from '../schemas.ts';
import type { OrderFates } from '../transitions/order-fates.ts';
import { orderApprovalKind, type Transitions } from '../transitions/transitions.ts';
import { type Charges, type OrderCharges, toDestination, toWishes } from './charges.ts';
import {
  lineErrors,
  type PricedLines,
  possibleTotalErrors,
  priceLines,
  requireConfinedLines,
  requireMaximum,
  requireSum,
  trackedGrams,
} from './order-lines.ts';
import type { OrderInput } from './schemas.ts';

const hourMs = 60 * 60_000;

export interface PlaceOptions {
  /** The customer for whom an operator places the order; otherwise it is that of the principal. */
  readonly customerId?: number | undefined;
  /** The highest total. */
  readonly maxCents?: number | undefined;
  /** The client IP for which wrong codes are counted; null if they are not counted. */
  readonly visitorIp?: string | null;
  /** Invented for a shop that is tried out: it does not fix the currency of the shop. */
  readonly isInvented?: boolean;
}

export interface PlacingDependencies {
  readonly clock: Clock;
  readonly profile: Pick<ShopProfile, 'showPrice' | 'isCurrencyFixed' | 'fixCurrency' | 'read'>;
  readonly cheeses: CheeseService;
  readonly customers: CustomerService;
  readonly transitions: Transitions;
  readonly fates: Pick<OrderFates, 'fateOf'>;
  readonly stock: StockReservations;
  readonly charges: OrderCharges;
  readonly wrongCodes: WrongCodes;
  readonly budgets: Pick<KeyBudgets, 'spend'>;
  readonly settings: {
    readonly approvalDelayMs: number;
    readonly requirePrice: boolean;
    readonly ordersPerHour: number | null;
  };
}

/** An order that passed all rules except that of the stock. */
interface NewOrder {
  readonly id: number | null;
  readonly principal: Principal;
  readonly customerId: number | null;
  readonly input: OrderInput;
  readonly lines: PricedLines;
  readonly charges: Charges;
  readonly grams: Grams;
}

export function createOrderPlacing({
  clock,
  profile,
  cheeses,
  customers,
  transitions,
  fates,
  stock,
  charges,
  wrongCodes,
  budgets,
  settings: { approvalDelayMs, requirePrice, ordersPerHour },
}: PlacingDependencies) {
  /**
   * Sorted for the lock order: cheeses, the customer (whose favourite cheese may be deleted at the same time, and whose
   * orders get their ids one after another: see `listSold`), the placer (with a limit of orders an hour), and later the
   * stock. PostgreSQL runs the statements one after another, without a round trip between them.
   */
  function lock(
    tx: Sql,
    principal: Principal,
    customerId: number | null,
    { items }: OrderInput,
    isInvented: boolean,
  ) {
    return Promise.all([
      cheeses.lockForShare(tx, listCheeseIds(items).filter(Number.isSafeInteger)),
      customerId === null || customers.lockForUpdate(tx, customerId),
      lockRecent(tx, principal.id),
      orderQueries(tx).reserveId(),
      // The row of the shop is written by its first orders alone.
      profile.isCurrencyFixed || isInvented ? null : profile.fixCurrency(tx),
    ]);
  }

  /** Creation times of the placer's orders within an hour, which are locked. Empty if their number has no limit. */
  async function lockRecent(tx: Sql, placedBy: string): Promise<readonly string[]> {
    if (ordersPerHour === null) {
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
    const oldest = ordersPerHour === null ? undefined : recent.at(-ordersPerHour);
    if (oldest !== undefined) {
      const retryAfterMs = Date.parse(oldest) + hourMs - clock.now();
      throw new AppError('rateLimited', `Too many orders within an hour: the limit is ${ordersPerHour}.`, {
        details: { retryAfterMs },
      });
    }
  }

  function reserve(tx: Sql, context: Context, grams: Grams) {
    return grams.size === 0 ? null : stock.reserve(tx, context, grams);
  }

  async function store(tx: Sql, context: Context, placed: NewOrder): Promise<Versioned> {
    const { id, principal, customerId, input, lines, charges, grams } = placed;
    const { price, schedule, discount } = charges;
    const { items, isPriced } = lines;
    const now = clock.now();
    const queries = orderQueries(tx);
    const order = {
      placed_by: principal.id,
      customer_id: customerId,
      items: JSON.stringify(items),
      address: JSON.stringify(toShippingAddress(input.shippingAddress)),
      notes: input.notes ?? null,
      total_cents: price.totalCents,
      goods_cents: price.goodsCents,
      breakdown: price.breakdown && JSON.stringify(price.breakdown),
      delivery: schedule && JSON.stringify(schedule),
      gift: toGift(input.gift),
      created_at: timestamp(now),
    };
    const fate = fates.fateOf(order.notes);
    // An order without prices waits for an operator.
    const needsApproval = fate === null ? !isPriced : fate.status === 'placed';
    // An order that is refused because of its stock has used up an id on PostgreSQL.
    const [, row, left] = await Promise.all([
      principal.kind === 'restricted' ? budgets.spend(tx, principal, order.total_cents) : null,
      queries.insert(id, order, needsApproval),
      reserve(tx, context, grams),
    ]);
    if (left !== null) {
      throw lineErrors(lines, left);
    }
    if (discount !== null) {
      await useDiscount(tx, discount, row.id, customerId);
    }
    // Sent together with the order and the commit.
    await Promise.all([
      queries.insertOpenCheeses(row.id, listCheeseIds(items), grams),
      needsApproval
        ? null
        : jobQueue(tx).add(orderApprovalKind, String(row.id), timestamp(now + approvalDelayMs)),
      transitions.recordPlaced(tx, context, row),
    ]);
    return toOrder(row);
  }

  /**
   * @throws AppError validation when a cheese cannot be ordered, rateLimited, forbidden, notFound, conflict above the
   * maximum
   */
  return async function place(
    context: Context,
    principal: Principal,
    input: OrderInput,
    { customerId: ordering, maxCents, visitorIp = null, isInvented = false }: PlaceOptions = {},
  ): Promise<Versioned> {
    const guess = wrongCodes.begin(visitorIp);
    const placed = await context.transaction(async (tx) => {
      if (ordering !== undefined) {
        requireOperator(principal);
      }
      const customerId = ordering ?? principal.customerId;
      const [rows, hasCustomer, recent, id] = await lock(tx, principal, customerId, input, isInvented);
      if (!hasCustomer) {
        throw ordering === undefined
          ? invalidCredential('The customer of this session is gone.')
          : new AppError('notFound', `There is no customer with the id ${ordering}.`);
      }
      requireVelocity(recent);
      requireConfinedLines(input.items, rows, principal.limits);
      const lines = priceLines(input.items, rows, requirePrice);
      const grams = trackedGrams(lines, rows);
      if (lines.errors.length > 0) {
        throw lineErrors(lines, await reserve(tx, context, grams));
      }
      const read = await charges.read(tx, {
        items: lines.items,
        categories: lines.categories,
        destination: toDestination(input.shippingAddress),
        customerId,
        guess,
        withMethods: false,
        ...toWishes(input),
      });
      if (read.codeWaitMs > 0) {
        throw wrongCodesError(read.codeWaitMs);
      }
      requireNoErrors(read.problems);
      const sum = { totalCents: read.price.totalCents, isPriced: lines.isPriced };
      requireNoErrors(possibleTotalErrors(sum.totalCents, profile.showPrice));
      if (maxCents !== undefined) {
        requireMaximum(sum, maxCents, profile.showPrice);
      }
      requireSum(sum, principal.limits, profile.showPrice);
      return store(tx, context, { id, principal, customerId, input, lines, charges: read, grams });
    });
    if (!profile.isCurrencyFixed && !isInvented) {
      // The order is placed, also if this fails: the profile is read again within seconds.
      await profile.read().catch(() => {});
    }
    return placed;
  };
}

/** @throws AppError forbidden if the principal may not place orders for customers */
function requireOperator({ scopes, confinedTo }: Principal): void {
  if (!scopes.has('admin') || confinedTo !== null) {
    throw new AppError(
      'forbidden',
      'customerId is for operators: it needs the scope admin, and no credential of a customer beside the key.',
      { details: { scopes: ['admin'] } },
    );
  }
}

/** JSON of the gift; null if it is none. */
function toGift(gift: OrderInput['gift']): string | null {
  const { message = null, hidePrices = false } = gift ?? {};
  return gift === null || gift === undefined ? null : JSON.stringify({ message, hidePrices } satisfies Gift);
}

function toShippingAddress({
  street,
  city,
  state,
  zipCode,
  country,
  ...optional
}: OrderInput['shippingAddress']): ShippingAddress {
  const given = Object.entries(optional).filter(([, text]) => text !== '');
  return {
    ...Object.fromEntries(given),
    street,
    city,
    state: state ?? null,
    ...(zipCode === undefined ? {} : { zipCode }),
    country: country.toUpperCase(),
  };
}
