/**
 * What an order costs beside its lines, by what the shop has configured: the rates of tax, a discount and the delivery.
 * Orders and quotes ask here. It locks nothing, and what the shop itself is can be two seconds old on another instance.
 */
import type { Clock } from '../../clock.ts';
import type { Sql } from '../../database/database.ts';
import {
  chooseMethod,
  computeCharge,
  type Destination,
  type Load,
  whyNotServed,
} from '../../delivery/choose-method.ts';
import type { DeliveryMethod } from '../../delivery/schemas.ts';
import type { DeliveryService } from '../../delivery/service.ts';
import { type DeliverySchedule, requestedDayError, scheduleOf } from '../../delivery/ship-days.ts';
import { findDiscount, type UsableDiscount } from '../../discounts/uses.ts';
import { type CodeGuess, wrongCodesText } from '../../discounts/wrong-codes.ts';
import type { FieldError } from '../../errors.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import type { TaxService } from '../../tax/service.ts';
import { gramsByCheese } from '../order.ts';
import { type Goods, type OrderPrice, priceGoods, priceOrder, type TaxedLine } from '../pricing/breakdown.ts';
import type { OrderItem } from '../schemas.ts';

export interface ChargesDependencies {
  readonly clock: Pick<Clock, 'now'>;
  readonly profile: Pick<ShopProfile, 'current' | 'settings' | 'showPrice'>;
  readonly delivery: Pick<DeliveryService, 'listEnabled'>;
  readonly taxes: Pick<TaxService, 'findAt'>;
}

/** What a customer can wish beside the lines. */
interface Wishes {
  readonly deliveryMethodId: number | null | undefined;
  readonly requestedDate: string | undefined;
  readonly discountCode: string | undefined;
}

export const toWishes = ({ deliveryMethodId, requestedDate, discountCode }: Partial<Wishes>): Wishes => ({
  deliveryMethodId,
  requestedDate,
  discountCode,
});

interface Address {
  readonly country?: string;
  readonly state?: string | null;
  readonly zipCode?: string | null;
}

/** null without a country. */
export function toDestination({ country, state = null, zipCode = null }: Address): Destination | null {
  return country === undefined ? null : { country: country.toUpperCase(), state, zipCode };
}

/** What is charged: lines without errors, and what the customer wishes. */
export interface ChargesRequest extends Wishes {
  readonly items: readonly OrderItem[];
  /** The name of the category of each cheese. */
  readonly categories: ReadonlyMap<number, string>;
  /** null if it is not known yet. */
  readonly destination: Destination | null;
  readonly customerId: number | null;
  readonly guess: CodeGuess;
  /** Whether `Charges.methods` are wanted, also if the order needs none. */
  readonly withMethods: boolean;
}

export interface Charges {
  readonly price: OrderPrice;
  readonly goods: Goods;
  readonly load: Load;
  readonly discount: UsableDiscount | null;
  /** Milliseconds until a code is accepted after too many wrong ones; 0 if it is now. */
  readonly codeWaitMs: number;
  readonly method: DeliveryMethod | null;
  /** The methods that customers can choose; empty if nothing needed them. */
  readonly methods: readonly DeliveryMethod[];
  /** What the order keeps of its delivery method. */
  readonly schedule: DeliverySchedule | null;
  /** Why the order cannot be placed like this, by the members of the request. */
  readonly problems: readonly FieldError[];
}

export type OrderCharges = ReturnType<typeof createOrderCharges>;

