/** The lines of a new order: their current names and prices, and what they need of tracked stock. */

import { confinementText, isWithin } from '../../access/confinement.ts';
import type { KeyLimits } from '../../access/key-limits.ts';
import { kilogramGrams, type Portion, pieceCents } from '../../cheeses/portions.ts';
import { type Cheese, parseCheese } from '../../cheeses/schemas.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import { dollars, gramsToKilograms, wholeCents } from '../../decimal.ts';
import { AppError, type FieldError, validationError } from '../../errors.ts';
import { lineGrams } from '../../stock/line-weight.ts';
import type { Grams } from '../../stock/reservations.ts';
import { gramsByCheese } from '../order.ts';
import type { OrderItem } from '../schemas.ts';
import type { OrderInput } from './schemas.ts';

type LockedCheeses = Awaited<ReturnType<CheeseService['lockForShare']>>;

export interface PricedLines {
  readonly items: readonly OrderItem[];
  /** Errors of lines that cannot be ordered, by their index. Lines without an error are holes. */
  readonly errors: FieldError[];
  /** Whether each cheese has a price. */
  readonly isPriced: boolean;
  /** The names of the categories of the cheeses that have one, by their ids. */
  readonly categories: ReadonlyMap<number, string>;
}

/** An amount with the currency of the shop. */
export type ShowPrice = (cents: number) => string;

const nothing: Grams = new Map();

/** The lines with the current names and prices of their cheeses. */
export function priceLines(
  lines: OrderInput['items'],
  rows: LockedCheeses,
  requirePrice: boolean,
): PricedLines {
  const known = new Map([...rows].map(([id, { body }]) => [id, parseCheese(body)]));
  const errors: FieldError[] = [];
  const items = lines.map(({ cheeseId, quantity, grams }, index): OrderItem => {
    const cheese = known.get(cheeseId);
    const message = cheeseError(cheese, requirePrice);
    const portionMessage = cheese === undefined ? null : portionError(cheese, grams);
    if (message !== null) {
      errors[index] = { field: `items[${index}].cheeseId`, message };
    } else if (portionMessage !== null) {
      errors[index] = { field: `items[${index}].grams`, message: portionMessage };
    }
    const line = { cheeseId, cheeseName: cheese?.name ?? '', quantity, pricePerKg: cheese?.pricePerKg ?? 0 };
    return grams === undefined ? line : { ...line, ...pieceOf(line, grams, cheese?.portions) };
  });
  const cheeses = [...known.values()];
  return {
    items,
    errors,
    isPriced: cheeses.every(({ pricePerKg }) => pricePerKg !== undefined),
    categories: new Map(
      cheeses.flatMap(({ id, category }) => (category === undefined ? [] : [[id, category.name] as const])),
    ),
  };
}

function cheeseError(cheese: Cheese | undefined, requirePrice: boolean): string | null {
  if (cheese === undefined) {
    return 'there is no cheese with this id';
  }
  if (cheese.status !== 'available') {
    return `the cheese is not available: it is ${cheese.status}`;
  }
  return requirePrice && cheese.pricePerKg === undefined ? 'the cheese has no price yet' : null;
}

/** A client that does not know portions is refused, so that nobody gets another quantity than the one that was meant. */
function portionError({ portions = [], pricePerKg }: Cheese, grams: number | undefined): string | null {
  if (grams !== undefined && portions.length === 0) {
    return 'this cheese is sold by the kilogram: leave grams out';
  }
  const weights = portions.map((portion) => portion.grams);
  if (weights.length > 0 && !weights.includes(grams ?? kilogramGrams)) {
    return `state one of ${weights.join(', ')} grams`;
  }
  const isFree = grams !== undefined && pricePerKg !== undefined && pieceCents(pricePerKg, grams) === 0;
  return isFree && pricePerKg > 0 ? 'a piece costs less than a cent: order a larger one' : null;
}

/** What the line of a piece has beside that of a kilogram. */
function pieceOf({ quantity, pricePerKg }: OrderItem, grams: number, portions: readonly Portion[] = []) {
  const name = portions.find((portion) => portion.grams === grams)?.name;
  const cents = pieceCents(pricePerKg, grams);
  return {
    grams,
    ...(name === undefined ? {} : { portionName: name }),
    unitPrice: dollars(cents),
    amount: dollars(cents * quantity),
  };
}

/** @param limits of a restricted key @throws AppError forbidden that names a line which the key may not order */
export function requireConfinedLines(
  lines: OrderInput['items'],
  rows: LockedCheeses,
  limits: KeyLimits | null,
): void {
  if (limits === null) {
    return;
  }
  for (const [index, { cheeseId }] of lines.entries()) {
    const row = rows.get(cheeseId);
    const cheese = row === undefined ? { id: cheeseId } : parseCheese(row.body);
    // The id alone can be outside if there is no such cheese, which is an error of validation otherwise.
    const known = row === undefined ? { cheeseIds: limits.cheeseIds } : limits;
    if (!isWithin(known as KeyLimits, cheese)) {
      throw new AppError(
        'forbidden',
        `items[${index}].cheeseId: this restricted key may order only from ${confinementText(limits)}. Nothing was ordered. Leave this line out, or use another key.`,
        { details: { scopes: [] } },
      );
    }
  }
}

