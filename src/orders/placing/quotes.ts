/** Quotes: what an order would cost. They write nothing, lock nothing, and name every problem. */
import { findActingCustomer, type Principal } from '../../access/principal.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { dollars } from '../../decimal.ts';
import { computeCharge, whyNotServed } from '../../delivery/choose-method.ts';
import type { DeliveryMethod } from '../../delivery/schemas.ts';
import {
  type DeliverySchedule,
  expectedDays,
  requestedDayError,
  scheduleOf,
} from '../../delivery/ship-days.ts';
import type { WrongCodes } from '../../discounts/wrong-codes.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import type { StockReservations } from '../../stock/reservations.ts';
import { listCheeseIds } from '../order.ts';
import { totalCents } from '../pricing/lines.ts';
import { quantity } from '../schemas.ts';
import { type Charges, type OrderCharges, toDestination, toWishes } from './charges.ts';
import {
  addShortages,
  type PricedLines,
  possibleTotalErrors,
  priceLines,
  requireConfinedLines,
  trackedGrams,
} from './order-lines.ts';
import type { DeliveryOption, Quote, QuoteInput } from './quote-schemas.ts';

export interface QuoteDependencies {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly profile: Pick<ShopProfile, 'current' | 'showPrice'>;
  readonly cheeses: Pick<CheeseService, 'readForOrder'>;
  readonly stock: Pick<StockReservations, 'readAvailable'>;
  readonly charges: OrderCharges;
  readonly wrongCodes: WrongCodes;
  readonly settings: { readonly requirePrice: boolean; readonly shippingTimeMs: number };
}

export type Quotes = ReturnType<typeof createQuotes>;

export function createQuotes(dependencies: QuoteDependencies) {
  const { database, clock, profile, cheeses, stock, charges, wrongCodes, settings } = dependencies;

  async function readLines({ items }: QuoteInput, principal: Principal): Promise<PricedLines> {
    const rows = await cheeses.readForOrder(database, listCheeseIds(items).filter(Number.isSafeInteger));
    requireConfinedLines(items, rows, principal.limits);
    const lines = priceLines(items, rows, settings.requirePrice);
    const wanted = trackedGrams(lines, rows);
    if (wanted.size > 0) {
      const left = await stock.readAvailable(database, [...wanted.keys()]);
      addShortages(lines.items, lines.errors, left, quantity.maximum);
    }
    return lines;
  }

  function optionOf(
    method: DeliveryMethod,
    { load, goods }: Charges,
    requestedDate: string | undefined,
  ): DeliveryOption {
    const { id, name, kind, freeFrom, text } = method;
    const now = clock.now();
    const usual = scheduleOf(method, profile.current.timeZone);
    const schedule: DeliverySchedule =
      requestedDate !== undefined && requestedDayError(requestedDate, now, usual) === null
        ? { ...usual, requestedDate }
        : usual;
    const cents = goods.discount?.kind === 'free_delivery' ? 0 : computeCharge(method, load);
    return {
      id,
      name,
      kind,
      amount: dollars(cents),
      freeFrom,
      ...expectedDays(now, schedule, settings.shippingTimeMs),
      text,
    };
  }

  return async function quote(
    principal: Principal,
    input: QuoteInput,
    visitorIp: string | null,
  ): Promise<Quote> {
    const lines = await readLines(input, principal);
    const orderable = lines.items.filter((_, index) => lines.errors[index] === undefined);
    const items = lines.items.map((item, index) => ({
      ...item,
      amount: dollars(totalCents([item])),
      orderable: lines.errors[index] === undefined,
    }));
    const errors = lines.errors.flat();
    const destination = toDestination(input.shippingAddress ?? {});
    const charged = await charges.read(database, {
      items: orderable,
      categories: lines.categories,
      destination,
      customerId: findActingCustomer(principal),
      guess: wrongCodes.begin(visitorIp),
      withMethods: true,
      ...toWishes(input),
    });
    const { price, goods, load } = charged;
    const problems = [
      ...errors,
      ...charged.problems,
      ...possibleTotalErrors(price.totalCents, profile.showPrice),
    ];
    const { currency } = profile.current;
    if (orderable.length === 0) {
      return { items, breakdown: { currency, subtotal: 0 }, total: 0, deliveryOptions: [], problems };
    }
    const options = charged.methods.filter((method) => whyNotServed(method, destination, load) === null);
    return {
      items,
      breakdown: price.breakdown ?? { currency, subtotal: dollars(goods.subtotalCents) },
      total: dollars(price.totalCents),
      deliveryOptions: options.map((method) => optionOf(method, charged, input.requestedDate)),
      problems,
    };
  };
}