export function createOrderCharges({ clock, profile, delivery, taxes }: ChargesDependencies) {
  async function priceLines(sql: Sql, request: ChargesRequest, method: DeliveryMethod | undefined) {
    const { items, categories, destination } = request;
    const { mode } = profile.current.tax;
    if (mode === 'off') {
      return items;
    }
    const here = profile.current.address;
    const shopPlace = {
      country: here?.country ?? null,
      state: here?.state ?? null,
      zipCode: here?.zipCode ?? null,
    };
    const place = method?.kind === 'pickup' ? shopPlace : (destination ?? shopPlace);
    const rateOf = await taxes.findAt(sql, place, [...new Set(categories.values())]);
    return items.map((item): TaxedLine => ({ ...item, rate: rateOf(categories.get(item.cheeseId)) }));
  }

  async function applyDiscount(sql: Sql, request: ChargesRequest, { subtotalCents }: Goods) {
    const { discountCode, customerId, guess } = request;
    if (discountCode === undefined) {
      return { discount: null, codeWaitMs: 0, message: null };
    }
    const found = await findDiscount(sql, discountCode, {
      now: clock.now(),
      subtotalCents,
      customerId,
      showPrice: profile.showPrice,
    });
    const codeWaitMs = guess.count('message' in found && found.isWrong);
    if (codeWaitMs > 0) {
      return { discount: null, codeWaitMs, message: wrongCodesText(codeWaitMs) };
    }
    return 'message' in found
      ? { discount: null, codeWaitMs, message: found.message }
      : { discount: found, codeWaitMs, message: null };
  }

  function requestSchedule(method: DeliveryMethod, { requestedDate }: Wishes, problems: FieldError[]) {
    const schedule = scheduleOf(method, profile.current.timeZone);
    if (requestedDate === undefined) {
      return schedule;
    }
    const message = requestedDayError(requestedDate, clock.now(), schedule);
    if (message !== null) {
      problems.push({ field: 'requestedDate', message });
    }
    return { ...schedule, requestedDate };
  }

  return {
    async read(sql: Sql, request: ChargesRequest): Promise<Charges> {
      const { deliveryMethodId, requestedDate, destination, withMethods } = request;
      const { currency, tax, delivery: rules } = profile.current;
      const problems: FieldError[] = [];
      const isNamed = typeof deliveryMethodId === 'number';
      const methods = isNamed || rules.required || withMethods ? await delivery.listEnabled(sql) : [];
      const named = methods.find(({ id }) => id === deliveryMethodId);

      const lines = await priceLines(sql, request, named);
      const plain = priceGoods(lines, tax.mode, null);
      const { discount, codeWaitMs, message } = await applyDiscount(sql, request, plain);
      if (message !== null) {
        problems.push({ field: 'discountCode', message });
      }
      const goods = discount === null ? plain : priceGoods(lines, tax.mode, discount.discount);

      const load: Load = {
        grams: [...gramsByCheese(request.items).values()].reduce((sum, grams) => sum + grams, 0),
        packagingGrams: profile.settings.delivery.packagingGrams,
        goodsCents: goods.cents,
      };
      const method = isNamed
        ? requireServing(named, destination, load, problems)
        : rules.required
          ? chooseServing(methods, destination, load, problems)
          : null;
      if (!isNamed && !rules.required && requestedDate !== undefined) {
        problems.push({ field: 'requestedDate', message: 'needs a delivery method' });
      }
      const charge = method && {
        id: method.id,
        name: method.name,
        kind: method.kind,
        cents: computeCharge(method, load),
      };
      return {
        price: priceOrder(goods, { currency, mode: tax.mode, delivery: charge }),
        goods,
        load,
        discount,
        codeWaitMs,
        method,
        methods,
        problems,
        schedule: method && requestSchedule(method, request, problems),
      };
    },
  };
}

function requireServing(
  method: DeliveryMethod | undefined,
  to: Destination | null,
  load: Load,
  problems: FieldError[],
): DeliveryMethod | null {
  const message = method === undefined ? 'there is no such delivery method' : whyNotServed(method, to, load);
  if (message !== null) {
    problems.push({ field: 'deliveryMethodId', message });
  }
  return message === null ? (method ?? null) : null;
}

/** The cheapest method, for an order that names none. */
function chooseServing(
  methods: readonly DeliveryMethod[],
  to: Destination | null,
  load: Load,
  problems: FieldError[],
): DeliveryMethod | null {
  const chosen = chooseMethod(methods, to, load);
  if (chosen === undefined) {
    problems.push(noMethodProblem(methods, to, load));
  }
  return chosen ?? null;
}

/** Why no parcel goes there: the nearest reason. */
function noMethodProblem(methods: readonly DeliveryMethod[], to: Destination | null, load: Load): FieldError {
  const parcels = methods.filter(({ kind }) => kind === 'parcel');
  if (parcels.length === 0) {
    const choices = methods.map(({ id, name }) => `${name} (${id})`).join(', ');
    const message =
      choices === ''
        ? 'the shop has no delivery method yet: its owner adds one in the console, or with POST /v2/delivery-methods'
        : `the shop delivers no parcels: choose ${choices}`;
    return { field: 'deliveryMethodId', message };
  }
  const inCountry = parcels.filter(
    ({ countries }) => to === null || (countries?.includes(to.country) ?? true),
  );
  if (inCountry.length === 0) {
    return { field: 'shippingAddress.country', message: `the shop does not deliver to ${to?.country}` };
  }
  const light: Load = { ...load, grams: 0, packagingGrams: 0 };
  const strongest = inCountry
    .filter((method) => whyNotServed(method, to, light) === null)
    .toSorted((a, b) => (b.rates.at(-1)?.upToGrams ?? 0) - (a.rates.at(-1)?.upToGrams ?? 0))[0];
  if (strongest !== undefined) {
    return { field: 'items', message: `are too heavy for a parcel: ${whyNotServed(strongest, to, load)}` };
  }
  const message = to?.zipCode
    ? 'the shop does not deliver to this ZIP code'
    : 'is needed: the shop delivers to some ZIP codes of the country only';
  return { field: 'shippingAddress.zipCode', message };
}