/** An order that would be placed. */
export interface OrderSum {
  readonly totalCents: number;
  /** Whether each cheese has a price: the total is not known otherwise. */
  readonly isPriced: boolean;
}

/** @throws AppError forbidden if a restricted key with a sum may not place an order of this total, or of none */
export function requireSum(
  { totalCents, isPriced }: OrderSum,
  limits: KeyLimits | null,
  show: ShowPrice,
): void {
  const { dollarsPerOrder, dollarsPerDay } = limits ?? {};
  if (dollarsPerOrder === undefined && dollarsPerDay === undefined) {
    return;
  }
  if (!isPriced) {
    throw new AppError(
      'forbidden',
      'items: a cheese of the order has no price yet, and this restricted key may spend only a known sum. Nothing was ordered. Leave this cheese out.',
      { details: { scopes: [] } },
    );
  }
  if (dollarsPerOrder !== undefined && totalCents > wholeCents(dollarsPerOrder)) {
    throw new AppError(
      'forbidden',
      `items: the order would cost ${show(totalCents)}, and dollarsPerOrder of this restricted key is ${show(wholeCents(dollarsPerOrder))}. Nothing was ordered. Order less, or use another key.`,
      { details: { scopes: [] } },
    );
  }
}

/** Far above what an order costs. Sums of larger ones would not be exact. */
const centsMax = 1_000_000_000_000;

/** Why no order can have this total; empty if one can. */
export function possibleTotalErrors(totalCents: number, show: ShowPrice): FieldError[] {
  return totalCents > centsMax
    ? [{ field: 'items', message: `cost more than ${show(centsMax)}, the most of an order` }]
    : [];
}

/** An order whose total is not known yet may cost more than any maximum. @throws AppError conflict */
export function requireMaximum({ totalCents, isPriced }: OrderSum, maxCents: number, show: ShowPrice): void {
  if (!isPriced) {
    throw new AppError(
      'conflict',
      'A cheese of the order has no price yet, so the order has no total that could be compared with the maximum. Nothing was ordered. Leave this cheese out.',
    );
  }
  if (totalCents > maxCents) {
    throw new AppError(
      'conflict',
      `The order would cost ${show(totalCents)}, which is more than the maximum of ${show(maxCents)}. Nothing was ordered. Order less, or permit this total.`,
      { details: { total: dollars(totalCents) } },
    );
  }
}

/** What lines without an error need of the cheeses whose stock is tracked. */
export function trackedGrams({ items, errors }: PricedLines, rows: LockedCheeses): Grams {
  const isTracked = ({ cheeseId }: OrderItem, index: number) =>
    rows.get(cheeseId)?.tracked === 1 && errors[index] === undefined;
  return items.some(isTracked) ? gramsByCheese(items.filter(isTracked)) : nothing;
}

/**
 * The error with all lines that cannot be ordered, in their order. Lines of the same cheese are served in their order.
 * @param left grams of each tracked cheese, if one has less than the lines need; otherwise null
 */
export function lineErrors({ items, errors }: PricedLines, left: Grams | null): AppError {
  if (left !== null) {
    addShortages(items, errors, left);
  }
  // `flat` removes the holes.
  return validationError(errors.flat());
}

/**
 * Adds the errors of lines for which too little is left.
 * @param left grams of the tracked cheeses, which no line has yet
 * @param unitsShown what is left is named up to so many kilograms or pieces: visitors learn no stock level from quotes
 */
export function addShortages(
  items: readonly OrderItem[],
  errors: FieldError[],
  left: Grams,
  unitsShown = Number.POSITIVE_INFINITY,
): void {
  const rest = new Map(left);
  for (const [index, line] of items.entries()) {
    const grams = rest.get(line.cheeseId);
    if (grams === undefined) {
      continue;
    }
    const wanted = lineGrams(line);
    if (wanted <= grams) {
      rest.set(line.cheeseId, grams - wanted);
      continue;
    }
    const units = (left.get(line.cheeseId) ?? 0) / (line.grams ?? kilogramGrams);
    const message = units <= unitsShown ? leftText(Math.max(0, grams), line.grams) : 'less is left';
    errors[index] = { field: `items[${index}].quantity`, message };
  }
}

/** @param left grams @param piece the weight of a piece; undefined for kilograms */
function leftText(left: number, piece: number | undefined): string {
  if (piece === undefined) {
    const shown = gramsToKilograms(left);
    return shown === 1 ? '1 kg is left' : `${shown} kg are left`;
  }
  const count = Math.floor(left / piece);
  if (count === 0) {
    return left === 0 ? 'nothing is left' : `no piece of ${piece} g is left`;
  }
  return count === 1 ? `1 piece of ${piece} g is left` : `${count} pieces of ${piece} g are left`;
}
